"""A study: its figures are those of unseen rows, its model that of all rows, whatever library the table comes from."""

import warnings

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.metrics import log_loss, r2_score

import ecsel
from ecsel import ECSELClassifier, ECSELRegressor, Study

MODEL = ECSELClassifier(max_factors=2, cv=3, random_state=0)


@pytest.fixture(scope="module")
def loans():
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"age": rng.integers(18, 80, 240).astype(float), "debt": rng.gamma(2.0, 50.0, 240).round(1)})
    y = pd.Series(np.where(X["debt"] + rng.normal(0, 30, 240) > 100, "bad", "good"), name="outcome")
    return X, y


@pytest.fixture(scope="module")
def study(loans):
    return Study.of(*loans, MODEL)


def test_figures_are_those_of_rows_that_the_validated_model_has_not_seen(loans, study):
    X, y = loans
    kept = np.setdiff1d(np.arange(len(y)), study.held_out)
    again = ECSELClassifier(max_factors=2, cv=3, random_state=0).fit(X.iloc[kept], y.iloc[kept])
    assert study.validation_model.equations_ == again.equations_
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # some lie outside the training range
        p = again.predict_proba(X.iloc[study.held_out])
    own = study.qualities[0]
    assert own.log_loss == pytest.approx(log_loss(y.iloc[study.held_out], p, labels=again.classes_))
    assert own.accuracy == pytest.approx((again.classes_[p.argmax(axis=1)] == y.iloc[study.held_out]).mean())


def test_the_kept_model_is_fitted_to_all_rows_or_is_the_validated_one(loans, study):
    X, y = loans
    assert study.model.equations_ == ECSELClassifier(max_factors=2, cv=3, random_state=0).fit(X, y).equations_
    once = Study.of(X, y, MODEL, refit=False)
    assert once.model is once.validation_model
    assert once.qualities == study.qualities
    assert not hasattr(MODEL, "equations_")  # it was cloned


def test_rivals_may_use_every_column(loans, study):
    own, linear = study.qualities[:2]
    assert linear.numbers == loans[0].shape[1] + 1
    assert own.numbers <= linear.numbers


def test_no_held_out_rows_no_figures(loans):
    found = Study.of(*loans, MODEL, holdout=0.0)
    assert (found.validation_model, found.qualities, len(found.held_out)) == (None, (), 0)


def test_tables_of_other_libraries_give_the_same(loans, study):
    X, y = loans
    for table in (pl.from_pandas(X), X.to_numpy()):
        assert Study.of(table, y.to_numpy(), MODEL, refit=False).qualities == study.qualities


def test_the_default_model_follows_from_the_target(loans):
    X, y = loans
    assert isinstance(Study.of(X[:60], y[:60], holdout=0.0).model, ECSELClassifier)
    number = Study.of(X[:60], 3 * X["debt"][:60] + 1.0, holdout=0.0)
    assert isinstance(number.model, ECSELRegressor)
    assert number.classes == {}
    assert number.target == "debt"


def test_a_quantity_is_evaluated_by_its_errors():
    rng = np.random.default_rng(1)
    X = pd.DataFrame({"a": rng.uniform(1, 5, 120), "b": rng.uniform(1, 5, 120)})
    y = 2 * X["a"] + rng.normal(0, 0.1, 120)
    found = Study.of(X, y, ECSELRegressor(criterion="prediction", max_factors=2, cv=3, random_state=0), refit=False)
    held_out_rows = found.held_out
    own, linear = found.qualities[:2]
    assert own.r2 == pytest.approx(r2_score(y.iloc[held_out_rows], found.model.predict(X.iloc[held_out_rows])))
    assert linear.model == "linear regression"
    assert own.rmse < 0.2
    assert found.drivers[0].column == "a"


def test_a_study_prints_figures_drivers_and_what_asks_for_attention(loans):
    X, y = loans
    reported = (y == "bad").astype(float) * 100  # the outcome itself
    found = Study.of(X.assign(reported=reported), y, MODEL)
    assert ("leakage", "reported") in [(caution.kind, caution.column) for caution in found.cautions]
    text = str(found)
    assert f"Quality on {len(found.held_out)} held-out rows" in text
    for quality in found.qualities:
        assert f"{quality.model}: accuracy {quality.accuracy:.3f}" in text
    assert "'reported'" in text.partition("Look twice")[2]
    assert found.target == "outcome"
    assert repr(found) == f"Study of outcome: 240 rows, {len(found.held_out)} held out; print() shows it"
    frame = found.to_frame()
    assert frame["model"].tolist() == [quality.model for quality in found.qualities]


def test_the_report_of_a_validated_model_shows_its_held_out_rows(loans, tmp_path):
    once = Study.of(*loans, MODEL, refit=False)
    path = once.write_report(tmp_path / "report.html", title="Loans that go bad")
    page = path.read_text(encoding="utf-8")
    assert "Loans that go bad" in page
    assert f"{len(once.held_out)} held-out rows" in page


def test_the_public_api_has_it():
    assert ecsel.Study is Study
    assert set(ecsel.study.__all__) == {"ClassQuality", "Driver", "Study", "ValueQuality"}
