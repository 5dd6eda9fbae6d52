"""Commands that use a model say what the library says, in every format."""

import io
import json

import numpy as np
import pandas as pd
import pytest

import ecsel
from ecsel import explain


@pytest.fixture
def features(loans):
    return loans.drop(columns="bad")


def test_predict_csv_is_the_model_to_the_last_digit(run, loans_file, model_file, model, features):
    frame = pd.read_csv(io.StringIO(run("predict", loans_file, "-m", model_file, "--csv").stdout))
    assert list(frame.columns) == ["row", "prediction", "probability_no", "probability_yes"]
    np.testing.assert_array_equal(frame[["probability_no", "probability_yes"]], model.predict_proba(features))
    np.testing.assert_array_equal(frame["prediction"], model.predict(features))


def test_predict_json_and_stdin_and_order_of_columns(run_json, loans, model_file, model, features):
    shuffled = loans[loans.columns[::-1]].assign(extra=1).to_csv(index=False)
    found = run_json("predict", "-", "-m", model_file, stdin=shuffled)
    assert [row["row"] for row in found["rows"]] == list(range(1, 241))
    assert [row["probability_yes"] for row in found["rows"]] == model.predict_proba(features)[:, 1].tolist()


@pytest.mark.parametrize("suffix", ["csv", "parquet", "xlsx", "json", "tsv.gz"])
def test_predict_writes_files(run, loans_file, model_file, model, features, tmp_path, suffix):
    from ecsel.cli.reading import read_file

    path = tmp_path / f"answers.{suffix}"
    result = run("predict", loans_file, "-m", model_file, "-o", path, "--with-data")
    assert result.stdout == ""
    frame = read_file(str(path)).frame
    assert frame["prediction"].tolist() == model.predict(features).tolist()
    assert frame["home"].tolist() == features["home"].tolist()
    assert list(tmp_path.iterdir()) == [path]


def test_predict_shows_the_first_rows_to_people(run, loans_file, model_file):
    result = run("predict", loans_file, "-m", model_file)
    assert len(result.stdout.splitlines()) == 21
    assert "first 20 of 240" in result.stderr
    assert run("predict", loans_file, "-m", model_file, "--quiet").stderr == ""


def test_levels_that_look_like_numbers_are_levels(run, loans, model_file, model, tmp_path):
    """A file in which every grade is 1 reads as numbers, but the model knows better."""
    one = loans[loans["grade"] == "1"]
    path = tmp_path / "ones.csv"
    one.to_csv(path, index=False)
    frame = pd.read_csv(io.StringIO(run("predict", path, "-m", model_file, "--csv").stdout))
    np.testing.assert_array_equal(frame["probability_yes"], model.predict_proba(one.drop(columns="bad"))[:, 1])


def test_rows_unlike_training_are_noted_once(run, loans, model_file):
    strange = loans.head(3).assign(income=1.0, home="boat").to_csv(index=False)
    result = run("predict", "-", "-m", model_file, "--csv", stdin=strange)
    assert result.stderr.count("'income'") == 1
    assert "'boat'" in result.stderr


def test_predict_interval_of_a_law(run, springs_file, law_file, springs):
    frame = pd.read_csv(io.StringIO(run("predict", springs_file, "-m", law_file, "--csv", "--interval", "0.9").stdout))
    bounds = ecsel.load(law_file).predict_interval(springs[["stiffness", "stretch"]], 0.9)
    np.testing.assert_array_equal(frame[["low", "high"]], bounds)


@pytest.mark.parametrize(
    ("arguments", "why"),
    [
        (["-o", "answers.doc"], "choose one of these endings"),
        (["-o", "no/answers.csv"], "make it first"),
        (["--interval", "0.9"], "for laws"),
        (["--delimiter", "ab"], "one character"),
    ],
)
def test_wrong_wishes_of_predict(refused, loans_file, model_file, arguments, why):
    assert why in refused("predict", loans_file, "-m", model_file, *arguments)


def test_missing_columns_are_named(refused, loans, model_file):
    lacking = loans.rename(columns={"income": "Income"}).to_csv(index=False)
    assert "lacks the column 'income'" in refused("predict", "-", "-m", model_file, stdin=lacking)
    assert "(it has 'Income')" in refused("explain", "-", "-m", model_file, stdin=lacking)


def test_text_where_numbers_were_is_named(refused, loans, model_file):
    broken = loans.astype({"income": object})
    broken.loc[2, "income"] = "a lot"
    assert "'income'" in refused("predict", "-", "-m", model_file, stdin=broken.to_csv(index=False))


@pytest.mark.parametrize("content", ["{}", '{"a": 1}', "[1]", "not json", "", '{"schema": "ecsel'])
def test_other_json_is_no_model(refused, loans_file, tmp_path, content):
    path = tmp_path / "other.json"
    path.write_text(content, encoding="utf-8")
    for command in (["predict", loans_file, "-m", path], ["info", path], ["explain", loans_file, "-m", path]):
        assert "is not a model file of ecsel" in refused(*command)


def test_a_model_that_is_not_there(refused, loans_file, tmp_path):
    assert "no such model file" in refused("info", tmp_path / "none.json")
    assert "is a folder" in refused("predict", loans_file, "-m", tmp_path)


def test_explain_one_row_adds_up_to_its_log_odds(run_json, run, loans_file, model_file, model, features):
    found = run_json("explain", loans_file, "-m", model_file, "--row", "3")["rows"][0]
    p = model.predict_proba(features.iloc[[2]])[0].max()
    assert found["row"] == 3
    assert found["margin"] == pytest.approx(np.log(p / (1 - p)), rel=1e-9)
    total = found["base"] + sum(each["contribution"] for each in found["contributions"])
    assert total == pytest.approx(found["margin"], abs=1e-12)
    text = run("explain", loans_file, "-m", model_file, "--row", "3").stdout
    assert "Row 3: predicted" in text
    assert "typical row" in text


def test_explain_a_table(run_json, run, loans_file, model_file, model, features, tmp_path):
    found = run_json("explain", loans_file, "-m", model_file, "--toward", "yes", "--top", "2")
    wanted = explain.reasons(model, features, 2, toward="yes")
    assert [tuple(row["reasons"]) for row in found["rows"]] == list(wanted.texts)
    assert found["importance"][0]["mean_size"] == pytest.approx(np.abs(wanted.values).mean(axis=0).max())
    assert "What drives 240 rows" in run("explain", loans_file, "-m", model_file).stdout
    path = tmp_path / "reasons.csv"
    run("explain", loans_file, "-m", model_file, "-o", path)
    assert list(pd.read_csv(path).columns) == ["row", "rank", "toward", "feature", "contribution", "reason"]


def test_explain_a_row_from_json_on_stdin(run_json, loans, model_file):
    row = json.dumps(json.loads(loans.head(1).to_json(orient="records"))[0])
    assert run_json("explain", "-", "-m", model_file, stdin=row)["rows"][0]["row"] == 1


def test_explain_a_law(run_json, run, refused, springs_file, law_file):
    found = run_json("explain", springs_file, "-m", law_file, "--row", "1")["rows"][0]
    total = found["base"] + sum(each["contribution"] for each in found["contributions"])
    assert total == pytest.approx(found["margin"]) == pytest.approx(found["prediction"])
    assert "a law" in refused("explain", "-", "-m", law_file, stdin='{"stiffness": 1, "stretch": 2}')
    assert "--toward" in refused("explain", springs_file, "-m", law_file, "--toward", "x")
    assert "predicted" in run("explain", springs_file, "-m", law_file).stdout


def test_info_has_the_exact_equations(run, run_json, model_file, law_file, model):
    found = run_json("info", model_file)
    assert ecsel.Signomial.parse(found["equations"][0]["equation"]) == model.equations_["yes"]
    assert {c["name"]: c["kind"] for c in found["columns"]}["home"] == "categorical"
    text = run("info", model_file).stdout
    for wanted in ("score of yes", "mortgage, own, rent", "Predicts yes"):
        assert wanted in text
    assert "KKT" in run("info", model_file, "--verbose").stdout
    assert run("info", law_file, "--quiet").stdout == "prediction\t0.5*stiffness*stretch**2\n"
    assert "stiffness" in run("info", law_file).stdout


def test_compare_finds_what_moved(run_json, run, loans, loans_file, model_file, tmp_path):
    moved = tmp_path / "moved.csv"
    loans.assign(debt=loans["debt"] * 3).to_csv(moved, index=False)
    found = run_json("compare", loans_file, moved, "-m", model_file)
    drift = {each["name"]: each for each in found["drift"]}
    assert drift["debt"]["meaning"] == "moved"
    assert drift["income"]["psi"] == 0
    assert found["drift"][0] == drift["probability of yes"]
    assert drift["probability of yes"]["psi"] > 0.1
    same = run_json("compare", loans_file, loans_file, "-m", model_file)
    assert {each["psi"] for each in same["drift"]} == {0}
    run("compare", loans_file, moved, "-m", model_file, "--fail-above", "0.25", code=3)
    run("compare", loans_file, loans_file, "-m", model_file, "--fail-above", "0.25")
    assert "bin" in run("compare", loans_file, moved, "-m", model_file, "--verbose").stdout


def test_compare_without_a_model_and_of_a_law(run_json, refused, loans_file, springs_file, law_file):
    assert {each["name"] for each in run_json("compare", loans_file, loans_file)["drift"]} >= {"bad", "home"}
    assert run_json("compare", springs_file, springs_file, "-m", law_file)["drift"][0]["name"] == "prediction"
    assert "no column in common" in refused("compare", loans_file, springs_file)
