import base64
import hashlib
import json
import re
import sys

import numpy as np
import pandas as pd
import polars as pl
import pytest

from ecsel import ECSELClassifier, ECSELRegressor, Signomial
from ecsel.report import render_report, write_report
from ecsel.report import script as script_module
from ecsel.report.script import contribution_method


def test_the_same_model_gives_the_same_page(loan_case):
    again = render_report(
        loan_case.model,
        loan_case.X,
        loan_case.y,
        X_test=loan_case.X_test,
        y_test=loan_case.y_test,
        **loan_case.options,
    )
    assert again == loan_case.html


def test_the_policy_names_the_one_style_and_the_one_script(case):
    policy = re.search(r'http-equiv="Content-Security-Policy" content="([^"]*)"', case.html)[1].replace("&#39;", "'")
    assert policy.startswith("default-src 'none'; ")
    assert "unsafe" not in policy
    for tag in ("style", "script"):
        content = re.search(rf"<{tag}>(.*?)</{tag}>", case.html, re.DOTALL)[1]
        digest = base64.b64encode(hashlib.sha256(content.encode()).digest()).decode()
        assert f"{tag}-src 'sha256-{digest}'" in policy


def test_nothing_is_loaded_from_anywhere(case):
    page = re.sub(r"http://www\.w3\.org/2000/svg", "", case.html)
    assert "http://" not in page
    assert "https://" not in page
    assert "@import" not in page
    assert re.findall(r"\ssrc=", page.replace("img src=x", "")) == []


def test_names_never_stand_in_the_page_as_markup(hostile_case):
    assert "<script>window.hacked" not in hostile_case.html
    assert "<img" not in hostile_case.html
    assert hostile_case.html.count("<script") == 2
    assert hostile_case.html.count("</script>") == 2


def test_the_island_is_json(case):
    island = json.loads(re.search(r'type="application/json">(.*?)</script>', case.html, re.DOTALL)[1])
    assert [control["name"] for control in island["controls"]] == [
        case.evidence.view.raw_names[j] for j in case.evidence.used
    ]


def test_a_file_is_written_whole(loan_case, tmp_path):
    path = tmp_path / "report.html"
    path.write_text("old")
    with pytest.raises(ValueError, match="y must have one outcome per row"):
        write_report(loan_case.model, path, loan_case.X, loan_case.y[:5])
    assert path.read_text() == "old"
    X, y = loan_case.X, loan_case.y
    assert write_report(loan_case.model, str(path), X, y) == path
    assert path.read_text(encoding="utf-8") == render_report(loan_case.model, X, y)
    assert list(tmp_path.iterdir()) == [path]


def test_arrays_and_other_frames_are_reported(loan_case):
    X, y = loan_case.X[["income", "age"]], (loan_case.y == "repaid").to_numpy()
    array = X.to_numpy()
    page = render_report(ECSELClassifier(n_terms=1, l1=0.001).fit(array, y), array, y, group="x1")
    assert "x0" in page
    frame = pl.DataFrame({"income": X["income"].tolist(), "age": X["age"].tolist()})
    page = render_report(ECSELClassifier(n_terms=1, l1=0.001).fit(frame, y), frame, pl.Series("ok", y))
    assert "This model predicts ok (False or True)" in page


def test_a_model_without_a_column_is_reported():
    X = pd.DataFrame({"x": np.arange(40.0), "y": np.arange(40.0)[::-1]})
    y = np.array(["no", "yes"] * 20)
    model = ECSELClassifier(n_terms=1, l1=10.0).fit(X, y)
    assert all(not equation.names for equation in model.equations_.values())
    assert "does not use these columns, so they change nothing: x, y." in render_report(model, X, y)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_five_thousand_rows_fit_into_two_megabytes():
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.lognormal(0, 1, (5000, 25)), columns=[f"measurement {j}" for j in range(25)])
    y = np.log(X.to_numpy()) @ rng.normal(0, 0.4, 25) + rng.logistic(size=5000) > 0
    model = ECSELClassifier(n_terms=1, l1=1e-4).fit(X, y)
    page = render_report(model, X, y)
    assert len(page.encode()) < 2_000_000
    island = json.loads(re.search(r'type="application/json">(.*?)</script>', page, re.DOTALL)[1])
    assert len(island["sample"]["labels"]) > 4000


def test_long_contributions_give_way_to_first_order_ones(loan_case, monkeypatch):
    assert contribution_method(loan_case.evidence.view) == "shapley"
    monkeypatch.setattr(script_module, "MAX_FACTORS", 10)
    assert contribution_method(loan_case.evidence.view) == "attribution"


def test_what_cannot_be_reported_is_refused(loan_case, law_case):
    X, y, model = loan_case.X, loan_case.y, loan_case.model
    with pytest.raises(TypeError, match="needs a fitted ECSELClassifier or ECSELRegressor, not Signomial"):
        render_report(Signomial.parse("x"), X, y)
    with pytest.raises(ValueError, match="X_test and y_test belong together"):
        render_report(model, X, y, X_test=X)
    with pytest.raises(ValueError, match="y has the label 'late', which is none of the classes"):
        render_report(model, X, y.replace("repaid", "late"))
    with pytest.raises(ValueError, match="has no column 'gender'"):
        render_report(model, X, y, immutable=["gender"])
    with pytest.raises(ValueError, match="a wrong decision must cost more"):
        render_report(model, X, y, costs=[[1, 0], [0, 1]])
    with pytest.raises(ValueError, match="costs are for two classes, but the model is a regression"):
        render_report(law_case.model, law_case.X, law_case.y, costs=[[0, 1], [1, 0]])
    with pytest.raises(ValueError, match="sample_rows=-1 must not be negative"):
        render_report(model, X, y, sample_rows=-1)
    with pytest.raises(ValueError, match="y must be finite"):
        render_report(law_case.model, law_case.X, law_case.y * np.nan)


def test_a_law_that_is_a_constant_is_reported():
    rng = np.random.default_rng(0)
    X, y = pd.DataFrame({"x": rng.uniform(1, 2, 30)}), rng.normal(5, 1, 30)
    model = ECSELRegressor(form="a").fit(X, y)
    assert "does not use these columns, so they change nothing: x." in render_report(model, X, y)


def test_without_jinja2_the_message_names_the_extra(loan_case, monkeypatch):
    monkeypatch.setitem(sys.modules, "jinja2", None)
    with pytest.raises(ImportError, match=r'a report needs jinja2: pip install "ecsel\[report\]"'):
        render_report(loan_case.model, loan_case.X, loan_case.y)
