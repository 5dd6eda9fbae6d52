"""Mutated model files: a load gives one error that names the file, or a model whose every method works."""

from __future__ import annotations

import copy
import json
import warnings
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

import ecsel
from ecsel.files import ModelFileError
from fuzz.attack import SERVED, refused

if TYPE_CHECKING:
    import random
    from collections.abc import Callable, Iterator
    from pathlib import Path

VALUES: tuple[Any, ...] = (
    *(None, True, False, 0, -1, 1, 2, 99, 0.5, 1e308, -1e308, 1e-320, 2**62, 10**400),
    *("", "x", "1", "u", "v**2", "(x+1)", "(u + v)*(u - v)", "yes", "auto", "CONVERGED", "law", "x" * 300),
    *([], {}, [1], [None], ["x"], [[1, 2], [3, 4]], {"a": 1}, {"name": "l1"}, {"income": 1}, [0, "u"]),
)


class ModelFiles:
    """Files of every kind of model, with one to three values replaced, removed, repeated or moved."""

    name = "model files"

    def prepare(self, folder: Path) -> None:
        """Fit and save one model of each kind."""
        self.path = folder / "mutated.json"
        self.other = folder / "saved_again.json"
        rng = np.random.default_rng(0)
        n = 160
        table = pd.DataFrame(
            {
                "income": rng.lognormal(3, 0.7, n),
                "age": rng.integers(18, 80, n),
                "home": rng.choice(["own", "rent", "other"], n),
            }
        )
        table.loc[::9, "income"] = np.nan
        odds = np.exp((np.log(table["income"].fillna(20.0)) - 3) * 3)
        labels = np.where(rng.random(n) < odds / (1 + odds), "yes", "no")
        lengths = pd.DataFrame(rng.lognormal(size=(n, 3)), columns=["u", "v", "w"])
        law = 0.5 * lengths["u"] * lengths["v"] ** 2
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of columns that may be protected attributes
            models = self._models(table, labels, lengths, law + rng.normal(0, 0.01, n))
        self.sources = []
        for model, rows in models.values():
            model.save(self.path)
            document = json.loads(self.path.read_text(encoding="utf-8"))
            self.sources.append((document, list(_places(document))[1:], rows.head(4)))

    @staticmethod
    def _models(table: Any, labels: Any, lengths: Any, law: Any) -> dict[str, tuple[Any, Any]]:
        """Fit one model of each kind."""
        return {
            "search": (ecsel.ECSELClassifier(cv=3).fit(table, labels), table),
            "three": (ecsel.ECSELClassifier(cv=3).fit(table, np.where(table["age"] > 60, "old", labels)), table),
            "paper": (ecsel.ECSELClassifier(n_terms=2, l1=1e-3, monotone={"income": 1}).fit(table, labels), table),
            "law": (ecsel.ECSELRegressor().fit(lengths, law), lengths),
            "prediction": (ecsel.ECSELRegressor(criterion="prediction", cv=3).fit(table, table["age"] * 2.0), table),
        }

    def run(self, rng: random.Random) -> str:
        """Load one mutated file and use what it holds."""
        document, places, rows = rng.choice(self.sources)
        self.path.write_text(json.dumps(_mutated(document, places, rng)), encoding="utf-8")
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                model = ecsel.load(self.path)
            except ModelFileError as error:
                return refused(str(error))
            for use in _uses(model, rows, self.other):
                try:
                    use()
                except ValueError as error:  # a row that the changed model does not accept
                    refused(str(error))
        return SERVED


def _uses(model: Any, rows: Any, again: Path) -> list[Callable[[], Any]]:
    uses = [
        model.summary,
        lambda: repr(model),
        lambda: model.predict(rows),
        lambda: model.save(again),
        lambda: ecsel.explain.shapley(model, rows, rows),
    ]
    if hasattr(model, "classes_"):

        def chances() -> None:
            p = model.predict_proba(rows)
            if not (np.isfinite(p).all() and np.allclose(p.sum(axis=1), 1.0)):
                raise AssertionError(f"probabilities {p}")

        return [*uses, chances, lambda: model.select(0).predict(rows)]
    return [*uses, model.describe, model.to_latex, lambda: model.predict_interval(rows)]


def _places(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    yield path
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, item in items:
        yield from _places(item, (*path, key))


def _at(value: Any, path: tuple[Any, ...]) -> Any:
    for key in path:
        value = value[key]
    return value


def _mutated(document: Any, places: list[tuple[Any, ...]], rng: random.Random) -> Any:
    document = copy.deepcopy(document)
    for _ in range(rng.choice([1, 1, 1, 2, 3])):
        *above, key = rng.choice(places)
        try:
            owner, other = _at(document, tuple(above)), copy.deepcopy(_at(document, rng.choice(places)))
            present = copy.deepcopy(owner[key])
        except (KeyError, IndexError, TypeError):
            continue  # an earlier change has taken the place away
        if isinstance(owner, str):
            continue
        how = rng.random()
        if how < 0.6:
            owner[key] = copy.deepcopy(rng.choice(VALUES))
        elif how < 0.75:
            del owner[key]
        elif how < 0.85 and isinstance(owner, list):
            owner.append(present)
        elif how < 0.9 and isinstance(owner, dict):
            owner["surplus"] = rng.choice(VALUES)
        else:
            owner[key] = other
    return document
