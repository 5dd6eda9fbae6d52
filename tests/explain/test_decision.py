import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ecsel import Signomial, explain

EXAMPLES = settings(max_examples=8, deadline=None)
MODELS = st.tuples(
    st.integers(0, 2**32 - 1), st.sampled_from(["sigmoid", "softmax2", "softmax3"]), st.integers(1, 3), st.booleans()
)


@EXAMPLES
@given(MODELS)
def test_margin_sensitivity_is_the_difference_of_log_gradients(make_model, drawn):
    model, X = make_model(*drawn)
    G = explain.log_gradient(model, X).values
    if model.link_ == "sigmoid":
        G = np.concatenate([np.zeros_like(G), G], axis=1)
    labels = model.classes_.tolist()
    for i, a in enumerate(labels):
        for j, b in enumerate(labels):
            np.testing.assert_array_equal(explain.margin_sensitivity(model, X, a, b).values, G[:, i] - G[:, j])


@EXAMPLES
@given(MODELS)
def test_probability_sensitivities_cancel_over_the_classes_and_are_derivatives(make_model, drawn):
    model, X = make_model(*drawn, n_rows=12)
    for units in ("model", "raw"):
        D = explain.probability_sensitivity(model, X, units=units)
        total = np.where(D.mask, D.values, 0).sum(axis=1)
        assert np.abs(total).max() <= 1e-12 * (1 + np.nanmax(np.abs(D.values)))
    scale = 1 + np.abs(explain.log_gradient(model, X).values).sum(axis=(1, 2))
    step = 1e-6
    inside = (X["income"] > X["income"].min()) & (X["income"] < X["income"].max())
    rows = X[inside]
    p = [model.predict_proba(rows.assign(income=rows["income"] * (1 + s))) for s in (step, -step)]
    difference = (p[0] - p[1]) / (2 * step)
    raw = explain.probability_sensitivity(model, rows, units="raw").values[:, :, 0]
    assert (np.abs(raw - difference) <= 1e-5 * scale[inside.to_numpy(), None]).all()


def test_a_regression_has_no_decision():
    equation = Signomial.parse("x")
    with pytest.raises(ValueError, match="no classes"):
        explain.probability_sensitivity(equation, [[1.0]])
    with pytest.raises(ValueError, match="no classes"):
        explain.margin_sensitivity(equation, [[1.0]], "a", "b")


def test_classes_are_named(make_model):
    model, X = make_model(0, "softmax3")
    with pytest.raises(ValueError, match=r"'d' is not a class of the model: the classes are \['a', 'b', 'c'\]"):
        explain.margin_sensitivity(model, X, "a", "d")
