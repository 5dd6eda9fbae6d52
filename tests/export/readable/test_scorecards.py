"""Points add up to the model's probability, and a reader of the printed card gets them too."""

import math
import re
import subprocess

import numpy as np
import openpyxl
import pandas as pd
import pytest

import ecsel
from ecsel import ECSELClassifier, Signomial
from ecsel.explain import ModelView
from ecsel.export.targets.excel import FIRST_ROW


def customers(n=600, seed=0):
    rng = np.random.default_rng(seed)
    X = pd.DataFrame(
        {
            "tenure": rng.integers(0, 73, n),
            "contract": rng.choice(["monthly", "one year", "two year"], n, p=[0.5, 0.3, 0.2]),
            "charge": np.where(rng.random(n) < 0.2, np.nan, rng.integers(20, 120, n)),
        }
    )
    z = 2 - 1.2 * np.log(X["tenure"] + 10) + 0.03 * X["charge"].fillna(20) - 2.0 * (X["contract"] == "two year")
    return X, np.where(rng.random(n) < 1 / (1 + np.exp(-z)), "left", "here")


@pytest.fixture(scope="module")
def table():
    return customers()


@pytest.fixture(scope="module")
def model(table):
    return ECSELClassifier(max_factors=6).fit(*table)


def by_hand(text, row, base=600.0, pdo=20.0, base_odds=1.0):
    """Add up a printed card of one class as a reader would, from its digits alone, and return points and odds."""
    whole = "rounded to the nearest 1," in text
    total = 0.0
    for number, says in re.findall(r"^ +(-?[\d.]+(?:e-?\d+)?)  (.*)$", text, re.MULTILINE):
        points = float(number)
        if says.startswith("times "):
            points *= eval(says.removeprefix("times "), {"log": math.log, "sqrt": math.sqrt}, row)
        elif says != "every row":
            column, _, value = says.partition(": ")
            missing = row[column] is None
            others = re.findall(rf"^.*  {column}: ('.*')$", text, re.MULTILINE)
            holds = {
                "missing": missing,
                "not missing": not missing,
                "any other value": repr(row[column]) not in others and not missing,
            }
            points *= holds[value] if value in holds else repr(row[column]) == value
        total += math.floor(points + 0.5) if whole else points
    return total, base_odds * 2 ** ((total - base) / pdo)


@pytest.mark.parametrize("toward", ["left", "here"])
@pytest.mark.parametrize("decimals", [None, 0])
def test_a_reader_of_the_printed_card_gets_its_probability(table, model, toward, decimals):
    X, _ = table
    card = ecsel.scorecard(model, toward=toward, base_odds=30, decimals=decimals)
    assert any(line.attribute == "'two year'" for line in card.lines)
    complete = X.dropna().head(40)
    for (_, row), p, total in zip(
        complete.iterrows(), card.predict_proba(complete), card.points(complete), strict=True
    ):
        points, odds = by_hand(str(card), row.to_dict(), base_odds=30.0)
        assert points == pytest.approx(total, rel=1e-12)
        assert odds / (1 + odds) == pytest.approx(p[list(model.classes_).index(toward)], rel=1e-11)


def test_exact_points_are_the_model(encoded_case):
    case = encoded_case.accepted
    card = ecsel.scorecard(case.model, pdo=50, base=500)
    from ecsel.export import to_python
    from ecsel.export.program.writing import fold
    from ecsel.export.readable.scorecard_program import card_program
    from ecsel.export.targets.python import _read, _rules

    program = card_program(card)
    namespace = {}
    exec(to_python(Signomial.parse("x")), namespace)
    rules = _rules(listed := [])
    source = "\n    ".join(
        [
            *(f"v{i} = {_read(column)}" for i, column in enumerate(program.inputs)),
            *(f"{each.name} = {fold(each.value, rules)}" for each in program.assignments),
            f"return [{', '.join(program.outputs)}], [{', '.join(program.scores)}]",
        ]
    )
    levels = "\n".join(f"_LEVELS_{n} = {text}" for n, text in enumerate(listed))
    exec(f"{levels}\ndef points(row):\n    {source}", namespace)
    for row, outputs in zip(case.rows, case.outputs, strict=True):
        p, _ = namespace["points"](row)
        np.testing.assert_allclose(p, outputs, rtol=1e-9, atol=1e-9)


def test_points_of_pieces_add_up_on_tables(table, model):
    X, y = table
    card = ecsel.scorecard(model, pdo=40, base=500, base_odds=20, toward="here")
    np.testing.assert_allclose(card.predict_proba(X), model.predict_proba(X), rtol=1e-12)
    np.testing.assert_allclose(card.offsets[0] + card.piece_points(X).sum(axis=1), card.points(X), rtol=1e-14)
    assert card.max_difference(X) < 1e-14
    odds = model.predict_proba(X)[:, 0] / model.predict_proba(X)[:, 1]
    np.testing.assert_allclose(card.points(X), 500 + 40 * np.log2(odds / 20), rtol=1e-11)
    np.testing.assert_array_equal(np.where(card.points(X) <= card.cutoff, "left", "here"), model.predict(X))
    assert len(y) == len(card.points(X))


@pytest.mark.parametrize("toward", ["here", "left"])
@pytest.mark.parametrize("decimals", [0, 1])
def test_the_limit_of_rounded_points_is_on_their_grid_and_decides_as_their_probability(table, model, toward, decimals):
    X, _ = table
    card = ecsel.scorecard(model, pdo=15, base=70, base_odds=3, toward=toward, decimals=decimals)
    assert card.cutoff == round(card.cutoff, decimals)
    assert f" {card.cutoff:g}, else" in card.rules()[-1]
    there = card.points(X) >= card.cutoff if toward == "left" else card.points(X) <= card.cutoff
    np.testing.assert_array_equal(there, card.predict_proba(X)[:, 1] >= model.threshold_)
    assert 0 < there.mean() < 1


def test_every_class_has_its_points():
    rng = np.random.default_rng(1)
    X = pd.DataFrame({"a": rng.uniform(1, 9, 500), "b": rng.choice(["u", "v"], 500)})
    y = np.digitize(np.log(X["a"]) + 2 * (X["b"] == "v") + rng.normal(0, 0.5, 500), [1.2, 2.6])
    model = ECSELClassifier(max_factors=5).fit(X, y)
    card = ecsel.scorecard(model, pdo=20)
    assert card.points(X).shape == (500, 3)
    weights = 2.0 ** (card.points(X) / 20)
    np.testing.assert_allclose(weights / weights.sum(axis=1, keepdims=True), model.predict_proba(X), rtol=1e-10)
    np.testing.assert_allclose(card.predict_proba(X), model.predict_proba(X), rtol=1e-11)
    assert {line.label for line in card.lines} == {0, 1, 2}
    rounded = ecsel.scorecard(model, decimals=0)
    np.testing.assert_array_equal(rounded.points(X), np.round(rounded.points(X)))
    pieces = max(sum(line.label == c for line in card.lines) for c in range(3))
    assert np.abs(rounded.points(X) - card.points(X)).max() <= 0.5 * pieces + 0.1


def test_rounding_moves_points_by_half_a_unit_a_piece(table, model):
    X, _ = table
    exact = ecsel.scorecard(model)
    for decimals in (0, 1, 3):
        card = ecsel.scorecard(model, decimals=decimals)
        unit = 10.0**-decimals
        moved = np.abs(card.piece_points(X) - exact.piece_points(X))
        assert moved.max() <= 0.5 * unit + 1e-4 * np.abs(exact.piece_points(X)).max() * unit
        assert 0 < card.max_difference(X) < 0.05 * unit
        assert card.points(X) / unit == pytest.approx(np.round(card.points(X) / unit), abs=1e-6)


def test_steps_have_lines_for_both_sides():
    rng = np.random.default_rng(2)
    X = pd.DataFrame({"age": rng.uniform(20, 80, 800)})
    y = rng.random(800) < np.where(X["age"] > 50, 0.9, 0.1)
    card = ecsel.scorecard(ECSELClassifier(thresholds=True, max_factors=1).fit(X, y))
    assert [line.attribute.split()[:2] for line in card.lines[1:]] == [["more", "than"], ["at", "most"]]
    assert card.lines[2].points == 0


def test_the_workbook_has_the_table_and_computes_the_points(table, model, need_program, tmp_path):
    X, _ = table
    card = ecsel.scorecard(model, toward="here", decimals=0, base_odds=30)
    rows = X.head(30).astype(object).where(X.head(30).notna(), None).to_dict("records")
    path = tmp_path / "card.xlsx"
    card.to_excel(path, rows=rows)
    sheet = openpyxl.load_workbook(path)["Scorecard"]
    listed = [
        [cell.value for cell in row] for row in sheet.iter_rows(min_row=2, max_row=1 + len(card.lines), max_col=5)
    ]
    assert [row[3] for row in listed] == [line.points for line in card.lines]
    assert [row[4] or "" for row in listed] == [line.times for line in card.lines]
    assert sheet.cell(len(card.lines) + 3, 1).value == card.rules()[0]
    soffice = need_program("soffice", "libreoffice-calc-nogui")
    profile = f"-env:UserInstallation={(tmp_path / 'profile').as_uri()}"
    out = tmp_path / "out"
    command = [soffice, profile, "--headless", "--norestore", "--convert-to", "xlsx", "--outdir", str(out), str(path)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=300)
    assert done.returncode == 0, done.stderr
    predict = openpyxl.load_workbook(out / "card.xlsx", data_only=True)["Predict"]
    titles = [cell.value for cell in predict[FIRST_ROW - 1]]
    values = [[cell.value for cell in row] for row in predict.iter_rows(min_row=FIRST_ROW, max_row=FIRST_ROW + 29)]
    frame = pd.DataFrame(values, columns=titles)
    np.testing.assert_allclose(frame["total"].to_numpy(float), card.points(X.head(30)), rtol=1e-12)
    np.testing.assert_allclose(frame["here"].to_numpy(float), card.predict_proba(X.head(30))[:, 0], rtol=1e-9)


def test_the_frame_is_the_table(model):
    card = ecsel.scorecard(model)
    frame = card.to_frame()
    assert frame["points"].tolist() == [line.points for line in card.lines]
    assert "exact points" in repr(card)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"pdo": 0}, "pdo must be a positive number"),
        ({"base_odds": -1}, "base_odds must be a positive number"),
        ({"base": math.inf}, "base must be a finite number"),
        ({"decimals": 0.5}, "decimals must be None or a whole number"),
        ({"toward": "gone"}, "'gone' is not a class of the model"),
    ],
)
def test_options_are_refused_by_name(model, options, message):
    with pytest.raises(ValueError, match=message):
        ecsel.scorecard(model, **options)


def test_what_has_no_odds_is_refused():
    with pytest.raises(ValueError, match="a regression has no odds"):
        ecsel.scorecard(Signomial.parse("2*x"))
    view = ModelView.of_equations({"a": Signomial.parse("x"), "b": Signomial.parse("1")}, ["x"])
    with pytest.raises(ValueError, match="each class has points of its own"):
        ecsel.scorecard(view, toward="a")
    with pytest.raises(ValueError, match="base_odds must be 1"):
        ecsel.scorecard(view, base_odds=2)
