"""scikit-learn's own checks of laws and of predictions, with no exception."""

from sklearn.utils.estimator_checks import parametrize_with_checks

from ecsel.estimators.regressor import ECSELRegressor


@parametrize_with_checks([ECSELRegressor(), ECSELRegressor(criterion="prediction", max_terms=3)])
def test_scikit_learn_compatibility(estimator, check):
    check(estimator)
