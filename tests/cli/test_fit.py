"""`ecsel fit` writes the model that the library would fit, and tells what it saw."""

import numpy as np
import pandas as pd
import pytest

import ecsel

QUICK = ["--terms", "1", "--l1", "0.01", "--holdout", "0"]


@pytest.fixture
def odd_file(loans, tmp_path):
    """Return loans with everything that asks for a word: an identifier, a leak, a rare class, a constant."""
    n = len(loans)
    frame = loans.assign(loan_id=range(1000, 1000 + n), country="NL", region=np.arange(n) % 4)
    frame["note"] = [f"n{i}" for i in range(n)]
    frame["collected"] = np.where(frame["bad"] == "yes", 100.0, 0.0) + np.arange(len(frame)) % 7
    frame.loc[:1, "bad"] = None
    frame.loc[2:4, "bad"] = "unknown"
    path = tmp_path / "odd.csv"
    frame.to_csv(path, index=False)
    return path


def test_writes_the_model_of_the_library(run, loans, loans_file, model, tmp_path):
    path = tmp_path / "model.json"
    result = run("fit", loans_file, "--target", "bad", "-o", path, *QUICK)
    written = ecsel.load(path)
    assert written.equations_ == model.equations_
    np.testing.assert_array_equal(written.predict(loans.drop(columns="bad")), model.predict(loans.drop(columns="bad")))
    for wanted in ("classification", "no: ", "score of yes", "Strongest drivers", "missing values: debt", str(path)):
        assert wanted in result.stdout
    assert list(tmp_path.iterdir()) == [path]


def test_is_evaluated_on_held_out_rows_beside_rivals(run_json, loans_file):
    found = run_json("fit", loans_file, "--target", "bad", "--terms", "1", "--l1", "0.01")
    assert found["rows"] == {"read": 240, "without_target": 0, "incomplete": 0, "fitted": 240, "held_out": 60}
    assert [q["model"] for q in found["quality"]][:2] == ["ECSEL", "logistic regression"]
    assert all(0.6 < q["auc"] <= 1 and q["log_loss"] < 0.7 for q in found["quality"][:2])
    assert found["drivers"][0]["column"] == "debt"
    assert "high values speak for yes" in found["drivers"][0]["text"]
    assert found["output"] is None


def test_everything_odd_is_reported(run_json, odd_file):
    found = run_json("fit", odd_file, "--target", "bad", *QUICK)
    dropped = {each["column"]: each["why"] for each in found["dropped"]}
    assert set(dropped) == {"loan_id", "country", "note"}
    assert "identifier" in dropped["loan_id"]
    assert found["rows"]["without_target"] == 2
    kinds = {each["kind"]: each["text"] for each in found["warnings"]}
    assert "unknown (3)" in kinds["tiny_class"]
    facts = {each["kind"] for each in found["facts"]}
    assert {"task", "classes", "columns", "dropped", "missing"} <= facts


def test_a_leak_is_suspected_and_can_be_dropped(run_json, odd_file, tmp_path):
    frame = pd.read_csv(odd_file)
    path = tmp_path / "leak.csv"
    frame[frame["bad"].isin(["yes", "no"])].to_csv(path, index=False)
    warned = {each["kind"]: each["text"] for each in run_json("fit", path, "-t", "bad", *QUICK)["warnings"]}
    assert "'collected' alone nearly tells the target" in warned["leakage"]
    again = run_json("fit", path, "-t", "bad", "--drop", "collected", *QUICK)
    assert "leakage" not in {each["kind"] for each in again["warnings"]}
    assert {"column": "collected", "why": "as asked"} in again["dropped"]


def test_columns_can_be_kept_and_be_categories(run_json, odd_file):
    found = run_json("fit", odd_file, "-t", "bad", "--keep", "loan_id", "--categorical", "region", *QUICK)
    columns = {each["name"]: each["kind"] for each in found["model"]["columns"]}
    assert columns["loan_id"] == "numeric"
    assert columns["region"] == "categorical"


def test_options_reach_the_model(run, loans_file, tmp_path):
    path = tmp_path / "model.json"
    more = ["--threshold", "f1", "--class-weight", "balanced", "--increasing", "debt", "--decreasing", "income"]
    run("fit", loans_file, "-t", "bad", "-o", path, *QUICK, *more)
    model = ecsel.load(path)
    assert model.monotone == {"debt": 1, "income": -1}
    assert model.class_weight == "balanced"
    assert model.threshold_ != 0.5


def test_quiet_prints_the_equations_alone(run, loans_file, model):
    result = run("fit", loans_file, "-t", "bad", "--quiet", *QUICK)
    assert result.stdout == f"yes\t{model.equations_['yes']}\n"
    assert result.stderr == ""


def test_verbose_tells_stages_and_details(run, loans_file):
    result = run("fit", loans_file, "-t", "bad", "--verbose", *QUICK)
    assert "fitting all 240 rows" in result.stderr
    assert "KKT residual" in result.stdout


SEARCH = ["--max-factors", "4", "--holdout", "0"]


def test_the_default_is_a_readable_equation_with_its_front(run, loans, loans_file, tmp_path):
    path = tmp_path / "model.json"
    text = run("fit", loans_file, "-t", "bad", "-o", path, *SEARCH).stdout
    model = ecsel.load(path)
    direct = ecsel.ECSELClassifier(max_factors=4, random_state=0).fit(loans.drop(columns="bad"), loans["bad"])
    assert model.equations_ == direct.equations_
    assert model.encoder_.is_raw
    n = sum(equation.n_factors for equation in model.equations_.values())
    loss = next(candidate.loss for candidate in model.path_ if candidate.size == n)
    assert f"{n} factors: log-loss {loss:.3f} on held-out folds" in text
    assert "log-odds of yes =" in text
    assert "What each piece does to the odds of yes" in text
    assert f"ecsel info {path} {loans_file} --row 1" in text
    for gone in ("positive scale", "linear in the logs", "column=?", "col("):
        assert gone not in text


def test_another_size_of_the_front_can_be_selected(run_json, refused, loans_file):
    found = run_json("fit", loans_file, "-t", "bad", *SEARCH, "--select", "2")["model"]
    assert found["n_factors"] == max(p["n_factors"] for p in found["front"] if p["n_factors"] <= 2)
    assert "number of factors" in refused("fit", loans_file, "-t", "bad", *SEARCH, "--select", "best")
    assert "is for a quantity" in refused("fit", loans_file, "-t", "bad", *SEARCH, "--criterion", "law")


def test_options_of_the_search_reach_it(run_json, loans_file, tmp_path):
    path = tmp_path / "model.json"
    more = ["--max-terms", "2", "--digits", "0", "--thresholds", "--time-limit", "60", "-o", path]
    found = run_json("fit", loans_file, "-t", "bad", *SEARCH, *more)["model"]
    model = ecsel.load(path)
    assert (model.max_factors, model.max_terms, model.digits, model.thresholds) == (4, 2, None, True)
    assert found["n_terms"] <= 2
    assert run_json("fit", loans_file, "-t", "bad", *SEARCH, "--n-terms", "3")["model"]["n_terms"] == 3


def test_options_of_another_model_are_refused(refused, loans_file, springs_file):
    assert "--n-terms" in refused("fit", loans_file, "-t", "bad", "--l1", "0.1")
    assert "--max-factors is for classes" in refused("fit", springs_file, "-t", "energy", "--max-factors", "3")
    assert "--threshold is for classes" in refused("fit", springs_file, "-t", "energy", "--threshold", "0.3")
    assert "law or prediction" in refused("fit", springs_file, "-t", "energy", "--criterion", "best")


def test_a_quantity_gets_a_law(run_json, springs_file, tmp_path):
    path = tmp_path / "law.json"
    found = run_json("fit", springs_file, "--target", "energy", "-o", path)
    assert found["task"] == "regression"
    assert ecsel.load(path).equation_ == ecsel.Signomial.parse("0.5*stiffness*stretch**2")
    assert [q["model"] for q in found["quality"]][:2] == ["ECSEL", "linear regression"]
    assert found["quality"][0]["r2"] > 0.999 > found["quality"][1]["r2"]
    assert {each["column"] for each in found["drivers"]} == {"stiffness", "stretch"}


def test_the_old_name_of_the_criterion_still_works(run, springs_file):
    reported = run("fit", springs_file, "-t", "energy", "--select", "law")
    assert "--select law is now --criterion law" in reported.stdout + reported.stderr
    assert "stretch" in reported.stdout


def test_a_prediction_takes_text_and_missing_values(run, run_json, refused, springs, tmp_path):
    rng = np.random.default_rng(0)
    frame = springs.assign(colour=rng.choice(["red", "blue"], 60))
    frame["energy"] += 30 * (frame["colour"] == "red") + rng.normal(0, 2, 60)
    frame.loc[::7, "stretch"] = np.nan
    path, model = tmp_path / "springs.csv", tmp_path / "model.json"
    frame.to_csv(path, index=False)
    arguments = ["fit", path, "-t", "energy", "--holdout", "0", "--max-factors", "4"]
    text = run(*arguments, "--criterion", "prediction", "-o", model).stdout
    fitted = ecsel.load(model)
    assert "[colour = " in str(fitted.equation_)
    assert "root mean squared error" in text
    row = fitted.predict(frame.drop(columns="energy").head(1))[0]
    assert run_json("info", model, path, "--row", 1)["example"]["prediction"] == pytest.approx(row)
    assert run_json("explain", path, "-m", model, "--row", "1")["rows"][0]["prediction"] == pytest.approx(row)
    assert "a prediction of a number" in run("info", model).stdout
    fewer = run_json(*arguments, "--select", "1")["model"]
    assert fewer["n_factors"] == 1
    assert all(point["rmse"] > 0 for point in fewer["front"])
    assert "--criterion prediction takes it" in refused(*arguments)
    page = tmp_path / "page.html"
    run("report", path, "-t", "energy", "-m", model, "-o", page)
    assert "One row by hand" in page.read_text(encoding="utf-8")


def test_a_law_leaves_out_text_and_incomplete_rows_and_says_so(run_json, springs, tmp_path):
    path = tmp_path / "springs.csv"
    frame = springs.assign(
        colour=["red", "blue"] * 30, late=pd.to_datetime("2020-01-01") + pd.to_timedelta(range(60), "D")
    )
    frame.loc[3, "stretch"] = np.nan
    frame.to_csv(path, index=False)
    found = run_json("fit", path, "-t", "energy", "--holdout", "0")
    assert {each["column"] for each in found["dropped"]} == {"colour"}
    assert any("'late' is a date" in each["text"] for each in found["facts"])
    assert found["rows"]["incomplete"] == 1


def test_the_task_can_be_overridden(run_json, springs, tmp_path):
    path = tmp_path / "few.csv"
    springs.assign(energy=(springs["energy"] // 20).astype(int)).to_csv(path, index=False)
    assert run_json("fit", path, "-t", "energy", *QUICK)["task"] == "classification"
    assert run_json("fit", path, "-t", "energy", "--holdout", "0", "--task", "regression")["task"] == "regression"


@pytest.mark.parametrize(
    ("arguments", "why"),
    [
        (["--target", "Bad"], "did you mean 'bad'?"),
        (["--target", "nothing"], "its columns are income, debt"),
        (["--target", "bad", "--drop", "nothing"], "--drop"),
        (["--target", "bad", "--drop", "bad"], "cannot be the target"),
        (["--target", "income", "--task", "classification"], "too many for classes"),
        (["--target", "bad", "--task", "regression"], "holds text"),
        (["--target", "bad", "--threshold", "best", "--quiet", *QUICK], "threshold"),
        (["--target", "bad", "--increasing", "nothing", "--quiet", *QUICK], "nothing"),
    ],
)
def test_wrong_options_are_one_line(refused, loans_file, arguments, why):
    assert why in refused("fit", loans_file, *arguments)


def test_a_target_of_one_value_or_none_is_refused(refused, tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("x,same,none\n1,a,\n2,a,\n3,a,\n", encoding="utf-8")
    assert "only one value" in refused("fit", path, "-t", "same")
    assert "no value in any row" in refused("fit", path, "-t", "none")


def test_nothing_to_learn_from_is_refused(refused, tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("x,y\n5,a\n5,b\n5,a\n", encoding="utf-8")
    assert "nothing left to learn from" in refused("fit", path, "-t", "y")


def test_a_tiny_table_is_fitted_without_a_fuss(run, tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("x,y\n" + "".join(f"{i},{'ab'[i > 5]}\n" for i in range(12)), encoding="utf-8")
    result = run("fit", path, "-t", "y", "--terms", "1", "--l1", "0.05")
    assert "too few rows" in result.stdout


def test_an_unwritable_place_is_refused_before_the_work(refused, loans_file, tmp_path):
    assert "make it first" in refused("fit", loans_file, "-t", "bad", "-o", tmp_path / "no" / "m.json")
    assert "is a folder" in refused("fit", loans_file, "-t", "bad", "-o", tmp_path)


def test_usage_errors_are_one_line_with_code_2(refused, loans_file):
    assert "--target" in refused("fit", loans_file, code=2)
    assert "ecsel fit --help" in refused("fit", loans_file, "-t", "bad", "--task", "guess", code=2)
    assert "No such command" in refused("fitt", code=2)


def test_a_threshold_of_three_classes_is_refused_at_once(refused, loans, tmp_path):
    path = tmp_path / "loans.csv"
    loans.to_csv(path, index=False)
    message = refused("fit", path, "-t", "home", "--threshold", "f1")
    assert "--threshold is for two classes, but 'home' has 3" in message
