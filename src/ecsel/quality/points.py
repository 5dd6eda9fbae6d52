"""Scores as points, as credit scorecards have them: so many points double the odds.

With z = log odds of the second class, and the odds p/(1 − p) of the good outcome read from z or −z,

    points = offset + factor·log odds,   factor = pdo/log 2,   offset = base_score − factor·log(base_odds).

A score that is a sum of parts (terms of an equation, Shapley values) gives points that are the sum of those of the
parts.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from scipy.special import expit

if TYPE_CHECKING:
    from ecsel._typing import Floats


@dataclass(frozen=True, slots=True)
class PointsScale:
    """The scale of a scorecard.

    Parameters
    ----------
    base_score : float, default=600
        The points of a row whose odds are `base_odds`.
    base_odds : float, default=50
        Odds of the good outcome, good to one bad.
    pdo : float, default=20
        Points to double the odds.
    good : {1, 0}, default=1
        Which class is the good outcome: 1 is the second one (points rise with the score), 0 the first.

    Examples
    --------
    >>> scale = PointsScale(base_score=600, base_odds=50, pdo=20)
    >>> scale.points(np.log([50.0, 100.0])).round(6).tolist()
    [600.0, 620.0]
    >>> float(scale.probability(600.0)) == 50 / 51
    True
    """

    base_score: float = 600.0
    base_odds: float = 50.0
    pdo: float = 20.0
    good: Literal[0, 1] = 1

    def __post_init__(self) -> None:
        for name in ("base_score", "base_odds", "pdo"):
            if not math.isfinite(getattr(self, name)):
                raise ValueError(f"{name}={getattr(self, name)!r} must be a finite number.")
        if self.base_odds <= 0 or self.pdo <= 0:
            raise ValueError(f"base_odds={self.base_odds!r} and pdo={self.pdo!r} must be above 0.")
        if self.good not in {0, 1}:
            raise ValueError(f"good={self.good!r} must be 1 (the second class) or 0 (the first).")

    @property
    def factor(self) -> float:
        """Points per unit of the log odds of the good outcome."""
        return self.pdo / math.log(2)

    @property
    def offset(self) -> float:
        """The points of even odds."""
        return self.base_score - self.factor * math.log(self.base_odds)

    @property
    def _slope(self) -> float:
        return self.factor if self.good == 1 else -self.factor

    def points(self, scores: Any) -> Floats:
        """Return the points of scores z, such as ``decision_function`` gives for two classes."""
        return self.offset + self._slope * np.asarray(scores, dtype=np.float64)

    def scores(self, points: Any) -> Floats:
        """Return the scores z that have these points: the inverse of `points`."""
        return (np.asarray(points, dtype=np.float64) - self.offset) / self._slope

    def probability(self, points: Any) -> Floats:
        """Return the probability of the good outcome at these points."""
        z = self.scores(points)
        return np.asarray(expit(z if self.good == 1 else -z))

    def parts(self, score_parts: Any) -> Floats:
        """Return the points of additive parts (rows, parts) of the score; with `offset` they add up to the points.

        >>> scale = PointsScale()
        >>> parts = np.array([[0.5, -1.0, 2.0]])
        >>> bool(np.isclose(scale.offset + scale.parts(parts).sum(), scale.points(parts.sum())))
        True
        """
        return self._slope * np.asarray(score_parts, dtype=np.float64)
