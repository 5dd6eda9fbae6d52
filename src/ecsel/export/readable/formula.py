"""The paper's model as formulas in raw units, for people and for algebra: its numbers, and what they mean.

    z_c = Σ_k α_k · Π_j ((x_j − origin)/unit + 1)^β · Π_l m^[column = level]

A column enters through an affine base, or as it is; a level multiplies a term by m. A missing value counts as a stated
value x₀, and where missing values are a factor of the model, [column = ?] multiplies the term as well.

A formula is a function of symbols: the quantities, named like their columns, and the indicators 0 or 1, named
``column=level`` and ``column=?``. `formula_inputs` in `raw_rows.py` reads them from a table. Unlike the other exports,
a formula refuses no row, and it does not clip exponents of e at ±700.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from ecsel._typing import Floats
    from ecsel.tables import Level


@dataclass(frozen=True, slots=True)
class Base:
    """What is raised to a power: x itself where there is no unit, else (x − origin)/unit + 1.

    Attributes
    ----------
    column
        The raw column.
    origin, unit
        The affine map; a negative unit is that of a mirror image, (origin − x)/|unit| + 1.
    at_least, at_most
        Where x is held; None where it is not.
    """

    column: str
    origin: float = 0.0
    unit: float | None = None
    at_least: float | None = None
    at_most: float | None = None

    @property
    def times(self) -> float | None:
        """1/unit where (1/unit)·x + 1 is the shorter way to write the base, else None."""
        if self.unit is None or self.origin != 0 or self.unit < 0:
            return None
        return 1 / self.unit if len(repr(1 / self.unit)) < len(repr(self.unit)) else None

    def evaluate(self, x: Floats) -> Floats:
        """Return the values of the base."""
        clipped = np.maximum(x, -np.inf if self.at_least is None else self.at_least)
        clipped = np.minimum(clipped, np.inf if self.at_most is None else self.at_most)
        return clipped if self.unit is None else (clipped - self.origin) / self.unit + 1.0

    def rounded(self, rounding: Callable[[float], float]) -> Base:
        """Return the base with other numbers."""

        def some(value: float | None) -> float | None:
            return None if value is None else rounding(value)

        return Base(self.column, rounding(self.origin), some(self.unit), some(self.at_least), some(self.at_most))


@dataclass(frozen=True, slots=True)
class Power:
    """A positive base raised to an exponent."""

    base: Base
    exponent: float

    def evaluate(self, x: Floats) -> Floats:
        """Return the values of the power."""
        return np.asarray(self.base.evaluate(x) ** self.exponent)

    def rounded(self, rounding: Callable[[float], float]) -> Power:
        """Return the power with other numbers."""
        return Power(self.base.rounded(rounding), rounding(self.exponent))


@dataclass(frozen=True, slots=True)
class Multiplier:
    """A number by which a term is multiplied where a column has a level, or, with the level None, is missing."""

    symbol: str
    column: str
    level: Level | None
    value: float

    def rounded(self, rounding: Callable[[float], float]) -> Multiplier:
        """Return the multiplier with another number."""
        return replace(self, value=rounding(self.value))


@dataclass(frozen=True, slots=True)
class FormulaTerm:
    """One term of a score; its factors are in the order in which they are printed."""

    coefficient: float
    factors: tuple[Power | Multiplier, ...] = ()

    @property
    def powers(self) -> tuple[Power, ...]:
        """The factors that are powers of quantities."""
        return tuple(factor for factor in self.factors if isinstance(factor, Power))

    @property
    def multipliers(self) -> tuple[Multiplier, ...]:
        """The factors that depend on a level."""
        return tuple(factor for factor in self.factors if isinstance(factor, Multiplier))

    def evaluate(self, symbols: Mapping[str, Floats]) -> Floats:
        """Return the values of the term."""
        value: Any = self.coefficient
        for power in self.powers:
            value = value * power.evaluate(symbols[power.base.column])
        for each in self.multipliers:
            value = value * each.value ** symbols[each.symbol]
        return np.asarray(value, dtype=np.float64)

    def rounded(self, rounding: Callable[[float], float]) -> FormulaTerm:
        """Return the term with other numbers; a level that multiplies by 1 is left out."""
        factors = (factor.rounded(rounding) for factor in self.factors)
        kept = (factor for factor in factors if not (isinstance(factor, Multiplier) and factor.value == 1))
        return FormulaTerm(rounding(self.coefficient), tuple(kept))


@dataclass(frozen=True, slots=True)
class Order:
    """What the symbol of an ordinal column stands for: the position of the level, and a number for an unknown one."""

    levels: tuple[Level, ...]
    """From the first position on."""
    unknown: float


@dataclass(frozen=True, slots=True)
class Formula:
    """The scores of a model in raw units, and all that belongs to them.

    Attributes
    ----------
    scores
        The terms of each score by label: with a sigmoid the second class alone.
    columns
        The columns in use, the most important one first.
    imputed
        What a missing value counts as, by column; columns that are not listed refuse missing values.
    orders
        The meaning of ordinal columns.
    """

    scores: tuple[tuple[Level, tuple[FormulaTerm, ...]], ...]
    columns: tuple[str, ...]
    imputed: Mapping[str, float] = field(default_factory=dict)
    orders: Mapping[str, Order] = field(default_factory=dict)

    @property
    def terms(self) -> tuple[FormulaTerm, ...]:
        """All terms."""
        return tuple(term for _, terms in self.scores for term in terms)

    @property
    def indicators(self) -> dict[str, Multiplier]:
        """One multiplier per indicator, by symbol."""
        return {each.symbol: each for term in self.terms for each in term.multipliers}

    def evaluate(self, symbols: Mapping[str, Floats]) -> Floats:
        """Return the scores (rows, scores)."""
        n_rows = max((np.size(values) for values in symbols.values()), default=1)
        scores = np.zeros((n_rows, len(self.scores)))
        for c, (_, terms) in enumerate(self.scores):
            for term in terms:
                scores[:, c] += term.evaluate(symbols)
        return scores

    def rounded(self, rounding: Callable[[float], float]) -> Formula:
        """Return the formula with other numbers."""
        return replace(
            self,
            scores=tuple((label, tuple(term.rounded(rounding) for term in terms)) for label, terms in self.scores),
            imputed={name: rounding(value) for name, value in self.imputed.items()},
            orders={name: replace(order, unknown=rounding(order.unknown)) for name, order in self.orders.items()},
        )

    def clipped(self, column: str) -> tuple[float | None, float | None] | None:
        """Return where a column is held, at least and at most; None where its bases differ in that."""
        ends = {
            (power.base.at_least, power.base.at_most)
            for term in self.terms
            for power in term.powers
            if power.base.column == column
        }
        return ends.pop() if len(ends) == 1 else None
