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
    n = len(space.categories)
    none = np.full((1, n), -1, dtype=np.intp)
    if not n:
        return none
    singles = np.array(
        [
            [level if i == position else -1 for i in range(n)]
            for position, category in enumerate(space.categories)
            for level in range(len(category.levels))
        ],
        dtype=np.intp,
    )
    everything = np.concatenate([none, singles])
    start = np.repeat(space.numbers.start[None], len(everything), axis=0)
    g = space.margin(start, space.log_features(everything)) - slack
    gain = np.where(g[1:] >= 0, np.inf, g[1:] - g[0])
    promise = gain / np.maximum(space.category_cost(singles), 1e-300)
    order = np.argsort(-promise, kind="stable")
    singles = singles[order][gain[order] > 0]
    pairs = [np.maximum(a, b) for a, b in combinations(singles[:PAIRED], 2) if not ((a >= 0) & (b >= 0)).any()]
    grown, growing = none[0].copy(), []
    for single in singles:
        position = int(np.argmax(single))
        if grown[position] < 0:
            grown = np.maximum(grown, single)
            growing.append(grown.copy())
    listed = np.concatenate([none, singles[:SINGLES_KEPT], *(np.array([each]) for each in (*pairs, *growing[1:]))])
    _, first = np.unique(listed, axis=0, return_index=True)
    kept: npt.NDArray[np.intp] = listed[np.sort(first)]
    return kept
