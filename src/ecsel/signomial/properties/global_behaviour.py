"""How features drive the class scores everywhere: properties G1, G2 and G3.

With z_c = Σ_k z_ck and β the exponents,

    G3  log-gradient     G_cj(x) = ∂z_c/∂log x_j = Σ_k β_ckj z_ck(x)
    G1  elasticity       E_cj(x) = ∂log z_c/∂log x_j = G_cj(x) / z_c(x)      where z_c(x) > 0
    G2  counterfactual   z_c(x∘q) = Σ_k (Π_j q_j^β_ckj) z_ck(x)              exact for every factor q > 0
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import numpy.typing as npt

from ecsel.signomial.arrays import ScoreTerms, scores, sum_by_class, term_values

if TYPE_CHECKING:
    from ecsel.signomial.columns import FloatArray


class Elasticity(NamedTuple):
    """Elasticities and where they are defined."""

    values: FloatArray
    """(rows, classes, features); NaN where ``mask`` is False."""
    mask: npt.NDArray[np.bool_]
    """(rows, classes); True where the elasticity is defined."""


def elasticity(terms: ScoreTerms, log_x: FloatArray, *, absolute: bool = False) -> Elasticity:
    """Return the elasticities E_cj = Σ_k (z_ck/z_c) β_ckj (property G1), defined where z_c > 0.

    With ``absolute=True`` they are ∂log|z_c|/∂log x_j, the same formula, defined where z_c ≠ 0. With one term they are
    its exponents.

    >>> from ecsel.signomial import Signomial
    >>> terms = ScoreTerms.from_signomials([Signomial.parse("3*x**2 + y"), Signomial.parse("-x")], ["x", "y"])
    >>> elasticity(terms, np.log([[1.0, 3.0]])).values
    array([[[1. , 0.5],
            [nan, nan]]])
    """
    values = term_values(terms, log_x)
    z = sum_by_class(terms, values)
    mask = z != 0 if absolute else z > 0
    # responsibilities z_k/z first: a quotient of sums of β·z would overflow earlier
    safe_z = np.where(mask, z, 1.0)
    shares = values / safe_z[:, terms.classes]
    result = _weigh_exponents(terms, shares)
    result[~mask] = np.nan
    return Elasticity(result, mask)


def scaled_scores(terms: ScoreTerms, log_x: FloatArray, log_factors: FloatArray) -> FloatArray:
    """Return the scores (rows, classes) after feature j is multiplied by q_j (property G2), exactly.

    ``log_factors`` is log q, shape (features,) or (rows, features); 0 leaves a feature as it is.
    """
    return scores(terms, log_x + log_factors)


def log_gradient(terms: ScoreTerms, log_x: FloatArray) -> FloatArray:
    """Return G_cj = Σ_k β_ckj z_ck (property G3), shape (rows, classes, features)."""
    return _weigh_exponents(terms, term_values(terms, log_x))


def _weigh_exponents(terms: ScoreTerms, weights: FloatArray) -> FloatArray:
    """Return Σ_{k of class c} w_k β_kj for weights (rows, terms), shape (rows, classes, features)."""
    result = np.empty((len(weights), terms.n_classes, terms.n_features))
    for c in range(terms.n_classes):
        mine = terms.classes == c
        result[:, c] = weights[:, mine] @ terms.exponents[mine]
    return result
