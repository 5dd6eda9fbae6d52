"""The exported workbook, recalculated by LibreOffice, says what the model says."""

import csv
import math
import subprocess

import numpy as np
import openpyxl
import pandas as pd
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ecsel import ECSELClassifier, Signomial
from ecsel.explain import ModelView
from ecsel.export import to_excel, to_python
from ecsel.export.program.lowering import lower
from ecsel.export.targets.excel import FIRST_ROW, cell_text
from ecsel.export.targets.excel_formulas import LONGEST_FORMULA

CSV = "csv:Text - txt - csv (StarCalc):44,34,76,1,,0,false,false"
"""Commas, quotes, UTF-8, and numbers with all their digits rather than as shown."""


@pytest.fixture
def recalculate(need_program, tmp_path):
    """Let LibreOffice calculate workbooks, all at once since it is slow to start, and return their first sheets."""
    soffice = need_program("soffice", "libreoffice-calc-nogui")

    def run(paths):
        profile = f"-env:UserInstallation={(tmp_path / 'profile').as_uri()}"
        command = [soffice, profile, "--headless", "--norestore", "--convert-to", CSV, "--outdir", str(tmp_path)]
        done = subprocess.run([*command, *map(str, paths)], capture_output=True, text=True, check=False, timeout=300)
        assert done.returncode == 0, done.stderr
        for path in paths:
            with path.with_suffix(".csv").open(encoding="utf-8", newline="") as file:
                yield list(csv.reader(file))

    return run


def answers(sheet, program):
    """Return outputs, labels and all further numbers of the rows of a sheet."""
    rows = [row[len(program.inputs) :] for row in sheet[FIRST_ROW - 1 :]]
    n_labels = 0 if program.decision is None else 1
    n_outputs = len(program.outputs)
    numbers = [[float(cell) if cell else None for cell in row[n_labels:]] for row in rows]
    outputs = [None if row[0] is None else row[:n_outputs] for row in numbers]
    by_text = {str(label).upper() if isinstance(label, bool) else f"{label}": label for label in program.classes}
    by_text |= {str(int(label)): label for label in program.classes if not isinstance(label, (str, bool))}
    labels = [by_text[row[0]] if n_labels and row[0] else None for row in rows]
    return outputs, labels, [row[n_outputs:] for row in numbers]


def can_be_typed(row):
    """Whether no text is empty, which is a missing value here, and no number larger or smaller than Excel's."""
    sizes = [abs(value) for value in row.values() if isinstance(value, float)]
    return "" not in row.values() and not any(9.9e307 < x < math.inf or 0 < x < 2.3e-308 for x in sizes)


def test_recalculated_workbooks_say_what_models_say(all_cases, all_hostile, recalculate, tmp_path):
    cases = {name: case.where(can_be_typed) for name, case in all_cases.items()}
    explained = ("sigmoid_with_gaps", "law_with_signs", "equation_with_parities", "raw_0", "default_of_three")
    options = {
        name: {"contributions": "shapley", "baseline": case.rows[case.ordinary[0]]} if name in explained else {}
        for name, case in all_cases.items()
    }
    paths = [tmp_path / f"{name}.xlsx" for name in [*cases, *map(str, range(len(all_hostile)))]]
    for path, (name, case) in zip(paths, cases.items(), strict=False):
        to_excel(case.model, path, rows=case.rows, **{"contributions": None, **options[name]})
    for path, hostile in zip(paths[len(cases) :], all_hostile, strict=True):
        to_excel(hostile.view, path, rows=hostile.rows, contributions="attribution")
    sheets = list(recalculate(paths))
    for sheet, (name, case) in zip(sheets, cases.items(), strict=False):
        check_case(case, sheet, options[name])
    for sheet, hostile in zip(sheets[len(cases) :], all_hostile, strict=True):
        check_hostile(hostile, sheet)


def check_case(case, sheet, options):
    outputs, labels, contributions = answers(sheet, lower(case.model, **options))
    case.assert_same(outputs, labels)
    python = {}
    exec(to_python(case.model, **options), python)
    for row, mine in zip(case.rows, contributions, strict=True):
        listed = python["predict"](row).get("contributions", [])
        wanted = np.array([value for each in listed for value in each["values"].values()], dtype=float)
        scale = np.nanmax(np.abs(wanted), initial=1.0)
        np.testing.assert_allclose(np.array(mine, dtype=float), wanted, rtol=1e-9, atol=1e-9 * scale)


def check_hostile(hostile, sheet):
    outputs, labels, _ = answers(sheet, lower(hostile.view))
    knows_missing = any(feature.kind == "missing" for feature in hostile.view.encoder.features)
    for row, mine, label, p, wanted in zip(
        hostile.rows, outputs, labels, hostile.probabilities, hostile.labels, strict=True
    ):
        if "" in row.values() and not knows_missing:  # an empty cell is a missing value
            assert mine is None
            continue
        np.testing.assert_allclose(mine, p, rtol=1e-9)
        assert (label or "") == wanted


@settings(max_examples=8, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.data())
def test_no_name_is_a_formula(draw_hostile, tmp_path, data):
    hostile = draw_hostile(data)
    path = tmp_path / "model.xlsx"
    to_excel(hostile.view, path, rows=hostile.rows)
    book = openpyxl.load_workbook(path)
    assert [cell.value or "" for cell in book["Predict"][3][:2]] == [cell_text(name) for name in hostile.columns]
    for sheet in book:
        for row in sheet.iter_rows():
            for cell in row:
                calculated = cell.row >= FIRST_ROW and (
                    sheet.title == "Calculation" or (sheet.title == "Predict" and cell.column > 2)
                )
                assert (cell.data_type == "f") == (calculated and cell.value is not None)
                if cell.data_type == "f":
                    assert '"' not in cell.value.replace('""', "")  # no text but the empty one


def test_formulas_are_short_and_flat_however_large_the_model(tmp_path):
    names = [f"a column with a rather long name {j}" for j in range(120)]
    equation = Signomial.parse(" + ".join(f"0.1*col({name!r})**1.234567" for name in names))
    product = Signomial.parse("*".join(f"col({name!r})**0.0123456789" for name in names))
    to_excel(ModelView.of_equations({"a": equation, "b": product}, names), tmp_path / "model.xlsx", rows=1)
    book = openpyxl.load_workbook(tmp_path / "model.xlsx")
    formulas = [cell.value for sheet in book for row in sheet.iter_rows() for cell in row if cell.data_type == "f"]
    assert len(formulas) > 500
    assert max(map(len, formulas)) <= LONGEST_FORMULA

    def depth(formula):
        steps = np.array([1 if c == "(" else -1 if c == ")" else 0 for c in formula])
        return steps.cumsum().max()

    assert max(map(depth, formulas)) < 64


def test_levels_have_lists_and_the_workbook_begins_with_a_row(tmp_path):
    rng = np.random.default_rng(0)
    X = pd.DataFrame(
        {"size": rng.lognormal(0, 1, 60), "city": rng.choice(["Rome", "Oslo"], 60), "n": rng.integers(1, 9, 60)}
    )
    y = X["size"] * np.where(X["city"] == "Oslo", 3, 1) * X["n"] > 8
    to_excel(ECSELClassifier(n_terms=1, l1=0.005).fit(X, y), tmp_path / "model.xlsx")
    book = openpyxl.load_workbook(tmp_path / "model.xlsx")
    sheet = book["Predict"]
    names = [cell.value for cell in sheet[3]]
    assert names == ["size", "city", "n", "label", False, True, "size", "city", "n"]
    first = [cell.value for cell in sheet[FIRST_ROW][:3]]
    assert first[1:] == ["Oslo", 4]
    assert X["size"].min() < first[0] < X["size"].max()
    rules = {str(rule.sqref): rule for rule in sheet.data_validations.dataValidation}
    assert rules["B4:B23"].type == "list"
    assert [cell.value for (cell,) in book["Levels"][rules["B4:B23"].formula1.split("!")[1].replace("$", "")]] == [
        "Oslo",
        "Rome",
    ]
    assert rules["A4:A23"].errorStyle == "warning"


def test_the_first_row_is_one_that_the_model_takes(tmp_path):
    """A number of which only values are pieces has no median in the model; an empty cell would be refused."""
    rng = np.random.default_rng(4)
    X = pd.DataFrame({"code": rng.integers(0, 4, 400), "load": rng.uniform(1, 9, 400)})
    y = np.where(rng.random(400) < np.where(X["code"] == 2, 0.9, 0.2), "yes", "no")
    model = ECSELClassifier(max_factors=1, cv=3).fit(X, y)
    assert model.equations_["yes"].names == ("[code = 2]",)
    to_excel(model, tmp_path / "codes.xlsx")
    sheet = openpyxl.load_workbook(tmp_path / "codes.xlsx")["Predict"]
    assert sheet.cell(FIRST_ROW, 1).value in X["code"].unique()


def test_a_workbook_needs_a_row(tmp_path):
    with pytest.raises(ValueError, match="at least one row"):
        to_excel(Signomial.parse("x"), tmp_path / "model.xlsx", rows=0)


def test_a_level_that_no_cell_holds_is_refused(tmp_path):
    X = pd.DataFrame({"c": ["a" * 40_000, "b"] * 6})
    model = ECSELClassifier(n_terms=1, l1=1e-4).fit(X, [0, 1] * 6)
    with pytest.raises(ValueError, match="column 'c' has a level that is longer than a cell"):
        to_excel(model, tmp_path / "model.xlsx")


def test_the_workbook_tells_about_itself(tmp_path):
    to_excel(Signomial.parse("3*x**2/y"), tmp_path / "model.xlsx")
    about = openpyxl.load_workbook(tmp_path / "model.xlsx")["About"]
    assert "prediction = 3*x**2/y" in [row[0].value for row in about.iter_rows()]
