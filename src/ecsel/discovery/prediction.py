"""The size that predicts best: cross-validation of the whole search.

Every fold repeats the search on its own rows, so the error of a size counts what choosing the monomials costs; holding
the monomials would favour the largest law.
"""

import numpy as np

from ecsel.discovery.discover import Discovery, discover
from ecsel.discovery.lattice import Floats
from ecsel.discovery.law import Law
from ecsel.discovery.options import Options
from ecsel.discovery.rows import Rows


def fold_errors(X: Floats, y: Floats, weight: Floats | None, test: np.ndarray, options: Options) -> Floats:
    """Return the weighted squared error on the test rows for each number of terms 0..max_terms (best law up to it).

    An interrupted search would judge sizes by laws that it had no time for, so it passes the interrupt on.
    """
    train = np.setdiff1d(np.arange(len(y)), test)
    found = discover(X[train], y[train], None if weight is None else weight[train], options)
    if found.interrupted:
        raise KeyboardInterrupt
    rows = Rows.from_table(X[test], y[test], None if weight is None else weight[test])
    errors = np.full(options.max_terms + 1, np.inf)
    for n_terms, law in by_terms(found).items():
        errors[n_terms] = float(np.mean((rows.target - law.predict(rows)) ** 2))
    current = np.inf
    for k in range(len(errors)):
        current = errors[k] = errors[k] if np.isfinite(errors[k]) else current
    return errors


def by_terms(found: Discovery) -> dict[int, Law]:
    """Return, for each number of terms on the front, the law with the shortest code length."""
    best: dict[int, Law] = {}
    for law in found.front:
        if len(law) not in best or law.shortest < best[len(law)].shortest:
            best[len(law)] = law
    return best


def choose_size(errors: Floats) -> int:
    """Return the smallest number of terms within one standard error of the best, from errors (folds, sizes).

    >>> choose_size(np.array([[9.0, 1.0, 2.0], [9.0, 1.0, 1.5]]))
    1
    """
    mean = np.where(np.isfinite(errors).all(axis=0), errors.mean(axis=0), np.inf)
    best = int(np.argmin(mean))
    if not np.isfinite(mean[best]):
        return int(errors.shape[1]) - 1
    spread = float(errors[:, best].std(ddof=1)) / np.sqrt(len(errors)) if len(errors) > 1 else 0.0
    return int(np.flatnonzero(mean <= mean[best] + spread)[0])


def folds(n_rows: int, count: int, rng: np.random.Generator) -> list[np.ndarray]:
    """Return shuffled test folds."""
    return [np.sort(part) for part in np.array_split(rng.permutation(n_rows), min(count, n_rows))]


def best_of_size(found: Discovery, n_terms: int) -> Law:
    """Return the law of the front with this many terms, or with the next smaller number that it has."""
    laws = by_terms(found)
    return laws[max((k for k in laws if k <= n_terms), default=min(laws))]
