"""What a piece of a readable equation does to the odds, in words.

With two classes and one score, odds = p/(1 − p) = e^z. A piece c·φ(x) multiplies the odds by e^{c·Δφ} where x moves and
all other pieces stay:

    c·x           each further unit:   e^c;   of a column from 0 to 1: 1 instead of 0
    c·|x − m|     each unit away from m:   e^c
    c·(x − m)²    a distance d from m, and twice that:   e^{c·d²}, e^{4c·d²}
    c·(x − m)·(y − n)   both above or both below m and n, by d and e:   e^{c·d·e}
    c·log(x + s)  each doubling of x + s:   2^c, or each tenth more of it:   1.1^c where a doubling says too much
    c·[level]     the level:   e^c
    otherwise     from the least value over the typical one to the greatest:   e^{c·Δφ} for both stretches

A product is described column by column, the other column at its typical value, or where its indicator is 1.
"""

from __future__ import annotations

from math import exp, floor, log, log10
from typing import TYPE_CHECKING

import numpy as np

from ecsel.signomial.columns import LOG_LIMIT
from ecsel.signomial.factor import Parity
from ecsel.signomial.factor_values import factor_values
from ecsel.signomial.text import for_people, print_base, print_name

if TYPE_CHECKING:
    from ecsel.signomial import Factor, Term
    from ecsel.tables import TableEncoder
    from ecsel.tables.features import Feature

INDICATORS = frozenset({"level", "missing", "step"})
"""Kinds of features that are 1 or 0."""
DOUBLED, TENTH = 2.0, 0.1
"""Factors between these are given in percent; others multiply the odds, or divide them."""
LARGE_FACTOR = 10.0
"""Where doubling a number multiplies the odds by more than this, or divides them, a tenth more is given."""


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
    each 10 % more of x1 lowers the odds by 76 %
    the odds are multiplied by 0.97 from x1 = 5 to 7 (its median) and by 0.98 from there to 9
    """
    features = {feature.name: feature for feature in encoder.features}
    indicators = [f for f in term.factors if features[f.name].kind in INDICATORS]
    numbers = [f for f in term.factors if features[f.name].kind not in INDICATORS]
    if not numbers:
        who = " and ".join(print_name(f.name) for f in indicators)
        together = " together" if len(indicators) > 1 else ""
        return [f"{who}{together} {_change(_exp(term.coefficient), plural=bool(together))}"]
    if not indicators and len(numbers) == 2 and all(_is_deviation(factor) for factor in numbers):
        return [_deviations(numbers, term.coefficient, [features[factor.name] for factor in numbers])]
    where = [print_name(f.name) for f in indicators]
    phrases = []
    for factor in numbers:
        size, fixed = term.coefficient, list(where)
        for other in numbers:
            if other is not factor:
                value, scale, what = _at_typical(other, features[other.name])
                size *= scale
                fixed.append(f"{print_name(other.name)} = {_number(value, 4)}, its {what}")
        condition = f"where {' and '.join(fixed)}: " if fixed else ""
        phrases.append(condition + _single(factor, size, features[factor.name]))
    return phrases


def _at_typical(factor: Factor, feature: Feature) -> tuple[float, float, str]:
    """Return at which value the other column of a product is held, what the factor is there, and what to call it.

    Where the factor is 0 at the median, nothing would happen there: the largest value tells more.
    """
    middle, end = factor_values(factor, np.array([feature.baseline, feature.high])).tolist()
    return (feature.baseline, middle, "median") if middle != 0 else (feature.high, end, "largest value")


def _is_deviation(factor: Factor) -> bool:
    """Whether a factor is x − m."""
    return factor.exponent == 1 and not factor.log and factor.shift != 0 and factor.is_natural


def _deviations(factors: list[Factor], size: float, features: list[Feature]) -> str:
    """Return what a product of two deviations does: the same side of both middles against opposite sides."""
    (a, b), (c, d) = [print_name(f.name) for f in factors], [_number(-f.shift, 4) for f in factors]
    steps = [_away(feature) for feature in features]
    same, opposite = ("raises", "lowers") if size > 0 else ("lowers", "raises")
    change = _change(_exp(size * steps[0] * steps[1]))
    return (
        f"being on the same side, {a} of {c} and {b} of {d}, {same} the odds, and on opposite sides {opposite} them: "
        f"{_number(steps[0], 4)} of {a} and {_number(steps[1], 4)} of {b} beyond these on the same side {change}"
    )


def _away(feature: Feature) -> float:
    """Return a round distance, near a quarter of the range: 1, 2 or 5 times a power of ten.

    >>> from types import SimpleNamespace
    >>> [_away(SimpleNamespace(low=0.0, high=high)) for high in (1.0, 9.0, 62.0)]
    [0.2, 2.0, 10.0]
    """
    quarter = (feature.high - feature.low) / 4
    power = floor(log10(quarter))
    lead = max(k for k in (1, 2, 5) if k <= quarter / 10.0**power * (1 + 1e-9))
    return float(f"{lead}e{power}")


def _single(factor: Factor, size: float, feature: Feature) -> str:
    """Return what size·factor does to the odds as its column moves."""
    if factor.shift != 0 and not factor.log and (phrase := _distance(factor, size, feature)):
        return phrase
    if factor.log and factor.exponent == 1:
        inner = print_base(factor).removeprefix("log(").removesuffix(")")
        inner = f"({inner})" if factor.shift else inner
        doubled = size * log(2.0)
        if abs(doubled) > log(LARGE_FACTOR):
            return f"each 10 % more of {inner} {_change(_exp(size * log(1.1)))}"
        return f"each doubling of {inner} {_change(_exp(doubled))}"
    if factor.exponent == 1 and not factor.log and factor.is_natural:
        return f"{_further(feature)} {_change(_exp(_step(feature) * size))}"
    ends = (feature.low, feature.baseline, feature.high)
    below, there, above = (size * float(v) for v in factor_values(factor, np.array(ends)))
    name, (low, middle, high) = print_name(feature.name), (_number(x, 4) for x in ends)
    if feature.baseline in {feature.low, feature.high}:
        verb, by = _moved(above - below)
        return f"the odds are {verb} by {by} from {name} = {low} to {high}"
    (first, by), (second, then) = _moved(there - below), _moved(above - there)
    start = f"the odds are {first} by {by} from {name} = {low} to {middle} (its median)"
    return f"{start} and {f'{second} ' if second != first else ''}by {then} from there to {high}"


def _moved(difference: float) -> tuple[str, str]:
    """Return what a difference of log-odds does to odds: by a factor, or its inverse where odds nearly vanish."""
    ratio = _exp(difference)
    if ratio < TENTH:
        return "divided", _number(1 / ratio) if ratio else "more than 1e+300"
    return "multiplied", _number(ratio)


def _distance(factor: Factor, size: float, feature: Feature) -> str:
    """Return what a distance from a value does, or its square; empty for other functions of a shifted column."""
    if factor.exponent == 1 and factor.parity is Parity.ABSOLUTE:
        step = _step(feature)
        unit = "unit" if step == 1 else _number(step, 4)
        where = f"{print_name(feature.name)} away from {_number(-factor.shift, 4)}"
        return f"each {unit} of {where} {_change(_exp(step * size))}"
    if factor.exponent == 2 and factor.is_natural:
        d = _away(feature)
        near, far = (_change(_exp(size * (k * d) ** 2)) for k in (1, 2))
        away = f"{print_name(feature.name)} {_number(d, 4)} away from {_number(-factor.shift, 4)} {near}"
        return f"{away}, {_number(2 * d, 4)} away {far}"
    return ""


def _further(feature: Feature) -> str:
    """Return the unit step of a feature in words."""
    step = _step(feature)
    if feature.kind == "ordinal":
        return f"each further step of {print_name(feature.name)}"
    unit = "unit" if step == 1 else _number(step, 4)
    if feature.kind == "number" and (feature.low, feature.high) == (0, 1):
        return f"{print_name(feature.name)} = 1 instead of 0"
    if feature.kind in {"above", "below"} and feature.cut is not None:
        return f"each {unit} of {print_name(feature.column)} {feature.kind} {_number(feature.cut, 4)}"
    return f"each further {unit} of {print_name(feature.name)}"


def _step(feature: Feature) -> float:
    """Return a unit, or a power of ten near a tenth of the range where a unit is hardly or not at all reached."""
    width = feature.high - feature.low
    if width / 200 <= 1 <= width or feature.kind == "ordinal":
        return 1.0
    return float(f"1e{floor(log10(width / 10))}")


def _change(ratio: float, *, plural: bool = False) -> str:
    """Return a ratio of odds as a verb: in percent where a person would say so."""
    s = "" if plural else "s"
    if ratio >= DOUBLED:
        return f"{'multiply' if plural else 'multiplies'} the odds by {_number(ratio)}"
    if ratio < TENTH:
        return f"divide{s} the odds by {_number(1 / ratio) if ratio else 'more than 1e+300'}"
    return f"{'raise' if ratio >= 1 else 'lower'}{s} the odds by {_number(100 * abs(ratio - 1))} %"


def _exp(value: float) -> float:
    return exp(min(value, LOG_LIMIT))


def _number(value: float, digits: int = 2) -> str:
    """Return a number with a few digits, without an exponent where a person would write none."""
    if value and not 1e-4 <= abs(value) < 1e9:
        return f"{value:.{digits}g}"
    return for_people(value) if digits > 2 else for_people(float(f"{value:.{digits}g}"))
