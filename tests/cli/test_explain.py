"""Contributions add up to the log odds of the model, for a row and for a table."""

import json

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_iris

from ecsel import ECSELClassifier, explain


def test_explain_one_row_adds_up_to_its_log_odds(run_json, run, loans_file, model_file, model, features):
    found = run_json("explain", loans_file, "-m", model_file, "--row", "3")["rows"][0]
    p = model.predict_proba(features.iloc[[2]])[0].max()
    assert found["row"] == 3
    assert found["margin"] == pytest.approx(np.log(p / (1 - p)), rel=1e-9)
    total = found["base"] + sum(each["contribution"] for each in found["contributions"])
    assert total == pytest.approx(found["margin"], abs=1e-12)
    text = run("explain", loans_file, "-m", model_file, "--row", "3").stdout
    assert "Row 3: predicted" in text
    assert "the centre of the training rows" in text  # those of the paper's model; no median, so not called typical
    assert "typical" not in text


def test_explain_a_table(run_json, run, loans_file, model_file, model, features, tmp_path):
    found = run_json("explain", loans_file, "-m", model_file, "--toward", "yes", "--top", "2")
    wanted = explain.reasons(model, features, 2, toward="yes")
    assert [tuple(row["reasons"]) for row in found["rows"]] == list(wanted.texts)
    assert found["importance"][0]["mean_size"] == pytest.approx(np.abs(wanted.values).mean(axis=0).max())
    assert "What drives the predictions for 240 rows" in run("explain", loans_file, "-m", model_file).stdout
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


def test_explain_three_classes_names_the_rival(run, run_json, tmp_path):
    table = load_iris(as_frame=True)
    names = [name.removesuffix(" (cm)").replace(" ", "_") for name in table.feature_names]
    X = table.data.set_axis(names, axis=1)
    y = table.target.map(dict(enumerate(table.target_names)))
    data, path = tmp_path / "iris.csv", tmp_path / "iris.json"
    X.assign(species=y).to_csv(data, index=False)
    model = ECSELClassifier(max_factors=4, cv=3).fit(X, y)
    model.save(path)
    for row in (1, 71, 150):
        p = dict(zip(model.classes_, model.predict_proba(X.iloc[[row - 1]])[0], strict=True))
        best, rival = sorted(p, key=p.get)[:-3:-1]
        text = run("explain", data, "-m", path, "--row", row).stdout
        assert f"In log-odds of {best} against {rival}, the likeliest other class" in text
        (found,) = run_json("explain", data, "-m", path, "--row", row)["rows"]
        assert (found["toward"], found["against"]) == (best, rival)
        assert found["margin"] == pytest.approx(np.log(p[best] / p[rival]))
        assert found["reasons"]
        assert all(f"log-odds of {best!r} against {rival!r}" in reason for reason in found["reasons"])
