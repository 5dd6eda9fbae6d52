"""An exported program says what the model says; other options are one line."""

import runpy
import sqlite3

import pytest

from ecsel import export


def test_python_into_a_file(run, loans, model_file, model, tmp_path):
    path = tmp_path / "score.py"
    assert run("export", model_file, "--to", "python", "-o", path).stdout == ""
    predict = runpy.run_path(str(path))["predict"]
    row = loans.iloc[1]
    reported = predict(row.drop("bad").to_dict())["probabilities"]["yes"]
    assert reported == pytest.approx(model.predict_proba(loans.drop(columns="bad").iloc[[1]])[0, 1], abs=1e-9)
    assert list(tmp_path.iterdir()) == [path]


def test_sql_on_standard_output(run, run_json, springs, law_file):
    options = ["--dialect", "sqlite", "--table", "springs", "--keep", "stretch"]
    query = run("export", law_file, "--to", "sql", *options).stdout
    database = sqlite3.connect(":memory:")
    springs.to_sql("springs", database, index=False)
    for stretch, prediction in database.execute(query):
        (row,) = springs[springs["stretch"] == stretch].itertuples()
        assert prediction == pytest.approx(0.5 * row.stiffness * row.stretch**2)
    database.close()
    assert run_json("export", law_file, "--to", "sql", *options)["text"] == query


def test_every_format_of_the_library_is_offered(refused, model_file):
    line = refused("export", model_file, "--to", "fortran")
    formats = [name.removeprefix("to_") for name in export.__all__ if name.startswith("to_")]
    assert {"sql", "python"} <= set(formats)
    assert all(name in line for name in formats)


def test_wrong_options(refused, model_file, tmp_path):
    assert "--dialect means nothing for python" in refused("export", model_file, "--to", "python", "--dialect", "mysql")
    assert "--output" in refused("export", model_file, "--to", "onnx")
    assert "make it first" in refused("export", model_file, "--to", "c", "-o", tmp_path / "no" / "model.c")
