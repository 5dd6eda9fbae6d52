# ruff: noqa: PD011 -- the values of an explanation, not of a data frame

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ecsel import Signomial, Term, explain
from ecsel.explain import probability_game

EXAMPLES = settings(max_examples=8, deadline=None)


def scores(model):
    def function(table):
        columns = dict(zip(model.encoder_.feature_names, model.to_model_features(table).T, strict=True))
        return np.column_stack([equation.evaluate(columns) for equation in model.equations_.values()])

    return function


@pytest.mark.parametrize(("seed", "kind", "n_terms"), [(28, "sigmoid", 1), (1, "softmax3", 2), (2, "softmax2", 3)])
def test_scores_and_probabilities_agree_with_enumeration_over_raw_columns(enumerated, make_model, seed, kind, n_terms):
    model, X = make_model(seed, kind, n_terms)
    rows, background = X.iloc[:2], X.iloc[10:17]
    result = explain.shapley(model, rows, background)
    expected = enumerated(scores(model), rows, background)
    assert np.abs(result.values - expected).max() <= 1e-9 * (1 + np.abs(expected).max())
    p = explain.shapley(model, rows, background, output="probability")
    np.testing.assert_allclose(p.values, enumerated(model.predict_proba, rows, background), atol=1e-12)
    assert (p.error == 0).all()


@EXAMPLES
@given(st.integers(0, 2**32 - 1), st.sampled_from(["sigmoid", "softmax2", "softmax3"]))
def test_values_add_up(make_model, seed, kind):
    model, X = make_model(seed, kind, 3)
    view = explain.ModelView.of(model)
    rows, background = X.iloc[:15], X.iloc[15:]
    result = explain.shapley(model, rows, background)
    z = view.scores_of(view.rows(rows))
    total = result.base_values + result.values.sum(axis=2)
    assert np.abs(total - z).max() <= 1e-10 * (1 + np.abs(z).max())
    np.testing.assert_array_equal(result.values, explain.shapley(model, rows, background).values)


def test_shap_s_exact_explainer_agrees(make_model, shap):
    model, X = make_model(7, "softmax3", 2, n_rows=60)
    X = X.assign(gap=X["gap"].fillna(1.0))
    levels = ["car", "house", "trip"]
    coded = X.assign(purpose=X["purpose"].map(levels.index)).to_numpy(dtype=float)

    def function(codes):
        table = pd.DataFrame(codes, columns=X.columns)
        return model.decision_function(table.assign(purpose=[levels[int(code)] for code in table["purpose"]]))

    background = shap.maskers.Independent(coded[20:50], max_samples=30)
    theirs = shap.explainers.Exact(function, background)(coded[:4]).values
    ours = explain.shapley(model, X.iloc[:4], X.iloc[20:50]).values
    assert np.abs(ours - np.moveaxis(theirs, 2, 1)).max() <= 1e-9 * np.abs(theirs).max()


def test_shap_s_exact_explainer_agrees_at_ten_columns(random_model, shap):
    """Nine numbers and a category, each a group of its own."""
    rng = np.random.default_rng(0)
    levels = ["a", "b", "c"]
    numbers = {f"x{j}": rng.lognormal(0, 0.5, 40) for j in range(9)}
    X = pd.DataFrame({**numbers, "kind": rng.choice(levels, 40)})
    model = random_model(rng, X, n_terms=3)
    used = {name for term in model.equations_["yes"].terms for name in term.exponents}
    assert {name.partition("=")[0] for name in used} == set(X.columns)
    coded = X.assign(kind=X["kind"].map(levels.index)).to_numpy(dtype=float)

    def function(codes):
        table = pd.DataFrame(codes, columns=X.columns)
        return model.decision_function(table.assign(kind=[levels[int(code)] for code in table["kind"]]))

    theirs = shap.explainers.Exact(function, shap.maskers.Independent(coded[10:16], max_samples=6))(coded[:2]).values
    ours = explain.shapley(model, X.iloc[:2], X.iloc[10:16]).values[:, 0]
    assert np.abs(ours - theirs).max() <= 1e-9 * np.abs(theirs).max()


def test_forty_columns_add_up():
    """A thousand rows, a hundred of background and three terms, where 2^40 coalitions could not be enumerated."""
    rng = np.random.default_rng(0)
    names = [f"x{j}" for j in range(40)]
    betas = rng.normal(0, 0.1, (3, 40)).tolist()
    equation = Signomial([Term(1.0, dict(zip(names, beta, strict=True))) for beta in betas])
    view = explain.ModelView.of_equations(equation, names)
    X, background = rng.uniform(1, 10, (1000, 40)), rng.uniform(1, 10, (100, 40))
    result = explain.shapley(view, X, background)
    z = view.scores_of(view.rows(X))
    assert np.abs(result.base_values + result.values.sum(axis=2) - z).max() <= 1e-10 * np.abs(z).max()


def test_columns_of_any_sign(enumerated):
    equation = Signomial.parse("2*x**3*y - abs(x)*w**2 + sign(y)*abs(y)**0.5 - 3")
    rng = np.random.default_rng(0)
    X, background = (pd.DataFrame(rng.normal(0, 1.5, (n, 3)), columns=["w", "x", "y"]) for n in (4, 9))
    X.iloc[0, 1] = 0.0
    expected = enumerated(lambda t: equation.evaluate(t)[:, None], X, background)
    np.testing.assert_allclose(explain.shapley(equation, X, background).values, expected, atol=1e-12)
    with pytest.raises(ValueError, match="no classes"):
        explain.shapley(Signomial.parse("x"), [[1.0]], [[2.0]], output="probability")
    with pytest.raises(ValueError, match="output must be"):
        explain.shapley(equation, X, background, output="odds")


def test_permutations_converge_to_the_exact_values(make_model, monkeypatch):
    model, X = make_model(3, "softmax3")
    rows, background = X.iloc[:4], X.iloc[10:20]
    exact = explain.shapley(model, rows, background, output="probability").values
    monkeypatch.setattr(probability_game, "ENUMERATED_GROUPS", 0)
    largest = []
    for tolerance in (1e-2, 8e-4):
        sampled = explain.shapley(model, rows, background, output="probability", tolerance=tolerance)
        assert sampled.error.max() <= tolerance
        assert (np.abs(sampled.values - exact) <= 6 * sampled.error + 1e-12).all()
        total = sampled.base_values + sampled.values.sum(axis=2)
        np.testing.assert_allclose(total, model.predict_proba(rows), atol=1e-12)
        largest.append(sampled.error.max())
    assert largest[1] < largest[0]
    again = explain.shapley(model, rows, background, output="probability", tolerance=8e-4)
    np.testing.assert_array_equal(again.values, sampled.values)
    few = explain.shapley(model, rows, background, output="probability", tolerance=0.0, max_permutations=8)
    assert few.error.max() > largest[1]


def test_memory_blocks_do_not_change_the_values(make_model, monkeypatch):
    model, X = make_model(3)
    whole = explain.shapley(model, X.iloc[:9], X, output="probability").values
    monkeypatch.setattr(probability_game, "BLOCK_CELLS", 1)
    in_blocks = explain.shapley(model, X.iloc[:9], X, output="probability").values
    np.testing.assert_allclose(in_blocks, whole, rtol=0, atol=1e-14)


@pytest.mark.parametrize("kind", ["sigmoid", "softmax2", "softmax3"])
def test_values_of_scores_belong_to_the_classes_that_have_one(make_model, kind):
    model, X = make_model(0, kind)
    found = explain.shapley(model, X.iloc[:3], X.iloc[3:9])
    assert found.classes == tuple(model.equations_)
    total = found.base_values + found.values.sum(axis=2)
    expected = model.decision_function(X.iloc[:3])
    if kind == "softmax2":
        total = total[:, 1] - total[:, 0]
    np.testing.assert_allclose(np.squeeze(total), expected, rtol=1e-9)
    chances = explain.shapley(model, X.iloc[:3], X.iloc[3:9], output="probability")
    assert chances.classes == tuple(model.classes_.tolist())
    np.testing.assert_allclose(
        chances.base_values + chances.values.sum(axis=2), model.predict_proba(X.iloc[:3]), atol=1e-3
    )
