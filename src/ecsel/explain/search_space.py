"""The columns that a counterfactual may change, as coordinates with bounds and costs.

A number moves on its own scale (distance ``"mad"``) or on that of log x' (distance ``"log"``); either way its features
are x' = a·value + c, not below a floor. A category moves between its levels, each a row of a small table of log x'.
Everything else keeps its log features, and what they and the chosen levels add to the logarithms of the terms is
computed once. On this space scores and their gradient are one small matrix product each.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from ecsel.signomial.columns import LOG_LIMIT

if TYPE_CHECKING:
    from ecsel.explain.goals import Goal
    from ecsel.signomial import ScoreTerms
    from ecsel.signomial.columns import FloatArray


@dataclass(frozen=True, eq=False)
class Numbers:
    """The movable columns of numbers; arrays over columns, and over their features."""

    columns: npt.NDArray[np.intp]
    """Positions among the raw columns."""
    start: FloatArray
    """The row's own coordinates."""
    low: FloatArray
    high: FloatArray
    cost: FloatArray
    """Cost of one unit of the coordinate."""
    integer: npt.NDArray[np.bool_]
    features: npt.NDArray[np.intp]
    """Positions of the features that move with these columns."""
    owner: npt.NDArray[np.intp]
    """For each such feature the position of its column in these arrays."""
    slope: FloatArray
    offset: FloatArray
    floor: FloatArray
    log_slope: FloatArray
    log_offset: FloatArray
    """The map by which a logarithmic coordinate is read: value = (exp(coordinate) − offset)/slope."""
    logarithmic: bool

    def values(self, points: FloatArray) -> FloatArray:
        """Return the raw values (points, columns) of coordinates."""
        return (np.exp(points) - self.log_offset) / self.log_slope if self.logarithmic else points

    def coordinates(self, values: FloatArray) -> FloatArray:
        """Return the coordinates of raw values: the inverse of `values`."""
        if not self.logarithmic:
            return values
        result: FloatArray = np.log(values * self.log_slope + self.log_offset)
        return result

    def value_slope(self, points: FloatArray) -> FloatArray:
        """Return d value/d coordinate."""
        return np.exp(points) / self.log_slope if self.logarithmic else np.ones_like(points)


@dataclass(frozen=True, eq=False)
class Category:
    """One movable categorical column."""

    column: int
    levels: tuple[Any, ...]
    """The levels that it may take instead of its own."""
    cost: float
    features: npt.NDArray[np.intp]
    logs: FloatArray
    """log x' (levels, features)."""


@dataclass(frozen=True, eq=False)
class Space:
    """Coordinates, categories, and the model on them."""

    terms: ScoreTerms
    base: FloatArray
    """The row's log features."""
    numbers: Numbers
    categories: tuple[Category, ...]
    goal: Goal

    def fixed(self, choices: npt.NDArray[np.intp]) -> FloatArray:
        """Return what all but the numbers add to the logarithms of the terms, (points, terms).

        The choices (points, categories) are of levels, −1 for the row's own.
        """
        base = self.base.copy()
        base[self.numbers.features] = 0.0
        result = np.repeat((self.terms.exponents @ base)[None], len(choices), axis=0)
        for category, chosen in zip(self.categories, choices.T, strict=True):
            steps = (category.logs - base[category.features]) @ self.terms.exponents[:, category.features].T
            result += np.append(steps, np.zeros((1, steps.shape[1])), axis=0)[chosen]  # −1 is the row of zeros
        return result

    def category_cost(self, choices: npt.NDArray[np.intp]) -> FloatArray:
        """Return the cost of changed levels, (points,)."""
        return np.asarray((choices >= 0) @ self._prices)

    @cached_property
    def _prices(self) -> FloatArray:
        return np.array([category.cost for category in self.categories], dtype=np.float64)

    @cached_property
    def _moving(self) -> FloatArray:
        """The exponents of the features that move, (features, terms)."""
        return self.terms.exponents[:, self.numbers.features].T.copy()

    @cached_property
    def _by_class(self) -> FloatArray:
        """The coefficients of the terms at the scores they belong to, (terms, scores)."""
        member = self.terms.classes[:, None] == np.arange(self.terms.n_classes)
        return np.asarray(self.terms.coefficients[:, None] * member)

    @cached_property
    def _ownership(self) -> FloatArray:
        """The indicator (features, columns) of the column that a feature moves with."""
        return np.asarray(self.numbers.owner[:, None] == np.arange(self.numbers.start.size), dtype=np.float64)

    def margin(self, points: FloatArray, fixed: FloatArray) -> FloatArray:
        """Return g (points,) at coordinates (points, columns); `fixed` is what does not move with them."""
        _, powers = self._powers(points, fixed)
        g, _ = self.goal.margin(powers @ self._by_class)
        return g

    def margin_and_gradient(self, points: FloatArray, fixed: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return g (points,) and ∂g/∂coordinates (points, columns)."""
        numbers = self.numbers
        positive, powers = self._powers(points, fixed)
        g, by_score = self.goal.margin(powers @ self._by_class)
        by_log = (powers * (by_score @ self._by_class.T)) @ self._moving.T
        # at the floor itself a feature can still rise
        slope = np.where(positive >= numbers.floor, numbers.slope / np.maximum(positive, numbers.floor), 0.0)
        by_value = (by_log * slope) @ self._ownership
        return g, by_value * numbers.value_slope(points) if numbers.logarithmic else by_value

    def _powers(self, points: FloatArray, fixed: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return the features that move (points, features), below their floors too, and Π x'^β (points, terms)."""
        numbers = self.numbers
        positive = numbers.values(points)[:, numbers.owner] * numbers.slope
        positive += numbers.offset
        powers = np.log(np.maximum(positive, numbers.floor)) @ self._moving
        powers += fixed
        np.minimum(powers, LOG_LIMIT, out=powers)
        return positive, np.exp(powers, out=powers)
