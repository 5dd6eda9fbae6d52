"""Idle pieces: what a chosen equation can do without, so that nobody has to read it.

A walk adds pieces while they gain something. Under the ridge of the last fit, and beside pieces that came later, some
of them hardly move the score any more. Leaving out piece s raises the penalised loss, to second order, by

    ½ θ_s² / (H⁻¹)_ss,

with H the Hessian of all numbers. The piece with the smallest rise goes, the others are fitted again, and so on while
the loss of training rises by no more in all than `NATS`, half of what a single parameter without meaning gains.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from ecsel.search import glm
from ecsel.search.path import refit
from ecsel.search.rounding import NATS

if TYPE_CHECKING:
    from ecsel._typing import Floats
    from ecsel.search.path import Found, Training


def without_idle_pieces(training: Training, found: Found, ridge: float) -> Found:
    """Return a candidate without the pieces whose absence costs no more than `NATS` in all, at least one left."""
    limit = found.fitted.loss + NATS
    while len(found) > 1:
        s = int(np.argmin(_rises(training, found, ridge)))
        rest = replace(
            found,
            atoms=(*found.atoms[:s], *found.atoms[s + 1 :]),
            owners=(*found.owners[:s], *found.owners[s + 1 :]),
            fitted=replace(found.fitted, coefficients=np.delete(found.fitted.coefficients, s)),
        )
        trial = refit(training, rest, [ridge], found.dispersion)[0]
        if trial.fitted.loss > limit or not training.allows_signs(trial):
            break
        found = trial
    return found


def _rises(training: Training, found: Found, ridge: float) -> Floats:
    """Return what leaving out each piece would cost, to second order."""
    n_scores = training.loss.n_scores
    places, owners = np.array(found.atoms, dtype=np.intp), np.array(found.owners, dtype=np.intp)
    weights = training.weights / found.dispersion
    members = [np.flatnonzero(owners == c) for c in range(n_scores)]
    values = training.atoms.values[places].astype(np.float64)
    _, hessian = glm.derivatives(training.loss, values, members, training.target, weights, found.fitted.scores)
    pinned = np.full(n_scores, glm.INTERCEPT_RIDGE * weights.sum())
    hessian[np.diag_indices(len(hessian))] += np.concatenate([pinned, ridge * training.atoms.leverage[places]])
    variances = np.diagonal(np.linalg.pinv(hessian, hermitian=True))[n_scores:]
    return np.asarray(0.5 * found.fitted.coefficients**2 / np.maximum(variances, 1e-300))
