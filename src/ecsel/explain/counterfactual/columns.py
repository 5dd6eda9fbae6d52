"""Columns that may be changed: what they do to the terms, what they cost, and where they are looked at.

The part of term k that depends on raw column j is φ_kj(x_j), whatever function that is: powers and logarithms of a
clipped number, indicators, steps. Nothing has to be monotone, differentiable or continuous.

Every column has a grid for every row, with the row's own value first. That of a category is its levels. That of a
number is two rays, down and up: points that lie dense near the row, the last value before a jump and the first one
beyond it, all of them numbers that the column can hold; between two neighbours of a ray φ is continuous.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ecsel.signomial.columns import LOG_LIMIT
from ecsel.signomial.factor import Parity

if TYPE_CHECKING:
    from collections.abc import Callable

    from ecsel._typing import Floats, Mask, Places
    from ecsel.explain.view import ModelView
    from ecsel.signomial import Factor
    from ecsel.tables.features import Feature

SHARES = np.array([0.001, 0.004, 0.012, 0.03, 0.06, 0.1, 0.15, 0.2, 0.26, 0.33, 0.41, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0])
"""Shares of the way to a bound at which a number is looked at, where many numbers may move."""
DENSER = ((3, 3), (6, 2))
"""With up to so many numbers every step of the shares is divided into so many: what reaches the goal between two points
is not seen, and pairs of grids are a product of both."""
WIDE = 20.0
"""Where a bound is this many times the row's own value the shares are those of the logarithm."""
TINY = 1e-300
ROUNDING = 1e-9
"""A number this near to one with the digits of its column, in units of the last digit, is that number."""


class Grid(NamedTuple):
    """Where a column is looked at for each row, the row's own value first."""

    values: Floats
    """(rows, points): numbers, or codes of levels."""
    cost: Floats
    """(rows, points)."""
    phi: Floats
    """(rows, points, terms)."""
    span: Floats
    """How much of the cost lies behind the point before it; 0 where the column holds no number in between."""


class Base(NamedTuple):
    """All factors of one column that have the same base g = x + s, log(x + s) or exp(x); a term has at most one."""

    feature: int
    """Position among the column's features."""
    shift: float
    log: bool
    exp: bool
    exponents: Floats
    odd: Mask
    """Whether the factor has the sign of g."""
    refuses: Mask
    """Whether it is undefined where g < 0."""
    terms: Places

    @property
    def has_edge(self) -> bool:
        """Whether some factor is not defined at g = 0, or on one side of it."""
        return self.log or (not self.exp and bool((self.exponents < 0).any() or self.refuses.any()))

    def at(self, x: Floats) -> Floats:
        """Return the factors (…, terms) at numbers (…,), NaN where they are not defined."""
        if self.exp:
            exponent = np.asarray(x)[..., None] * self.exponents
            return np.where(np.isfinite(exponent), np.exp(np.clip(exponent, -LOG_LIMIT, LOG_LIMIT)), np.nan)
        with np.errstate(divide="ignore", invalid="ignore", over="ignore", under="ignore"):
            g = (np.log(x + self.shift) if self.log else x + self.shift)[..., None]
            powers = np.abs(g) ** self.exponents * np.where(self.odd, np.sign(g), 1.0)
        defined = np.isfinite(g) & np.isfinite(powers) & ~(self.refuses & (g < 0))
        return np.where(defined, powers, np.nan)


class ColumnFactors(NamedTuple):
    """The part φ_kj of every term k that depends on one raw column j."""

    features: Places
    bases: tuple[Base, ...]
    n_terms: int

    @classmethod
    def of(cls, view: ModelView, j: int) -> ColumnFactors:
        """Collect the factors of a column that some term uses."""
        features = np.flatnonzero((view.feature_groups == j) & view.terms.uses.any(axis=0))
        found: dict[tuple[int, float, bool, bool], list[tuple[int, Factor]]] = {}
        for k, term in enumerate(view.terms.factors):
            for feature, factor in term:
                if view.feature_groups[feature] == j:
                    found.setdefault((feature, factor.shift, factor.log, factor.exp), []).append((k, factor))
        place = {feature: i for i, feature in enumerate(features.tolist())}
        bases = tuple(
            Base(
                place[feature],
                shift,
                log,
                exp,
                np.array([float(factor.exponent) for _, factor in own]),
                np.array([factor.parity is Parity.ODD for _, factor in own]),
                np.array([factor.refuses_negative for _, factor in own]),
                np.array([k for k, _ in own], dtype=np.intp),
            )
            for (feature, shift, log, exp), own in found.items()
        )
        return cls(features, bases, view.terms.n_terms)

    def at(self, features: Floats) -> Floats:
        """Return φ (…, terms) at the values (…, features) of the column's features; NaN where it is not defined."""
        phi = np.ones((*features.shape[:-1], self.n_terms))
        for base in self.bases:
            phi[..., base.terms] *= base.at(features[..., base.feature])
        return phi


def number_encoder(view: ModelView, j: int, factors: ColumnFactors) -> Callable[[Floats], Floats]:
    """Return the way from the numbers of a column (…,) to its features (…, features)."""
    column = view.numeric_column(j)
    if view.encoder is None or column is None:
        return lambda values: values[..., None]
    features = [view.encoder.features[f] for f in factors.features]
    clips = view.encoder.out_of_range == "clip"
    if view.encoder.is_raw:
        low, high = (column.low, column.high) if clips else (-np.inf, np.inf)
        return lambda values: np.stack([f.of_number(np.clip(values, low, high)) for f in features], axis=-1)
    return lambda values: np.stack([_positive(f, values, clips=clips) for f in features], axis=-1)


def _positive(feature: Feature, values: Floats, *, clips: bool) -> Floats:
    if feature.kind == "missing":
        return np.full_like(values, feature.floor)
    return np.maximum(feature.positive(values), feature.floor) if clips else feature.positive(values)


class Grain(NamedTuple):
    """The multiples that a column of numbers holds, counted from an origin.

    >>> Grain(1, 5).unit, Grain(1, 5).upward(np.array([2.1, 2.5])), Grain(0, 100).downward(np.array([199.0]))
    (0.5, array([2.5, 2.5]), array([100.]))
    >>> Grain(0, 24, 12).upward(np.array([36.0, 37.0]))
    array([36., 60.])
    """

    digits: int
    """Decimals (0: whole numbers, −1: tens)."""
    step: int = 1
    """The numbers are multiples of so many units of the last decimal."""
    origin: int = 0
    """They begin at so many units of the last decimal."""

    @property
    def unit(self) -> float:
        """The distance of neighbouring numbers."""
        return self.step * 10.0**-self.digits

    def upward(self, values: Floats) -> Floats:
        """Return the nearest multiples that are not below."""
        scale, start = 10.0**self.digits / self.step, self.origin * 10.0**-self.digits
        multiple = np.ceil((values - start) * scale - ROUNDING) / scale
        result: Floats = np.round(multiple + start, self.digits) + 0.0  # not −0.0
        return result

    def downward(self, values: Floats) -> Floats:
        """Return the nearest multiples that are not above."""
        return 0.0 - self._replace(origin=-self.origin).upward(-values)


@dataclass(frozen=True, eq=False)
class NumberColumn:
    """A column of numbers; arrays are over rows."""

    position: int
    """Among the raw columns."""
    factors: ColumnFactors
    encode: Callable[[Floats], Floats]
    """From numbers (…,) to features (…, features)."""
    start: Floats
    low: Floats
    high: Floats
    """Where a cell cannot move, both equal its start."""
    grain: Grain | None
    """The numbers that the column holds; None where they are not known."""
    n_values: float
    """About how many numbers it can hold; ∞ where that is not known."""
    is_whole: bool
    """Whether answers are Python's integers."""
    price: float
    """Cost of one unit, or of one unit of the logarithm."""
    scale: Callable[[Floats], Floats]
    """What distances are measured in: the number itself, or a logarithm."""
    jumps: Floats
    """Numbers at which a factor may jump or bend, (jumps,)."""
    shares: Floats = field(default_factory=SHARES.copy)
    """Where it is looked at on the way to a bound, (points,)."""

    def phi(self, values: Floats) -> Floats:
        """Return φ (…, terms) at numbers (…,)."""
        return self.factors.at(self.encode(values))

    def cost(self, row: Places, values: Floats) -> Floats:
        """Return the cost of numbers (points, …) for the rows (points,) that they belong to."""
        start = self.scale(self.start[row]).reshape(-1, *(1,) * (values.ndim - 1))
        return self.price * np.abs(self.scale(values) - start)

    def constrained(self, row: Places, values: Floats) -> Floats:
        """Return the nearest numbers (points, …) farther from the rows that the column can hold, inside the bounds."""
        shape = (-1, *(1,) * (values.ndim - 1))
        start, low, high = (each[row].reshape(shape) for each in (self.start, self.low, self.high))
        if (grain := self.grain) is not None:
            low, high = np.minimum(grain.upward(low), start), np.maximum(grain.downward(high), start)
            farther = np.where(values > start, grain.upward(values), grain.downward(values))
            values = np.where(values == start, start, farther)
        result: Floats = np.clip(values, low, high)
        return result

    def rays(self) -> Floats:
        """Return the points at which each row looks, (rows, down and up, points), nearest first."""
        row = np.arange(len(self.start))
        start, ends = self.start[:, None, None], np.stack([self.low, self.high], axis=1)[:, :, None]
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            ratio = ends / start
            wide = (ratio > WIDE) | ((ratio > 0) & (ratio < 1 / WIDE))
            points = np.where(wide, start * np.abs(ratio) ** self.shares, start + self.shares * (ends - start))
        sides = np.clip(self.jumps, np.minimum(start, ends), np.maximum(start, ends))
        points = self.constrained(row, np.concatenate([points, sides], axis=2))
        if self.grain is not None:  # all numbers of a short way
            step, n = self.grain.unit, points.shape[2]
            every = self.constrained(row, start + np.sign(ends - start) * step * np.arange(n))
            points = np.where(np.abs(ends - start) <= step * (n - 1), every, points)
        order = np.argsort(np.abs(points - start), axis=2, kind="stable")
        return np.take_along_axis(points, order, axis=2)

    def grid(self, own: Floats) -> Grid:
        """Return the rows' own numbers, whose factors are given, and both rays."""
        n_rows = len(self.start)
        values = np.concatenate([self.start[:, None], self.rays().reshape(n_rows, -1)], axis=1)
        cost = self.cost(np.arange(n_rows), values)
        still = values == self.start[:, None]
        phi = np.where(still[..., None], own[:, None], self.phi(values))
        cost = np.where(still, 0.0, cost)
        before = nearer(np.arange(values.shape[1]), values.shape[1])
        span = cost - cost[:, before]
        if self.grain is not None:
            span[np.abs(values - values[:, before]) < 1.5 * self.grain.unit] = 0.0
        return Grid(values, cost, phi, span)


@dataclass(frozen=True, eq=False)
class LevelColumn:
    """A categorical or ordinal column; levels that do the same are one."""

    position: int
    levels: tuple[Any, ...]
    start: Floats
    """The code of each row's own level, (rows,); negative for a missing or unknown one."""
    choice: Floats
    """For each different effect the first level that has it and that a row may take, else its own, (rows, points)."""
    table: Floats
    """φ (points, terms)."""
    price: float

    def grid(self, own: Floats) -> Grid:
        """Return the rows' own levels, whose factors are given, and the others."""
        values = np.concatenate([self.start[:, None], self.choice], axis=1)
        still = values == self.start[:, None]
        table = np.broadcast_to(self.table, (len(own), *self.table.shape))
        phi = np.where(still[..., None], own[:, None], np.concatenate([own[:, None], table], axis=1))
        cost = np.where(still, 0.0, self.price)
        return Grid(values, cost, phi, np.zeros_like(cost))


def shares_for(n_numbers: int) -> Floats:
    """Return the shares of the way to a bound at which numbers are looked at, if so many may move.

    >>> [len(shares_for(n)) for n in (2, 5, 20)]
    [51, 34, 17]
    """
    parts = next((parts for most, parts in DENSER if n_numbers <= most), 1)
    ends = np.concatenate([[0.0], SHARES])
    places = np.arange(1, parts * SHARES.size + 1) / parts
    return np.asarray(np.interp(places, np.arange(ends.size), ends), dtype=np.float64)


def nearer(at: Places, n_points: int) -> Places:
    """Return the neighbours of points on the two rays of a grid that are nearer to the row's own value, the first."""
    return np.where((at == 0) | ((at - 1) % ((n_points - 1) // 2) == 0), 0, at - 1)
