"""On rows far outside the training range the model and its exports give the same, finite probabilities."""

import numpy as np
import pytest
from sklearn.datasets import load_iris

from ecsel import ECSELClassifier, explain, export

EXTREMES = [1e13, 1e40, 1e100, 1e200, 1e300]


@pytest.fixture(scope="module")
def iris():
    return load_iris(return_X_y=True, as_frame=True)


@pytest.fixture(scope="module", params=["paper", "sums"])
def model(request, iris):
    options = {"n_terms": 2, "l1": 3e-4} if request.param == "paper" else {}
    return ECSELClassifier(**options, out_of_range="extrapolate").fit(*iris)


def extreme_rows(X):
    rows = []
    for extreme in EXTREMES:
        for j in range(X.shape[1]):
            row = X.iloc[60].to_list()
            row[j] = extreme
            rows.append(row)
        rows.append([extreme] * X.shape[1])
    return type(X)(rows, columns=X.columns)


@pytest.mark.filterwarnings("ignore::UserWarning")
def test_probabilities_are_finite_and_those_of_the_python_export(model, iris):
    rows = extreme_rows(iris[0])
    p = model.predict_proba(rows)
    assert np.isfinite(p).all()
    np.testing.assert_allclose(p.sum(axis=1), 1.0, rtol=1e-12)
    assert np.isfinite(model.decision_function(rows)).all()
    namespace = {}
    exec(export.to_python(model), namespace)
    exported = [namespace["predict"](row) for row in rows.to_dict("records")]
    reported = [[each["probabilities"][c] for c in model.classes_.tolist()] for each in exported]
    np.testing.assert_allclose(reported, p, atol=1e-9)
    assert [each["label"] for each in exported] == model.predict(rows).tolist()


@pytest.mark.filterwarnings("ignore::UserWarning")
def test_shapley_values_of_such_rows_are_finite_and_additive_or_refused(model, iris):
    X, _ = iris
    n_refused = 0
    for i in range(len(rows := extreme_rows(X))):
        try:
            found = explain.shapley(model, rows.iloc[[i]], X.iloc[::10])
        except ValueError:
            n_refused += 1
            with pytest.raises(ValueError, match="leave extreme rows out"):
                explain.shapley(model, rows.iloc[[i]], X.iloc[::10])
            continue
        assert np.isfinite(found.values).all()
        total = found.base_values + found.values.sum(axis=2)
        size = np.abs(found.base_values) + np.abs(found.values).sum(axis=2)
        scores = model.decision_function(rows.iloc[[i]])
        assert (np.abs(total - scores) <= 1e-9 * size).all()
    assert n_refused < len(rows)
