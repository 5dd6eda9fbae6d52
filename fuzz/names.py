"""Hostile names of columns and classes through the exports: each runs in its own language and agrees with the model."""

from __future__ import annotations

import sqlite3
import warnings
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from ecsel import ECSELClassifier, Signomial, export
from fuzz.attack import SERVED

if TYPE_CHECKING:
    import random
    from pathlib import Path

PARTS = (
    *(
        "'",
        '"',
        "`",
        ";",
        "--",
        "/*",
        "*/",
        "\\",
        "\n",
        "\r",
        "\t",
        "${x}",
        "{{x}}",
        "</script>",
        "<!--",
        "%s",
        "$",
        "#",
    ),
    *(
        "__import__('os')",
        "DROP TABLE victim",
        "x",
        "é",
        "日本",
        "\u202e",
        "\u2028",
        "[a = b]",
        "]",
        "=cmd|' /C calc'!A0",
    ),
)


class Names:
    """A small model whose columns and classes have such names."""

    name = "hostile names"

    def prepare(self, folder: Path) -> None:
        """Draw the rows."""
        del folder
        rng = np.random.default_rng(0)
        self.rows = rng.lognormal(size=(60, 2))
        self.is_second = rng.random(60) < 1 / (1 + self.rows[:, 1] / self.rows[:, 0])

    def run(self, rng: random.Random) -> str:
        """Fit, export and run one model."""
        names: set[str] = set()
        while len(names) < 4:
            names.add("".join(rng.choice(PARTS) for _ in range(rng.randint(1, 4))))
        first, second, no, yes = sorted(names, key=lambda _: rng.random())
        X = pd.DataFrame(self.rows, columns=[first, second])
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            model = ECSELClassifier(n_terms=1, l1=1e-2).fit(X, np.where(self.is_second, yes, no))
        p = model.predict_proba(X.head(3))
        _check(self._python(model, X), p)
        _check(self._sqlite(model, X), p)
        for equation in model.equations_.values():
            if Signomial.parse(str(equation)) != equation:
                raise AssertionError(f"{equation} does not read back")
        for write in (export.to_text, export.to_latex, export.to_javascript, export.to_c):
            write(model)
        return SERVED

    @staticmethod
    def _python(model: Any, X: Any) -> Any:
        scope: dict[str, Any] = {}
        exec(export.to_python(model), scope)  # noqa: S102 - that it runs nothing else is the question
        answers = [scope["predict"](row) for row in X.head(3).to_dict("records")]
        return [[answer["probabilities"][label] for label in model.classes_.tolist()] for answer in answers]

    @staticmethod
    def _sqlite(model: Any, X: Any) -> Any:
        with sqlite3.connect(":memory:") as database:
            database.execute("CREATE TABLE victim (a)")
            X.head(3).to_sql("rows", database, index=False)
            query = export.to_sql(model, "sqlite", "rows")
            answers = pd.read_sql(query, database)
            database.execute("SELECT * FROM victim")
        return answers.select_dtypes("number").to_numpy()[:, -2:]


def _check(found: Any, expected: Any) -> None:
    if not np.allclose(found, expected, atol=1e-9):
        raise AssertionError(f"{found} instead of {expected}")
