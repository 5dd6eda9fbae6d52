"""The quality of predictions in one value: probabilities, ranking and decisions, measured on the same rows."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from ecsel.quality.calibration import Reliability, bins_of, brier_of
from ecsel.quality.ranking import auc, ks
from ecsel.quality.thresholds import confusion

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ecsel._typing import Floats
    from ecsel.quality.inputs import Codes


OPTIONAL = ("auc", "auc_low", "auc_high", "ks", "gini")


@dataclass(frozen=True, slots=True)
class Quality:
    """Measures of predictions; None where the rows do not define one.

    `auc` is that of the second class, or the mean of one class against the rest; its bounds, `ks` and `gini` are for
    two classes. `minority` is the code of the class with the least weight, `confusion` the weights of truth (rows)
    against decision (columns).
    """

    n_rows: int
    log_loss: float
    accuracy: float
    minority: int
    minority_recall: float
    confusion: tuple[tuple[float, ...], ...]
    brier: float
    ece: float
    auc: float | None
    auc_low: float | None
    auc_high: float | None
    ks: float | None
    gini: float | None
    reliability: Reliability

    def to_dict(self) -> dict[str, Any]:
        """Return plain JSON values."""
        bins = {name: list(values) for name, values in asdict(self.reliability).items()}
        return {**asdict(self), "confusion": [list(row) for row in self.confusion], "reliability": bins}

    @classmethod
    def from_dict(cls, plain: Mapping[str, Any]) -> Quality:
        """Inverse of `to_dict`; what has another shape is a KeyError, TypeError or ValueError."""
        given = dict(plain)
        bins = dict(given.pop("reliability"))
        table = tuple(tuple(map(float, row)) for row in given.pop("confusion"))
        counts = {name: int(given.pop(name)) for name in ("n_rows", "minority")}
        numbers: dict[str, Any] = {
            name: None if value is None and name in OPTIONAL else float(value) for name, value in given.items()
        }
        shares = Reliability(**{name: tuple(map(float, values)) for name, values in bins.items()})
        return cls(confusion=table, reliability=shares, **counts, **numbers)


def measure(codes: Codes, probabilities: Floats, predicted: Codes, weights: Floats, log_loss: float) -> Quality:
    """Return the quality of probabilities (rows, classes) and decisions; weights count as rows.

    >>> p = np.array([0.2, 0.4, 0.6, 0.9])
    >>> quality = measure(
    ...     np.array([0, 1, 0, 1]), np.column_stack([1 - p, p]), np.array([0, 0, 1, 1]), np.ones(4), log_loss=0.56
    ... )
    >>> quality.accuracy, quality.auc, quality.confusion
    (0.5, 0.75, ((1.0, 1.0), (1.0, 1.0)))
    """
    n_classes = probabilities.shape[1]
    cells = confusion(codes, predicted, weights, n_classes)
    totals = cells.sum(axis=1)
    minority = int(np.argmin(np.where(totals > 0, totals, np.inf)))
    areas = [
        auc(codes == c, probabilities[:, c], weights)
        for c in (range(1, 2) if n_classes == 2 else range(n_classes))
        if 0 < totals[c] < totals.sum()
    ]
    two = n_classes == 2 and len(areas) == 1
    return Quality(
        n_rows=len(codes),
        log_loss=log_loss,
        accuracy=float(np.trace(cells) / totals.sum()),
        minority=minority,
        minority_recall=float(cells[minority, minority] / totals[minority]),
        confusion=tuple(map(tuple, cells.tolist())),
        brier=brier_of(probabilities, codes, weights),
        ece=bins_of(probabilities, codes, weights).error,
        auc=float(np.mean([area.value for area in areas])) if areas else None,
        auc_low=_known(areas[0].low) if two else None,
        auc_high=_known(areas[0].high) if two else None,
        ks=ks(codes, probabilities[:, 1], weights) if two else None,
        gini=2 * areas[0].value - 1 if two else None,
        reliability=bins_of(probabilities, codes, weights),
    )


def _known(value: float) -> float | None:
    return None if np.isnan(value) else value
