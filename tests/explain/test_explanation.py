# ruff: noqa: PD011 -- the values of an explanation, not of a data frame
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from ecsel import Signomial, explain


def test_frames_come_back_in_the_library_of_the_table(make_model):
    model, X = make_model(0, "softmax3")
    result = explain.log_gradient(model, X, units="raw")
    frame = result.to_frame()
    assert list(frame.columns) == ["row", "class", "feature", "value", "note"]
    assert len(frame) == result.values.size
    assert frame["row"].tolist()[:: 3 * 5] == X.index.tolist()
    np.testing.assert_array_equal(frame["value"].to_numpy().reshape(result.values.shape), result.values)
    in_polars = explain.log_gradient(model, pl.from_pandas(X), units="raw").to_frame()
    assert isinstance(in_polars, pl.DataFrame)
    assert in_polars["value"].null_count() == np.count_nonzero(~result.mask)
    in_arrow = explain.log_gradient(model, pa.Table.from_pandas(X, preserve_index=False)).to_frame()
    assert isinstance(in_arrow, pa.Table)
    assert isinstance(explain.log_gradient(Signomial.parse("x"), [[1.0]]).to_frame(), pd.DataFrame)


def test_what_is_not_defined_has_a_dash_and_a_reason(make_model):
    model, X = make_model(0)
    result = explain.elasticity(model, X, units="raw")
    frame = result.to_frame()
    np.testing.assert_array_equal(frame["value"].notna().to_numpy().reshape(result.mask.shape), result.mask)
    undefined = frame[frame["value"].isna()]
    assert undefined["note"].str.startswith("— ").all()
    assert (frame[frame["value"].notna()]["note"] == "").all()
    assert set(undefined[undefined["feature"] == "purpose"]["note"]) == {"— a category has no raw elasticity"}
    assert "— the value is missing" in set(undefined[undefined["feature"] == "gap"]["note"])
    assert "—" in str(undefined)


def test_padding_of_terms_is_not_shown():
    view = explain.ModelView.of_equations({"a": Signomial.parse("x + x**2"), "b": Signomial.parse("1/x")}, ["x"])
    result = explain.log_additive(view, [[2.0]], baseline=[1.0])
    assert result.values.shape == (1, 2, 2, 1)
    frame = result.to_frame()
    assert len(frame) == 3
    assert list(frame.columns) == ["row", "class", "term", "feature", "value", "sign", "note"]


def test_names_are_data():
    name = "<b>$x^2$ = 'a'; DROP"
    equation = Signomial.variable(name) ** 2
    result = explain.elasticity(equation, pd.DataFrame({name: [3.0]}))
    assert result.feature_names == (name,)
    assert result.to_frame()["feature"].tolist() == [name]


def test_repr_and_selection(make_model):
    model, X = make_model(0, "softmax3")
    result = explain.shapley(model, X.iloc[:2], X)
    assert repr(result) == "<Explanation Shapley value of the score: 2 rows × 3 classes × 5 features, raw units>"
    part = result.select(label="b")
    np.testing.assert_array_equal(part.values, result.values[:, 1])
    assert part.base_values == result.base_values[1]
    with pytest.raises(ValueError, match="'z' is not among the classes"):
        result.select(label="z")
    with pytest.raises(ValueError, match="choose one with term="):
        explain.log_additive(model, X).select(label="a")


def test_shap_takes_our_explanations(make_model, shap):
    model, X = make_model(0, "softmax3")
    result = explain.shapley(model, X.iloc[:6], X)
    one = result.to_shap("b")
    np.testing.assert_array_equal(one.values, result.values[:, 1])
    np.testing.assert_allclose(one.base_values + one.values.sum(axis=1), model.decision_function(X.iloc[:6])[:, 1])
    assert one.feature_names == list(X.columns)
    assert result.to_shap().values.shape == (6, 5, 3)
    shap.plots.bar(one, show=False)
    with pytest.raises(ValueError, match="not defined"):
        explain.elasticity(model, X, units="raw").to_shap("a")
    with pytest.raises(ValueError, match="has no rows"):
        explain.importance(model, X).to_shap("a")


def test_every_function_gives_the_same_bits_twice(make_model):
    model, X = make_model(1, "softmax3", 3)
    functions = [
        explain.elasticity,
        explain.log_gradient,
        explain.probability_sensitivity,
        explain.log_additive,
        explain.attribution,
        explain.reasons,
    ]
    for function in functions:
        np.testing.assert_array_equal(function(model, X).values, function(model, X).values)
    others = [
        lambda: explain.margin_sensitivity(model, X, "a", "b").values,
        lambda: explain.importance(model, X).values,
        lambda: explain.what_if(model, X, set={"purpose": "car"}).scores,
        lambda: explain.shapley(model, X[:5], X).values,
    ]
    for function in others:
        np.testing.assert_array_equal(function(), function())
