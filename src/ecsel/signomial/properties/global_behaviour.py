"""How features drive the class scores everywhere: properties G1, G2 and G3.

With z_c = Σ_k z_ck, a term z_k = α_k Π_j φ_kj(x_j), and φ' the derivative by log|x|,

    G3  log-gradient     G_cj(x) = ∂z_c/∂log|x_j| = Σ_k α_k φ'_kj Π_{i≠j} φ_ki    = Σ_k β_kj z_k for plain powers
    G1  elasticity       E_cj(x) = ∂log z_c/∂log|x_j| = G_cj(x) / z_c(x)           where z_c(x) > 0
    G2  counterfactual   z_c(x∘q)                                                 exact for every factor q > 0

G3 is right where a factor vanishes, since the other factors are multiplied out and nothing is divided by it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import numpy.typing as npt

from ecsel.signomial.arrays import ScoreTerms, scores, sum_by_class, term_values
from ecsel.signomial.factor_values import product_of_others

if TYPE_CHECKING:
    from ecsel._typing import Floats
    from ecsel.signomial.rows import FeatureRows


class Elasticity(NamedTuple):
    """Elasticities and where they are defined."""

    values: Floats
    """(rows, classes, features); NaN where ``mask`` is False."""
    mask: npt.NDArray[np.bool_]
    """(rows, classes); True where the elasticity is defined."""


def elasticity(terms: ScoreTerms, rows: FeatureRows, *, absolute: bool = False) -> Elasticity:
    """Return the elasticities E_cj = G_cj/z_c (property G1), defined where z_c > 0.

    With ``absolute=True`` they are ∂log|z_c|/∂log|x_j|, the same formula, defined where z_c ≠ 0. With one term of plain
    powers they are its exponents.

    >>> from ecsel.signomial import FeatureRows, Signomial
    >>> terms = ScoreTerms.from_signomials([Signomial.parse("3*x**2 + y"), Signomial.parse("-x")], ["x", "y"])
    >>> elasticity(terms, FeatureRows.from_values([[1.0, 3.0]])).values
    array([[[1. , 0.5],
            [nan, nan]]])
    """
    values = term_values(terms, rows)
    z = sum_by_class(terms, values)
    mask = z != 0 if absolute else z > 0
    result = _gradient(terms, rows, values, np.where(mask, z, 1.0))
    result[~mask] = np.nan
    return Elasticity(result, mask)


def scaled_scores(terms: ScoreTerms, rows: FeatureRows, factors: Floats) -> Floats:
    """Return the scores (rows, classes) after feature j is multiplied by q_j > 0 (property G2), exactly.

    ``factors`` is q, shape (features,) or (rows, features); 1 leaves a feature as it is.
    """
    return scores(terms, rows.scaled(factors))


def log_gradient(terms: ScoreTerms, rows: FeatureRows) -> Floats:
    """Return G_cj = ∂z_c/∂log|x_j| (property G3), shape (rows, classes, features)."""
    return _gradient(terms, rows, term_values(terms, rows))


def _gradient(terms: ScoreTerms, rows: FeatureRows, values: Floats, divisor: Floats | None = None) -> Floats:
    """Return G, or G divided by numbers (rows, classes), from the values of the terms.

    Terms are divided before they are weighed: a quotient of sums of β·z would overflow earlier.
    """
    weights = values if divisor is None else values / divisor[:, terms.classes]
    result = np.empty((len(rows), terms.n_classes, terms.n_features))
    for c in range(terms.n_classes):
        mine = (terms.classes == c) & terms.is_power_law
        result[:, c] = weights[:, mine] @ terms.exponents[mine]
    for k in np.flatnonzero(~terms.is_power_law):
        c, jets = terms.classes[k], terms.feature_jets(rows, int(k))
        for j, jet in jets.items():
            part = terms.coefficients[k] * jet.first * product_of_others(jets, [j])
            result[:, c, j] += part if divisor is None else part / divisor[:, c]
    return result
