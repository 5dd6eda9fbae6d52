"""What a fitted classifier says of itself, in words."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from ecsel.estimators.classifier import ECSELClassifier
    from ecsel.signomial import Signomial
    from ecsel.tables import TableEncoder

NEARLY_LINEAR = 0.1
"""A term whose exponent sum over the training ranges stays below this is a straight line in the logs to the eye."""


def summarise_classifier(model: ECSELClassifier) -> str:
    """Return the equations, how they were found, and what was done to the columns."""
    report, encoder = model.fit_report_, model.encoder_
    lines = [
        (
            f"ECSELClassifier: {len(model.classes_)} classes, {model.link_} link, {model.n_terms_} term(s) per score, "
            f"l1 = {model.l1_:.4g}, {len(encoder.features)} positive feature(s) from {len(encoder.columns)} column(s)"
        ),
        "",
    ]
    for label, equation in model.equations_.items():
        lines.append(f"score of {label!r}:")
        lines.append(f"  {equation:.4g}")
        lines += [f"  {remark}" for remark in remarks(equation, encoder)]
    if model.threshold_ is not None:
        lines.append(f"predicts {model.classes_.tolist()[1]!r} where its probability is at least {model.threshold_:g}")
    lines += [
        "",
        (
            f"fit: {report.status.value}; {report.iterations} iterations, {report.passes:.1f} passes over "
            f"{report.n_rows} distinct rows, {report.n_parameters} parameters"
        ),
        f"     objective {report.objective:.6g} (loss {report.loss:.6g}), KKT residual {report.kkt_residual:.1e} "
        f"(scale {report.kkt_scale:.3g}), starts reached " + ", ".join(f"{v:.6g}" for v in report.spread),
    ]
    if encoder.notes:
        lines += ["", "columns:", *(f"  {note}" for note in encoder.notes)]
    return "\n".join(lines)


def remarks(equation: Signomial, encoder: TableEncoder) -> list[str]:
    """Name the terms that are straight lines in the logs: their huge coefficients are no large effects."""
    reach = {
        f.name: abs(np.log((f.scale * f.high + f.offset) / (f.scale * f.low + f.offset))) for f in encoder.features
    }
    return [
        f"(the term with coefficient {term.coefficient:.4g} is linear in the logs over the training range: "
        "read its exponents times its coefficient as slopes)"
        for term in equation.terms
        if term.exponents and sum(abs(float(b)) * reach[name] for name, b in term.exponents.items()) < NEARLY_LINEAR
    ]
