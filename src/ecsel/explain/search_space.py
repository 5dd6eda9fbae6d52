"""The columns that a counterfactual may change, as coordinates with bounds and costs.

A number moves on its own scale (distance ``"mad"``) or on that of log x' (distance ``"log"``); either way its features
are x' = a·value + c, not below a floor. A category moves between its levels, each a row of a small table of log x'.
Everything else keeps its log features. On this space scores and their gradient are one matrix product each.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from ecsel.signomial import ScoreTerms, term_values
from ecsel.signomial.arrays import sum_by_class

if TYPE_CHECKING:
    from ecsel.explain.goals import Goal
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

    def log_features(self, choices: npt.NDArray[np.intp]) -> FloatArray:
        """Return log features (points, features) for choices (points, categories) of levels, −1 for the row's own."""
        logs = np.repeat(self.base[None], len(choices), axis=0)
        for i, category in enumerate(self.categories):
            changed = np.flatnonzero(choices[:, i] >= 0)
            logs[np.ix_(changed, category.features)] = category.logs[choices[changed, i]]
        return logs

    def category_cost(self, choices: npt.NDArray[np.intp]) -> FloatArray:
        """Return the cost of changed levels, (points,)."""
        price = np.array([category.cost for category in self.categories], dtype=np.float64)
        return np.asarray((choices >= 0) @ price)

    def margin(self, points: FloatArray, logs: FloatArray) -> FloatArray:
        """Return g (points,) at coordinates (points, columns); `logs` has the features that do not move."""
        z, *_ = self._scores(points, logs)
        g, _ = self.goal.margin(z)
        return g

    def margin_and_gradient(self, points: FloatArray, logs: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return g (points,) and ∂g/∂coordinates (points, columns)."""
        z, values, positive, moving = self._scores(points, logs)
        g, by_score = self.goal.margin(z)
        numbers = self.numbers
        by_log = (values * by_score[:, self.terms.classes]) @ self.terms.exponents[:, numbers.features]
        by_feature = by_log * (numbers.slope * moving / positive)
        by_value = by_feature @ (numbers.owner[:, None] == np.arange(numbers.start.size))
        return g, by_value * numbers.value_slope(points)

    def _scores(
        self, points: FloatArray, logs: FloatArray
    ) -> tuple[FloatArray, FloatArray, FloatArray, npt.NDArray[np.bool_]]:
        numbers = self.numbers
        positive = numbers.values(points)[:, numbers.owner] * numbers.slope + numbers.offset
        moving = positive >= numbers.floor  # at the floor itself a feature can still rise
        positive = np.maximum(positive, numbers.floor)
        logs = logs.copy()
        logs[:, numbers.features] = np.log(positive)
        values = term_values(self.terms, logs)
        return sum_by_class(self.terms, values), values, positive, moving
