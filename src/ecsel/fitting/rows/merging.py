"""Canonical rows: equal rows merged into weights, in an order that depends on their content alone.

A fit then does not depend on the order of the rows, nor on whether a row is repeated or weighted, to the last bit; and
tables with many repeated rows are fitted on the distinct ones.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ecsel._typing import Array

Rows = tuple[Array, NDArray[np.integer], Array]
"""Log features (features × rows), class codes and weights."""
Fold = tuple[Array, Array]
"""Row weights for training and row weights for validation."""

ALWAYS_BELOW = 50_000
PROBE_ROWS = 4096
WORTHWHILE_SHARE = 0.25
_GOLDEN = np.uint64(0x9E3779B97F4A7C15)


def merge_equal_rows(log_features: Array, codes: NDArray[np.integer], weights: Array) -> Rows:
    """Return the distinct rows of positive weight, ordered by content, with the sums of their weights.

    Large tables whose first rows show few repetitions are returned as they are: the order costs a sort.
    """
    if not weights.all():
        keep = weights > 0
        log_features, codes, weights = log_features[:, keep], codes[keep], weights[keep]
    n = len(codes)
    if n > ALWAYS_BELOW and not many_repetitions(log_features[:, :PROBE_ROWS], codes[:PROBE_ROWS]):
        return log_features, codes, weights
    keys = content_keys(log_features, codes)
    order = np.argsort(keys, kind="stable")
    ordered = log_features[:, order]
    same = (keys[order][1:] == keys[order][:-1]) & (codes[order][1:] == codes[order][:-1])
    same &= (ordered[:, 1:] == ordered[:, :-1]).all(axis=0)
    first = np.flatnonzero(np.concatenate([[True], ~same]))
    if len(first) == n:
        return np.ascontiguousarray(ordered), codes[order], weights[order]
    return np.ascontiguousarray(ordered[:, first]), codes[order][first], np.add.reduceat(weights[order], first)


def many_repetitions(log_features: Array, codes: NDArray[np.integer]) -> bool:
    """Tell whether so many of some rows are equal to others that merging pays."""
    keys = content_keys(log_features, codes)
    return len(np.unique(keys)) <= (1 - WORTHWHILE_SHARE) * len(keys)


def content_keys(log_features: Array, codes: NDArray[np.integer]) -> NDArray[np.uint64]:
    """Return a 64-bit key of each row's features and class, the same wherever the row stands."""
    with np.errstate(over="ignore"):
        keys = (codes.astype(np.uint64) + np.uint64(1)) * _GOLDEN
        for u in log_features:
            bits = np.ascontiguousarray(u, dtype=np.float64).view(np.uint64)
            keys = (keys ^ (bits >> np.uint64(32)) ^ bits) * _GOLDEN
            keys ^= keys >> np.uint64(29)
    return keys


def content_folds(
    features: Array, codes: NDArray[np.integer], weights: Array, n_folds: int, seed: int = 0
) -> list[Fold]:
    """Return stratified folds of canonical rows, as pairs of row weights for training and for validation.

    The rows of a class are dealt to the folds in turn, in the order of their keys (and of the seed), so a fold depends
    on the content of rows alone. Where the weights of a class are whole numbers, or multiples of the least one, a row
    of weight m is dealt like the m equal rows that it stands for; otherwise every row goes to one fold.
    """
    keys = content_keys(features, codes)
    if seed:
        with np.errstate(over="ignore"):
            keys = (keys ^ np.uint64(seed)) * _GOLDEN
            keys ^= keys >> np.uint64(31)
    validation = np.zeros((n_folds, len(codes)))
    first = 0  # where the last class has stopped, the next goes on: folds of small classes stay even
    for c in np.unique(codes):
        members = np.flatnonzero(codes == c)
        members = members[np.argsort(keys[members], kind="stable")]
        unit = 1.0 if (weights[members] % 1 == 0).all() else float(weights[members].min())
        counts = np.round(weights[members] / unit)
        if not np.allclose(counts * unit, weights[members], rtol=1e-9, atol=0.0):
            counts, unit = np.ones(len(members)), 0.0
        ends = first + np.cumsum(counts).astype(np.int64)
        starts = ends - counts.astype(np.int64)
        for f in range(n_folds):
            dealt = (ends - f + n_folds - 1) // n_folds - (starts - f + n_folds - 1) // n_folds
            validation[f, members] = np.where(dealt == counts, weights[members], dealt * unit)
        first = int(ends[-1]) % n_folds
    folds = [(weights - part, part) for part in validation]
    return [(train, test) for train, test in folds if train.any() and test.any()]
