"""Who asks for a prediction: a person, whom rows outside the training range concern, or a cross-validation.

Each fold of a cross-validation has a training range of its own, and some of its held-out rows nearly always lie outside
of it. Nobody can act on a warning about that, and one per fold hides those that matter.
"""

from __future__ import annotations

import inspect

CROSS_VALIDATION = frozenset({"sklearn.model_selection._validation", "sklearn.model_selection._search"})
"""Modules of scikit-learn that fit and evaluate on folds; joblib's workers run their functions too."""
CALIBRATION = "_fit_classifier_calibrator_pair"
"""The function of scikit-learn that fits on some folds and calibrates on others; its module predicts for people too."""


def in_cross_validation() -> bool:
    """Whether scikit-learn's cross-validation or parameter search is among the callers.

    Examples
    --------
    >>> in_cross_validation()
    False
    """
    frame = inspect.currentframe()  # None where Python has no frames
    while frame is not None:
        if frame.f_globals.get("__name__") in CROSS_VALIDATION or frame.f_code.co_name == CALIBRATION:
            return True
        frame = frame.f_back
    return False
