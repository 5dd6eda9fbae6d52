"""Monomials in the order of their description length.

A dictionary is grown column by column: every partial monomial is extended by every exponent that the budget still pays
for. The budget is raised until the requested number of monomials is reached: a dictionary adapts itself to the number
of columns: high powers when there are few, products of low powers when there are many.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ecsel._typing import Floats, Mask
from ecsel.discovery.lattice import RESOLUTION, Lattice, Parities
from ecsel.discovery.model import Structure
from ecsel.discovery.rows import Rows
from ecsel.search.code_length import TERM

FULL_PAIRS = 8
"""With more columns than this, a change of two exponents must touch a variable that the monomial already has."""


@dataclass(frozen=True, eq=False)
class Atoms:
    """Monomials with their description lengths and their unit-norm columns on some rows."""

    structure: Structure
    costs: Floats
    columns: Floats

    def __len__(self) -> int:
        return len(self.costs)

    def keep(self, index: np.ndarray) -> "Atoms":
        """Return some of the atoms."""
        return Atoms(self.structure.keep(index), self.costs[index], self.columns[:, index])

    def join(self, other: "Atoms") -> "Atoms":
        """Return the atoms of both."""
        return Atoms(
            self.structure.join(other.structure),
            np.concatenate([self.costs, other.costs]),
            np.concatenate([self.columns, other.columns], axis=1),
        )


def evaluate(rows: Rows, lattice: Lattice, structure: Structure) -> Atoms:
    """Return the atoms of a structure on some rows; monomials that are not allowed or vanish are left out."""
    costs = lattice.term_costs(structure.exponents, structure.parity)
    allowed = np.isfinite(costs)
    if not allowed.all():
        structure, costs = structure.keep(np.flatnonzero(allowed)), costs[allowed]
    phi, _ = rows.columns(structure.exponents, structure.parity)
    norm = np.sqrt(np.einsum("nk,nk->k", phi, phi))
    good = norm > 0
    if not good.all():
        structure, costs, phi, norm = structure.keep(np.flatnonzero(good)), costs[good], phi[:, good], norm[good]
    phi /= norm
    return Atoms(structure, costs, phi)


def alphabet_mask(lattice: Lattice, kind: str) -> Mask:
    """Return which lattice points belong to natural polynomials, integer Laurent polynomials or all rationals."""
    whole = np.array([b.denominator == 1 for b in lattice.exponents], dtype=bool)
    if kind == "polynomial":
        return whole & (lattice.values > 0)
    return whole if kind == "laurent" else np.ones(len(whole), dtype=bool)


def enumerate_monomials(lattice: Lattice, kind: str, size: int, *, ceiling: int = 60_000) -> Structure:
    """Return about ``size`` monomials of a kind, cheapest first (the constant included when it is allowed)."""
    costs = np.where(alphabet_mask(lattice, kind)[None, :, None], lattice.costs, np.inf)
    best = _within(lattice, costs, TERM, ceiling)
    for budget in np.arange(4.0, 60.0):
        grown = _within(lattice, costs, float(budget), ceiling)
        if grown is None:
            break
        best = grown
        if len(grown[1]) >= size:
            break
    if best is None:
        return Structure.empty(lattice.n_columns)
    structure, total = best
    return structure.keep(np.argsort(total, kind="stable")[:size])


def _within(lattice: Lattice, costs: Floats, budget: float, ceiling: int) -> tuple[Structure, Floats] | None:
    """Return the monomials whose description length is at most ``budget``; ``None`` when they exceed the ceiling."""
    m = lattice.n_columns
    spent, active = np.zeros(1), np.zeros(1, dtype=np.intp)
    # A monomial is another one and its last factor; of many columns few are in use: none is written out before the end.
    before, last = np.zeros(1, dtype=np.intp), np.zeros(1, dtype=np.intp)
    value, sign = np.zeros(1), np.zeros(1, dtype=np.int8)
    base_costs = lattice.base_cost(np.arange(lattice.n_choices + 1))
    # ln C(m, d) falls again beyond m/2, but only for those who pay for so many exponents: a monomial of d columns that
    # is grown to d' pays at least ln C(m, d') + (d' - d) times the cheapest exponent.
    cheapest = min(float(costs.min(initial=np.inf)), budget) * np.arange(lattice.n_choices + 1)
    least = np.minimum.accumulate((base_costs + cheapest)[::-1])[::-1] - cheapest - TERM
    for j in range(m):
        option_value, option_parity = np.nonzero(costs[j] <= budget)
        option_cost = costs[j][option_value, option_parity]
        rest = least[np.minimum(active + 1, m)]
        able = np.flatnonzero(spent + option_cost.min(initial=np.inf) + TERM + rest <= budget)
        total = spent[able, None] + option_cost[None, :] + TERM + rest[able, None]
        parent, option = np.nonzero(total <= budget)
        if len(spent) + len(parent) > ceiling:
            return None
        parent = able[parent]
        before, last = np.concatenate([before, parent]), np.concatenate([last, np.full(len(parent), j)])
        value = np.concatenate([value, lattice.values[option_value[option]]])
        sign = np.concatenate([sign, option_parity[option].astype(np.int8)])
        spent = np.concatenate([spent, spent[parent] + option_cost[option]])
        active = np.concatenate([active, active[parent] + 1])
    total_cost = spent + base_costs[active]
    at = np.flatnonzero(total_cost <= budget)
    total_cost = total_cost[at]
    exponents, parity = np.zeros((len(at), m)), np.zeros((len(at), m), dtype=np.int8)
    rows = np.arange(len(at))
    while len(rows := rows[at > 0]):
        at = at[at > 0]
        exponents[rows, last[at]], parity[rows, last[at]] = value[at], sign[at]
        at = before[at]
    keep = lattice.has_right_dimension(exponents)
    return Structure(exponents[keep], parity[keep]), total_cost[keep]


def neighbours(
    lattice: Lattice,
    exponents: Floats,
    parity: Parities,
    columns: NDArray[np.intp] | None = None,
    *,
    affordable: float = 7.0,
) -> Structure:
    """Return the monomials that differ from one in one exponent, or in two exponents by small values.

    This reaches monomials of many variables that no dictionary of moderate size holds. Only the exponents of the given
    columns, and of those that the monomial has, change.
    """
    m = lattice.n_columns
    active = np.abs(exponents) > RESOLUTION
    wanted = np.ones(m, dtype=bool) if columns is None else active | np.isin(np.arange(m), columns)
    column, value, sign = np.nonzero((lattice.costs <= affordable) & wanted[:, None, None])
    own = np.flatnonzero(wanted)
    one = np.repeat(exponents[None], len(column) + len(own), axis=0)
    one_parity = np.repeat(parity[None], len(column) + len(own), axis=0)
    rank = np.arange(len(column))
    one[rank, column], one_parity[rank, column] = lattice.values[value], sign
    one[len(column) + np.arange(len(own)), own] = 0.0
    one_parity[len(column) + np.arange(len(own)), own] = 0
    column, value, sign = np.nonzero((lattice.costs <= 2.6) & wanted[:, None, None])
    column, value = np.concatenate([column, own]), np.concatenate([lattice.values[value], np.zeros(len(own))])
    sign = np.concatenate([sign, np.zeros(len(own), dtype=sign.dtype)])
    pairs = column[:, None] < column[None, :]
    if m > FULL_PAIRS:
        pairs &= active[column][:, None] | active[column][None, :]
    first, second = np.nonzero(pairs)
    two, two_parity = np.repeat(exponents[None], len(first), axis=0), np.repeat(parity[None], len(first), axis=0)
    rank = np.arange(len(first))
    for pick in (first, second):
        two[rank, column[pick]], two_parity[rank, column[pick]] = value[pick], sign[pick]
    return Structure(np.concatenate([one, two]), np.concatenate([one_parity, two_parity]))
