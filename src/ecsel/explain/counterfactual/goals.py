"""What a counterfactual must reach, as one inequality g(scores) ≥ 0.

decision for c       z_c − max_{r≠c} z_r, and with two classes and a threshold t:  ±(z₁ − z₀ − logit t)
decision against c   max_{r≠c} z_r − z_c
probability q of c   log(p_c/(1 − p_c)) − logit q  =  z_c − log Σ_{r≠c} exp z_r − logit q
range of a value     z − low for rows below it, high − z for rows above it

A sigmoid is a softmax whose first score is 0. A range takes the one end that a row has to pass: the nearest point
beyond it lies at that end, hence inside the range; a row that jumps over it is not confirmed.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import reduce
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import special

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from ecsel._typing import Floats, Mask
    from ecsel.explain.view import ModelView


@dataclass(frozen=True, eq=False)
class Goal:
    """What is asked of a row: `margin` of the scores, one array (…) for each, gives g (…)."""

    margin: Callable[[Sequence[Floats]], Floats]
    holds: Callable[[Floats], Mask]
    """Whether the model's own outputs (points, classes) fulfil the goal: the last word."""


def decision_goal(view: ModelView, label: Any) -> Goal:
    """Return the goal that the model decides for a class."""
    c = view.class_position(label)

    def holds(outputs: Floats) -> Mask:
        return np.asarray(view.decisions(outputs) == c)

    if view.threshold is None:
        rivals = [r for r in range(len(view.classes)) if r != c]
        return Goal(lambda z: z[c] - reduce(np.maximum, [z[r] for r in rivals]), holds)
    level = float(special.logit(view.threshold))
    if not np.isfinite(level):
        raise ValueError(f"with a threshold of {view.threshold} the model only ever decides for one class")
    sign = 1.0 if c == 1 else -1.0
    if view.link.has_reference:
        return Goal(lambda z: sign * (z[0] - level), holds)
    return Goal(lambda z: sign * (z[1] - z[0] - level), holds)


def other_decision_goal(view: ModelView, label: Any) -> Goal:
    """Return the goal that a model of more than two classes decides for any class but this one.

    A class that wins only along a narrow strip, between this class and a third one, has a margin that no point of a
    grid may see; the margin of all others together goes on growing beyond the strip.
    """
    c = view.class_position(label)
    rivals = [r for r in range(len(view.classes)) if r != c]
    return Goal(
        lambda z: reduce(np.maximum, [z[r] for r in rivals]) - z[c],
        lambda outputs: np.asarray(view.decisions(outputs) != c),
    )


def probability_goal(view: ModelView, label: Any, probability: float) -> Goal:
    """Return the goal that a class has at least a probability."""
    if not 0 < probability < 1:
        raise ValueError(f"probability must lie between 0 and 1, not {probability!r}")
    c = view.class_position(label)
    level = float(special.logit(probability))

    def margin(z: Sequence[Floats]) -> Floats:
        if view.link.has_reference:
            return (1.0 if c == 1 else -1.0) * z[0] - level
        rivals = [score for r, score in enumerate(z) if r != c]
        return np.asarray(z[c] - reduce(np.logaddexp, rivals) - level)

    return Goal(margin, lambda p: np.asarray(p[:, c] >= probability))


def range_goals(low: float | None, high: float | None) -> tuple[Goal, Goal]:
    """Return the goals of a prediction between two numbers, either of which may be None: from below and from above."""
    lower, upper = -np.inf if low is None else float(low), np.inf if high is None else float(high)
    if not lower < upper:
        raise ValueError(f"target must be a pair (low, high) with low < high, not ({low!r}, {high!r})")

    def holds(outputs: Floats) -> Mask:
        return np.asarray((outputs[:, 0] >= lower) & (outputs[:, 0] <= upper))

    return Goal(lambda z: z[0] - lower, holds), Goal(lambda z: upper - z[0], holds)
