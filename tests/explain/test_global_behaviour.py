import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ecsel import Signomial, Term, explain
from ecsel.estimators.regressor import ECSELRegressor

EXAMPLES = settings(max_examples=8, deadline=None)
MODELS = st.tuples(
    st.integers(0, 2**32 - 1), st.sampled_from(["sigmoid", "softmax2", "softmax3"]), st.integers(1, 3), st.booleans()
)


def scores_at(model, positive):
    columns = dict(zip(model.encoder_.feature_names, positive.T, strict=True))
    return np.column_stack([equation.evaluate(columns) for equation in model.equations_.values()])


def size_of_terms(model, positive):
    """Σ_k |z_k β_kj|, against which errors are measured."""
    columns = dict(zip(model.encoder_.feature_names, positive.T, strict=True))
    names = model.encoder_.feature_names
    return np.stack(
        [
            sum(
                np.abs(term.evaluate(columns))[:, None] * np.abs([float(term.exponents.get(n, 0)) for n in names])
                for term in equation.terms
            )
            for equation in model.equations_.values()
        ],
        axis=1,
    )


def gradients_of(model, X):
    """Return log-gradients, the features that they are by, and the size of what is added up in them."""
    positive = model.to_model_features(X)
    return explain.log_gradient(model, X).values, positive, size_of_terms(model, positive)


@EXAMPLES
@given(MODELS)
def test_log_gradient_agrees_with_central_differences(make_model, drawn):
    model, X = make_model(*drawn, n_rows=12)
    G, positive, scale = gradients_of(model, X)
    step = 1e-5
    for j in range(positive.shape[1]):
        up, down = positive.copy(), positive.copy()
        up[:, j] *= np.exp(step)
        down[:, j] *= np.exp(-step)
        difference = (scores_at(model, up) - scores_at(model, down)) / (2 * step)
        assert (np.abs(G[:, :, j] - difference) <= 1e-5 * (scale[:, :, j] + 1e-4 * (1 + scale.sum(axis=2)))).all()


@settings(max_examples=3, deadline=None)
@given(MODELS)
def test_log_gradient_is_the_symbolic_derivative(make_model, drawn):
    import sympy

    model, X = make_model(*drawn, n_rows=3)
    G, positive, scale = gradients_of(model, X)
    for c, equation in enumerate(model.equations_.values()):
        expression = equation.to_sympy()
        symbols = {symbol.name: symbol for symbol in expression.free_symbols}
        for j, name in enumerate(model.encoder_.feature_names):
            if name not in symbols:
                assert (G[:, c, j] == 0).all()
                continue
            derivative = symbols[name] * sympy.diff(expression, symbols[name])
            f = sympy.lambdify(list(symbols.values()), derivative, "math")
            for i, row in enumerate(positive):
                value = dict(zip(model.encoder_.feature_names, row, strict=True))
                expected = f(*(value[n] for n in symbols))
                assert abs(G[i, c, j] - expected) <= 1e-8 * scale[i, c, j]


@EXAMPLES
@given(MODELS)
def test_raw_log_gradient_is_the_response_to_scaling_the_users_column(make_model, drawn):
    model, X = make_model(*drawn, n_rows=12)
    raw = explain.log_gradient(model, X, units="raw")
    assert raw.feature_names == tuple(X.columns)
    assert not raw.mask[:, :, 3].any()
    np.testing.assert_array_equal(raw.mask[:, 0, 2], X["gap"].notna())
    scale = 1 + size_of_terms(model, model.to_model_features(X)).sum(axis=2)
    step = 1e-6
    for j in (0, 1, 2, 4):
        # the response of a row at an end of the training range is one-sided: a clip holds it on the other side
        inside = ~np.isin(X.iloc[:, j], [X.iloc[:, j].min(), X.iloc[:, j].max()]) & X.iloc[:, j].notna().to_numpy()
        rows = X[inside]
        if rows.empty:
            continue
        column = X.columns[j]
        up, down = (
            rows.assign(**{column: rows[column] * (1 + step)}),
            rows.assign(**{column: rows[column] * (1 - step)}),
        )
        z = [scores_at(model, model.to_model_features(each)) for each in (up, down)]
        difference = (z[0] - z[1]) / (2 * step)
        assert (np.abs(raw.values[inside][:, :, j] - difference) <= 1e-5 * scale[inside]).all()


@EXAMPLES
@given(MODELS)
def test_elasticity_times_score_is_the_log_gradient_where_it_is_defined(make_model, drawn):
    model, X = make_model(*drawn)
    positive = model.to_model_features(X)
    z = scores_at(model, positive)
    G = explain.log_gradient(model, X).values
    for absolute in (False, True):
        E = explain.elasticity(model, X, absolute=absolute)
        defined = z != 0 if absolute else z > 0
        np.testing.assert_array_equal(E.mask, np.broadcast_to(defined[:, :, None], E.values.shape))
        assert np.isnan(E.values[~E.mask]).all()
        error = np.abs(E.values * z[:, :, None] - G)[E.mask]
        assert (error <= 1e-8 * (1e-300 + size_of_terms(model, positive)[E.mask])).all()


@EXAMPLES
@given(st.integers(0, 2**32 - 1), st.sampled_from(["sigmoid", "softmax3"]))
def test_with_one_term_and_no_constant_elasticities_are_exponents(make_model, seed, kind):
    model, X = make_model(seed, kind, 1, intercept=False)
    E = explain.elasticity(model, X, absolute=True).values
    for c, equation in enumerate(model.equations_.values()):
        beta = [float(equation.terms[0].exponents.get(name, 0)) for name in model.encoder_.feature_names]
        np.testing.assert_allclose(E[:, c], np.broadcast_to(beta, E[:, c].shape), rtol=1e-12, atol=1e-14)


@EXAMPLES
@given(st.integers(0, 2**32 - 1), st.floats(0.1, 10).filter(lambda r: abs(r - 1) > 1e-3))
def test_exponents_rank_features_as_their_responses_do(seed, factor):
    """The faithfulness proposition: |β_k| > |β_l| implies |log|z_new/z|| is larger for k, for every factor."""
    rng = np.random.default_rng(seed)
    names = ["a", "b", "c", "d"]
    beta = rng.normal(0, 2, 4)
    equation = Signomial([Term(rng.choice([-2.0, 2.0]), dict(zip(names, beta.tolist(), strict=True)))])
    x = rng.uniform(0.5, 2, (1, 4))
    before = equation.evaluate(dict(zip(names, x.T, strict=True)))[0]
    response = []
    for name in names:
        after = explain.what_if(equation, x, {name: factor}).scores[0, 0]
        response.append(abs(np.log(after / before)))
    assert np.argsort(response).tolist() == np.argsort(np.abs(beta)).tolist()
    np.testing.assert_allclose(response, np.abs(beta) * abs(np.log(factor)), rtol=1e-8, atol=1e-12)


def test_importance_is_a_mean_size_over_the_rows_where_it_is_defined(make_model):
    model, X = make_model(5, "softmax3")
    G = explain.log_gradient(model, X)
    np.testing.assert_allclose(explain.importance(model, X).values, np.abs(G.values).mean(axis=0), rtol=1e-12)
    E = explain.elasticity(model, X)
    by = explain.importance(model, X, by="elasticity")
    np.testing.assert_allclose(by.share, E.mask.mean(axis=0))
    for c in range(3):
        rows = E.mask[:, c, 0]
        if rows.any():
            np.testing.assert_allclose(by.values[c], np.abs(E.values[rows, c]).mean(axis=0), rtol=1e-12)
        else:
            assert not by.mask[c].any()
    with pytest.raises(ValueError, match="by must be"):
        explain.importance(model, X, by="gain")
    with pytest.raises(ValueError, match="units must be"):
        explain.log_gradient(model, X, units="kg")


def test_regression_has_the_same_closed_forms_also_for_negative_columns():
    equation = Signomial.parse("2*x**3*y - 3*abs(x)**0.5 + 1")
    X = np.array([[1.5, 2.0], [-1.5, 2.0], [0.7, -0.4], [0.0, 3.0]])
    G = explain.log_gradient(equation, X).values[:, 0]
    for i, (x, y) in enumerate(X):
        np.testing.assert_allclose(G[i], [6 * x**3 * y - 1.5 * abs(x) ** 0.5, 2 * x**3 * y], rtol=1e-12, atol=1e-15)
    rng = np.random.default_rng(0)
    table = rng.uniform(1, 4, (50, 2))
    model = ECSELRegressor().fit(table, 3 * table[:, 0] ** 2 / table[:, 1])
    E = explain.elasticity(model, table, units="raw")
    np.testing.assert_allclose(E.values, np.broadcast_to([2.0, -1.0], E.values.shape), rtol=1e-9)
