"""What a counterfactual must reach, as one smooth inequality g(scores) ≥ 0 and its gradient.

decision for c       z_c − max_{r≠c} z_r, and with two classes and a threshold t:  ±(z₁ − z₀ − logit t)
probability q of c   log(p_c/(1 − p_c)) − logit q  =  z_c − log Σ_{r≠c} exp z_r − logit q
range of a value     min(z − low, high − z)

A sigmoid is a softmax whose first score is 0.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import special

if TYPE_CHECKING:
    from collections.abc import Callable

    from ecsel.explain.view import ModelView
    from ecsel.signomial.columns import FloatArray


@dataclass(frozen=True, eq=False)
class Goal:
    """A wish: `margin` of scores (points, scores) gives g (points,) and ∂g/∂scores (points or 1, scores)."""

    margin: Callable[[FloatArray], tuple[FloatArray, FloatArray]]
    holds: Callable[[FloatArray], np.ndarray[Any, np.dtype[np.bool_]]]
    """Whether the model's own outputs (points, classes) fulfil the wish: the last word."""
    description: str


def decision_goal(view: ModelView, label: Any) -> Goal:
    """Return the wish that the model decides for a class."""
    c = view.class_position(label)

    def holds(outputs: FloatArray) -> np.ndarray[Any, np.dtype[np.bool_]]:
        return np.asarray(view.decisions(outputs) == c)

    if view.threshold is None:
        return Goal(lambda z: _rival_margin(z, c), holds, f"decision for {label!r}")
    level = float(special.logit(view.threshold))
    if not np.isfinite(level):
        raise ValueError(f"with a threshold of {view.threshold} the model only ever decides for one class")
    sign = 1.0 if c == 1 else -1.0
    gradient = sign * np.array([1.0] if view.link == "sigmoid" else [-1.0, 1.0])
    gradient.setflags(write=False)

    def margin(z: FloatArray) -> tuple[FloatArray, FloatArray]:
        return z @ gradient - sign * level, gradient[None]

    return Goal(margin, holds, f"decision for {label!r}")


def probability_goal(view: ModelView, label: Any, probability: float) -> Goal:
    """Return the wish that a class has at least a probability."""
    if not 0 < probability < 1:
        raise ValueError(f"probability must lie between 0 and 1, not {probability!r}")
    c = view.class_position(label)
    level = float(special.logit(probability))

    def margin(z: FloatArray) -> tuple[FloatArray, FloatArray]:
        if view.link == "sigmoid":
            sign = 1.0 if c == 1 else -1.0
            return sign * z[:, 0] - level, np.full_like(z, sign)
        others = np.delete(z, c, axis=1)
        gradient = np.insert(-special.softmax(others, axis=1), c, 1.0, axis=1)
        return z[:, c] - special.logsumexp(others, axis=1) - level, gradient

    return Goal(margin, lambda p: np.asarray(p[:, c] >= probability), f"p({label!r}) ≥ {probability:g}")


def range_goal(low: float | None, high: float | None) -> Goal:
    """Return the wish that a prediction lies between two numbers, either of which may be None."""
    lower, upper = -np.inf if low is None else float(low), np.inf if high is None else float(high)
    if not lower < upper:
        raise ValueError(f"target must be a pair (low, high) with low < high, not ({low!r}, {high!r})")

    def margin(z: FloatArray) -> tuple[FloatArray, FloatArray]:
        above, below = z[:, 0] - lower, upper - z[:, 0]
        return np.minimum(above, below), np.where(above <= below, 1.0, -1.0)[:, None]

    def holds(outputs: FloatArray) -> np.ndarray[Any, np.dtype[np.bool_]]:
        return np.asarray((outputs[:, 0] >= lower) & (outputs[:, 0] <= upper))

    return Goal(margin, holds, f"prediction between {lower:g} and {upper:g}")


def _rival_margin(z: FloatArray, c: int) -> tuple[FloatArray, FloatArray]:
    masked = z.copy()
    masked[:, c] = -np.inf
    rival = masked.argmax(axis=1)
    at = np.arange(len(z))
    gradient = np.zeros_like(z)
    gradient[:, c] = 1.0
    gradient[at, rival] = -1.0
    return z[:, c] - z[at, rival], gradient
