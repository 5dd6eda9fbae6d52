"""Which combinations of levels counterfactuals try: all where they are few, else the promising ones.

Then all single changes are looked at first. Of those that raise g most per cost, pairs are formed; and the columns are
changed one after another, each to its best level, until all are, so that a goal which needs many changes is reached.
"""

from __future__ import annotations

import math
from itertools import combinations, product
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from ecsel.explain.search_space import BoolArray, IntArray, Space
    from ecsel.signomial.columns import FloatArray

ENUMERATED = 128
"""Up to so many combinations all are tried."""
SINGLES_KEPT = 16
PAIRED = 6


class Choices(NamedTuple):
    """Chosen levels of rows; for each row no change comes first, then what promises most."""

    row: IntArray
    levels: IntArray
    """(choices, categories), −1 for the row's own."""
    price: FloatArray
    fixed: FloatArray
    """What all but the numbers then add to the logarithms of the terms, (choices, terms)."""


def level_choices(space: Space, slack: FloatArray) -> Choices:
    """Return the choices of all rows, row by row; `slack` (rows,) is what g must reach."""
    n_rows = len(space.own_logs)
    if not space.categories:
        return Choices(np.arange(n_rows), np.empty((n_rows, 0), dtype=np.intp), np.zeros(n_rows), space.fixed)
    n_levels = [len(each.levels) for each in space.categories]
    few = math.prod(n + 1 for n in n_levels) <= ENUMERATED
    levels, listed = _all_combinations(space, n_levels) if few else _promising(space, slack)
    row, position = np.nonzero(listed)
    levels = levels[row, position]
    fixed = space.fixed[row]
    for category, chosen in zip(space.categories, levels.T, strict=True):
        fixed += np.where(chosen[:, None] >= 0, category.steps[row, chosen], 0.0)
    price = (levels >= 0) @ np.array([each.cost for each in space.categories])
    if few:
        gain = space.margin_of_logs(fixed + space.number_logs(space.numbers.start)[row]) - slack[row]
        order = np.lexsort((np.where(price > 0, -gain, -np.inf), row))
        return Choices(row, levels[order], price[order], fixed[order])
    return Choices(row, levels, price, fixed)


def _all_combinations(space: Space, n_levels: list[int]) -> tuple[IntArray, BoolArray]:
    """Return every combination of levels (rows, combinations, categories), and which of them a row may take."""
    levels = np.array(list(product(*(range(-1, n) for n in n_levels))), dtype=np.intp)
    listed = np.ones((len(space.own_logs), len(levels)), dtype=bool)
    for category, chosen in zip(space.categories, levels.T, strict=True):
        listed &= category.allowed[:, chosen] | (chosen < 0)
    return np.broadcast_to(levels, (*listed.shape, len(n_levels))), listed


def _promising(space: Space, slack: FloatArray) -> tuple[IntArray, BoolArray]:
    """Return no change, the best single changes, pairs of the best, and growing sets; and which of them there are."""
    n_rows = len(space.own_logs)
    order, useful = _singles(space, slack)
    column = np.concatenate([np.full(len(each.levels), c) for c, each in enumerate(space.categories)])
    level = np.concatenate([np.arange(len(each.levels)) for each in space.categories])
    kept = min(SINGLES_KEPT, order.shape[1])
    single = np.full((n_rows, kept + 1, len(space.categories)), -1, dtype=np.intp)  # the last is no change
    at = np.arange(n_rows)[:, None]
    single[at, np.arange(kept), column[order[:, :kept]]] = level[order[:, :kept]]
    first, second = np.array(list(combinations(range(min(PAIRED, kept)), 2)), dtype=np.intp).reshape(-1, 2).T
    pairs_differ = column[order[:, first]] != column[order[:, second]]
    grown, grown_useful = _growing(order, useful, column, level)
    blocks = [
        (single[:, -1:], np.ones((n_rows, 1), dtype=bool)),
        (single[:, :-1], useful[:, :kept]),
        (np.maximum(single[:, first], single[:, second]), useful[:, first] & useful[:, second] & pairs_differ),
        (grown, grown_useful),
    ]
    levels, listed = (np.concatenate(parts, axis=1) for parts in zip(*blocks, strict=True))
    return levels, listed


def _singles(space: Space, slack: FloatArray) -> tuple[IntArray, BoolArray]:
    """Return the single changes of each row by what they promise, and whether they help at all; in that order."""
    allowed = np.concatenate([each.allowed for each in space.categories], axis=1)
    price = np.concatenate([np.full(len(each.levels), each.cost) for each in space.categories])
    steps = np.concatenate([each.steps for each in space.categories], axis=1)
    g = space.margin_of_logs(space.own_logs[:, None] + steps) - slack[:, None]
    gain = g - (space.margin_of_logs(space.own_logs) - slack)[:, None]
    promise = np.where(g >= 0, np.inf, gain) / np.maximum(price, 1e-300)
    promise[~(allowed & ((gain > 0) | (g >= 0)))] = -np.inf
    order = np.argsort(-promise, axis=1, kind="stable")
    return order, np.take_along_axis(promise, order, axis=1) > 0


def _growing(order: IntArray, useful: BoolArray, column: IntArray, level: IntArray) -> tuple[IntArray, BoolArray]:
    """Return for each row the sets of the two, three, … best columns, each at its best level, and which there are."""
    n_rows, n_columns = len(order), int(column[-1]) + 1
    ranked = column[order]
    best = np.stack([(ranked == c).argmax(axis=1) for c in range(n_columns)], axis=1)
    best_level = np.take_along_axis(level[order], best, axis=1)
    best = np.where(np.take_along_axis(useful, best, axis=1), best, order.shape[1])
    turn = np.argsort(np.argsort(best, axis=1, kind="stable"), axis=1)
    size = np.arange(2, n_columns + 1)[:, None]
    levels = np.where(turn[:, None] < size, best_level[:, None], -1)
    latest = np.take_along_axis(np.sort(best, axis=1), np.broadcast_to(size.T - 1, (n_rows, n_columns - 1)), axis=1)
    # two that are both among the paired are a pair already
    return levels, (latest < order.shape[1]) & ((size.T > 2) | (latest >= PAIRED))
