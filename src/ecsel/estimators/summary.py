"""What a fitted classifier says of itself, in words."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ecsel.estimators.bounds import bound_lines, column_lines
from ecsel.estimators.guarantees import guarantee_lines
from ecsel.estimators.options import is_number
from ecsel.estimators.readable import SearchReport
from ecsel.estimators.readable_summary import equation_lines, front_lines, headline, range_lines, search_lines
from ecsel.estimators.straight import straight_part
from ecsel.signomial.text import counted

if TYPE_CHECKING:
    from ecsel.estimators.classifier import ECSELClassifier
    from ecsel.fitting import FitReport
    from ecsel.signomial import Signomial, Term
    from ecsel.tables import TableEncoder

MAX_CLASSES_LISTED = 8
"""A table of more classes would not fit on a page."""


def summarise_classifier(model: ECSELClassifier) -> str:
    """Return the equations, how they were found, and what was done to the columns."""
    report, encoder = model.fit_report_, model.encoder_
    equations, labels = list(model.equations_.values()), model.classes_.tolist()
    readable = isinstance(report, SearchReport)
    lines = [headline(model), "", *equation_lines(model), "", *range_lines(encoder)] if readable else _power_laws(model)
    if model.penalty != "l1":
        lines.append(f"penalty: {model.penalty!r}")
    lines += guarantee_lines(model.monotone, equations, encoder, labels)
    lines += bound_lines(model.exponent_bounds, equations, model.path_encoder_)
    lines += column_lines(model.max_features, equations, encoder)
    if model.threshold_ is not None:
        lines.append(f"predicts {labels[1]!r} where its probability is at least {model.threshold_:g}")
    if model.temperature_ != 1:
        what = "before rounding " if readable else "of the fit below "
        lines.append(f"calibrated: the scores {what}were divided by the temperature {model.temperature_:.4g}")
    lines += [
        "",
        *(search_lines(report) + front_lines(model) if isinstance(report, SearchReport) else fit_lines(report)),
    ]
    lines += out_of_fold_lines(model)
    if model.standard_errors_ is not None:
        lines += ["", str(model.standard_errors_)]
    if encoder.notes:
        lines += ["", "columns:", *(f"  {note}" for note in encoder.notes)]
    return "\n".join(lines)


def _power_laws(model: ECSELClassifier) -> list[str]:
    """Return the equations of the paper's model."""
    encoder = model.encoder_
    strength = "" if model.l1_ is None else f"l1 = {model.l1_:.4g}, "
    lines = [
        (
            f"ECSELClassifier: {len(model.classes_)} classes, {model.link_} link, "
            f"{counted(model.n_terms_, 'term')} per score, {strength}"
            f"{counted(len(encoder.features), 'positive feature')} from {counted(len(encoder.columns), 'column')}"
        ),
        "",
    ]
    for label, equation in model.equations_.items():
        lines.append(f"score of {label!r}:")
        lines.append(f"  {equation:.4g}")
        lines += [f"  {remark}" for remark in remarks(equation, encoder)]
    return lines


def fit_lines(report: FitReport) -> list[str]:
    """Return what the solver reached."""
    return [
        (
            f"fit: {report.status.value}; {report.iterations} iterations, {report.passes:.1f} passes over "
            f"{report.n_rows} distinct rows, {report.n_parameters} parameters"
        ),
        f"     objective {report.objective:.6g} (loss {report.loss:.6g}), KKT residual {report.kkt_residual:.1e} "
        f"(scale {report.kkt_scale:.3g}), starts reached " + ", ".join(f"{v:.6g}" for v in report.objective_spread),
    ]


def out_of_fold_lines(model: ECSELClassifier) -> list[str]:
    """Tell the quality on rows that the model had not seen, and what the same folds had decided before."""
    quality = model.out_of_fold_
    if quality is None:
        return []
    labels = [repr(label) for label in model.classes_.tolist()]
    lines = [
        "",
        (
            f"out of fold ({model.n_folds_} folds, {quality.n_rows} distinct rows, each judged by a fit that had not "
            f"seen it{_decided_on_folds(model)}):"
        )
        if model.n_folds_ > 1
        else (
            f"on held-out rows ({quality.n_rows} distinct ones, judged by a fit that had not seen them"
            f"{_decided_on_folds(model)}):"
        ),
        (
            f"  log-loss {quality.log_loss:.4f}, Brier {quality.brier:.4f}, ECE {quality.ece:.4f} (bins of equal "
            f"weight), accuracy {quality.accuracy:.4f}"
        ),
    ]
    if quality.gini is not None and quality.ks is not None:
        bounds = "" if quality.auc_low is None else f" (95 % interval {quality.auc_low:.4f} to {quality.auc_high:.4f})"
        lines.append(f"  AUC {quality.auc:.4f}{bounds}, Gini {quality.gini:.4f}, KS {quality.ks:.4f}")
    elif quality.auc is not None:
        lines.append(f"  AUC {quality.auc:.4f}, the mean of each class against the rest")
    lines.append(f"  recall of the rarest class {labels[quality.minority]}: {quality.minority_recall:.4f}")
    if len(labels) <= MAX_CLASSES_LISTED:
        at = "" if model.threshold_ is None else f" at the threshold {model.threshold_:.4g}"
        lines += [f"  rows by their truth (down) and prediction (across){at}:", *_table(labels, quality.confusion)]
    return lines


def _decided_on_folds(model: ECSELClassifier) -> str:
    """Name what was chosen on the very rows that are evaluated: figures are then a little too good."""
    chosen = [
        *(["size"] if any(np.isfinite(candidate.loss) for candidate in model.path_) else []),
        *(["temperature"] if model.calibrate else []),
        *([] if model.threshold is None or is_number(model.threshold) else ["threshold"]),
    ]
    where = "folds" if model.n_folds_ > 1 else "rows"
    return f"; the same {where} chose the {' and '.join(chosen)}" if chosen else ""


def held_out_name(model: Any) -> str:
    """Return what a model was evaluated on: folds that take turns, or of a large table one part of its rows."""
    return "held-out folds" if model.n_folds_ > 1 else "held-out rows"


def _table(labels: list[str], cells: tuple[tuple[float, ...], ...]) -> list[str]:
    numbers = [[f"{value:.6g}" for value in row] for row in cells]
    width = 2 + max(map(len, [*labels, *(text for row in numbers for text in row)]))
    left = max(map(len, labels))
    head = "    " + " " * left + "".join(label.rjust(width) for label in labels)
    rows = [
        "    " + label.ljust(left) + "".join(t.rjust(width) for t in row)
        for label, row in zip(labels, numbers, strict=True)
    ]
    return [head, *rows]


def remarks(equation: Signomial, encoder: TableEncoder) -> list[str]:
    """Tell the terms that are straight lines in the logs, whose huge coefficients are no large effects, and turns."""
    lines = []
    if (part := straight_part(equation, encoder)) is not None:
        which = " and ".join(f"{term.coefficient:.4g}" for term in part.terms)
        terms = "the term" if len(part.terms) == 1 else "the terms"
        come = "comes" if len(part.terms) == 1 else "come"
        lines.append(
            f"(linear in the logs over the training range: with the constant, {terms} with coefficient {which} "
            f"{come} to {part}, to within {part.error:.1g})"
        )
    for term in equation.terms:
        line = [f"{word} near {column!r} = {value:.4g}" for column, value, word in turns(term, encoder)]
        if line:
            lines.append(f"(the term with coefficient {term.coefficient:.4g} is {', '.join(line)})")
    return lines


def turns(term: Term, encoder: TableEncoder) -> list[tuple[str, float, str]]:
    """Return the columns in which a two-sided term turns inside the training range, where, and which way.

    With x' = p·x + q and its mirror image x~ = r − s·x the factor x'^a·x~^b is stationary where a·p/x' = b·s/x~, at
    x = (a·p·r − b·s·q)/(p·s·(a + b)); it is a maximum for a, b > 0 and a minimum for a, b < 0, the other way round for
    a negative coefficient.
    """
    features = {feature.name: feature for feature in encoder.features}
    found = []
    for name, a in term.exponents.items():
        mirror = features.get(f"{name}~")
        if mirror is None or mirror.kind != "mirror" or (b := term.exponents.get(mirror.name)) is None or a * b <= 0:
            continue
        p, q, s, r = features[name].scale, features[name].offset, -mirror.scale, mirror.offset
        at = float((a * p * r - b * s * q) / (p * s * (a + b)))
        if features[name].low < at < features[name].high:
            found.append((mirror.column, at, "highest" if term.coefficient * a > 0 else "lowest"))
    return found
