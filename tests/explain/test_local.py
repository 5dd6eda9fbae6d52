# ruff: noqa: PD011 -- the values of an explanation, not of a data frame
import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ecsel import Signomial, explain
from ecsel.explain import ModelView

EXAMPLES = settings(max_examples=8, deadline=None)
MODELS = st.tuples(
    st.integers(0, 2**32 - 1), st.sampled_from(["sigmoid", "softmax2", "softmax3"]), st.integers(1, 3), st.booleans()
)
UNITS = st.sampled_from(["model", "raw"])


@EXAMPLES
@given(MODELS, UNITS)
def test_log_sizes_of_terms_add_up_for_either_sign(make_model, drawn, units):
    model, X = make_model(*drawn, n_rows=10)
    result = explain.log_additive(model, X, units=units)
    positive = model.to_model_features(X)
    columns = dict(zip(model.encoder_.feature_names, positive.T, strict=True))
    for c, equation in enumerate(model.equations_.values()):
        for k, term in enumerate(equation.terms):
            z = term.evaluate(columns)
            total = result.base_values[c, k] + result.values[:, c, k].sum(axis=1)
            np.testing.assert_allclose(total, np.log(np.abs(z)), rtol=0, atol=1e-10)
            np.testing.assert_array_equal(result.signs[:, c, k], np.sign(z))
        assert not result.mask[:, c, len(equation.terms) :].any()


@EXAMPLES
@given(MODELS, UNITS, st.sampled_from(["score", "probability"]))
def test_attributions_and_their_error_add_up_to_the_output(make_model, drawn, units, output):
    model, X = make_model(*drawn, n_rows=10)
    result = explain.attribution(model, X, output=output, units=units)
    view = ModelView.of(model)
    z = view.scores_of(view.rows(X))
    expected = z if output == "score" else model.predict_proba(X)
    total = result.base_values + result.values.sum(axis=2) + result.error
    np.testing.assert_allclose(total, expected, rtol=1e-9, atol=1e-9)
    assert result.feature_names == (tuple(X.columns) if units == "raw" else model.encoder_.feature_names)


def test_log_score_attributions_are_exact_with_one_term_and_masked_where_they_do_not_exist(make_model):
    model, X = make_model(3, "softmax3", 1, intercept=False)
    result = explain.attribution(model, X, output="log_score")
    alpha = np.array([equation.terms[0].coefficient for equation in model.equations_.values()])
    np.testing.assert_array_equal(result.mask[0, :, 0], alpha > 0)
    assert np.abs(result.error[:, alpha > 0]).max() < 1e-10
    with pytest.raises(ValueError, match="output must be"):
        explain.attribution(model, X, output="odds")


def test_the_error_of_the_linearisation_is_of_second_order():
    equation = Signomial.parse("3*x**2*y - y**1.5")
    errors = [
        abs(explain.attribution(equation, [[1 + h, 1 - h]], baseline=[1.0, 1.0]).error[0, 0]) for h in (1e-4, 5e-5)
    ]
    assert errors[0] / errors[1] == pytest.approx(4, rel=0.05)


def test_baselines_of_every_kind(make_model):
    model, X = make_model(0)
    encoder = model.encoder_
    default = explain.attribution(model, X)
    np.testing.assert_allclose(default.base_values, _score(model, encoder.baseline))
    row = explain.attribution(model, X, baseline=X.iloc[[3]])
    np.testing.assert_allclose(row.values[3], 0, atol=1e-12)
    np.testing.assert_allclose(row.base_values, model.decision_function(X.iloc[[3]]))
    some = explain.attribution(model, X, baseline={"income": float(X["income"].iloc[3]), "purpose": "car"})
    u = encoder.log_features(X.iloc[[3]].assign(purpose="car"))[:, 0]
    fixed = np.isin(encoder.feature_groups, [0, 3])
    np.testing.assert_allclose(some.base_values, _score(model, np.where(fixed, u, encoder.baseline)))
    y = np.where(X["income"] > X["income"].median(), "rich", "poor")
    mean = explain.class_mean(model, X, y, "rich")
    np.testing.assert_allclose(mean.point.log_abs[0], encoder.log_features(X[y == "rich"]).mean(axis=1))
    of_class = explain.attribution(model, X, baseline=mean)
    np.testing.assert_allclose(of_class.base_values, _score(model, mean.point.log_abs[0]))
    with pytest.raises(ValueError, match="no row of y has the label 'x'"):
        explain.class_mean(model, X, y, "x")
    with pytest.raises(ValueError, match="one row, not 2"):
        explain.attribution(model, X, baseline=X.iloc[:2])
    with pytest.raises(ValueError, match="no column 'wealth'"):
        explain.attribution(model, X, baseline={"wealth": 1})


def _score(model, log_features):
    columns = dict(zip(model.encoder_.feature_names, np.exp(log_features)[:, None], strict=True))
    return [equation.evaluate(columns)[0] for equation in model.equations_.values()]


def test_columns_of_another_sign_are_distinguished():
    equation = Signomial.parse("x*y + y**2")
    X = pd.DataFrame({"x": [2.0, -2.0, 0.0], "y": [1.0, 1.0, 1.0]})
    linear = explain.attribution(equation, X, baseline=[1.0, 1.0])
    assert linear.mask[:, 0, 0].tolist() == [True, False, False]
    assert "another sign" in linear.to_frame()["note"].iloc[2]
    logs = explain.log_additive(equation, X, baseline=[1.0, 1.0])
    assert logs.signs[:, 0, 0].tolist() == [1, -1, 0]
    assert logs.mask[:, 0, 0, 0].tolist() == [True, True, False]
    np.testing.assert_allclose(logs.values[1, 0, 0], [np.log(2), 0])
    with pytest.raises(ValueError, match="column 'x' has no geometric mean"):
        explain.attribution(equation, X)
