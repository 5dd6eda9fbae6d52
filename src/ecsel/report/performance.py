"""How good a classifier is on the evaluated rows: figures, the table of truth against decision, curves, thresholds."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.metrics import log_loss

from ecsel.quality import measure
from ecsel.quality.thresholds import cost_matrix
from ecsel.report.curves import Thresholds, calibration_chart, legend, precision_chart, roc_chart, scored_classes
from ecsel.report.wording import count, number, percent
from ecsel.signomial.text import format_name

if TYPE_CHECKING:
    from ecsel.quality import Quality
    from ecsel.report.evidence import Evidence, Rows
    from ecsel.report.html import Html

EVEN_COSTS = ((0.0, 1.0), (1.0, 0.0))


@dataclass(frozen=True, slots=True)
class Figure:
    """A number with its name and what it means."""

    name: str
    value: str
    meaning: str
    """What it measures, for people who do not know the name."""


@dataclass(frozen=True, slots=True)
class ClassLine:
    """How well one class is found."""

    label: str
    rows: str
    recall: str
    """The share of its rows that are found."""
    precision: str
    """The share of the rows called so that are of it."""


@dataclass(frozen=True, slots=True)
class ThresholdPanel:
    """What the page needs to try thresholds and costs."""

    thresholds: Thresholds
    costs: tuple[tuple[float, float], tuple[float, float]]
    own: str
    """The model's threshold, as it is shown."""


@dataclass(frozen=True, slots=True)
class ClassPerformance:
    """The quality section of a classifier."""

    figures: tuple[Figure, ...]
    figures_of: str
    """The rows that the figures are of: held out, in folds, or those of training."""
    n_rows: str
    """How many these are."""
    labels: tuple[str, ...]
    cells: tuple[tuple[str, ...], ...]
    per_class: tuple[ClassLine, ...]
    roc: Html | None
    precision: Html | None
    calibration: Html
    legend: Html | None
    panel: ThresholdPanel | None
    out_of_fold: str | None


def class_performance(evidence: Evidence, costs: Any) -> ClassPerformance:
    """Measure a classifier; `costs` is cost[true][predicted] of two classes."""
    view, rows = evidence.view, evidence.evaluated
    if costs is not None and len(view.classes) != 2:
        raise ValueError(f"costs are for two classes, but the model has {len(view.classes)}.")
    loss = float(log_loss(rows.truth, rows.outputs, labels=np.arange(len(view.classes))))
    quality = measure(rows.truth, rows.outputs, rows.decided, np.ones(len(rows)), loss)
    curves = bool(scored_classes(rows))
    # without held-out rows the folds of training measure more fairly than the rows that the model was fitted on
    folds = None if evidence.held_out else view.estimator.out_of_fold_
    return ClassPerformance(
        figures=_figures(folds or quality, [format_name(label) for label in view.classes]),
        figures_of=evidence.evaluated_name if folds is None else f"{_kind(view.estimator)} of the training rows",
        n_rows=_n_rows(evidence, folds),
        labels=tuple(format_name(label) for label in view.classes),
        cells=tuple(tuple(count(cell) for cell in row) for row in quality.confusion),
        per_class=_per_class(rows, quality),
        roc=roc_chart(rows) if curves else None,
        precision=precision_chart(rows) if curves else None,
        calibration=calibration_chart(quality.reliability, two_classes=len(view.classes) == 2),
        legend=legend(rows),
        panel=_panel(rows, view.threshold, costs) if curves and view.threshold is not None else None,
        out_of_fold=_out_of_fold(view.estimator, reported=folds is not None),
    )


def _figures(quality: Quality, labels: list[str]) -> tuple[Figure, ...]:
    found = [Figure("Accuracy", percent(quality.accuracy), "share of right decisions")]
    if quality.auc is not None:
        bounds = "" if quality.auc_low is None else f"; 95 % interval {quality.auc_low:.3f} to {quality.auc_high:.3f}"
        what = "how well it ranks: 1 is perfect, 0.5 is chance" if len(labels) == 2 else "mean over the classes"
        found.append(Figure("AUC", f"{quality.auc:.3f}", what + bounds))
    found += [
        Figure("Log-loss", f"{quality.log_loss:.3f}", "mean of −log(probability of the true class); smaller is better"),
        Figure("Brier score", f"{quality.brier:.3f}", "mean squared error of the probabilities"),
        Figure("Calibration error", f"{quality.ece:.3f}", "mean gap between probability and observed share"),
        Figure(
            "Recall of the rarest class",
            percent(quality.minority_recall),
            f"share of {labels[quality.minority]} that is found",
        ),
    ]
    if quality.gini is not None and quality.ks is not None:
        found.append(Figure("Gini", f"{quality.gini:.3f}", "2·AUC − 1: ranking, as scorecards state it"))
        found.append(Figure("KS", f"{quality.ks:.3f}", "largest gap between the two classes' shares below a score"))
    return tuple(found)


def _per_class(rows: Rows, quality: Quality) -> tuple[ClassLine, ...]:
    cells = np.array(quality.confusion)
    truth, decided, hits = cells.sum(axis=1), cells.sum(axis=0), np.diag(cells)
    return tuple(
        ClassLine(
            format_name(label),
            count(truth[c]),
            percent(hits[c] / truth[c] if truth[c] else None),
            percent(hits[c] / decided[c] if decided[c] else None),
        )
        for c, label in enumerate(rows.view.classes)
    )


def _panel(rows: Rows, threshold: float, costs: Any) -> ThresholdPanel:
    matrix = cost_matrix(EVEN_COSTS if costs is None else costs)
    (a, b), (c, d) = matrix.tolist()
    return ThresholdPanel(Thresholds.of(rows, threshold), ((a, b), (c, d)), number(threshold))


def _kind(model: Any) -> str:
    """Return what was held out: folds that take turns, or of a large table one part."""
    return "held-out folds" if model.n_folds_ > 1 else "a held-out part"


def _n_rows(evidence: Evidence, folds: Quality | None) -> str:
    """Return how many rows the figures are of: all that are evaluated, or one part that was held out of the search."""
    alone = folds is not None and evidence.view.estimator.n_folds_ == 1
    return count(folds.n_rows if alone and folds is not None else len(evidence.evaluated))


def _out_of_fold(model: Any, *, reported: bool) -> str | None:
    """Tell what cross-validation said, on rows that each fit had not seen; how it was done, where figures tell what."""
    quality: Quality | None = model.out_of_fold_
    if quality is None:
        return None
    if reported:
        if model.n_folds_ == 1:
            return "These rows were judged by a fit that had not seen them; the same rows chose the size."
        how = f"Each of the {model.n_folds_} folds was judged by a fit that had not seen it"
        return f"{how}; the same folds chose the size."
    area = "" if quality.auc is None else f", AUC {quality.auc:.3f}"
    folds = f"{model.n_folds_} folds of the training rows, each judged by a fit that had not seen it"
    part = f"{count(quality.n_rows)} of the training rows, judged by a fit that had not seen them"
    return (
        f"Out of fold ({folds if model.n_folds_ > 1 else part}): "
        f"accuracy {percent(quality.accuracy)}, log-loss {number(quality.log_loss, 3)}{area}."
    )
