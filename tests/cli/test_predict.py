"""Predictions are the model's to the last digit, in every format; other files are refused by name."""

import io

import numpy as np
import pandas as pd
import pytest

import ecsel


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
def test_wrong_options_of_predict(refused, loans_file, model_file, arguments, why):
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
