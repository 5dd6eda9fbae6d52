"""One table of loans, its files and its model, and a way to run commands as a person would."""

import json
import math

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

from ecsel import ECSELClassifier, ECSELRegressor
from ecsel.cli.app import app

QUICK = ["--terms", "1", "--l1", "0.01", "--holdout", "0"]


@pytest.fixture(scope="session")
def run():
    """Return the function that runs a command; it fails the test unless the exit code is the expected one."""

    def invoke(*arguments, code=0, stdin=None, width="200"):
        result = CliRunner().invoke(app, [str(a) for a in arguments], input=stdin, env={"COLUMNS": width})
        assert result.exit_code == code, (result.output, result.exception)
        return result

    return invoke


@pytest.fixture(scope="session")
def run_json(run):
    def invoke(*arguments, **options):
        return json.loads(run(*arguments, "--json", **options).stdout)

    return invoke


@pytest.fixture(scope="session")
def refused(run):
    """Return the function that runs a command which must end with one line, exit code 1 and no traceback."""

    def invoke(*arguments, code=1, stdin=None):
        result = run(*arguments, code=code, stdin=stdin)
        assert result.stdout == ""
        lines = result.stderr.splitlines()
        assert len(lines) == 1, lines
        assert "Traceback" not in lines[0]
        assert "Internal error" not in lines[0]
        return lines[0]

    return invoke


@pytest.fixture(scope="session")
def loans():
    rng = np.random.default_rng(0)
    n = 240
    frame = pd.DataFrame({
        "income": rng.lognormal(10, 0.5, n).round(2),
        "debt": rng.lognormal(8, 1, n).round(2),
        "age": rng.integers(20, 70, n),
        "home": rng.choice(["own", "rent", "mortgage"], n),
        "grade": rng.choice(["1", "2", "A"], n),
    })  # fmt: skip
    frame.loc[::17, "debt"] = np.nan
    z = 2 * np.log(frame["debt"].fillna(3000) / 3000) - np.log(frame["income"] / 22000) + (frame["home"] == "rent")
    frame["bad"] = np.where(z + rng.logistic(0, 0.7, n) > 0.5, "yes", "no")
    return frame


@pytest.fixture(scope="session")
def features(loans):
    return loans.drop(columns="bad")


@pytest.fixture(scope="session")
def loans_file(loans, tmp_path_factory):
    path = tmp_path_factory.mktemp("loans") / "loans.csv"
    loans.to_csv(path, index=False)
    return path


@pytest.fixture(scope="session")
def model(loans):
    return ECSELClassifier(n_terms=1, l1=0.01).fit(loans.drop(columns="bad"), loans["bad"])


@pytest.fixture(scope="session")
def save_model(tmp_path_factory):
    """Return the function that writes a model into a folder of its own."""

    def save(model, folder):
        path = tmp_path_factory.mktemp(folder) / "model.json"
        model.save(path)
        return path

    return save


@pytest.fixture(scope="session")
def model_file(model, save_model):
    return save_model(model, "model")


@pytest.fixture(scope="session")
def readable(loans):
    """Return the default model of the table: a sum of pieces of raw columns."""
    return ECSELClassifier(max_factors=5, cv=3).fit(loans.drop(columns="bad"), loans["bad"])


@pytest.fixture(scope="session")
def readable_file(readable, save_model):
    return save_model(readable, "readable")


@pytest.fixture(scope="session")
def evaluate():
    """Return the function that evaluates the text of an equation at named values: an evaluator of its own."""
    functions = {"log": math.log, "sqrt": math.sqrt}

    def of(text, values):
        for k, name in enumerate(sorted(values, key=len, reverse=True)):
            for spelling in (f"`{name}`", name):
                text = text.replace(spelling, f"<{k}>")
        for k, name in enumerate(sorted(values, key=len, reverse=True)):
            text = text.replace(f"<{k}>", f"({float(values[name])!r})")
        return eval(text, {"__builtins__": {}}, functions)

    return of


@pytest.fixture(scope="session")
def springs():
    """Return a table with a law: energy = stiffness·stretch²/2."""
    rng = np.random.default_rng(1)
    frame = pd.DataFrame(rng.uniform(1, 5, (60, 2)), columns=["stiffness", "stretch"])
    return frame.assign(energy=0.5 * frame["stiffness"] * frame["stretch"] ** 2 + rng.normal(0, 0.001, 60))


@pytest.fixture(scope="session")
def springs_file(springs, tmp_path_factory):
    path = tmp_path_factory.mktemp("springs") / "springs.csv"
    springs.to_csv(path, index=False)
    return path


@pytest.fixture(scope="session")
def law_file(springs, tmp_path_factory):
    path = tmp_path_factory.mktemp("law") / "law.json"
    ECSELRegressor().fit(springs[["stiffness", "stretch"]], springs["energy"]).save(path)
    return path
