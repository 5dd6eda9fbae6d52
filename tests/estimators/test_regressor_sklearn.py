"""scikit-learn's own checks with the default options and no exception."""

from sklearn.utils.estimator_checks import parametrize_with_checks

from ecsel.estimators.regressor import ECSELRegressor


@parametrize_with_checks([ECSELRegressor()])
def test_scikit_learn_compatibility(estimator, check):
    check(estimator)
