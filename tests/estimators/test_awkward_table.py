"""A table with every awkward kind of column, as people have them: the API and the command line read it alike."""

import json
import subprocess
import sys
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import ecsel
from ecsel import ColumnWarning, ECSELClassifier, ECSELRegressor, explain, export
from ecsel.explain import ModelView
from ecsel.report import render_report

FILE = Path(__file__).parents[1] / "data" / "awkward.csv"


@pytest.fixture(scope="module")
def table():
    return pd.read_csv(FILE)


@pytest.fixture(scope="module", params=["search", "paper", "prediction"])
def model(request, table):
    X = table.drop(columns=["bad", "recoveries"])
    if request.param == "prediction":
        return ECSELRegressor(criterion="prediction", max_factors=6).fit(X, (table["bad"] == "yes") + 0.0)
    options = {"n_terms": 1, "l1": 0.02} if request.param == "paper" else {"max_factors": 8, "random_state": 0}
    return ECSELClassifier(**options).fit(X, table["bad"])


@pytest.fixture(scope="module")
def frame(table):
    return table.drop(columns=["bad", "recoveries"])


LINES = [
    "'row' was left out: looks like an identifier: whole numbers without a gap or a repetition",
    "'customer' was left out: looks like an identifier: 600 different texts in 600 rows",
    "'income' is text that is read as numbers of $, such as",
    "'rate' is text that is read as numbers of %, such as",
    "'term' is text that is read as numbers of months",
    "'score_eu' is text that is read as numbers, such as",
    "'dti' is -999 in 40 of 600 rows, which is read as missing (missing_codes=None turns this off)",
    "'accounts' is '?' in 13 rows, which is read as missing",
    "'opened' is a date written as day, month, year, read as 'opened (days since 2018-01-01)', 'opened month'",
    "'called' is a date written as year-month-day, read as 'called (days since 2018-01-01)', 'called month'",
    "'use': levels that differ only in case or outer blanks are one",
    "'town' has 127 levels; 125 of fewer than 12 rows are 'other'",
    "'branch' is constant ('main') and was left out",
    "'remark' has no values and was left out",
]


@pytest.mark.parametrize("line", LINES)
def test_everything_left_out_or_read_otherwise_has_a_line(model, line):
    assert any(line in note for note in model.encoder_.changes)
    assert line in model.summary()


def test_the_report_has_the_same_lines(model, frame, table):
    X = frame
    y = table["bad"] if hasattr(model, "classes_") else (table["bad"] == "yes") + 0.0
    page = render_report(model, X, y)
    for name in ("customer", "income", "opened", "town"):
        note = next(note for note in model.encoder_.changes if note.startswith(f"'{name}'"))
        assert note[:30].replace("'", "&#39;") in page or note[:30] in page


def test_a_file_keeps_the_readings(model, frame, tmp_path):
    X = frame
    model.save(tmp_path / "model.json")
    again = ecsel.load(tmp_path / "model.json")
    assert again.path_encoder_ == model.path_encoder_
    predict = "predict_proba" if hasattr(model, "classes_") else "predict"
    np.testing.assert_array_equal(getattr(again, predict)(X), getattr(model, predict)(X))


def test_one_row_is_read_as_all_rows_are(model, frame):
    X = frame
    predict = model.predict_proba if hasattr(model, "classes_") else model.predict
    np.testing.assert_array_equal(predict(X.iloc[[5]]), predict(X)[5:6])


def test_explanations_speak_of_plain_columns(model, frame):
    X = frame
    values = explain.shapley(model, X[:4], X[:20])
    assert values.feature_names == ModelView.of(model).raw_names
    more = explain.what_if(model, X[:3], add={"dti": -1.0})
    plain = ModelView.of(model).plain(X[:3])
    codes = plain["dti"].isin([-999])
    changed = plain.assign(dti=plain["dti"].where(codes, plain["dti"] - 1))
    np.testing.assert_allclose(more.values, ModelView.of(model).probabilities(changed), rtol=1e-12)


def test_a_row_may_be_a_dict_of_the_table_s_own_columns(model, frame):
    if not hasattr(model, "classes_"):
        pytest.skip("a regression has no decision to change")
    target = model.classes_[1 - list(model.classes_).index(model.predict(frame[2:3])[0])]
    by_table = explain.counterfactual(model, frame[2:3], target)
    by_dict = explain.counterfactual(model, frame.iloc[2].to_dict(), target)
    assert [each.changes for each in by_dict] == [each.changes for each in by_table]


def test_exports_agree_on_plain_columns_and_raw_levels(model, frame):
    X = frame
    plain = ModelView.of(model).plain(X).assign(use=X["use"], town=X["town"])
    program = {}
    source = export.to_python(model)
    exec(source, program)
    reported = [program["predict"](row) for row in plain.to_dict("records")]
    if hasattr(model, "classes_"):
        found = [row["probabilities"]["yes"] for row in reported]
        np.testing.assert_allclose(found, model.predict_proba(X)[:, 1], rtol=1e-9)
    else:
        np.testing.assert_allclose([row["prediction"] for row in reported], model.predict(X), rtol=1e-9)
    assert "#   'rate' is the number that the text of 'rate' holds" in source


@pytest.mark.parametrize("options", [[], ["--n-terms", "1", "--l1", "0.02"]], ids=["search", "paper"])
def test_the_command_line_finds_the_same_equations(options, table, tmp_path):
    path = tmp_path / "model.json"
    command = [sys.executable, "-c", "import sys; from ecsel.cli import main; sys.exit(main())", "fit", str(FILE)]
    command += ["-t", "bad", "--drop", "recoveries", "--holdout", "0", "--json", "-o", str(path), *options]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    found = json.loads(done.stdout)
    given = {"n_terms": 1, "l1": 0.02} if options else {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ColumnWarning)
        own = ECSELClassifier(drop=["recoveries"], random_state=0, **given).fit(table.drop(columns="bad"), table["bad"])
    assert ecsel.load(path).equations_ == own.equations_
    reported = " ".join(fact["text"] for fact in found["facts"])
    assert "'income' is text that is read as numbers" in reported
    assert "left out customer: looks like an identifier" in reported
    assert "--missing-codes none turns this off" in reported
    assert {"column": "recoveries", "why": "as asked"} in found["dropped"]
    assert "gender" in next(each["text"] for each in found["warnings"] if each["kind"] == "protected")
    narrow = tmp_path / "new.csv"
    table.drop(columns=["row", "customer", "branch", "remark", "recoveries", "bad"]).to_csv(narrow, index=False)
    command = [*command[:3], "predict", str(narrow), "-m", str(path), "--json"]
    reported = json.loads(subprocess.run(command, capture_output=True, text=True, check=True).stdout)
    expected = own.predict_proba(table.drop(columns="bad"))[:, 1]
    np.testing.assert_array_equal([row["probability_yes"] for row in reported["rows"]], expected)


def test_leaks_are_reported_before_the_fit(table):
    with pytest.warns(ColumnWarning, match="'recoveries' alone nearly tells the target"):
        ECSELClassifier(max_terms=1, keep=["customer"]).fit(table.drop(columns="bad"), table["bad"])


def test_the_summary_says_what_a_new_level_counts_as():
    rng = np.random.default_rng(0)
    town = np.array(["big"] * 300 + [f"village {i}" for i in range(100)])
    y = rng.random(400) < np.where(town == "big", 0.8, 0.2)
    model = ECSELClassifier(max_terms=1).fit(pd.DataFrame({"town": town, "x": rng.normal(size=400)}), y)
    assert "any other level of town counts as 'other'" in model.summary()


def test_readings_can_be_turned_off(table):
    X = table[["dti", "term", "rate", "use"]]
    model = ECSELClassifier(missing_codes=None, categorical=["term", "use"], max_terms=2).fit(X, table["bad"])
    path = model.path_encoder_
    assert path.columns[0].low == -999
    assert path.columns[1].levels == (" 36 months", " 60 months")
    assert "Car" in path.columns[3].levels


@pytest.mark.parametrize(
    "arguments",
    [
        ["explain", FILE, "--row", "3"],
        ["explain", FILE],
        ["what-if", FILE, "--row", "3", "--set", "rate=+20%"],
        ["counterfactual", FILE, "--row", "3"],
        ["compare", FILE, FILE],
        ["info", FILE, "--row", "3"],
    ],
    ids=lambda arguments: " ".join(map(str, arguments[::2])),
)
def test_every_command_takes_the_table_as_it_is(arguments, table, tmp_path):
    X = table.drop(columns=["bad", "recoveries"])
    options = {"n_terms": 1, "l1": 0.02} if arguments[0] != "info" else {"max_factors": 4}
    ECSELClassifier(**options).fit(X, table["bad"]).save(tmp_path / "model.json")
    command, *rest = map(str, arguments)
    model = [str(tmp_path / "model.json")] if command == "info" else ["-m", str(tmp_path / "model.json")]
    rest = [*model, *rest] if command == "info" else [*rest, *model]
    script = [sys.executable, "-c", "import sys; from ecsel.cli import main; sys.exit(main())"]
    done = subprocess.run([*script, command, *rest, "--json"], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    json.loads(done.stdout)


def test_the_only_column_is_kept_although_it_counts_rows():
    X = pd.DataFrame({"n": np.arange(200)})
    model = ECSELClassifier().fit(X, np.arange(200) > 90)
    assert model.encoder_.feature_names[0].startswith("n")
    assert any(
        "'n' looks like an identifier, but nothing else is left, so it is kept" in note for note in model.encoder_.notes
    )
    assert model.score(X, np.arange(200) > 90) > 0.95
