"""The classifier inside scikit-learn: pipelines, searches, calibration, and metadata routing."""

import numpy as np
import pandas as pd
import pytest
from sklearn import clone, config_context
from sklearn.calibration import CalibratedClassifierCV
from sklearn.compose import make_column_transformer
from sklearn.model_selection import GridSearchCV, StratifiedKFold, cross_val_score, cross_validate
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from ecsel import ECSELClassifier, ECSELRegressor
from ecsel.fitting import Adam

pytestmark = pytest.mark.filterwarnings("ignore:.*rows lie:UserWarning")


def test_pipeline(make_numbers, quick):
    X, y = make_numbers()
    pipeline = make_pipeline(StandardScaler(), quick()).fit(X, y)
    scaled = StandardScaler().fit_transform(X)
    np.testing.assert_array_equal(pipeline.predict_proba(X), quick().fit(scaled, y).predict_proba(scaled))


def test_pipeline_with_named_columns(make_mixed, quick):
    X, y = make_mixed()
    chosen = make_column_transformer(("passthrough", ["income", "purpose"]), verbose_feature_names_out=False)
    pipeline = make_pipeline(chosen.set_output(transform="pandas"), quick()).fit(X, y)
    assert pipeline[-1].feature_names_in_.tolist() == ["income", "purpose"]
    np.testing.assert_array_equal(
        pipeline.predict_proba(X), quick().fit(X[["income", "purpose"]], y).predict_proba(X[["income", "purpose"]])
    )


def test_grid_search_takes_every_option(make_numbers, quick):
    X, y = make_numbers()
    search = GridSearchCV(quick(), {"l1": [1e-2, 1e3], "n_terms": [1, 2]}, cv=3, scoring="neg_log_loss").fit(X, y)
    assert search.best_params_["l1"] == 1e-2
    results = pd.DataFrame(search.cv_results_)
    assert results.loc[results["param_l1"] == 1e3, "mean_test_score"].mean() < search.best_score_
    assert isinstance(search.best_estimator_, ECSELClassifier)


def test_grid_search_reaches_into_nothing_but_options(make_numbers, quick):
    X, y = make_numbers()
    solvers = ["newton", Adam(epochs=60, restarts=1, learning_rate=0.05, patience=5)]
    search = GridSearchCV(quick(), {"solver": solvers}, cv=2, refit=False, error_score="raise").fit(X, y)
    assert len(search.cv_results_["mean_test_score"]) == 2


def test_calibration(make_numbers, quick):
    X, y = make_numbers()
    calibrated = CalibratedClassifierCV(quick(class_weight="balanced"), cv=3).fit(X, y)
    assert calibrated.predict_proba(X)[:, 1].mean() == pytest.approx(y.mean(), abs=0.05)


def test_calibration_on_folds_warns_of_no_ranges(recwarn):
    """The fold that holds the largest value calibrates a fit that has not seen it; nobody can act on that."""
    X = pd.DataFrame({"size": np.arange(120.0)})
    y = (np.arange(120) + np.random.default_rng(0).integers(-40, 40, 120) > 60).astype(int)
    calibrated = CalibratedClassifierCV(ECSELClassifier(max_factors=1, cv=2), cv=3).fit(X, y)
    assert not [each for each in recwarn if "training m" in str(each.message)]
    with pytest.warns(UserWarning, match="training maximum"):  # a person asks, and is told
        calibrated.predict_proba(X + 200)


def test_cross_validation(make_numbers, quick):
    X, y = make_numbers(n=200)
    scores = cross_val_score(quick(), X, y, cv=StratifiedKFold(4, shuffle=True, random_state=0), scoring="roc_auc")
    assert scores.mean() > 0.75


def test_sample_weights_are_routed(make_numbers, quick):
    X, y = make_numbers()
    weights = np.random.default_rng(0).integers(0, 3, len(y))
    with config_context(enable_metadata_routing=True):
        model = quick().set_fit_request(sample_weight=True).set_score_request(sample_weight=True)
        done = cross_validate(
            model, X, y, params={"sample_weight": weights}, cv=3, return_estimator=True, return_indices=True
        )
        for fitted, train, test, score in zip(
            done["estimator"], done["indices"]["train"], done["indices"]["test"], done["test_score"], strict=True
        ):
            direct = quick().fit(X[train], y[train], sample_weight=weights[train])
            assert direct.equations_ == fitted.equations_
            assert score == pytest.approx(direct.score(X[test], y[test], sample_weight=weights[test]))


ESTIMATORS = {
    "search": ECSELClassifier(max_factors=1, cv=2),
    "paper": ECSELClassifier(n_terms=1, l1=0.01),
    "law": ECSELRegressor(max_terms=1),
    "prediction": ECSELRegressor(criterion="prediction", max_factors=1, cv=2),
}


@pytest.mark.parametrize("name", ESTIMATORS)
def test_arrays_of_the_array_api_are_refused_by_the_name_of_the_argument(make_numbers, name):
    X, y = make_numbers(n=80)
    xp = pytest.importorskip("array_api_strict")
    answers = ["predict", "decision_function", "predict_proba"] if name in {"search", "paper"} else ["predict"]
    model = clone(ESTIMATORS[name]).fit(X, y)
    for argument, call in [
        ("X", lambda: clone(model).fit(xp.asarray(X), y)),
        ("y", lambda: clone(model).fit(X, xp.asarray(y))),
        ("sample_weight", lambda: clone(model).fit(X, y, sample_weight=xp.asarray(np.ones(len(y))))),
        *(("X", lambda answer=answer: getattr(model, answer)(xp.asarray(X))) for answer in answers),
    ]:
        message = rf"^{argument} is an array of array_api_strict, .*: give numpy\.asarray\({argument}\)"
        with pytest.raises(TypeError, match=message):
            call()


@pytest.mark.parametrize("name", ESTIMATORS)
def test_set_output_of_a_pipeline_keeps_the_names_and_changes_no_bit(make_numbers, name):
    X, y = make_numbers(n=80)
    frame = pd.DataFrame(X, columns=["width", "height", "depth"][: X.shape[1]])
    plain = make_pipeline(StandardScaler(), clone(ESTIMATORS[name])).fit(frame, y)
    named = make_pipeline(StandardScaler(), clone(ESTIMATORS[name])).set_output(transform="pandas").fit(frame, y)
    assert named[-1].feature_names_in_.tolist() == list(frame.columns)
    np.testing.assert_array_equal(named.predict(frame), plain.predict(frame))


def test_tags():
    tags = ECSELClassifier().__sklearn_tags__()
    assert tags.estimator_type == "classifier"
    assert tags.input_tags.allow_nan
    assert tags.input_tags.categorical
    assert not tags.input_tags.sparse
    assert not ECSELClassifier(missing="error").__sklearn_tags__().input_tags.allow_nan
