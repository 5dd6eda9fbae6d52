import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ecsel import ECSELClassifier, Signomial
from ecsel.estimators.regressor import ECSELRegressor
from ecsel.explain import ModelView


@pytest.mark.parametrize("kind", ["sigmoid", "softmax2", "softmax3"])
def test_the_view_of_a_classifier_predicts_what_the_model_predicts(make_model, kind):
    model, X = make_model(1, kind)
    view = ModelView.of(model)
    ours = view.outputs_of(view.scores_of(view.rows(X)))
    np.testing.assert_array_equal(ours, model.predict_proba(X))
    assert [view.classes[c] for c in view.decisions(ours)] == model.predict(X).tolist()


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 2**32 - 1))
def test_signed_columns_are_power_laws_on_every_orthant(seed):
    equation = Signomial.parse("3*x**3*y - 2*abs(x)**0.5*y**2 + sign(y)*abs(y)**0.5 - x**2/w + 1.5")
    rng = np.random.default_rng(seed)
    X = rng.normal(0, 2, (30, 3))
    X[:5, 0] = 0.0
    view = ModelView.of_equations(equation, ["x", "y", "w"])
    z = view.scores_of(view.rows(X))[:, 0]
    expected = equation.evaluate({"x": X[:, 0], "y": X[:, 1], "w": X[:, 2]})
    np.testing.assert_allclose(z, expected, rtol=1e-12, atol=1e-12)


def test_a_regressor_is_seen_through_its_equation():
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"a": rng.uniform(1, 5, 60), "b": rng.uniform(1, 5, 60)})
    model = ECSELRegressor().fit(X, 0.5 * X["a"] * X["b"] ** 2)
    view = ModelView.of(model)
    assert (view.link.name, view.classes, view.raw_names) == ("identity", ("prediction",), ("a", "b"))
    np.testing.assert_allclose(view.scores_of(view.rows(X))[:, 0], model.predict(X), rtol=1e-12)


def test_columns_are_found_by_name_and_refused_by_name():
    view = ModelView.of_equations(Signomial.parse("x/y"), ["x", "y"])
    assert [view.column_position(name) for name in "xy"] == [0, 1]
    with pytest.raises(ValueError, match=r"no column 'z': its columns are \['x', 'y'\]"):
        view.column_position("z")
    swapped = pd.DataFrame({"y": [2.0], "x": [6.0]})
    assert view.scores_of(view.rows(swapped))[0, 0] == pytest.approx(3.0)
    with pytest.raises(ValueError, match="no column 'y'"):
        view.rows(pd.DataFrame({"x": [1.0]}))
    with pytest.raises(ValueError, match="2"):
        view.rows([[1.0, 2.0, 3.0]])
    with pytest.raises(ValueError, match="column 'y' is zero in 1 of 1 rows"):
        view.rows([[1.0, 0.0]])
    with pytest.raises(ValueError, match="column 'y' is negative"):
        ModelView.of_equations(Signomial.parse("y**0.5"), ["y"]).rows([[-1.0]])


def test_what_is_no_model_is_refused():
    from sklearn.exceptions import NotFittedError
    from sklearn.linear_model import LogisticRegression

    with pytest.raises(TypeError, match="not int"):
        ModelView.of(3)
    with pytest.raises(NotFittedError):
        ModelView.of(ECSELClassifier())
    with pytest.raises(TypeError, match="LogisticRegression has no equations"):
        ModelView.of(LogisticRegression().fit([[0.0], [1.0]], [0, 1]))
    with pytest.raises(ValueError, match="two classes or more"):
        ModelView.of_equations({"a": Signomial.parse("x")}, ["x"])
