# ruff: noqa: PD011 -- the values of an explanation, not of a data frame
import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ecsel import ECSELClassifier, Signomial, explain

pytestmark = pytest.mark.filterwarnings("ignore:.*training")

EXAMPLES = settings(max_examples=8, deadline=None)
MODELS = st.tuples(
    st.integers(0, 2**32 - 1), st.sampled_from(["sigmoid", "softmax2", "softmax3"]), st.integers(1, 3), st.booleans()
)


@EXAMPLES
@given(MODELS, st.floats(0.2, 5), st.floats(0.2, 5))
def test_scaling_columns_is_predicting_on_scaled_columns(make_model, drawn, q, r):
    model, X = make_model(*drawn)
    result = explain.what_if(model, X, {"income": q, "gap": r, "purpose": "trip"})
    new = X.assign(income=X["income"] * q, gap=X["gap"] * r, purpose="trip")
    np.testing.assert_array_equal(result.probabilities, model.predict_proba(new))
    np.testing.assert_array_equal(result.probability_delta, model.predict_proba(new) - model.predict_proba(X))
    np.testing.assert_array_equal(result.delta, result.scores - result.base_scores)


def test_adding_and_setting(make_model):
    model, X = make_model(2, "softmax3")
    amount = np.linspace(-1, 1, len(X))
    result = explain.what_if(model, X, add={"balance": amount}, set={"children": 2, "purpose": "car", "gap": np.nan})
    new = X.assign(balance=X["balance"] + amount, children=2, purpose="car", gap=np.nan)
    np.testing.assert_array_equal(result.probabilities, model.predict_proba(new))
    frame = result.to_frame()
    assert list(frame.columns) == ["row", "class", "before", "after", "change"]
    assert frame["row"].iloc[0] == 100


@EXAMPLES
@given(st.integers(0, 2**32 - 1))
def test_small_factors_tend_to_the_log_gradient(seed):
    rng = np.random.default_rng(seed)
    equation = Signomial.parse("2*x**1.3*y**-0.4 - 0.7*y**2 + 1")
    X = rng.uniform(0.5, 3, (5, 2))
    G = explain.log_gradient(equation, X).values[:, 0, 0]
    gaps = [np.abs((explain.what_if(equation, X, {"x": 1 + e}).delta[:, 0]) / e - G).max() for e in (1e-3, 1e-4)]
    assert gaps[1] < 0.2 * gaps[0] + 1e-9


def test_every_kind_of_table_gives_the_same_numbers(make_model):
    model, X = make_model(0)
    expected = explain.what_if(model, X, {"income": 1.1}, set={"purpose": "car"}).probabilities
    frame = pl.from_pandas(X)
    result = explain.what_if(model, frame, {"income": 1.1}, set={"purpose": "car"})
    np.testing.assert_array_equal(result.probabilities, expected)
    assert isinstance(result.to_frame(), pl.DataFrame)
    assert isinstance(result.changed, pl.DataFrame)


def test_curves_are_exact_and_cross_at_one(make_model):
    model, X = make_model(1)
    row = X.iloc[[4]]
    curves = explain.what_if_curves(model, row, ["income", "children"], factors=[0.5, 1.0, 1.5])
    for i, name in enumerate(curves.feature_names):
        for k, q in enumerate(curves.factors):
            np.testing.assert_array_equal(
                curves.outputs[i, k], model.predict_proba(row.assign(**{name: row[name] * q}))[0]
            )
    np.testing.assert_array_equal(curves.outputs[0, 1], curves.outputs[1, 1])
    assert len(curves.to_frame()) == 2 * 3 * 2
    with pytest.raises(ValueError, match="'purpose' is a category"):
        explain.what_if_curves(model, row, ["purpose"])
    with pytest.raises(ValueError, match="one row is needed, not 2"):
        explain.what_if_curves(model, X.iloc[:2])


def test_wrong_options_are_named(make_model):
    model, X = make_model(0)
    for options, message in [
        ({"factors": {"wealth": 2}}, "no column 'wealth'"),
        ({"factors": {"income": -1}}, "factor of column 'income' must be positive"),
        ({"factors": {"income": "much"}}, "column 'income' holds numbers"),
        ({"factors": {"income": [1, 2]}}, "one number or one per row"),
        ({"factors": {"income": 2}, "add": {"income": 2}}, "changed twice"),
        ({"set": {"purpose": "boat"}}, r"no level 'boat': its levels are \['car', 'house', 'trip'\]"),
        ({"add": {"purpose": 1}}, "is a category"),
        ({"add": {"income": np.inf}}, "must be finite"),
        ({}, "nothing is changed"),
    ]:
        with pytest.raises(ValueError, match=message):
            explain.what_if(model, X, **options)


def test_a_regression_has_scores_but_no_probabilities():
    result = explain.what_if(Signomial.parse("x**2"), pd.DataFrame({"x": [3.0]}), {"x": 2})
    assert result.scores[0, 0] == pytest.approx(36)
    with pytest.raises(ValueError, match="no probabilities"):
        _ = result.probabilities


@EXAMPLES
@given(st.integers(0, 2**32 - 1), st.sampled_from(["sigmoid", "softmax3"]), st.floats(0.2, 5))
def test_readable_models_answer_what_if_as_they_predict(make_raw_model, seed, kind, q):
    """Steps, hinges, indicators and missing values follow the number that is changed; a clip holds it."""
    model, X = make_raw_model(seed, kind)
    result = explain.what_if(model, X, {"income": q}, set={"purpose": "trip", "children": 2}, add={"balance": q - 1})
    new = X.assign(income=X["income"] * q, purpose="trip", children=2, balance=X["balance"] + (q - 1))
    np.testing.assert_array_equal(result.probabilities, model.predict_proba(new))
    row = X.iloc[[3]]
    curves = explain.what_if_curves(model, row, factors=[0.5, 1.0, q])
    view = explain.ModelView.of(model)
    used = {view.raw_names[j] for j in view.feature_groups[view.terms.uses.any(axis=0)]}
    assert {*curves.feature_names} == used - {"purpose"}
    for i, name in enumerate(curves.feature_names):
        for k, factor in enumerate(curves.factors):
            expected = model.predict_proba(row.assign(**{name: row[name] * factor}))[0]
            np.testing.assert_allclose(curves.outputs[i, k], expected, rtol=1e-12)


def test_a_level_that_training_did_not_list_may_be_set():
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"id": [f"n{i}" for i in range(12_000)] + ["often"] * 3000, "x": rng.normal(size=15_000)})
    y = np.where(X["x"] + 2 * (X["id"] == "often") > rng.logistic(size=15_000), "b", "a")
    model = ECSELClassifier(max_terms=2).fit(X, y)
    assert "[id = " in str(model.equations_["b"])
    result = explain.what_if(model, X.iloc[-2:], set={"id": "someone else"})
    np.testing.assert_array_equal(result.probabilities, model.predict_proba(X.iloc[-2:].assign(id="n1")))
