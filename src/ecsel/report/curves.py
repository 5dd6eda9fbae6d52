"""The curves of a classifier: ROC, precision against recall, calibration, and the cells of every threshold.

ROC            false alarm rate fp/(fp + tn) against recall tp/(tp + fn)
precision      tp/(tp + fp) against recall
calibration    the share of hits against the mean probability, in bins of equal weight (`ecsel.quality`)
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.metrics import precision_recall_curve, roc_curve

from ecsel.report.html import Html, element, join
from ecsel.report.svg import Frame, thinned
from ecsel.signomial.text import format_name

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from ecsel.quality import Reliability
    from ecsel.report.evidence import Rows

    Floats = NDArray[np.float64]

UNIT = (0.0, 1.0)
MAX_CURVES = 6
"""A chart of more classes cannot be read; it shows those with most rows."""

GRID = 200
"""Thresholds on an even grid, and as many at the quantiles of the probabilities."""


def scored_classes(rows: Rows) -> list[int]:
    """Return the classes that have a curve: the second of two, else those with most rows; others have no meaning."""
    n_classes = rows.outputs.shape[1]
    totals = np.bincount(rows.truth, minlength=n_classes)
    chosen = [1] if n_classes == 2 else np.argsort(-totals, kind="stable")[:MAX_CURVES].tolist()
    return sorted(c for c in chosen if 0 < totals[c] < len(rows))


def roc_chart(rows: Rows) -> Html:
    """Return the ROC curve of each class against the rest."""
    frame = Frame(UNIT, UNIT)
    lines = [frame.line(np.array(UNIT), np.array(UNIT), "reference")]
    for k, c in enumerate(scored_classes(rows)):
        false_alarms, recall, _ = roc_curve(rows.truth == c, rows.outputs[:, c])
        kept = thinned(len(recall))
        lines.append(frame.line(false_alarms[kept], recall[kept], f"c{k}"))
    title = "ROC curve: recall against the false alarm rate; the diagonal is chance"
    return frame.figure(title, frame.axes("false alarm rate", "recall"), *lines)


def precision_chart(rows: Rows) -> Html:
    """Return precision against recall of each class; a dotted line is the share of the class."""
    frame = Frame(UNIT, UNIT)
    lines = []
    for k, c in enumerate(scored_classes(rows)):
        precision, recall, _ = precision_recall_curve(rows.truth == c, rows.outputs[:, c])
        kept = thinned(len(recall))
        share = float(np.mean(rows.truth == c))
        lines += [
            frame.line(np.array(UNIT), np.array([share, share]), "reference"),
            frame.line(recall[kept], precision[kept], f"c{k}"),
        ]
    title = "Precision against recall; the dotted line is the precision of choosing everyone"
    return frame.figure(title, frame.axes("recall", "precision"), *lines)


def calibration_chart(bins: Reliability, *, two_classes: bool) -> Html:
    """Return the share of hits against the mean probability."""
    frame = Frame(UNIT, UNIT)
    p, hit = np.array(bins.predicted), np.array(bins.observed)
    x_label = "predicted probability" if two_classes else "probability of the predicted class"
    title = "Calibration: observed share against predicted probability; the diagonal is perfect"
    return frame.figure(
        title,
        frame.axes(x_label, "observed share"),
        frame.line(np.array(UNIT), np.array(UNIT), "reference"),
        frame.line(p, hit, "c0"),
        frame.dots(p, hit, "c0", radius=3.5),
    )


def legend(rows: Rows) -> Html | None:
    """Return which line is which class; None for one line."""
    return legend_of([format_name(rows.view.classes[c]) for c in scored_classes(rows)])


def legend_of(labels: Sequence[str]) -> Html | None:
    """Return the legend of lines in their order; None for one line."""
    if len(labels) < 2:
        return None
    items = [
        element(
            "li",
            element(
                "svg",
                element("line", x1=0.0, x2=28.0, y1=5.0, y2=5.0, class_=f"line c{k}"),
                viewBox="0 0 28 10",
                class_="key",
                aria_hidden="true",
            ),
            label,
        )
        for k, label in enumerate(labels)
    ]
    return element("ul", join(items), class_="legend")


@dataclass(frozen=True, slots=True)
class Thresholds:
    """The cells of decisions at many thresholds, from which the page reads what a threshold would do.

    Attributes
    ----------
    values
        Thresholds in rising order; that of the model is among them.
    own
        The position of the model's own threshold.
    true_positive, false_positive
        Rows of the second and of the first class that would be decided for the second.
    positives, negatives
        All rows of the second and of the first class.
    """

    values: tuple[float, ...]
    own: int
    true_positive: tuple[int, ...]
    false_positive: tuple[int, ...]
    positives: int
    negatives: int

    @classmethod
    def of(cls, rows: Rows, threshold: float) -> Thresholds:
        """Count for an even grid, for quantiles of the probabilities (classes may be rare), and for the model's own."""
        p = rows.outputs[:, 1]
        quantiles = np.quantile(p, np.linspace(0, 1, GRID + 1), method="inverted_cdf")
        values = np.unique(np.concatenate([np.linspace(0, 1, GRID + 1), quantiles, [threshold]]))
        hits = _at_least(p[rows.truth == 1], values)
        alarms = _at_least(p[rows.truth == 0], values)
        own = int(np.searchsorted(values, threshold))
        positives = int((rows.truth == 1).sum())
        return cls(
            tuple(values.tolist()), own, tuple(hits.tolist()), tuple(alarms.tolist()), positives, len(rows) - positives
        )

    def cells(self, at: int) -> list[list[int]]:
        """Return truth (rows) against decision (columns) at a threshold."""
        hits, alarms = self.true_positive[at], self.false_positive[at]
        return [[self.negatives - alarms, alarms], [self.positives - hits, hits]]


def _at_least(p: Floats, values: Floats) -> NDArray[Any]:
    """Return how many probabilities are at least each value."""
    return len(p) - np.searchsorted(np.sort(p), values, side="left")
