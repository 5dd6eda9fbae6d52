"""Terms of the paper's model near the log-linear limit, read as what they are: logistic regression in the logs.

With u = log x', ū the training mean of u and t = ⟨β, u − ū⟩ a term is

    α·exp(⟨β, u⟩) = A·e^t = A·(1 + t) + A·(e^t − 1 − t),    A = α·exp(⟨β, ū⟩).

Where |t| stays small over the training range the last part is nearly nothing: the term is a straight line in the logs,
whose huge α and tiny β cancel against the constant. Its slopes A·β are what a person wants to see. At the limit itself,
where the last part is below rounding (`EXACT`), the equation is written with logarithms in the first place.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from ecsel.signomial import Factor, Parity, Signomial, Term

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import NDArray

    from ecsel.tables import TableEncoder

    Array = NDArray[np.float64]

NEARLY_LINEAR = 0.1
"""A term whose exponent sum over the training ranges stays below this is a straight line in the logs to the eye."""
EXACT = 1e-10
"""A score may move by this much over the training range where a term is replaced by logarithms."""


@dataclass(frozen=True, slots=True)
class StraightPart:
    """The straight terms of a score and its constant as constant + Σ slope·log(feature), right to within `error`."""

    terms: tuple[Term, ...]
    constant: float
    slopes: dict[str, float]
    error: float

    def __str__(self) -> str:
        parts = [f"{self.constant:.4g}"]
        for name, slope in self.slopes.items():
            parts.append(f"{'-' if slope < 0 else '+'} {abs(slope):.4g}*log({Signomial.variable(name)})")
        return " ".join(parts)


def straight_part(equation: Signomial, encoder: TableEncoder) -> StraightPart | None:
    """Return the straight terms of an equation as one line in the logs, None where it has none.

    Examples
    --------
    >>> from ecsel.tables import TableEncoder
    >>> encoder = TableEncoder.fit([[1.0], [2.0], [4.0]], scaling="ratio")
    >>> part = straight_part(Signomial.parse("5000*x0**0.001 - 4999"), encoder)
    >>> print(part)
    0.9988 + 5.003*log(x0)
    >>> part.error < 0.002
    True
    """
    found = _straight(equation.terms, encoder)
    return _line(equation, [term for term, _ in found], encoder, sum(error for _, error in found)) if found else None


def with_log_pieces(equation: Signomial, encoder: TableEncoder) -> Signomial:
    """Return the equation with the terms at the log-linear limit written as a constant and logarithms.

    Only terms whose replacement moves the score by less than `EXACT` in all over the training range.

    Examples
    --------
    >>> from ecsel.tables import TableEncoder
    >>> encoder = TableEncoder.fit([[1.0], [2.0], [4.0]], scaling="ratio")
    >>> print(f"{with_log_pieces(Signomial.parse('500000*x0**0.00000001 - 499999 + x0**2'), encoder):.4g}")
    x0**2 + 0.005*log(x0) + 1
    >>> print(with_log_pieces(Signomial.parse("5000*x0**0.001 - 4999"), encoder))
    5000*x0**0.001 - 4999
    """
    exact = [term for term, error in _straight(equation.terms, encoder) if error < EXACT / len(equation.terms)]
    if not exact:
        return equation
    line = _line(equation, exact, encoder, 0.0)
    logs = [Term.from_factors(slope, [Factor(name, 1, Parity.ODD, log=True)]) for name, slope in line.slopes.items()]
    kept = [term for term in equation.terms if not term.is_constant and term not in exact]
    return Signomial([*kept, *logs, Term(line.constant)])


def _straight(terms: Iterable[Term], encoder: TableEncoder) -> list[tuple[Term, float]]:
    """Return the straight terms, each with the largest distance from its line over the training range."""
    ranges, middle = _logs(encoder)
    found = []
    for term in terms:
        beta = {name: float(b) for name, b in term.exponents.items()}
        if term.is_constant or not term.is_power_law:
            continue
        if sum(abs(b) * float(np.ptp(ranges[name])) for name, b in beta.items()) >= NEARLY_LINEAR:
            continue
        size = term.coefficient * float(np.exp(sum(b * middle[name] for name, b in beta.items())))
        ends = np.array([sorted(b * (ranges[name] - middle[name])) for name, b in beta.items()]).sum(axis=0)
        # e^t − 1 − t without its cancellation
        rest = np.where(np.abs(ends) < 1e-4, ends**2 * (0.5 + ends / 6), np.expm1(ends) - ends)
        found.append((term, abs(size) * float(np.max(rest))))
    return found


def _line(equation: Signomial, straight: list[Term], encoder: TableEncoder, error: float) -> StraightPart:
    """Return the straight terms and the constant of an equation as one line in the logs."""
    ranges, middle = _logs(encoder)
    constant = sum(term.coefficient for term in equation.terms if term.is_constant)
    slopes: dict[str, float] = {}
    for term in straight:
        inner = sum(float(b) * middle[name] for name, b in term.exponents.items())
        size = term.coefficient * float(np.exp(inner))
        constant += size * (1 - inner)
        for name, b in term.exponents.items():
            slopes[name] = slopes.get(name, 0.0) + size * float(b)
    order = sorted(slopes, key=lambda name: -abs(slopes[name]) * float(np.ptp(ranges[name])))
    return StraightPart(tuple(straight), constant, {name: slopes[name] for name in order}, error)


def _logs(encoder: TableEncoder) -> tuple[dict[str, Array], dict[str, float]]:
    """Return the training range and the mean of the logarithm of every feature."""
    ranges = {f.name: np.log(sorted((f.positive(f.low), f.positive(f.high)))) for f in encoder.features}
    return ranges, {f.name: f.baseline for f in encoder.features}
