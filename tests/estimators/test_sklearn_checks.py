"""scikit-learn's own checks of an estimator: all of them, none expected to fail."""

import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

from ecsel import ECSELClassifier
from ecsel.fitting import Adam

VARIANTS = [
    ECSELClassifier(),
    ECSELClassifier(n_terms=2, l1=1e-2),
    ECSELClassifier(n_terms=1, l1=1e-2, calibrate=True),
    ECSELClassifier(n_terms=1, l1=1e-2, link="softmax", fit_intercept=False),
    ECSELClassifier(n_terms=1, l1=1e-2, solver="lbfgs"),
    # The checks' tables have about 30 distinct rows, one or two batches an epoch: few epochs would be hardly any steps.
    ECSELClassifier(
        n_terms=1,
        l1=1e-3,
        penalty="paper",
        solver=Adam(epochs=300, patience=60, restarts=1, learning_rate=0.05, batch_size=16),
    ),
]


# The checks predict rows beyond the training range, stop Adam at its last epoch and calibrate on labels drawn by lot:
# all are told by a warning.
@pytest.mark.filterwarnings("ignore:.*rows lie:UserWarning")
@pytest.mark.filterwarnings("ignore:calibrate. the temperature reached its limit:UserWarning")
@pytest.mark.filterwarnings("ignore:The fit has not converged:sklearn.exceptions.ConvergenceWarning")
@parametrize_with_checks(VARIANTS)
def test_conventions(estimator, check):
    check(estimator)
