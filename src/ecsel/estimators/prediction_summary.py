"""What a regressor that predicts says of itself: the printed equation is the model, and how good it is."""

from __future__ import annotations

from math import isfinite
from typing import TYPE_CHECKING

import numpy as np

from ecsel.estimators.bounds import bound_lines
from ecsel.estimators.readable_summary import candidate_lines, range_lines, smoothed
from ecsel.signomial import Signomial, Term
from ecsel.signomial.text import counted, print_name

if TYPE_CHECKING:
    from ecsel.estimators.regressor import ECSELRegressor


def describe_prediction(model: ECSELRegressor) -> str:
    """Return the equation in words: how good it is, where it holds, and what is as good."""
    left = print_name(model.target_name_)
    lines = [f"{left} = {model.equation_}"]
    if not model.law_found_:
        lines.append("No column is used: none predicts the target better than a constant does.")
    lines += [*_law_lines(model), *_quality_lines(model), *range_lines(model.encoder_)]
    own = _position(model)
    if own in model.near_ties_:
        for i in model.near_ties_:
            if i != own:
                lines.append(f"The folds cannot tell it from select({i}): {left} = {model.path_[i].equations[0]}")
    if not model.search_completed_:
        lines.append("The search was stopped before its end; this is the best equation so far.")
    return "\n".join(lines)


def summarise_prediction(model: ECSELRegressor) -> str:
    """Return the equation, its numbers with standard errors, and how it was found, as text."""
    equation, encoder, report = model.equation_, model.encoder_, model.fit_report_
    n_pieces = sum(not term.is_constant for term in equation.terms)
    used = {feature.column for feature in encoder.features}
    ended = "" if report.converged else " (it was stopped before its end)"
    losses = [candidate.loss for candidate in model.path_]
    errors = [candidate.loss_se for candidate in model.path_]
    expected = np.maximum([candidate.smoothed_loss for candidate in model.path_], 0.0).tolist()
    figures = [
        f"{loss**0.5:.4g} ± {0.5 * error / max(loss, 1e-300) ** 0.5:.2g}{smoothed(chosen_by**0.5, '.4g')}"
        for loss, error, chosen_by in zip(losses, errors, expected, strict=True)
    ]
    return "\n".join(
        [
            (
                f"ECSELRegressor, a prediction: {counted(n_pieces, 'piece')} with "
                f"{counted(equation.n_factors, 'factor')}, {len(used)} of {counted(len(encoder.columns), 'column')}"
            ),
            "",
            f"{print_name(model.target_name_)} = {equation}",
            "",
            *_number_lines(model),
            "",
            *_law_lines(model),
            *range_lines(encoder),
            *bound_lines(model.exponent_bounds, (equation,), model.path_encoder_),
            *_quality_lines(model),
            f"search: {report.n_pieces} pieces to choose from, {report.n_rows} distinct rows{ended}",
            *candidate_lines(
                model.path_, model.near_ties_, _position(model), "factors: root mean squared error", figures
            ),
            *encoder.notes,
        ]
    )


def _position(model: ECSELRegressor) -> int | None:
    """Return the position of the model among its candidates."""
    return next((i for i, each in enumerate(model.path_) if each.equations == (model.equation_,)), None)


def _law_lines(model: ECSELRegressor) -> list[str]:
    """Return what is said where the law of the table was tried; sums of pieces have no code length."""
    last = len(model.path_) - 1
    if model.n_folds_ == 0 or not isfinite(model.path_laws_[last].code_length):
        return []
    if _position(model) == last:
        return ["It is the law of the table, which predicts held-out rows better than sums of pieces do."]
    text = f"{print_name(model.target_name_)} = {model.path_[last].equations[0]}"
    return [f"The law of the table predicts held-out rows no better: select({last}), {text}"]


def _quality_lines(model: ECSELRegressor) -> list[str]:
    law, quality = model.law_, model.out_of_fold_
    line = f"root mean squared error on the training rows {law.mse**0.5:.4g}"
    if quality is not None:
        share = "" if quality.r2 is None else f", R² {quality.r2:.4f}"
        line += (
            f"; on held-out rows of {model.n_folds_} folds {quality.rmse:.4g}, "
            f"mean absolute error {quality.mae:.4g}{share}"
        )
    elif isfinite(law.validation_mse):
        line += f"; on held-out rows {law.validation_mse**0.5:.4g}"
    return [line]


def _number_lines(model: ECSELRegressor) -> list[str]:
    """Return a table of the numbers with their standard errors."""
    law = model.law_
    rows = [("piece", "coefficient", "std. error")]
    for p in law.parameters:
        piece = str(Signomial([Term.from_factors(1.0, law.terms[p.term].factors)]))
        rows.append((piece, f"{p.value:.8g}", f"{p.standard_error:.2g}"))
    widths = [max(len(row[i]) for row in rows) for i in range(3)]
    table = ["  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows]
    return [*table, "Standard errors are conditional on the pieces; they do not assume that the equation is true."]
