"""Between the power laws of a fit and the signomials that a person reads."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ecsel.fitting.fit import PowerLaws
from ecsel.fitting.objective.forms import KNEE, SMALLEST_SINE
from ecsel.signomial import Signomial, Term

if TYPE_CHECKING:
    from collections.abc import Sequence


def laws_to_equations(laws: PowerLaws, names: Sequence[str]) -> tuple[Signomial, ...]:
    """Return one signomial per score: its intercept is a term without exponents, zero exponents are left out."""
    return tuple(
        Signomial(
            [Term(float(intercept))]
            + [
                Term(float(alpha), {name: float(b) for name, b in zip(names, beta, strict=True) if b != 0})
                for alpha, beta in zip(alphas, betas, strict=True)
            ]
        )
        for intercept, alphas, betas in zip(laws.intercepts, laws.coefficients, laws.exponents, strict=True)
    )


def laws_from_equations(equations: Sequence[Signomial], names: Sequence[str], n_terms: int) -> PowerLaws:
    """Return the power laws of signomials with at most `n_terms` terms beside the constant.

    All logarithms c·log x of a signomial together are one term at the log-linear limit, α·Π_j x_j^(c_j/α) − α.
    """
    laws = PowerLaws(
        np.zeros(len(equations)), np.zeros((len(equations), n_terms)), np.zeros((len(equations), n_terms, len(names)))
    )
    place = {name: j for j, name in enumerate(names)}
    for c, equation in enumerate(equations):
        laws.intercepts[c] = sum(term.coefficient for term in equation.terms if term.is_constant)
        powers = [term for term in equation.terms if term.exponents]
        for k, term in enumerate(powers):
            laws.coefficients[c, k] = term.coefficient
            for name, b in term.exponents.items():
                laws.exponents[c, k, place[name]] = float(b)
        logs = [term for term in equation.terms if not term.is_power_law]
        if logs:
            alpha = KNEE / SMALLEST_SINE
            laws.intercepts[c] -= alpha
            laws.coefficients[c, len(powers)] = alpha
            for term in logs:
                laws.exponents[c, len(powers), place[term.names[0]]] = term.coefficient / alpha
    return laws


def n_power_laws(equation: Signomial) -> int:
    """Return the number of power laws that `laws_from_equations` makes of a signomial."""
    return sum(bool(term.exponents) for term in equation.terms) + any(not t.is_power_law for t in equation.terms)
