"""Losses: the value of scores, its residual and its curvature.

Logistic, one score, in margin form: with y = ±1 and t = exp(−y·z) the loss is log1p(t) and the error probability
t/(1 + t); residual ∂ℓ/∂z = −y·t/(1 + t) and weight p(1 − p). No difference of nearly equal numbers is formed.

Softmax, one score per class: ℓ = log Σ_c exp(z_c) − z_y, residual p_c − [y = c], curvature p_c(δ_cd − p_d).

A loss is one object with the methods of `Loss`, here or outside: solvers ask it, and nobody compares names. The two of
this module have a compiled twin (`kernel`); any other runs on NumPy.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from ecsel.signomial.links import SIGMOID, SOFTMAX

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ecsel._typing import Array
    from ecsel.signomial.links import Link


def _total(w: Array, value: Array) -> float:
    """Σ w·value, added in double precision whatever the precision of the block."""
    return float(np.add.reduce(w * value, dtype=np.float64))


class Loss(Protocol):
    """The contract of a loss. `z` has shape (scores, rows); the weights `w` sum to one over the whole table.

    Targets come as whole numbers below `n_classes`: class codes, or counts.
    """

    @property
    def link(self) -> Link:
        """What the scores mean to a reader."""
        ...

    @property
    def n_classes(self) -> int:
        """One more than the largest target."""
        ...

    @property
    def n_scores(self) -> int:
        """The number of scores."""
        ...

    @property
    def shift_invariant(self) -> bool:
        """Whether a number added to all scores of a row changes nothing, so that rows tell differences alone."""
        ...

    def encode(self, codes: NDArray[np.integer], dtype: Any) -> Array:
        """Return the target as the loss wants it, shape (scores, rows)."""
        ...

    def value(self, z: Array, target: Array, w: Array) -> float:
        """Return Σ_i w_i ℓ(target_i, z_i)."""
        ...

    def value_and_residual(self, z: Array, target: Array, w: Array) -> tuple[float, Array, Array]:
        """Return the loss, the weighted residual ∂/∂z and the probabilities from which `curvature` is made."""
        ...

    def errors(self, probabilities: Array, target: Array) -> Array:
        """Return 1 − p(true class) of each row."""
        ...

    def curvature(self, jacobian: Array, probabilities: Array, w: Array) -> Array:
        """Return Σ_i w_i J_iᵀ (∂²ℓ/∂z²) J_i from the Jacobian of shape (scores, parameters per score, rows)."""
        ...

    def empty_scores(self, class_shares: Array) -> Array:
        """Return the intercepts of the best model without features."""
        ...


class Logistic:
    """One score; the positive class is the second. Two classes.

    Examples
    --------
    >>> import numpy as np
    >>> Logistic().empty_scores(np.array([0.5, 0.5]))
    array([0.])
    """

    link = SIGMOID
    n_classes = 2
    n_scores = 1
    shift_invariant = False

    def encode(self, codes: NDArray[np.integer], dtype: Any) -> Array:
        """Return y = ±1."""
        return (2.0 * codes - 1.0).astype(dtype)[None, :]

    def value(self, z: Array, target: Array, w: Array) -> float:
        """Return Σ w log(1 + exp(−y z))."""
        margin = target[0] * z[0]
        value = np.log1p(np.exp(-np.abs(margin)))
        value -= np.minimum(margin, 0)
        return _total(w, value)

    def value_and_residual(self, z: Array, target: Array, w: Array) -> tuple[float, Array, Array]:
        """Return loss, −w·y·P(error) and P(error)."""
        margin = target[0] * z[0]
        t = np.exp(-np.abs(margin))
        value = np.log1p(t)
        value -= np.minimum(margin, 0)
        error = np.where(margin > 0, t, 1) / (1 + t)
        return _total(w, value), (-w * target[0] * error)[None, :], error[None, :]

    def errors(self, probabilities: Array, target: Array) -> Array:
        """Return P(error), which is what is kept."""
        del target
        return np.asarray(probabilities[0])

    def curvature(self, jacobian: Array, probabilities: Array, w: Array) -> Array:
        """Return J diag(w p(1 − p)) Jᵀ as one symmetric product."""
        error = probabilities[0]
        scaled = jacobian[0] * np.sqrt(w * error * (1 - error))
        return np.asarray(scaled @ scaled.T)

    def empty_scores(self, class_shares: Array) -> Array:
        """Return the log odds of the positive class."""
        odds: Array = class_shares[1:] / class_shares[:1]
        return np.log(odds)


class Softmax:
    """One score per class.

    Examples
    --------
    >>> Softmax(3).n_scores
    3
    """

    link = SOFTMAX
    shift_invariant = True

    def __init__(self, n_classes: int) -> None:
        self.n_classes = self.n_scores = n_classes

    def encode(self, codes: NDArray[np.integer], dtype: Any) -> Array:
        """Return the indicator of each class."""
        indicator: Array = (codes[None, :] == np.arange(self.n_classes)[:, None]).astype(dtype)
        return indicator

    def value(self, z: Array, target: Array, w: Array) -> float:
        """Return Σ w (log Σ_c exp z_c − z_y)."""
        top = z.max(axis=0)
        value = np.log(np.exp(z - top).sum(axis=0))
        value += top
        value -= (z * target).sum(axis=0)
        return _total(w, value)

    def value_and_residual(self, z: Array, target: Array, w: Array) -> tuple[float, Array, Array]:
        """Return loss, w·(p − indicator) and p."""
        top = z.max(axis=0)
        p = np.exp(z - top)
        total = p.sum(axis=0)
        p /= total
        value = np.log(total)
        value += top
        value -= (z * target).sum(axis=0)
        return _total(w, value), w * (p - target), p

    def errors(self, probabilities: Array, target: Array) -> Array:
        """Return the sum of the other classes' shares."""
        return np.asarray((probabilities * (1 - target)).sum(axis=0))

    def curvature(self, jacobian: Array, probabilities: Array, w: Array) -> Array:
        """Return the blocks J_c diag(w p_c (δ_cd − p_d)) J_dᵀ, as one product less one per class."""
        scores, per_score, rows = jacobian.shape
        root = np.sqrt(w)
        mixed = (jacobian * (probabilities * root)[:, None, :]).reshape(scores * per_score, rows)
        total = mixed @ mixed.T
        np.negative(total, out=total)
        for c in range(scores):
            own = jacobian[c] * np.sqrt(w * probabilities[c])
            part = slice(c * per_score, (c + 1) * per_score)
            total[part, part] += own @ own.T
        return total

    def empty_scores(self, class_shares: Array) -> Array:
        """Return the centred log shares."""
        logs: Array = np.log(class_shares)
        centred: Array = logs - logs.mean()
        return centred


def class_loss(link: Link, n_classes: int) -> Loss:
    """Return the loss of class labels whose scores have this link."""
    return Logistic() if link.has_reference else Softmax(n_classes)
