"""Lowering: a fitted model becomes a `Program`, in which every awkward case is decided once, for all exports.

With the factors of all columns (see `ecsel.export.program.reading`) the model is

    z_k = α_k·Π_i φ_ki    or    α_k·Π_i s_ki·exp(clip(Σ_i part_ki, ±700)),        z_c = Σ_{k of c} z_k,
    sigmoid: p = 1/(1 + e^−z),    softmax: p_c = e^(z_c − max z)/Σ_r e^(z_r − max z)

and the second class where p ≥ threshold, or the first class of those with the largest p.

A product α·exp(700) may be too large for a double. The clip of such a term is tighter (`clip_limits`), in the model and
in every export alike, so that no sum of terms can overflow. Exports also keep products from being rounded to zero, at
which databases stop; no probability can tell this from the model.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from ecsel.explain.view import ModelView
from ecsel.export.program.contributions import Explained, Method, contributions_of
from ecsel.export.program.encoded import read_encoded
from ecsel.export.program.expr import (
    Abs,
    Add,
    Compare,
    Const,
    Div,
    Exp,
    Expr,
    If,
    Max,
    Neg,
    Null,
    Var,
    add,
    all_of,
    clamp,
    largest,
    minus,
    mul,
    smallest,
)
from ecsel.export.program.program import Program
from ecsel.export.program.raw import read_plain, read_raw
from ecsel.export.program.reading import ProductTerm, Sheet, is_one
from ecsel.signomial import Term
from ecsel.signomial.columns import LOG_LIMIT
from ecsel.signomial.text import print_term

if TYPE_CHECKING:
    from ecsel.export.program.reading import Reading


def lower(model: Any, *, contributions: Method | None = None, baseline: Any = None) -> Program:
    """Return a model as a program from raw columns to probabilities and a label.

    Parameters
    ----------
    model : ECSELClassifier, ECSELRegressor, Signomial or ModelView
        The model.
    contributions : {"log_additive", "attribution", "shapley"}, optional
        What each column contributes: to log|z_k| of each term (L1), to the scores to first order (L2), or as exact
        Shapley values of the scores against one background row.
    baseline : None, dict of columns, row or Baseline, optional
        The reference point of the contributions: by default a typical training row (medians and most frequent levels,
        of the paper's model the geometric mean); of a dict, columns that are left out stay there.

    Examples
    --------
    >>> from ecsel import Signomial
    >>> program = lower(Signomial.parse("3*x**2/y"))
    >>> [column.name for column in program.inputs], program.outputs
    (['x', 'y'], ('prediction',))
    """
    view = ModelView.of(model)
    _check_labels(view.classes)
    sheet = Sheet()
    reading = _read(view, sheet)
    accepted = If(all_of(reading.conditions), Const(1.0), Const(0.0)) if reading.conditions else Const(1.0)
    valid = is_one(sheet.let("valid", accepted, "valid", "the model accepts the row"))
    scores = _scores(view, reading, sheet)
    if not view.has_classes:
        outputs = [sheet.let("prediction", If(valid, scores[0], Null()), "output", "prediction")]
        decision = None
    else:
        one = view.link.has_reference
        p = sigmoid_outputs(scores[0], sheet) if one else softmax_outputs(scores, view.classes, sheet)
        outputs = [
            sheet.let(f"p{c}", If(valid, each, Null()), "output", f"probability of {label}")
            for c, (each, label) in enumerate(zip(p, view.classes, strict=True))
        ]
        chosen = If(valid, position_of(p, view.threshold), Null())
        decision = sheet.let("decision", chosen, "output", "position of the predicted class").name
    explained = Explained(view, reading, valid)
    outputs_by_column = () if contributions is None else contributions_of(explained, contributions, baseline, sheet)
    return Program(
        inputs=reading.inputs,
        assignments=tuple(sheet.assignments),
        classes=view.classes if view.has_classes else (),
        scores=tuple(score.name for score in scores),
        outputs=tuple(output.name for output in outputs),
        decision=decision,
        contributions=outputs_by_column,
    )


def _read(view: ModelView, sheet: Sheet) -> Reading:
    if view.encoder is None:
        return read_plain(view, sheet)
    return (read_raw if view.encoder.is_raw else read_encoded)(view, view.encoder, sheet)


def _scores(view: ModelView, reading: Reading, sheet: Sheet) -> list[Var]:
    by_class: list[list[Expr]] = [[] for _ in range(view.terms.n_classes)]
    clip_limits = view.terms.clip_limits
    for k, (alpha, c) in enumerate(zip(view.terms.coefficients.tolist(), view.terms.classes.tolist(), strict=True)):
        term = reading.terms[k]
        if not term.inputs:
            by_class[c].append(Const(alpha * math.exp(min(0.0, clip_limits[k][1]))))
            continue
        title = f"term {k}"
        if isinstance(term, ProductTerm):
            value = term.times(alpha)
            title += f": {print_term(Term.from_factors(alpha, view.factors[k]))}"
        else:
            total = clamp(add([term.parts[i] for i in term.inputs]), *clip_limits[k])
            exponent = sheet.let(f"e{k}", total, "exponent", f"exponent of term {k}")
            value = mul([Const(alpha), *(term.signs[i] for i in term.inputs if i in term.signs), Exp(exponent)])
        by_class[c].append(sheet.let(f"t{k}", value, "term", title))
    return [
        sheet.let(f"z{c}", add(terms), "score", f"score of {label}")
        for c, (terms, label) in enumerate(zip(by_class, view.score_classes, strict=True))
    ]


def sigmoid_outputs(z: Var, sheet: Sheet) -> list[Var]:
    """Return 1/(1 + e^z) and 1/(1 + e^−z), each with all its digits: only e^−|z| ≤ 1 is ever computed."""
    w = sheet.let("w", _exp(Neg(Abs(z))), "link", "exp(−|score|)")
    total = Add((Const(1.0), w))
    far, near = Div(w, total), Div(Const(1.0), total)
    is_second = Compare(">=", z, Const(0.0))
    return [
        sheet.let("y0", If(is_second, far, near), "link", "probability of the first class"),
        sheet.let("y1", If(is_second, near, far), "link", "probability of the second class"),
    ]


def softmax_outputs(scores: list[Var], classes: tuple[Any, ...], sheet: Sheet) -> list[Var]:
    """Return e^(z_c − max z)/Σ_r e^(z_r − max z) of each class."""
    top = sheet.let("top", largest(scores), "link", "largest score")
    weights = [
        sheet.let(f"w{c}", _exp(minus(z, top)), "link", f"weight of {label}")
        for c, (z, label) in enumerate(zip(scores, classes, strict=True))
    ]
    total = sheet.let("total", add(weights), "link", "sum of the weights")
    return [
        sheet.let(f"y{c}", Div(w, total), "link", f"share of {label}")
        for c, (w, label) in enumerate(zip(weights, classes, strict=True))
    ]


def position_of(p: list[Var], threshold: float | None) -> Expr:
    """Return the position of the predicted class: by the threshold, or the first with the largest probability."""
    if threshold is not None:
        return If(Compare(">=", p[1], Const(threshold)), Const(1.0), Const(0.0))
    top = largest(p)
    none = Const(float(len(p)))
    return smallest([If(Compare(">=", each, top), Const(float(c)), none) for c, each in enumerate(p)])


def _exp(operand: Expr) -> Expr:
    """Return e^x for x ≤ 0; beyond −700 it is as good as 0, and some databases refuse an exact 0 as an underflow."""
    return Exp(Max((operand, Const(-LOG_LIMIT))))


def _check_labels(classes: tuple[Any, ...]) -> None:
    for label in classes:
        if not isinstance(label, (str, bool, int, float)):
            raise TypeError(
                f"the class {label!r} is of the type {type(label).__name__}: exports need classes that are text, "
                "numbers or truth values; fit the model with such labels"
            )
