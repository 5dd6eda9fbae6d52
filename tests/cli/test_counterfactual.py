"""Answers reach the goal, respect the options, and are told in three ways."""

import io
import re

import pandas as pd
import pytest


@pytest.fixture(scope="module")
def bad_row(loans, model):
    return int((model.predict(loans.drop(columns="bad")) == "yes").argmax()) + 1


def test_answers_are_confirmed_by_the_model(run_json, loans_file, loans, model_file, model, bad_row):
    found = run_json("counterfactual", loans_file, "-m", model_file, "--row", bad_row)
    assert found["row"] == bad_row
    assert found["answers"]
    for answer in found["answers"]:
        row = pd.DataFrame([answer["row"]])[list(loans.columns.drop("bad"))]
        row = row.astype({"debt": float})
        assert model.predict(row)[0] == answer["prediction"] == "no"


def test_options_are_respected(run_json, loans_file, model_file, bad_row):
    options = [
        "--fixed",
        "debt",
        "--fixed",
        "home",
        "--increase",
        "income",
        "--range",
        "income=0:1e6",
        "--target",
        "no",
    ]
    for answer in run_json("counterfactual", loans_file, "-m", model_file, "-r", bad_row, *options)["answers"]:
        changed = {each["column"] for each in answer["changes"]}
        assert not changed & {"debt", "home"}


def test_nobody_is_asked_to_change_their_age(run, run_json, loans_file, model_file, bad_row):
    ask = ("counterfactual", loans_file, "-m", model_file, "-r", bad_row)
    for answer in run_json(*ask, "-n", "5")["answers"]:
        assert "age" not in {each["column"] for each in answer["changes"]}
    assert "Not changed: age." in run(*ask).stderr
    assert "Not changed" not in run(*ask, "--increase", "age").stderr


def test_words_and_csv(run, loans_file, model_file, bad_row):
    text = run("counterfactual", loans_file, "-m", model_file, "-r", bad_row).stdout
    assert f"Row {bad_row} is predicted yes" in text
    assert "goes from" in text
    frame = pd.read_csv(io.StringIO(run("counterfactual", loans_file, "-m", model_file, "-r", bad_row, "--csv").stdout))
    assert set(frame["prediction"]) == {"no"}


def test_a_goal_out_of_reach_and_one_already_reached(run, loans_file, model_file, bad_row):
    fixed = [word for name in ("income", "debt", "age", "home", "grade") for word in ("--fixed", name)]
    assert "No change" in run("counterfactual", loans_file, "-m", model_file, "-r", bad_row, *fixed).stdout
    assert "as it is" in run("counterfactual", loans_file, "-m", model_file, "-r", bad_row, "--target", "yes").stdout


def test_a_law(run_json, refused, springs_file, law_file):
    command = ["counterfactual", springs_file, "-m", law_file, "--row", "1"]
    answers = run_json(*command, "--target", "40:")["answers"]
    assert all(answer["prediction"] >= 40 for answer in answers)
    assert answers
    assert "10:20" in refused(*command)
    assert "LOW:HIGH" in refused(*command, "--target", "forty")


@pytest.mark.parametrize(
    ("arguments", "why"),
    [
        ([], "choose one with --row"),
        (["--row", "9999"], "no row 9999"),
        (["--row", "1", "--target", "maybe"], "no class 'maybe'"),
        (["--row", "1", "--fixed", "nothing"], "nothing"),
        (["--row", "1", "--range", "income"], "COLUMN=LOW:HIGH"),
        (["--row", "1", "--range", "income=a:b"], "LOW:HIGH"),
        (["--row", "1", "--probability", "2"], "between 0 and 1"),
    ],
)
def test_wrong_options_are_one_line(refused, loans_file, model_file, arguments, why):
    assert why in refused("counterfactual", loans_file, "-m", model_file, *arguments)


def test_the_printed_change_is_the_one_that_was_confirmed(run, loans, loans_file, readable_file, readable, features):
    """All digits of a number are printed: a rounded one might stop short of the other decision."""
    text = run("counterfactual", loans_file, "-m", readable_file, "--row", "4").stdout
    row = features.iloc[[3]]
    before = readable.predict(row)[0]
    answers = re.split(r"^\d+\. ", text, flags=re.MULTILINE)[1:]
    assert answers
    for answer in answers:
        changed = row.copy()
        for name, value in re.findall(r"^   (\w+) goes from .+ to (.+)$", answer, flags=re.MULTILINE):
            changed[name] = float(value) if pd.api.types.is_numeric_dtype(loans[name]) else value
        assert readable.predict(changed)[0] != before
