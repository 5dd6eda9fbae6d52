"""Rows outside the training range: one warning a call, of columns in use alone, and none inside cross-validation."""

import warnings

import numpy as np
import pandas as pd
import pytest
from sklearn.model_selection import GridSearchCV, cross_val_predict, cross_val_score

from ecsel import ECSELClassifier, ECSELRegressor, explain


def table(n=240):
    rng = np.random.default_rng(5)
    X = pd.DataFrame(rng.lognormal(0, 1, (n, 3)), columns=["a", "b", "unused"])
    return X, np.log(X["a"]) - np.log(X["b"]) + rng.normal(0, 0.5, n)


@pytest.fixture(scope="module")
def fitted():
    X, z = table()
    model = ECSELClassifier(max_factors=2, cv=3).fit(X, z > 0)
    assert set().union(*(each.names for each in model.equations_.values())) == {"a", "b"}
    return model, X.assign(a=X["a"] * 50, b=X["b"] * 50, unused=X["unused"] * 50)


CALLS = {
    "predict": lambda model, X: model.predict(X),
    "elasticity": explain.elasticity,
    "log_gradient": explain.log_gradient,
    "importance": explain.importance,
    "shapley": lambda model, X: explain.shapley(model, X, X.head(20)),
    "what_if": lambda model, X: explain.what_if(model, X, {"a": 1.2}),
    "attribution": explain.attribution,
    "log_additive": explain.log_additive,
    "reasons": explain.reasons,
    "reasons against a row": lambda model, X: explain.reasons(model, X, baseline={"a": 900.0}),
    "probability_sensitivity": explain.probability_sensitivity,
}


@pytest.mark.parametrize("call", CALLS.values(), ids=CALLS)
def test_a_call_warns_once_and_of_columns_in_use_alone(call, fitted):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        call(*fitted)
    assert len(caught) == 1
    assert "'a'" in str(caught[0].message)
    assert "unused" not in str(caught[0].message)


@pytest.mark.parametrize(
    "predicts",
    [
        lambda model, X, y: cross_val_score(model, X, y, cv=4),
        lambda model, X, y: cross_val_predict(model, X, y, cv=4),
        lambda model, X, y: GridSearchCV(model, {"max_factors": [1, 2]}, cv=3, refit=False).fit(X, y),
    ],
    ids=["score", "predict", "search"],
)
@pytest.mark.parametrize("kind", ["classes", "numbers"])
def test_cross_validation_does_not_warn_of_ranges(kind, predicts):
    X, z = table()
    X.loc[::40, "a"] *= 1000  # whichever fold holds out the largest of them lies outside of the others' range
    model = (
        ECSELClassifier(max_factors=2, cv=3)
        if kind == "classes"
        else ECSELRegressor(criterion="prediction", max_factors=2, cv=3)
    )
    y = z > 0 if kind == "classes" else z
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        predicts(model, X, y)
    with pytest.warns(UserWarning, match="above the training maximum of 'a'"):
        model.fit(X.drop(index=X["a"].idxmax()), y.drop(index=X["a"].idxmax())).predict(X)
