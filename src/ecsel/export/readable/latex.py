r"""`to_latex`: the model as LaTeX in math mode, one line per equation, with the rules that belong to it.

Names are escaped by `ecsel.signomial.latex.latex_name`, which also writes the equations. The paper's model, which
speaks of positive images of its columns, is written in raw units by `ecsel.export.readable.formula_latex`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ecsel.discovery.fitted import number_latex
from ecsel.discovery.report import formula_latex
from ecsel.explain.view import ModelView
from ecsel.export.readable.description import fill_of, used_columns
from ecsel.export.readable.digits import Digits, check_complete, exact_name, readable_equations, readable_formula
from ecsel.export.readable.formula_latex import clipped_columns, formula_scores
from ecsel.export.readable.raw_units import positive_encoder
from ecsel.export.readable.text import score_name
from ecsel.export.targets.python import to_python
from ecsel.signomial.latex import latex_name, latex_number, latex_sum
from ecsel.tables import NumericColumn, OrdinalColumn

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from ecsel.signomial import Signomial
    from ecsel.tables import Column, Feature, Level, TableEncoder

MISSING = r"\text{missing}"


def to_latex(
    model: Any, *, digits: Digits = None, tolerance: float = 1e-3, X: Any = None, complete: bool = False
) -> str:
    r"""Return the model as LaTeX: an ``aligned`` environment for math mode.

    First come the values that columns are held at and those of missing values, then scores, then probabilities and the
    rule for the label. `to_text` says the rules in words.

    Parameters
    ----------
    model : ECSELClassifier, ECSELRegressor or Signomial
        The model.
    digits, tolerance, X : optional
        How many significant digits numbers have, what ``"auto"`` allows, and on which rows: as in `to_text`.
    complete : bool, default=False
        Whether to return the whole program of the model instead, with every rule: the text of `to_python`, as a
        ``verbatim`` listing.

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
        return _listing(to_python(view))
    encoder = positive_encoder(view)
    if encoder is not None:
        formula = readable_formula(view, encoder, digits, tolerance, X)
        lines, scores = list(clipped_columns(formula)), list(formula_scores(formula))
        name = score_name(view, formula.columns)
    else:
        equations = readable_equations(view, digits, tolerance, X)
        lines = [] if view.encoder is None else list(_inputs(view, view.encoder))
        scores = [_sum(each, is_law=not view.has_classes) for each in equations]
        name = score_name(view, view.raw_names)
    names = [_score(view, name, label) for label in view.score_classes]
    lines += [f"{left} &= {right}" for left, right in zip(names, scores, strict=True)]
    written = " \\\\\n".join([*lines, *_answers(view, names)])
    return f"\\begin{{aligned}}\n{written}\n\\end{{aligned}}"


def _listing(source: str) -> str:
    r"""Return Python source as a listing; a name in it cannot end the listing, since its backslash is written \x5c."""
    unending = source.replace("\\\\end{", "\\x5cend{")
    return f"\\begin{{verbatim}}\n{unending.rstrip()}\n\\end{{verbatim}}"


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
        rule = cases([(second, rf"{p[1]} \geq {latex_number(view.threshold)}"), (first, None)])
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
        [levels[f.level] for f in features if f.level in levels and f.fill == 1]
        if fill is None
        else [latex_number(fill)]
    )
    chosen: list[tuple[str, str | None]] = [(each, rf"{name} = {MISSING}") for each in missing]
    positions = [feature for feature in features if feature.kind == "ordinal"]
    if isinstance(column, OrdinalColumn) and positions:
        chosen += [(str(place), rf"{name} = {levels[level]}") for place, level in enumerate(column.levels)]
        return cases([*chosen, (latex_number(positions[0].baseline), None)])
    if isinstance(column, NumericColumn) and clip and any(feature.kind != "missing" for feature in features):
        name = rf"\min\left(\max\left({name}, {latex_number(column.low)}\right), {latex_number(column.high)}\right)"
    return cases([*chosen, (name, None)])


def _hinge(feature: Feature) -> str:
    name, cut = latex_name(feature.column), feature.cut or 0.0
    if feature.kind == "below":
        return rf"\max\left(0, {latex_number(cut)} - {name}\right)"
    return rf"\max\left(0, {name} {'-' if cut >= 0 else '+'} {latex_number(abs(cut))}\right)"


def level_names(levels: Iterable[Level]) -> dict[Level, str]:
    r"""Return how levels are written: numbers as such, text and truth values as names, all of them different.

    >>> level_names(["a b", "a\tb"])
    {'a b': '\\mathrm{a\\ b}', 'a\tb': '\\mathrm{a\\ b}_{(1)}'}
    """
    names: dict[Level, str] = {}
    for place, level in enumerate(levels):
        name = latex_name(str(level))
        if isinstance(level, (int, float)) and not isinstance(level, bool):
            name = latex_number(level) if isinstance(level, float) else str(level)
        names[level] = f"{name}_{{({place})}}" if name in names.values() else name
    return names


def cases(chosen: Sequence[tuple[str, str | None]]) -> str:
    """Return values and the conditions under which they are meant; the last one is meant otherwise."""
    if len(chosen) == 1:
        return chosen[0][0]
    rows = r" \\ ".join(
        rf"{value} & \text{{otherwise}}" if condition is None else rf"{value} & \text{{if }} {condition}"
        for value, condition in chosen
    )
    return f"\\begin{{cases}} {rows} \\end{{cases}}"


def _sum(equation: Signomial, *, is_law: bool) -> str:
    r"""Return an equation; coefficients of a law are called by their names where a decimal would not say what they are.

    >>> from ecsel.signomial import Signomial
    >>> print(_sum(Signomial.parse("0.3333333333333333*x + 0.25"), is_law=True))
    \frac{1}{3}\,x + 0.25
    """
    if not is_law:
        return latex_sum(equation.terms)
    return formula_latex(equation, None, lambda value: None if exact_name(value) is None else number_latex(value))
