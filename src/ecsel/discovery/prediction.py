"""The size that predicts best: cross-validation of the whole search.

Every fold repeats the search on its own rows, so the error of a size counts what choosing the monomials costs; holding
the monomials would favour the largest law. A size is a number of terms and whether their exponents are real numbers or
simple ones, a ``Size``.
"""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np

from ecsel.discovery.criterion import ROUNDING
from ecsel.discovery.discover import discover
from ecsel.discovery.found import Discovery
from ecsel.discovery.lattice import Floats
from ecsel.discovery.law import Law
from ecsel.discovery.options import Options
from ecsel.discovery.rows import Rows


class Size(NamedTuple):
    """A number of terms, and whether any exponent is a real number."""

    n_terms: int
    real: bool


def by_size(found: Discovery) -> dict[Size, Law]:
    """Return, for each size on the front, smallest first, the law with the shortest code length."""
    best: dict[Size, Law] = {}
    for law in found.front:
        size = Size(len(law), bool(law.structure.n_free))
        if size not in best or law.shortest < best[size].shortest:
            best[size] = law
    return best


def fold_errors(X: Floats, y: Floats, weight: Floats | None, test: np.ndarray, options: Options) -> dict[Size, float]:
    """Return the weighted squared error on the test rows for each size that the search on the others has on its front.

    An interrupted search would judge sizes by laws that it had no time for, so it passes the interrupt on.
    """
    train = np.setdiff1d(np.arange(len(y)), test)
    found = discover(X[train], y[train], None if weight is None else weight[train], options)
    if found.interrupted:
        raise KeyboardInterrupt
    rows = Rows.from_table(X[test], y[test], None if weight is None else weight[test])
    return {size: float(np.mean((rows.target - law.predict(rows)) ** 2)) for size, law in by_size(found).items()}


def choose_size(errors: Sequence[Mapping[Size, float]], sizes: Sequence[Size]) -> Size:
    """Return the size, of equal ones the first, with the least mean squared error over the folds.

    The plain mean, because a fold that a size fails badly is a warning: a long sum that follows every other row may fly
    off at the edge. A fold without a size is judged by what it has of the same kind with fewer terms.

    >>> one, two, real = Size(1, False), Size(2, False), Size(2, True)
    >>> choose_size([{one: 1.0, two: 0.1}, {one: 1.0, two: 1.2, real: 0.1}], [one, two, real])
    Size(n_terms=2, real=False)
    """
    table = np.array([[_error_up_to(fold, size) for size in sizes] for fold in errors])
    # Errors that only rounding leaves are all alike; the smallest law of each fold tells their scale.
    smallest = table[np.arange(len(table)), np.isfinite(table).argmax(axis=1)]
    floor = ROUNDING**2 * smallest.mean() + np.finfo(float).tiny
    return sizes[int(np.argmin(np.maximum(table, floor).mean(axis=0)))]


def _error_up_to(fold: Mapping[Size, float], size: Size) -> float:
    smaller = [s for s in fold if s.n_terms <= size.n_terms and s.real == size.real]
    return fold[max(smaller)] if smaller else np.inf


def folds(n_rows: int, count: int, rng: np.random.Generator) -> list[np.ndarray]:
    """Return shuffled test folds."""
    return [np.sort(part) for part in np.array_split(rng.permutation(n_rows), min(count, n_rows))]
