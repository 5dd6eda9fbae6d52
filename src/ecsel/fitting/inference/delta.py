"""The numbers of the formula and how they move with the coordinates of the fit.

A term has the coordinates (φ, s) of `forms` in standardised logs v = (u − centre)/σ. In the angle form

    β = s sin φ/σ,   α′ = κ cot φ,   log α = log α′ − ⟨β, centre⟩,   b = b′ − Σ α′,   γ = κ cos φ·s/σ,

with γ = α′β the slope of the score at a typical row, which is defined even where α is not. In the power form α′ is the
shape itself, β = s/σ, b = b′ and γ = α′β.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np

from ecsel.fitting.objective.forms import KNEE
from ecsel.signomial.columns import LOG_LIMIT

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ecsel._typing import Array
    from ecsel.fitting.objective.problem import Problem
    from ecsel.fitting.rows.blocks import Coordinates

Kind = Literal["intercept", "coefficient", "exponent", "slope"]
EXPONENT: Kind = "exponent"
SLOPE: Kind = "slope"
References = dict[tuple[int, int], dict[int, int]]
"""For each score and term the reference level of every level whose whole set is active there."""


@dataclass(frozen=True, slots=True)
class Parameter:
    """Which number of the formula: score, kind, term, feature and the feature it is relative to; −1 for none."""

    score: int
    kind: Kind
    term: int = -1
    feature: int = -1
    relative_to: int = -1


def formula_numbers(
    problem: Problem,
    theta: Array,
    centred: Coordinates,
    references: References,
    top: Array,
) -> tuple[tuple[Parameter, ...], Array, Array]:
    """Return the numbers of the formula, their values, and their derivatives by θ; `top` is a level's log where it is.

    Everything of a term is linear algebra on its block (shape, slopes) of θ.
    """
    intercepts, shapes, slopes = problem.unpack(theta)
    width = 1 + slopes.shape[2]
    parameters: list[Parameter] = []
    values: list[float] = []
    rows: list[Array] = []

    def add(parameter: Parameter, value: float, place: slice, row: Array) -> None:
        parameters.append(parameter)
        values.append(value)
        rows.append(np.zeros(problem.size))
        rows[-1][place] = row

    for c in range(len(shapes)):
        own = slice(c * problem.per_score, (c + 1) * problem.per_score)
        constant, total = np.zeros(problem.per_score), float(intercepts[c])
        constant[: int(problem.intercept)] = 1.0
        for k in np.flatnonzero((slopes[c] != 0).any(axis=1)).tolist():
            first = int(problem.intercept) + k * width
            term = _Term.of(problem, float(shapes[c, k]), slopes[c, k], centred)
            block = slice(own.start + first, own.start + first + width)
            for kind, j, r, value, row in _numbers(term, slopes[c, k], references[c, k], top):
                add(Parameter(c, kind, k, j, r), value, block, row)
            total += term.constant
            constant[first : first + width] += term.by_constant
        if problem.intercept:
            add(Parameter(c, "intercept"), total, own, constant)
    return tuple(parameters), np.array(values), np.array(rows).reshape(len(rows), problem.size)


def _numbers(
    term: _Term, s: Array, relative: dict[int, int], top: Array
) -> Iterator[tuple[Kind, int, int, float, Array]]:
    """Yield kind, feature, reference, value and derivatives: the coefficient, then exponent and slope by feature."""
    log_alpha, by_log_alpha = term.log_alpha, term.by_log_alpha.copy()
    for j in sorted(set(relative.values())):
        log_alpha += float(top[j] * term.exponents[j])
        by_log_alpha += top[j] * term.by_exponents[j]
    alpha = term.sign * float(np.exp(np.clip(log_alpha, -LOG_LIMIT, LOG_LIMIT)))
    yield "coefficient", -1, -1, alpha, alpha * by_log_alpha
    for j in np.flatnonzero(s).tolist():
        r = relative.get(j, -1)
        for kind, number, row in (
            (EXPONENT, term.exponents, term.by_exponents),
            (SLOPE, term.slopes, term.by_slopes),
        ):
            if r < 0:
                yield kind, j, r, float(number[j]), row[j]
            else:
                yield kind, j, r, float(number[j] - number[r]), row[j] - row[r]


@dataclass(frozen=True, slots=True)
class _Term:
    """The numbers of one term and their derivatives by its shape and slopes, (…, 1 + features)."""

    sign: float
    log_alpha: float
    by_log_alpha: Array
    exponents: Array
    by_exponents: Array
    slopes: Array
    by_slopes: Array
    constant: float
    by_constant: Array

    @classmethod
    def of(cls, problem: Problem, shape: float, s: Array, centred: Coordinates) -> _Term:
        """Work out a term in the angle form, or in the power form, whose shape is α′ itself."""
        m, angle = len(s), problem.form.has_intercept
        sine, outer = (np.sin(shape), KNEE * np.cos(shape)) if angle else (1.0, shape)
        alpha, by_shape = outer / sine, -KNEE / sine**2 if angle else 1.0
        unit = np.eye(1 + m)
        by_exponents, by_slopes = np.zeros((m, 1 + m)), np.zeros((m, 1 + m))
        by_exponents[:, 0] = (outer / KNEE if angle else 0.0) * s / centred.std
        by_exponents[:, 1:] = np.diag(sine / centred.std)
        by_slopes[:, 0] = (-KNEE * sine if angle else 1.0) * s / centred.std
        by_slopes[:, 1:] = np.diag(outer / centred.std)
        exponents = sine * s / centred.std
        return cls(
            sign=float(np.sign(alpha)),
            log_alpha=float(np.log(max(abs(alpha), 1e-300)) - exponents @ centred.centre),
            by_log_alpha=by_shape / alpha * unit[0] - centred.centre @ by_exponents,
            exponents=exponents,
            by_exponents=by_exponents,
            slopes=outer * s / centred.std,
            by_slopes=by_slopes,
            constant=-float(alpha) if angle else 0.0,
            by_constant=-by_shape * unit[0] if angle else np.zeros(1 + m),
        )
