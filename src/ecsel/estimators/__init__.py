"""The estimators: scikit-learn's conventions around the mathematics of the other rooms."""

from ecsel.estimators.classifier import ECSELClassifier
from ecsel.estimators.persistence import load
from ecsel.estimators.regressor import ECSELRegressor

__all__ = ["ECSELClassifier", "ECSELRegressor", "load"]
