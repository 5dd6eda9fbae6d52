"""Closed-form equations from tables: signomial classifiers and laws, with exact explanations.

Names are imported when they are first used, so that ``import ecsel`` itself costs next to nothing.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from ecsel._version import __version__

if TYPE_CHECKING:
    from ecsel import explain, export, quality, report, study, tune
    from ecsel._show_versions import show_versions
    from ecsel.estimators.classifier import ECSELClassifier
    from ecsel.estimators.persistence import load
    from ecsel.estimators.regressor import ECSELRegressor
    from ecsel.export.readable.scorecards import scorecard
    from ecsel.signomial import Signomial, Term
    from ecsel.study.study import Study
    from ecsel.tables.cautions import ColumnWarning

_HOMES = {
    "ColumnWarning": "ecsel.tables.cautions",
    "ECSELClassifier": "ecsel.estimators.classifier",
    "ECSELRegressor": "ecsel.estimators.regressor",
    "Signomial": "ecsel.signomial",
    "Study": "ecsel.study.study",
    "Term": "ecsel.signomial",
    "load": "ecsel.estimators.persistence",
    "scorecard": "ecsel.export.readable.scorecards",
    "show_versions": "ecsel._show_versions",
}

__all__ = [
    "ColumnWarning",
    "ECSELClassifier",
    "ECSELRegressor",
    "Signomial",
    "Study",
    "Term",
    "__version__",
    "explain",
    "export",
    "load",
    "quality",
    "report",
    "scorecard",
    "show_versions",
    "study",
    "tune",
]
_ROOMS = ("explain", "export", "quality", "report", "study", "tune")


def __getattr__(name: str) -> Any:
    if name in _ROOMS:
        return import_module(f"ecsel.{name}")
    if name in _HOMES:
        return getattr(import_module(_HOMES[name]), name)
    raise AttributeError(f"module 'ecsel' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted([*globals(), *__all__])
