"""Hostile names of columns and classes through the exports: each runs in its own language and agrees with the model."""

from __future__ import annotations

import json
import shutil
import sqlite3
import subprocess
import warnings
from typing import TYPE_CHECKING, Any
from xml.etree import ElementTree as ET

import numpy as np
import pandas as pd

from ecsel import ECSELClassifier, Signomial, export
from ecsel.export.program.lowering import lower
from ecsel.export.targets.c import literal
from ecsel.export.targets.onnx import tensor_names
from fuzz.attack import SERVED

if TYPE_CHECKING:
    import random
    from pathlib import Path

SLOW = 0.1
"""The share of the models that are also compiled, run in Node and onnxruntime, and written as a workbook."""

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
        "<img src=x onerror=window.hacked=1>",
        "<script>window.hacked=1</script>",
    ),
)


class Names:
    """A small model whose columns, levels and classes have such names."""

    name = "hostile names"

    def prepare(self, folder: Path) -> None:
        """Draw the rows."""
        self.folder = folder
        self.rows, self.is_second = drawn_rows()

    def run(self, rng: random.Random) -> str:
        """Fit, export and run one model."""
        first, second, third, no, yes, one, other = drawn_names(rng, 7)
        X = pd.DataFrame(self.rows, columns=[first, second])
        X[third] = [one, other, one] * 20
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            model = ECSELClassifier(n_terms=1, l1=1e-2).fit(X, np.where(self.is_second, yes, no))
            p = model.predict_proba(X.head(3))
            for run in (_python, _sqlite, _duckdb):
                _check(run(model, X.head(3)), p)
            if rng.random() < SLOW:
                for run in (_onnx, _node, self._gcc):
                    _check(run(model, X.head(3)), p)
                self._workbook(model)
            for equation in model.equations_.values():
                if Signomial.parse(str(equation)) != equation:
                    raise AssertionError(f"{equation} does not read back")
            for write in (export.to_text, export.to_latex, export.to_sympy):
                write(model)
        _pmml(model)
        return SERVED

    def _gcc(self, model: Any, rows: Any) -> Any:
        """Compile the model with all warnings as errors, and run it."""
        inputs = lower(model).inputs
        cells = ", ".join(
            "{" + ", ".join(literal(v) if isinstance(v := row[each.name], str) else repr(v) for each in inputs) + "}"
            for row in rows.to_dict("records")
        )
        source = self.folder / "model.c"
        text = f"""{export.to_c(model)}
        #include <stdio.h>
        static const ecsel_row rows[] = {{{cells}}};
        int main(void) {{
            for (int i = 0; i < {len(rows)}; ++i) {{
                const ecsel_result r = ecsel_predict(&rows[i]);
                printf("%.17g %.17g\\n", r.probability[0], r.probability[1]);
            }}
            return 0;
        }}"""
        source.write_text(text, encoding="ascii")
        flags = ["-std=c99", "-Wall", "-Wextra", "-Wpedantic", "-Wno-overlength-strings", "-Werror"]
        _done(["gcc", *flags, str(source), "-o", str(source.with_suffix("")), "-lm"])
        printed = _done([str(source.with_suffix(""))])
        return [[float(word) for word in line.split()] for line in printed.splitlines()]

    def _workbook(self, model: Any) -> None:
        """Write a workbook, in which every name is a text."""
        from openpyxl import load_workbook  # noqa: PLC0415 - for few cases alone
        from openpyxl.utils.escape import unescape  # noqa: PLC0415

        path = self.folder / "model.xlsx"
        export.to_excel(model, path)
        cells = [cell for sheet in load_workbook(path) for row in sheet.iter_rows() for cell in row]
        texts = {unescape(str(cell.value)) for cell in cells if cell.data_type == "s"}
        if missing := [each.name for each in lower(model).inputs if not any(_same(each.name, text) for text in texts)]:
            raise AssertionError(f"no cell holds the text {missing}")
        if live := [cell.value for cell in cells if cell.data_type == "f" and str(cell.value).startswith("=cmd")]:
            raise AssertionError(f"a live formula {live}")


def drawn_rows() -> tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]:
    """Return sixty rows of two numbers, and whether each is of the second class."""
    rng = np.random.default_rng(0)
    rows = rng.lognormal(size=(60, 2))
    return rows, rng.random(60) < 1 / (1 + rows[:, 1] / rows[:, 0])


def drawn_names(rng: random.Random, n: int) -> list[str]:
    """Return different hostile names, which stay different to readers that ignore case and blanks."""
    names: dict[str, str] = {}
    while len(names) < n:
        name = "".join(rng.choice(PARTS) for _ in range(rng.randint(1, 4)))
        if name.strip():
            names.setdefault(" ".join(name.split()).casefold(), name)
    return list(names.values())


def _same(name: str, text: str) -> bool:
    """Whether a text is a name; workbooks have one kind of line ends."""
    return " ".join(name.split()) in " ".join(text.split())


def _python(model: Any, rows: Any) -> Any:
    scope: dict[str, Any] = {}
    exec(export.to_python(model), scope)  # noqa: S102 - that it runs nothing else is the question
    answers = [scope["predict"](row) for row in rows.to_dict("records")]
    return [[answer["probabilities"][label] for label in model.classes_.tolist()] for answer in answers]


def _sqlite(model: Any, rows: Any) -> Any:
    with sqlite3.connect(":memory:") as database:
        database.execute("CREATE TABLE victim (a)")
        rows.to_sql("rows", database, index=False)
        answers = pd.read_sql(export.to_sql(model, "sqlite", "rows"), database)
        database.execute("SELECT * FROM victim")
    return answers.select_dtypes("number").to_numpy()[:, -2:]


def _duckdb(model: Any, rows: Any) -> Any:
    import duckdb  # noqa: PLC0415 - of the tests, as hypothesis is

    with duckdb.connect() as database:
        database.execute("CREATE TABLE victim (a INTEGER)")
        database.register("rows", rows)
        answers = database.execute(export.to_sql(model, "duckdb", "rows")).df()
        database.execute("SELECT * FROM victim")
    return answers.select_dtypes("number").to_numpy()[:, -2:]


def _onnx(model: Any, rows: Any) -> Any:
    import onnxruntime  # noqa: PLC0415 - for few cases alone

    session = onnxruntime.InferenceSession(
        export.to_onnx(model, float64=True).SerializeToString(), providers=["CPUExecutionProvider"]
    )
    columns = [each.name for each in lower(model).inputs]
    feed = {name: rows[[column]].to_numpy() for name, column in zip(tensor_names(columns), columns, strict=True)}
    answers = [each for each in session.run(None, feed) if each.ndim == 2 and each.dtype == np.float64]
    return np.column_stack(answers)[:, -2:]


def _node(model: Any, rows: Any) -> Any:
    """Run the model where a name that is taken for code would leave a trace."""
    source = export.to_javascript(model)
    if not source.isascii() or "</" in source:
        raise AssertionError("the script could end inside of a name")
    records = json.dumps([list(row.items()) for row in rows.to_dict("records")])
    reported = f"{records}.map((row) => predict(Object.fromEntries(row)).probabilities)"
    labels = json.dumps(model.classes_.tolist())
    script = f"""{source}
    if (Object.keys(Object.prototype).length) throw new Error("a prototype was changed");
    console.log(JSON.stringify({reported}.map((each) => {labels}.map((label) => each[label]))))"""
    return json.loads(_done([shutil.which("node") or "nodejs", "-"], script))


def _pmml(model: Any) -> None:
    """Write PMML, whose fields have the names of the columns."""
    root = ET.fromstring(export.to_pmml(model))  # noqa: S314 - our own document
    fields = {field.get("name") for field in root.iter() if field.tag.endswith("}DataField")}
    if missing := {each.name for each in lower(model).inputs} - fields:
        raise AssertionError(f"{missing} are not among the fields {fields}")


def _done(command: list[str], given: str | None = None) -> str:
    done = subprocess.run(  # noqa: S603 - a compiler, its program, or Node
        command, input=given, capture_output=True, text=True, check=False, timeout=120
    )
    if done.returncode or done.stderr:
        raise AssertionError(done.stderr[:2000] or f"{command[0]} ended with {done.returncode}")
    return done.stdout


def _check(found: Any, expected: Any) -> None:
    if not np.allclose(found, expected, atol=1e-9):
        raise AssertionError(f"{found} instead of {expected}")
