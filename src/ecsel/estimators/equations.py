"""The power laws of equations that a fit is to go on from."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ecsel.fitting.objective.forms import KNEE, SMALLEST_SINE
from ecsel.signomial import ScoreTerms

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ecsel.signomial import Signomial
    from ecsel.signomial.factor import Exponent


def power_laws(equations: Sequence[Signomial], names: Sequence[str]) -> ScoreTerms:
    """Return the terms of signomials, as power laws alone.

    All logarithms c·log x of a signomial together are one term at the log-linear limit, α·Π_j x_j^(c_j/α) − α.

    Examples
    --------
    >>> from ecsel import Signomial
    >>> terms = power_laws([Signomial.parse("2*x + 3*log(y)")], ["x", "y"])
    >>> terms.is_power_law.tolist(), terms.n_terms
    ([True, True, True], 3)
    """
    coefficients: list[float] = []
    exponents: list[dict[str, Exponent]] = []
    classes: list[int] = []
    for c, equation in enumerate(equations):
        own: list[tuple[float, dict[str, Exponent]]] = [
            (term.coefficient, dict(term.exponents)) for term in equation.terms if term.is_power_law
        ]
        if logs := [term for term in equation.terms if not term.is_power_law]:
            alpha = KNEE / SMALLEST_SINE
            own += [(alpha, {term.names[0]: term.coefficient / alpha for term in logs}), (-alpha, {})]
        coefficients += [coefficient for coefficient, _ in own]
        exponents += [powers for _, powers in own]
        classes += [c] * len(own)
    beta = [[float(powers.get(name, 0.0)) for name in names] for powers in exponents]
    return ScoreTerms(np.array(coefficients), np.reshape(beta, (-1, len(names))), np.array(classes), len(equations))
