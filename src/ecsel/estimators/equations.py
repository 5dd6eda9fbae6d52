"""Between the power laws of a fit and the signomials that a person reads."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ecsel.fitting.fit import PowerLaws
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
    """Return the power laws of signomials with at most `n_terms` terms beside the constant."""
    laws = PowerLaws(
        np.zeros(len(equations)), np.zeros((len(equations), n_terms)), np.zeros((len(equations), n_terms, len(names)))
    )
    place = {name: j for j, name in enumerate(names)}
    for c, equation in enumerate(equations):
        powers = [term for term in equation.terms if term.exponents]
        laws.intercepts[c] = sum(term.coefficient for term in equation.terms if not term.exponents)
        for k, term in enumerate(powers):
            laws.coefficients[c, k] = term.coefficient
            for name, b in term.exponents.items():
                laws.exponents[c, k, place[name]] = float(b)
    return laws
