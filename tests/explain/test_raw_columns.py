"""Explanations of sums of pieces of raw columns: logarithms, shifts, indicators, zeros, signs, missing values."""

# ruff: noqa: PD011 -- the values of an explanation, not of a data frame
import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ecsel import Signomial, explain
from ecsel.explain import ModelView, probability_game

EXAMPLES = settings(max_examples=12, deadline=None)
MODELS = st.tuples(st.integers(0, 2**32 - 1), st.sampled_from(["sigmoid", "softmax2", "softmax3"]))
NUMBERS = ("income", "balance", "children")


def scores_of(model, table):
    columns = dict(zip(model.encoder_.feature_names, model.encoder_.model_features(table).T, strict=True))
    return np.column_stack([equation.evaluate(columns) for equation in model.equations_.values()])


@EXAMPLES
@given(MODELS)
def test_the_view_has_the_scores_and_probabilities_of_the_equations(make_raw_model, drawn):
    model, X = make_raw_model(*drawn)
    view = ModelView.of(model)
    z = view.scores_of(view.rows(X))
    np.testing.assert_allclose(z, scores_of(model, X), rtol=1e-12, atol=1e-12)
    np.testing.assert_array_equal(view.outputs_of(z), model.predict_proba(X))
    names = [view.feature_names[j] for j in view.indicators]
    assert all(name.startswith("[") for name in names)
    assert {name for name in view.feature_names if name.startswith("[")} == set(names)


@EXAMPLES
@given(MODELS)
def test_derivatives_are_the_responses_to_scaling_the_users_column(make_raw_model, drawn):
    model, X = make_raw_model(*drawn)
    inside = np.ones(len(X), dtype=bool)
    for name in NUMBERS:  # a clip holds the ends of the training range
        inside &= ~X[name].isin([X[name].min(), X[name].max()])
    X = X[inside & (abs(X["income"] - 20) > 1e-3) & (X["children"] != 2)]
    step = 1e-6
    G = explain.log_gradient(model, X, units="raw")
    P = explain.probability_sensitivity(model, X, units="raw")
    scale = 1e-6 * (1 + np.abs(scores_of(model, X)).max() + np.nanmax(np.abs(G.values)))
    for name in NUMBERS:
        j = X.columns.get_loc(name)
        up, down = (X.assign(**{name: X[name] * (1 + s)}) for s in (step, -step))
        z = (scores_of(model, up) - scores_of(model, down)) / (2 * step)
        np.testing.assert_allclose(G.values[:, :, j], z, rtol=1e-5, atol=10 * scale)
        p = (model.predict_proba(up) - model.predict_proba(down)) / (2 * step)
        np.testing.assert_allclose(P.values[:, :, j], p, rtol=1e-5, atol=10 * scale)
    assert not G.mask[:, :, X.columns.get_loc("purpose")].any()
    np.testing.assert_array_equal(G.mask[:, 0, 2], X["gap"].notna())


@EXAMPLES
@given(MODELS, st.sampled_from(["model", "raw"]))
def test_log_sizes_of_terms_add_up_where_no_factor_vanishes(make_raw_model, drawn, units):
    model, X = make_raw_model(*drawn)
    X = X.iloc[:12]
    start = X.iloc[[0]].assign(balance=1.7, gap=2.5, purpose="car")
    result = explain.log_additive(model, X, baseline=start, units=units)
    columns = dict(zip(model.encoder_.feature_names, model.encoder_.model_features(X).T, strict=True))
    at_start = dict(zip(model.encoder_.feature_names, model.encoder_.model_features(start).T, strict=True))
    for c, equation in enumerate(model.equations_.values()):
        for k, term in enumerate(equation.terms):
            z, base = term.evaluate(columns), term.evaluate(at_start)[0]
            defined = (z != 0) & (base != 0)
            np.testing.assert_array_equal(result.mask[:, c, k].all(axis=1), defined)
            assert not result.mask[~defined, c, k].any()
            total = result.base_values[c, k] + result.values[:, c, k].sum(axis=1)
            np.testing.assert_allclose(total[defined], np.log(np.abs(z[defined])), rtol=0, atol=1e-10)
            np.testing.assert_array_equal(result.signs[:, c, k], np.sign(z))


@EXAMPLES
@given(MODELS, st.sampled_from(["score", "probability"]), st.sampled_from(["model", "raw"]))
def test_attributions_are_gradients_of_numbers_and_switches_of_indicators(make_raw_model, drawn, output, units):
    model, X = make_raw_model(*drawn)
    X = X.iloc[:12]
    view = ModelView.of(model)
    result = explain.attribution(model, X, output=output, units=units)
    z = view.scores_of(view.rows(X))
    expected = z if output == "score" else view.outputs_of(z)
    total = result.base_values + np.nansum(result.values, axis=2) + result.error
    np.testing.assert_allclose(total, expected, rtol=1e-9, atol=1e-9)
    # categories have no numbers in them and are always defined: the change of the output where the level is switched
    j = X.columns.get_loc("purpose")
    start = model.encoder_.baseline[None]
    raw = model.encoder_.model_features(X)

    def function(features):
        columns = dict(zip(view.feature_names, features.T, strict=True))
        at = np.column_stack([equation.evaluate(columns) for equation in model.equations_.values()])
        return at if output == "score" else view.outputs_of(at)

    parts = np.zeros((len(X), len(result.classes)))
    for f in np.flatnonzero(view.feature_groups == j):
        moved = np.repeat(start, len(X), axis=0)
        moved[:, f] = raw[:, f]
        part = function(moved) - function(start)
        parts += part
        if units == "model":
            np.testing.assert_allclose(result.values[:, :, f], part, atol=1e-10)
    if units == "raw":
        np.testing.assert_allclose(result.values[:, :, j], parts, atol=1e-10)
    # a number that crosses zero is told apart
    balance = X.columns.get_loc("balance")
    at = view.feature_names.index("balance")
    crosses = np.sign(X["balance"]) != np.sign(model.encoder_.baseline[at])
    f = balance if units == "raw" else at
    used = view.terms.uses[:, view.feature_groups == balance].any()
    lost = ~result.mask[:, -1, f]
    assert not lost[~crosses].any()
    if used and lost.any():
        assert "another sign" in " ".join(result.to_frame()["note"])


@EXAMPLES
@given(MODELS)
def test_shapley_values_agree_with_enumeration_over_raw_columns(enumerated, make_raw_model, drawn):
    model, X = make_raw_model(*drawn)
    rows, background = X.iloc[:2], X.iloc[10:15]
    result = explain.shapley(model, rows, background)
    expected = enumerated(lambda table: scores_of(model, table), rows, background)
    np.testing.assert_allclose(result.values, expected, rtol=0, atol=1e-10 * (1 + np.abs(expected).max()))
    p = explain.shapley(model, rows, background, output="probability")
    np.testing.assert_allclose(p.values, enumerated(model.predict_proba, rows, background), atol=1e-12)
    assert (p.error == 0).all()


def test_permutations_converge_where_factors_vanish(make_raw_model, monkeypatch):
    model, X = make_raw_model(4, "softmax3")
    rows, background = X.iloc[:3], X.iloc[10:20]
    exact = explain.shapley(model, rows, background, output="probability").values
    monkeypatch.setattr(probability_game, "ENUMERATED_GROUPS", 0)
    sampled = explain.shapley(model, rows, background, output="probability", tolerance=2e-3)
    assert sampled.error.max() <= 2e-3
    assert (np.abs(sampled.values - exact) <= 6 * sampled.error + 1e-12).all()
    total = sampled.base_values + sampled.values.sum(axis=2)
    np.testing.assert_allclose(total, model.predict_proba(rows), atol=1e-12)


def test_probabilities_of_signed_columns_are_explained(enumerated):
    equations = {"no": Signomial.parse("0.3*x**3*y"), "yes": Signomial.parse("abs(x)*w - sign(y)*sqrt(abs(y))")}
    view = ModelView.of_equations(equations, ["w", "x", "y"])
    rng = np.random.default_rng(0)
    X, background = (pd.DataFrame(rng.normal(0, 1.5, (n, 3)), columns=["w", "x", "y"]) for n in (3, 7))
    X.iloc[0, 1] = 0.0
    expected = enumerated(view.probabilities, X, background)
    values = explain.shapley(view, X, background, output="probability").values
    np.testing.assert_allclose(values, expected, atol=1e-12)


def test_a_game_beyond_the_clip_is_refused():
    view = ModelView.of_equations({"no": Signomial.parse("x**300*y**300"), "yes": Signomial.parse("x")}, ["x", "y"])
    for signs in (1.0, -1.0):
        with pytest.raises(ValueError, match=r"passes exp\(700\)"):
            explain.shapley(view, [[5.0 * signs, 0.1]], [[0.1 * signs, 5.0]], output="probability")


def test_baselines_of_raw_features(make_raw_model):
    model, X = make_raw_model(0)
    encoder = model.encoder_
    default = explain.attribution(model, X)
    names = encoder.feature_names
    typical = dict(zip(names, encoder.baseline[:, None], strict=True))
    np.testing.assert_allclose(default.base_values, [each.evaluate(typical)[0] for each in model.equations_.values()])
    assert typical["income"] == pytest.approx(X["income"].median(), rel=0.05)
    some = explain.attribution(model, X, baseline={"income": 25.0, "purpose": "trip"})
    given = {**typical, "income": [25.0], "[income above 20]": [5.0]}
    given |= {f"[purpose = {level}]": [float(level == "trip")] for level in ("car", "house", "trip")}
    np.testing.assert_allclose(some.base_values, [each.evaluate(given)[0] for each in model.equations_.values()])
    y = np.where(X["income"] > X["income"].median(), "rich", "poor")
    mean = explain.class_mean(model, X, y, "rich")
    rich = encoder.model_features(X[y == "rich"])
    point = dict(zip(names, mean.point.values[0], strict=True))
    assert point["income"] == np.sort(rich[:, 0])[(len(rich) - 1) // 2]
    assert point["[income above 20]"] == max(0.0, point["income"] - 20)
    assert sum(value for name, value in point.items() if name.startswith("[purpose")) == 1
    assert explain.attribution(model, X, baseline=mean).base_values.shape == (1,)


def test_reasons_name_the_typical_number(make_raw_model):
    model, X = make_raw_model(1)
    result = explain.reasons(model, X.iloc[:5])
    z = ModelView.of(model).scores_of(ModelView.of(model).rows(X.iloc[:5]))[:, 0]
    margin = np.where(z >= 0, z, -z)
    np.testing.assert_allclose(result.base_values + result.values.sum(axis=1), margin, rtol=1e-9)
    assert "typical:" in str(result)


def test_bracketed_columns_of_bare_equations_are_indicators():
    equation = Signomial.parse("2*log(x)*[a = b] + x")
    result = explain.attribution(equation, [[1.0, 3.0]], baseline=[[0.0, 2.0]])
    np.testing.assert_allclose(result.values[0, 0], [2 * np.log(2.0), 2 * np.log(1.5)], rtol=1e-12)
