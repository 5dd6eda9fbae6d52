"""What a classifier with readable equations says of itself: the printed equation is the model, and what it means."""

from __future__ import annotations

from itertools import groupby
from typing import TYPE_CHECKING

import numpy as np

from ecsel.estimators.odds import odds_phrases
from ecsel.estimators.odds_product import is_product_of_powers, odds_factors
from ecsel.signomial.links import LINKS
from ecsel.signomial.text import counted, for_people, print_name, print_shift, print_term
from ecsel.tables.columns import NumericColumn
from ecsel.tables.level_text import LevelReading

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ecsel.estimators.classifier import ECSELClassifier
    from ecsel.estimators.path import Path
    from ecsel.estimators.readable import SearchReport
    from ecsel.signomial import Factor, Signomial
    from ecsel.tables import TableEncoder
    from ecsel.tables.features import Feature

OUTSIDE = {
    "clip": "a value outside counts as the nearest end",
    "extrapolate": "a value outside is taken as it is",
    "error": "a value outside is refused",
}
RANGED = frozenset({"number", "above", "below", "step"})
"""Kinds of features of columns that have a training range."""
MAX_DIGITS = 10
"""Longer numbers are printed with four digits."""


def headline(model: ECSELClassifier) -> str:
    """Return classes, link and size in one line."""
    equations = list(model.equations_.values())
    n_pieces = sum(not term.is_constant for equation in equations for term in equation.terms)
    n_factors = sum(equation.n_factors for equation in equations)
    used = {feature.column for feature in model.encoder_.features}
    labels = [repr(label) for label in model.classes_.tolist()]
    named = f" ({', '.join(labels)})" if len(labels) <= 8 else ""
    return (
        f"ECSELClassifier: {len(labels)} classes{named}, {model.link_} link, {counted(n_pieces, 'piece')} with "
        f"{counted(n_factors, 'factor')}, {len(used)} of {counted(len(model.encoder_.columns), 'column')}"
    )


def equation_lines(model: ECSELClassifier) -> list[str]:
    """Return every equation as it is computed, and what its pieces do to the odds."""
    encoder, has_reference = model.encoder_, LINKS[model.link_].has_reference
    lines: list[str] = []
    for label, equation in model.equations_.items():
        meaning = " (the logarithm of its odds)" if has_reference else ""
        lines += [f"score of {label!r}{meaning}:", f"  {equation}"]
        if has_reference and is_product_of_powers(equation, encoder):
            lines += [f"odds of {label!r}, the same as a product:", f"  {' * '.join(odds_factors(equation))}"]
    pieces = [
        (label, term) for label, equation in model.equations_.items() for term in equation.terms if not term.is_constant
    ]
    if not pieces:
        return [*lines, "", "no column is used: every row has the same probability"]
    whose = (
        f"the odds of {next(iter(model.equations_))!r}" if has_reference else "the odds of its class against any other"
    )
    lines += ["", f"what a piece does to {whose}, all others fixed:"]
    for label, term in pieces:
        lines.append(f"  {print_term(term)}" + ("" if has_reference else f" in the score of {label!r}"))
        lines += [f"    {phrase}" for phrase in odds_phrases(term, encoder)]
    return [*lines, *(f"  {line}" for line in repeated_columns(list(model.equations_.values()), encoder))]


def repeated_columns(equations: Sequence[Signomial], encoder: TableEncoder) -> list[str]:
    """Return a line on the columns in several pieces, if any: no one of them says alone what the column does."""
    column = {feature.name: feature.column for feature in encoder.features}
    times: dict[str, int] = {}
    for term in (term for equation in equations for term in equation.terms):
        for name in dict.fromkeys(column[name] for name in term.names):
            times[name] = times.get(name, 0) + 1
    several = {print_name(name): n for name, n in times.items() if n > 1}
    if len(several) < 2:
        return [f"{name} is in {n} pieces: read them together" for name, n in several.items()]
    *names, last = several
    return [f"{', '.join(names)} and {last} are each in several pieces: read those of a column together"]


def range_lines(encoder: TableEncoder) -> list[str]:
    """Return the training ranges of the columns in use, and what happens outside and to missing values."""
    columns = {column.name: column for column in encoder.columns}
    used = {name: list(features) for name, features in groupby(encoder.features, key=lambda feature: feature.column)}
    ranges = [
        f"  {print_name(name)}: {_exact(column.low)} to {_exact(column.high)}"
        for name, features in used.items()
        if isinstance(column := columns[name], NumericColumn) and any(f.kind in RANGED for f in features)
    ]
    lines = [f"training ranges ({OUTSIDE[encoder.out_of_range]}):", *ranges] if ranges else []
    others = {
        reading.column: reading.other
        for reading in encoder.readings
        if isinstance(reading, LevelReading) and reading.other is not None
    }
    lines += [
        f"any other level of {print_name(name)} counts as {other!r}" for name, other in others.items() if name in used
    ]
    named = [print_name(name) for name in used if columns[name].kind == "categorical" and name not in others]
    if named:
        lines.append(f"a level of {', '.join(named)} that was not in training counts as none of those named")
    filled = {name: value for name, features in used.items() if (value := _filled(features))}
    if filled:
        message = ", ".join(f"{print_name(name)} counts as {value}" for name, value in filled.items())
        lines.append(f"where missing, {message}")
    without_fill = [print_name(name) for name, features in used.items() if all(f.fill is None for f in features)]
    if without_fill:
        lines.append(f"missing values are refused in {', '.join(without_fill)}: training had none")
    return lines


def _filled(features: Sequence[Feature]) -> str:
    """Return what a missing value of a column counts as; nothing where it is refused or has an indicator alone."""
    known = [feature for feature in features if feature.fill is not None]
    for feature in known:
        if feature.kind in {"number", "ordinal"}:
            return _exact(feature.fill or 0.0)
    levels = [feature for feature in known if feature.kind in {"level", "step"}]
    chosen = [print_name(feature.name) for feature in levels if feature.fill]
    return " and ".join(chosen) or ("none of those named" if levels else "")


def _exact(value: float) -> str:
    """Return a number with all its digits where they are few."""
    text = print_shift(value)
    return text if len(text) <= MAX_DIGITS else for_people(value)


def front_lines(model: ECSELClassifier) -> list[str]:
    """Return the candidates of the search, the model marked, and those that the folds cannot tell from it."""
    figures = [f"{each.loss:.4f} ± {each.loss_se:.4f}{smoothed(each.smoothed_loss, '.4f')}" for each in model.path_]
    what = "factors of all scores: log-loss"
    return candidate_lines(model.path_, model.near_ties_, position(model), what, figures)


def smoothed(error: float, form: str) -> str:
    """Return the error by which the size was chosen, to stand beside the held-out one; nothing where they are one."""
    return f", smoothed {error:{form}}" if np.isfinite(error) else ""


def candidate_lines(
    path: Path, near_ties: Sequence[int], own: int | None, what: str, figures: Sequence[str]
) -> list[str]:
    """Return the candidates with their held-out figures, one of them marked, and its near ties."""
    measured = [i for i, candidate in enumerate(path) if np.isfinite(candidate.loss)]
    if len(measured) < 2:
        return []
    how = "; the smoothed one chooses" if any(np.isfinite(path[i].smoothed_loss) for i in measured) else ""
    lines = [f"candidates ({what} on held-out rows ± its standard error{how}):"]
    lines += [f"  {'*' if i == own else ' '} {path[i].size:>3}: {figures[i]}  select({i})" for i in measured]
    lines.append("  * is this model; select(i) returns another, path_[i].equations shows its equations")
    ties = [i for i in near_ties if i != own]
    if own in near_ties and ties:
        message = ", ".join(f"{path[i].size} factors, select({i})" for i in ties)
        lines.append(f"the folds cannot tell the chosen one from {message}; see path_")
    return lines


def position(model: ECSELClassifier) -> int | None:
    """Return the position in `path_` of the candidate whose pieces the model has."""
    own = _shapes(tuple(model.equations_.values()))
    return next((i for i, each in enumerate(model.path_) if _shapes(each.equations) == own), None)


def _shapes(equations: Sequence[Signomial]) -> list[set[tuple[Factor, ...]]]:
    return [{term.factors for term in equation.terms if not term.is_constant} for equation in equations]


def search_lines(report: SearchReport) -> list[str]:
    """Return what the search has seen."""
    ended = "" if report.converged else " (it was stopped before its end)"
    return [
        (
            f"search: {report.n_pieces} pieces to choose from, {report.n_rows} distinct rows, log-loss on them "
            f"{report.loss:.4f}{ended}"
        )
    ]
