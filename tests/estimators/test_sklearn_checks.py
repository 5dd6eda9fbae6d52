"""scikit-learn's own checks of an estimator: all of them, none expected to fail."""

import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

from ecsel import ECSELClassifier
from ecsel.fitting import Adam

VARIANTS = [
    ECSELClassifier(),
    ECSELClassifier(n_terms=2, l1=1e-2),
    ECSELClassifier(n_terms=1, l1=1e-2, link="softmax", fit_intercept=False),
    ECSELClassifier(n_terms=1, l1=1e-2, solver="lbfgs"),
    ECSELClassifier(n_terms=1, l1=1e-3, penalty="paper", solver=Adam(epochs=40, restarts=1, learning_rate=0.05)),
]


@parametrize_with_checks(VARIANTS)
@pytest.mark.filterwarnings("ignore:.*values outside:UserWarning")
def test_conventions(estimator, check):
    check(estimator)
