"""Terms near the log-linear limit, read as what they are: logistic regression in the logs.

With u = log x', ū the training mean of u and t = ⟨β, u − ū⟩ a term is

    α·exp(⟨β, u⟩) = A·e^t = A·(1 + t) + A·(e^t − 1 − t),    A = α·exp(⟨β, ū⟩).

Where |t| stays small over the training range the last part is nearly nothing: the term is a straight line in the logs,
whose huge α and tiny β cancel against the constant. Its slopes A·β are what a person wants to see.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from ecsel.signomial import Signomial

if TYPE_CHECKING:
    from ecsel.signomial import Term
    from ecsel.tables import TableEncoder

NEARLY_LINEAR = 0.1
"""A term whose exponent sum over the training ranges stays below this is a straight line in the logs to the eye."""


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
    ranges = {f.name: np.log(sorted((f.positive(f.low), f.positive(f.high)))) for f in encoder.features}
    middle = {f.name: f.baseline for f in encoder.features}
    straight, constant, error = [], 0.0, 0.0
    slopes: dict[str, float] = {}
    for term in equation.terms:
        beta = {name: float(b) for name, b in term.exponents.items()}
        if not beta:
            constant += term.coefficient
            continue
        if sum(abs(b) * float(np.ptp(ranges[name])) for name, b in beta.items()) >= NEARLY_LINEAR:
            continue
        straight.append(term)
        inner = sum(b * middle[name] for name, b in beta.items())
        size = term.coefficient * float(np.exp(inner))
        constant += size * (1 - inner)
        for name, b in beta.items():
            slopes[name] = slopes.get(name, 0.0) + size * b
        ends = np.array([sorted(b * (ranges[name] - middle[name])) for name, b in beta.items()]).sum(axis=0)
        error += abs(size) * float(np.max(np.expm1(ends) - ends))
    if not straight:
        return None
    order = sorted(slopes, key=lambda name: -abs(slopes[name]) * float(np.ptp(ranges[name])))
    return StraightPart(tuple(straight), constant, {name: slopes[name] for name in order}, error)
