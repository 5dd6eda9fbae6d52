"""The scores that analysts expect, as pure functions of labels, scores, probabilities and weights.

==================  ===================================================================
:mod:`ranking`      AUC with DeLong's interval, Gini, Kolmogorov–Smirnov
:mod:`calibration`  Brier score, calibration error, reliability, temperature
:mod:`thresholds`   the best threshold under F1, Youden's index or a cost matrix
:mod:`drift`        population stability index between two tables
:mod:`points`       scorecard points (PDO)
:mod:`report`       all of a classifier's measures in one value
:mod:`regression`   error and R² of predicted numbers
==================  ===================================================================
"""

from ecsel.quality.calibration import Reliability, brier, calibration_error, fit_temperature, reliability
from ecsel.quality.drift import Drift, TableDrift, psi, score_psi
from ecsel.quality.points import PointsScale
from ecsel.quality.ranking import AreaUnderCurve, auc, gini, ks
from ecsel.quality.regression import RegressionQuality, measure_regression
from ecsel.quality.report import Quality, measure
from ecsel.quality.thresholds import best_threshold

__all__ = [
    "AreaUnderCurve",
    "Drift",
    "PointsScale",
    "Quality",
    "RegressionQuality",
    "Reliability",
    "TableDrift",
    "auc",
    "best_threshold",
    "brier",
    "calibration_error",
    "fit_temperature",
    "gini",
    "ks",
    "measure",
    "measure_regression",
    "psi",
    "reliability",
    "score_psi",
]
