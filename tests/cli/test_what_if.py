"""Changes that a person writes mean what the library computes."""

import io

import numpy as np
import pandas as pd
import pytest

from ecsel import Signomial, explain
from ecsel.cli.errors import CommandError
from ecsel.cli.what_if import parse_changes


@pytest.mark.filterwarnings("ignore::UserWarning")  # ages below the training range
def test_changes_are_the_library_s(run, loans, loans_file, model_file, model):
    text = run(
        "what-if", loans_file, "-m", model_file, "--set", "income=+20%", "--set", "age-=5", "--set", "home=own", "--csv"
    ).stdout
    frame = pd.read_csv(io.StringIO(text))
    X = loans.drop(columns="bad")
    wanted = explain.what_if(model, X, {"income": 1.2}, add={"age": -5}, set={"home": "own"})
    np.testing.assert_array_equal(frame["after"], wanted.probabilities[:, 1])
    assert frame["row"].tolist() == list(range(1, 241))


def test_one_row_in_words(run, run_json, loans_file, model_file):
    result = run("what-if", loans_file, "-m", model_file, "--row", "7", "-s", "debt*=100")
    assert "debt is multiplied by 100" in result.stdout
    assert "the decision" in result.stdout
    found = run_json("what-if", loans_file, "-m", model_file, "--row", "7", "-s", "debt=", "-s", "income=5e4")
    assert found["changes"] == ["debt is missing", "income is 5e4"]
    assert [row["row"] for row in found["rows"]] == [7]
    assert found["summary"]["n_rows"] == 1


def test_all_rows_in_words(run, loans_file, model_file, tmp_path):
    path = tmp_path / "after.csv"
    result = run("what-if", loans_file, "-m", model_file, "-s", "debt=+50%", "-o", path)
    assert "decisions that change" in result.stdout
    assert len(pd.read_csv(path)) == 240


def test_a_law(run_json, springs_file, law_file):
    found = run_json("what-if", springs_file, "-m", law_file, "--row", "1", "-s", "stretch=+100%")
    (row,) = found["rows"]
    assert row["after"] == pytest.approx(4 * row["before"], rel=1e-12)


@pytest.mark.parametrize(
    ("change", "why"),
    [
        ("nothing=1", "with a column of the model"),
        ("income", "write COLUMN=VALUE"),
        ("income=much", "holds numbers"),
        ("income=20%", "holds numbers"),
        ("home=boat", "'mortgage', 'own', 'rent'"),
        ("home+=1", "holds levels"),
        ("income*=-1", "positive"),
    ],
)
def test_wrong_changes_are_one_line(refused, loans_file, model_file, change, why):
    assert why in refused("what-if", loans_file, "-m", model_file, "--row", "1", "--set", change)


def test_changing_twice_and_rows_that_are_not_there(refused, loans_file, model_file):
    command = ["what-if", loans_file, "-m", model_file]
    assert "twice" in refused(*command, "-s", "debt=1", "-s", "debt+=2")
    assert "no row 241" in refused(*command, "-s", "debt=1", "--row", "241")


def test_names_with_signs_in_them():
    names = ["a", "a=b", "a+"]
    view = explain.ModelView.of_equations(Signomial.parse("a") * Signomial.parse("col('a=b')*col('a+')"), names)
    assert parse_changes(["a=b=2"], view).new_values == {"a=b": 2}
    assert parse_changes(["a+=3"], view).new_values == {"a+": 3}
    assert parse_changes(["a-=3"], view).amounts == {"a": -3}
    with pytest.raises(CommandError):
        parse_changes(["b=1"], view)
