"""What a piece of a readable equation does to the odds, in words.

With two classes and one score, odds = p/(1 − p) = e^z. A piece c·φ(x) multiplies the odds by e^{c·Δφ} where x moves and
all other pieces stay:

    c·x           each further unit:   e^c
    c·log(x + s)  each doubling of x + s:   2^c, or each tenth more of it:   1.1^c where a doubling says too much
    c·[level]     the level:   e^c
    otherwise     from the least value over the typical one to the greatest:   e^{c·Δφ} for both stretches

A product is told column by column, the other column at its typical value, or where its indicator is 1.
"""

from __future__ import annotations

from math import exp, floor, log, log10
from typing import TYPE_CHECKING

import numpy as np

from ecsel.signomial.factor_values import factor_values
from ecsel.signomial.text import for_people, print_base, print_name

if TYPE_CHECKING:
    from ecsel.signomial import Factor, Term
    from ecsel.tables import TableEncoder
    from ecsel.tables.features import Feature

INDICATORS = frozenset({"level", "missing", "step"})
"""Kinds of features that are 1 or 0."""
PERCENT_BELOW = 1.5
"""Factors between 1/1.5 and 1.5 are told in percent."""
LARGE_FACTOR = 10.0
"""Where doubling a number multiplies the odds by more than this, or divides them, a tenth more of it is told."""


def odds_phrases(term: Term, encoder: TableEncoder) -> list[str]:
    """Return what a term does to the odds, a phrase for every number of it.

    Examples
    --------
    >>> from ecsel import Signomial
    >>> from ecsel.tables import TableEncoder
    >>> encoder = TableEncoder.fit([[1.0, 5.0], [2.0, 9.0], [40.0, 7.0]], scaling="raw")
    >>> for term in Signomial.parse("1.2*log(x0) - 0.033*x0 + 0.5/x1 - 15*log(x1)").terms:
    ...     print(*odds_phrases(term, encoder))
    each further unit of x0 lowers the odds by 3.2 %
    each doubling of x0 multiplies the odds by 2.3
    each 10 % more of x1 multiplies the odds by 0.24
    the odds are multiplied by 0.97 from x1 = 5 to 7 (its median) and by 0.98 from there to 9
    """
    features = {feature.name: feature for feature in encoder.features}
    indicators = [f for f in term.factors if features[f.name].kind in INDICATORS]
    numbers = [f for f in term.factors if features[f.name].kind not in INDICATORS]
    if not numbers:
        who = " and ".join(print_name(f.name) for f in indicators)
        together = " together" if len(indicators) > 1 else ""
        verb = "multiply" if together else "multiplies"
        return [f"{who}{together} {verb} the odds by {_number(_exp(term.coefficient))}"]
    where = [print_name(f.name) for f in indicators]
    phrases = []
    for factor in numbers:
        size, fixed = term.coefficient, list(where)
        for other in numbers:
            if other is not factor:
                typical = features[other.name].baseline
                size *= float(factor_values(other, np.array([typical]))[0])
                fixed.append(f"{print_name(other.name)} = {_number(typical, 4)}, its median")
        condition = f"where {' and '.join(fixed)}: " if fixed else ""
        phrases.append(condition + _single(factor, size, features[factor.name]))
    return phrases


def _single(factor: Factor, size: float, feature: Feature) -> str:
    """Return what size·factor does to the odds as its column moves."""
    if factor.log and factor.exponent == 1:
        inner = print_base(factor).removeprefix("log(").removesuffix(")")
        inner = f"({inner})" if factor.shift else inner
        doubled = size * log(2.0)
        if abs(doubled) > log(LARGE_FACTOR):
            return f"each 10 % more of {inner} {_change(_exp(size * log(1.1)))}"
        return f"each doubling of {inner} {_change(_exp(doubled))}"
    if factor.exponent == 1 and not factor.log:
        return f"{_further(feature)} {_change(_exp(_step(feature) * size))}"
    ends = (feature.low, feature.baseline, feature.high)
    below, there, above = (size * float(v) for v in factor_values(factor, np.array(ends)))
    name, (low, middle, high) = print_name(feature.name), (_number(x, 4) for x in ends)
    if feature.baseline in {feature.low, feature.high}:
        return f"the odds are multiplied by {_number(_exp(above - below))} from {name} = {low} to {high}"
    first, second = _number(_exp(there - below)), _number(_exp(above - there))
    start = f"the odds are multiplied by {first} from {name} = {low} to {middle} (its median)"
    return f"{start} and by {second} from there to {high}"


def _further(feature: Feature) -> str:
    """Return the unit step of a feature in words."""
    step = _step(feature)
    if feature.kind == "ordinal":
        return f"each further step of {print_name(feature.name)}"
    unit = "unit" if step == 1 else _number(step, 4)
    if feature.kind in {"above", "below"} and feature.cut is not None:
        return f"each {unit} of {print_name(feature.column)} {feature.kind} {_number(feature.cut, 4)}"
    return f"each further {unit} of {print_name(feature.name)}"


def _step(feature: Feature) -> float:
    """Return a unit, or a power of ten near a tenth of the range where a unit is hardly or not at all reached."""
    width = feature.high - feature.low
    if width / 200 <= 1 <= width or feature.kind == "ordinal":
        return 1.0
    return float(f"1e{floor(log10(width / 10))}")


def _change(ratio: float) -> str:
    if ratio > PERCENT_BELOW or ratio < 1 / PERCENT_BELOW:
        return f"multiplies the odds by {_number(ratio)}"
    return f"{'raises' if ratio >= 1 else 'lowers'} the odds by {_number(100 * abs(ratio - 1))} %"


def _exp(value: float) -> float:
    return exp(min(value, 700.0))


def _number(value: float, digits: int = 2) -> str:
    """Return a number with a few digits, without an exponent where a person would write none."""
    if value and not 1e-4 <= abs(value) < 1e6:
        return f"{value:.{digits}g}"
    return for_people(value) if digits > 2 else for_people(float(f"{value:.{digits}g}"))
