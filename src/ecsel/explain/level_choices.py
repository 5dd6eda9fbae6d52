"""Which combinations of levels a counterfactual tries: none, every single change, the best pairs, and growing sets.

All single changes are looked at first. Of those that raise g most per cost, pairs are formed; and the columns are
changed one after another, each to its best level, until all are, so that a goal which needs many changes is reached.
"""

from __future__ import annotations

from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    import numpy.typing as npt

    from ecsel.explain.search_space import Space

SINGLES_KEPT = 16
PAIRED = 6


def level_choices(space: Space, slack: float) -> npt.NDArray[np.intp]:
    """Return choices (combinations, categories) of levels, −1 for the row's own; no change first, then by promise."""
    own = (-1,) * len(space.categories)
    singles = [
        (*own[:position], level, *own[position + 1 :])
        for position, category in enumerate(space.categories)
        for level in range(len(category.levels))
    ]
    if not singles:
        return np.array([own], dtype=np.intp)
    everything = np.array([own, *singles], dtype=np.intp)
    start = np.repeat(space.numbers.start[None], len(everything), axis=0)
    g = space.margin(start, space.fixed(everything)) - slack
    gain = np.where(g[1:] >= 0, np.inf, g[1:] - g[0])
    promise = gain / np.maximum(space.category_cost(everything[1:]), 1e-300)
    useful = [i for i in np.argsort(-promise, kind="stable").tolist() if gain[i] > 0]
    column = [position for position, category in enumerate(space.categories) for _ in category.levels]
    pairs = [_both(singles[a], singles[b]) for a, b in combinations(useful[:PAIRED], 2) if column[a] != column[b]]
    grown, growing, free = own, [], set(column)
    for i in useful:
        if column[i] in free:
            free.remove(column[i])
            grown = _both(grown, singles[i])
            growing.append(grown)
    listed = dict.fromkeys([own, *(singles[i] for i in useful[:SINGLES_KEPT]), *pairs, *growing])
    return np.array(list(listed), dtype=np.intp)


def _both(a: tuple[int, ...], b: tuple[int, ...]) -> tuple[int, ...]:
    return tuple(map(max, a, b))
