r"""`to_latex`: the model as LaTeX in math mode, one line per equation, with the rules that belong to it.

Names are escaped by `ecsel.signomial.latex.latex_name`, which also writes the equations. The paper's model, which
speaks of positive images of its columns, is written in raw units by `ecsel.export.formula_latex`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ecsel.explain.view import ModelView
from ecsel.export.description import fill_of, used_columns
from ecsel.export.digits import Digits, check_complete, exact_name, readable_equations, readable_formula
from ecsel.export.formula_latex import formula_scores, held_columns
from ecsel.export.latex_program import MISSING, cases, complete_latex, decimal, level_names
from ecsel.export.raw_units import positive_encoder
from ecsel.export.text import score_name
from ecsel.signomial import Term
from ecsel.signomial.latex import latex_name, latex_sum
from ecsel.tables import NumericColumn, OrdinalColumn

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from fractions import Fraction

    from ecsel.signomial import Signomial
    from ecsel.tables import Column, Feature, TableEncoder


def to_latex(
    model: Any, *, digits: Digits = None, tolerance: float = 1e-3, X: Any = None, complete: bool = False
) -> str:
    r"""Return the model as LaTeX: an ``aligned`` environment for math mode.

    First come the values that columns are held at and those of missing values, then scores, then probabilities and the
    rule for the label. `to_text` says the rules in words. With ``complete=True`` everything is written step by step.

    Parameters
    ----------
    model : ECSELClassifier, ECSELRegressor or Signomial
        The model.
    digits : int, "auto" or None, default=None
        How many significant digits numbers have; None keeps them all; ``"auto"`` is the fewest with which predictions
        stay within the tolerance.
    tolerance : float, default=1e-3
        What ``"auto"`` allows: the largest change of a probability, or of a prediction relative to the root mean square
        of all predictions.
    X : data frame or array, optional
        Rows on which that is judged; by default rows that are spread over the training ranges.
    complete : bool, default=False
        Whether to write all steps instead, which can be followed for any row to what the model says of it: which rows
        are refused, what a missing value, an unknown level and a value out of range count as, where numbers are
        clipped, and how the label is found. Numbers keep all their digits.

    Examples
    --------
    >>> from ecsel import Signomial
    >>> print(to_latex(Signomial.parse("2.5*x1**2/sqrt(abs(y))")))
    \begin{aligned}
    \hat{y} &= \frac{2.5\,x_{1}^{2}}{\sqrt{\left|y\right|}}
    \end{aligned}
    """
    view = ModelView.of(model)
    if complete:
        check_complete(digits, X)
        return complete_latex(view)
    encoder = positive_encoder(view)
    if encoder is not None:
        formula = readable_formula(view, encoder, digits, tolerance, X)
        lines, scores = list(held_columns(formula)), list(formula_scores(formula))
        name = score_name(view, formula.columns)
    else:
        equations = readable_equations(view, digits, tolerance, X)
        lines = [] if view.encoder is None else list(_inputs(view, view.encoder))
        scores = [latex_sum(each.terms) if view.has_classes else _law(each) for each in equations]
        name = score_name(view, view.raw_names)
    names = [_score(view, name, label) for label in view.score_classes]
    lines += [f"{left} &= {right}" for left, right in zip(names, scores, strict=True)]
    written = " \\\\\n".join([*lines, *_answers(view, names)])
    return f"\\begin{{aligned}}\n{written}\n\\end{{aligned}}"


def _score(view: ModelView, name: str, label: Any) -> str:
    if not view.has_classes:
        return r"\hat{y}"
    return f"{latex_name(name)}_{{{latex_name(str(label))}}}" if len(view.score_classes) > 1 else latex_name(name)


def _answers(view: ModelView, scores: Sequence[str]) -> Iterator[str]:
    if not view.has_classes:
        return
    classes = level_names(view.classes).values()
    p = [rf"P\left({label}\right)" for label in classes]
    if view.link.has_reference:
        for each, signed in zip(p, (scores[0], f"-{scores[0]}"), strict=True):
            yield rf"{each} &= \frac{{1}}{{1 + \exp\left({signed}\right)}}"
    else:
        weights = [rf"\exp\left({score}\right)" for score in scores]
        for each, weight in zip(p, weights, strict=True):
            yield rf"{each} &= \frac{{{weight}}}{{{' + '.join(weights)}}}"
    if view.threshold is None:
        yield r"\mathrm{label} &= \text{the class with the largest } P"
    else:
        first, second = classes
        rule = cases([(second, rf"{p[1]} \geq {decimal(view.threshold)}"), (first, None)])
        yield rf"\mathrm{{label}} &= {rule}"


def _inputs(view: ModelView, encoder: TableEncoder) -> Iterator[str]:
    """Yield how the columns of a raw encoder are read, and what brackets mean that are no statements."""
    has_statements = False
    for column, features in used_columns(view, encoder):
        name = latex_name(column.name)
        read = _read(column, features, clip=encoder.out_of_range == "clip")
        if read != name:
            yield rf"{name} &\leftarrow {read}"
        for feature in features:
            if feature.kind in {"above", "below"}:
                yield rf"{latex_name(feature.name)} &= {_hinge(feature)}"
            has_statements |= feature.kind in {"level", "missing", "step"}
    if has_statements:
        yield r"\left[\text{a statement}\right] &= " + cases([("1", r"\text{it holds}"), ("0", None)])


def _read(column: Column, features: Sequence[Feature], *, clip: bool) -> str:
    name = latex_name(column.name)
    levels = level_names(getattr(column, "levels", ()))
    fill = fill_of(features)
    missing = (
        [levels[f.level] for f in features if f.level in levels and f.fill == 1] if fill is None else [decimal(fill)]
    )
    chosen: list[tuple[str, str | None]] = [(each, rf"{name} = {MISSING}") for each in missing]
    positions = [feature for feature in features if feature.kind == "ordinal"]
    if isinstance(column, OrdinalColumn) and positions:
        chosen += [(str(place), rf"{name} = {levels[level]}") for place, level in enumerate(column.levels)]
        return cases([*chosen, (decimal(positions[0].baseline), None)])
    if isinstance(column, NumericColumn) and clip and any(feature.kind != "missing" for feature in features):
        name = rf"\min\left(\max\left({name}, {decimal(column.low)}\right), {decimal(column.high)}\right)"
    return cases([*chosen, (name, None)])


def _hinge(feature: Feature) -> str:
    name, cut = latex_name(feature.column), feature.cut or 0.0
    if feature.kind == "below":
        return rf"\max\left(0, {decimal(cut)} - {name}\right)"
    return rf"\max\left(0, {name} {'-' if cut >= 0 else '+'} {decimal(abs(cut))}\right)"


def _law(equation: Signomial) -> str:
    """Return an equation whose coefficients are called by their names where they have one."""
    first, *others = [_law_term(term) for term in equation.terms] or ["0"]
    return first + "".join(f" - {term[1:]}" if term.startswith("-") else f" + {term}" for term in others)


def _law_term(term: Term) -> str:
    name = exact_name(term.coefficient)
    if name is None:
        return latex_sum([term])
    number = _named(*name)
    return number if term.is_constant else rf"{number}\,{latex_sum([Term.from_factors(1.0, term.factors)])}"


def _named(ratio: Fraction, power_of_pi: int) -> str:
    top, bottom = str(abs(ratio.numerator)), str(ratio.denominator)
    if power_of_pi:
        pi = r"\pi" if abs(power_of_pi) == 1 else rf"\pi^{{{abs(power_of_pi)}}}"
        if power_of_pi > 0:
            top = pi if top == "1" else rf"{top}\,{pi}"
        else:
            bottom = pi if bottom == "1" else rf"{bottom}\,{pi}"
    written = top if bottom == "1" else rf"\frac{{{top}}}{{{bottom}}}"
    return f"-{written}" if ratio < 0 else written
