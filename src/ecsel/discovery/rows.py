"""The rows of a table as the search sees them: logarithms, signs, weights.

A monomial is prod_j sgn(x_j)^p_j |x_j|^b_j = (-1)^<p, [x < 0]> exp(<b, ln|x|>), so every column of a design is one
matrix product, one exponential and a parity. Logarithms are centred per column, which makes the nonlinear fit well
conditioned; columns are scaled to a largest entry of one, so that no power of any data overflows. ``log_scale`` undoes
both.
"""

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from ecsel._typing import Floats, Mask
from ecsel.discovery.lattice import Parities
from ecsel.signomial.columns import LOG_LIMIT

LOG_OF_ZERO = -LOG_LIMIT
"""Stands for ln 0, whose positive powers are zero; negative powers are refused by the lattice."""

ORDERS = 20
"""Times that the rows are recombined: as many corners of the table are seen as it has rows, times this."""


@dataclass(frozen=True)
class Rows:
    """Weighted rows: ``target`` and every column of a design are already multiplied by ``root_weight``."""

    log_abs: Floats
    negative: Floats
    target: Floats
    root_weight: Floats | None
    centre: Floats

    @classmethod
    def from_table(cls, X: Floats, y: Floats, weight: Floats | None = None) -> "Rows":
        """Take raw columns, a target and optional positive weights.

        >>> rows = Rows.from_table(np.array([[1.0], [-2.0]]), np.array([1.0, 4.0]))
        >>> rows.raw_columns(np.array([[2.0]]), np.array([[0]], dtype=np.int8)).ravel().round(12)
        array([1., 4.])
        """
        root = None if weight is None else np.sqrt(weight)
        with np.errstate(divide="ignore"):
            log_abs = np.log(np.abs(X))
        finite = np.isfinite(log_abs)
        count = np.maximum(finite.sum(axis=0), 1)
        centre = np.where(finite, log_abs, 0.0).sum(axis=0) / count
        log_abs = np.where(finite, log_abs - centre, LOG_OF_ZERO)
        target = np.array(y, dtype=float) if root is None else y * root
        return cls(log_abs, (X < 0).astype(float), target, root, centre)

    def __len__(self) -> int:
        return len(self.target)

    @property
    def n_columns(self) -> int:
        """Number of columns."""
        return int(self.log_abs.shape[1])

    @cached_property
    def signed(self) -> Mask:
        """Columns that hold both signs."""
        return np.asarray((self.negative.min(axis=0) == 0) & (self.negative.max(axis=0) == 1))

    @cached_property
    def has_zero(self) -> Mask:
        """Columns that hold a zero."""
        return np.asarray((self.log_abs == LOG_OF_ZERO).any(axis=0))

    @cached_property
    def _zeros(self) -> Floats | None:
        """Which entries are zero, None where none is."""
        return (self.log_abs == LOG_OF_ZERO).astype(float) if self.has_zero.any() else None

    def powers(self, exponents: Floats) -> tuple[Floats, Floats]:
        """Return |monomials| (..., rows, terms), scaled to a largest entry of 1, and the logarithm of that scale.

        A product that has a positive power of zero is zero, and one that is zero in every row has the scale 1.
        """
        used = np.asarray(exponents.any(axis=tuple(range(exponents.ndim - 1))))
        # Of many columns few are in use; where most are, copying them costs more than it saves.
        few = 2 * int(used.sum()) < len(used)
        across = np.swapaxes(exponents, -1, -2)
        power = np.matmul(self.log_abs[:, used], across[..., used, :]) if few else np.matmul(self.log_abs, across)
        if self._zeros is not None:
            power[np.matmul(self._zeros, across > 0) > 0] = -np.inf
        top = power.max(axis=-2, initial=-np.inf)
        top = np.where(top > -np.inf, top, 0.0)
        power -= top[..., None, :]
        return np.exp(power, out=power), top

    @cached_property
    def energy(self) -> float:
        """Sum of squares of the weighted target."""
        return float(self.target @ self.target)

    @cached_property
    def recombined(self) -> "Rows":
        """Rows without weights whose entries are those of each column in another order: what columns allow together.

        Where columns go together, these hold combinations that the table has not, such as a large computer with little
        memory.
        """
        rng = np.random.default_rng(0)
        orders = [rng.permuted(np.tile(np.arange(len(self)), (self.n_columns, 1)), axis=1).T for _ in range(ORDERS)]
        index = np.concatenate(orders)
        columns = np.arange(self.n_columns)
        target = np.tile(self.target, ORDERS)
        return Rows(self.log_abs[index, columns], self.negative[index, columns], target, None, self.centre)

    def reweighted(self, root_factor: Floats) -> "Rows":
        """Return the rows with their residuals multiplied by a factor."""
        root = root_factor if self.root_weight is None else root_factor * self.root_weight
        return replace(self, target=self.target * root_factor, root_weight=root)

    def columns(self, exponents: Floats, parity: Parities) -> tuple[Floats, Floats]:
        """Return the weighted monomials (rows, terms), scaled to a largest unweighted |entry| of 1, and ``log_scale``.

        The monomial in raw units is the returned column times exp(log_scale), up to the weight.
        """
        phi, top = self.powers(exponents)
        if parity.any() and self.negative.any():
            phi *= 1.0 - 2.0 * ((self.negative @ parity.T.astype(float)) % 2.0)
        if self.root_weight is not None:
            phi *= self.root_weight[:, None]
        return phi, top + exponents @ self.centre

    def raw_columns(self, exponents: Floats, parity: Parities) -> Floats:
        """Return the weighted monomials in raw units."""
        phi, log_scale = self.columns(exponents, parity)
        return np.asarray(phi * np.exp(np.clip(log_scale, -LOG_LIMIT, LOG_LIMIT)))
