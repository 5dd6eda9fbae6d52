"""The columns that counterfactuals of many rows may change, as coordinates with bounds and costs.

A number moves on its own scale (distance ``"mad"``) or on that of log x' (distance ``"log"``); either way its features
are x' = a·value + c, not below a floor. A category moves between its levels. What is not moved, and what the chosen
levels do, adds a constant to the logarithms of the terms, which is computed once. On this space scores and their
gradient are one small matrix product each, whatever rows the points belong to.
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

IntArray = npt.NDArray[np.intp]
BoolArray = npt.NDArray[np.bool_]


def product(rows: FloatArray, matrix: FloatArray) -> FloatArray:
    """Return rows (…, inner) times a matrix (inner, outer), summed in one order whatever the number of rows.

    A BLAS may sum otherwise for one row than for many, and the last bits can send a search another way.
    """
    result: FloatArray = np.einsum("...i,ij->...j", rows, matrix)
    return result


def row_sums(rows: FloatArray, weights: FloatArray) -> FloatArray:
    """Return the weighted sums (…,) of rows (…, inner), in one order whatever their number."""
    result: FloatArray = np.einsum("...i,i->...", rows, weights)
    return result


@dataclass(frozen=True, eq=False)
class Numbers:
    """The movable columns of numbers; arrays over rows and columns, over columns, or over their features."""

    columns: IntArray
    """Positions among the raw columns."""
    sign: FloatArray
    """(rows, columns); without an encoder a column keeps its sign and moves in |x|, else 1."""
    start: FloatArray
    """The rows' own coordinates (rows, columns); where a row's cell cannot move, `low` and `high` equal it."""
    low: FloatArray
    high: FloatArray
    integer: BoolArray
    """(rows, columns)."""
    cost: FloatArray
    """Cost of one unit of the coordinate, (columns,)."""
    features: IntArray
    """Positions of the features that move with these columns, those of one column side by side."""
    owner: IntArray
    """For each such feature the position of its column in these arrays."""
    slope: FloatArray
    offset: FloatArray
    floor: FloatArray
    log_slope: FloatArray
    log_offset: FloatArray
    """The map by which a logarithmic coordinate is read: value = (exp(coordinate) − offset)/slope."""
    logarithmic: bool

    def values(self, points: FloatArray) -> FloatArray:
        """Return the values, up to their sign, of coordinates (…, columns)."""
        return (np.exp(points) - self.log_offset) / self.log_slope if self.logarithmic else points

    def coordinates(self, values: FloatArray) -> FloatArray:
        """Return the coordinates of values: the inverse of `values`."""
        if not self.logarithmic:
            return values
        result: FloatArray = np.log(values * self.log_slope + self.log_offset)
        return result

    @cached_property
    def one_each(self) -> bool:
        """Whether every column has just one feature."""
        return bool(np.array_equal(self.owner, np.arange(self.cost.size)))

    def features_at(self, points: FloatArray) -> FloatArray:
        """Return the features (…, features) at coordinates (…, columns), also where they lie below their floors."""
        values = self.values(points)
        positive: FloatArray = (values if self.one_each else values[..., self.owner]) * self.slope
        positive += self.offset
        return positive

    def distance(self, points: FloatArray, origin: FloatArray) -> FloatArray:
        """Return Σ_j cost_j |t_j − t⁰_j|, (points,)."""
        return row_sums(np.abs(points - origin), self.cost)


@dataclass(frozen=True, eq=False)
class Category:
    """One movable categorical column."""

    column: int
    levels: tuple[Any, ...]
    cost: float
    allowed: BoolArray
    """Which levels a row may take instead of its own, (rows, levels)."""
    steps: FloatArray
    """What a level in place of the row's own adds to the logarithms of the terms, (rows, levels, terms)."""


@dataclass(frozen=True, eq=False)
class Space:
    """Coordinates, categories, and the model on them, for rows that share their terms."""

    terms: ScoreTerms
    numbers: Numbers
    categories: tuple[Category, ...]
    goal: Goal
    own_logs: FloatArray
    """The logarithms of the rows' own terms, their coefficients aside, (rows, terms)."""

    @cached_property
    def fixed(self) -> FloatArray:
        """What all but the numbers add to the logarithms of the terms, (rows, terms)."""
        return self.own_logs - self.number_logs(self.numbers.start)

    @cached_property
    def moving(self) -> FloatArray:
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
        return np.asarray(self.numbers.owner[:, None] == np.arange(self.numbers.cost.size), dtype=np.float64)

    def number_logs(self, points: FloatArray) -> FloatArray:
        """Return what numbers at coordinates (…, columns) add to the logarithms of the terms, (…, terms)."""
        numbers = self.numbers
        return product(np.log(np.maximum(numbers.features_at(points), numbers.floor)), self.moving)

    def margin_of_logs(self, logs: FloatArray) -> FloatArray:
        """Return g (…,) where the terms have these logarithms (…, terms)."""
        scores = product(np.exp(np.minimum(logs, LOG_LIMIT)), self._by_class)
        return self.goal.margin(scores.reshape(-1, scores.shape[-1]))[0].reshape(logs.shape[:-1])

    def margin(self, points: FloatArray, fixed: FloatArray) -> FloatArray:
        """Return g (points,) at coordinates (points, columns); `fixed` is what does not move with them."""
        return self.margin_of_logs(self.number_logs(points) + fixed)

    def margin_and_gradient(self, points: FloatArray, fixed: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return g (points,) and ∂g/∂coordinates (points, columns)."""
        numbers = self.numbers
        positive = numbers.features_at(points)
        held = np.maximum(positive, numbers.floor)
        logs = product(np.log(held), self.moving)
        logs += fixed
        powers = np.exp(np.minimum(logs, LOG_LIMIT, out=logs), out=logs)
        g, by_score = self.goal.margin(product(powers, self._by_class))
        gradient = product(powers * product(by_score, self._by_class.T), self.moving.T)
        # at the floor itself a feature can still rise
        gradient *= (positive >= numbers.floor) * numbers.slope / held
        if not numbers.one_each:
            gradient = product(gradient, self._ownership)
        if numbers.logarithmic:
            gradient *= np.exp(points) / numbers.log_slope
        return g, gradient
