"""The size that predicts best: cross-validation of the whole search.

Every fold repeats the search on its own rows, so the error of a size counts what choosing the monomials costs; holding
the monomials would favour the largest law.
"""

import numpy as np

from ecsel.discovery.discover import Discovery, Options, discover
from ecsel.discovery.lattice import Floats
from ecsel.discovery.law import Law
from ecsel.discovery.rows import Rows


def fold_errors(X: Floats, y: Floats, weight: Floats | None, test: np.ndarray, options: Options) -> Floats:
    """Return the weighted squared error on the test rows for each number of terms 0..max_terms (best law up to it)."""
    train = np.setdiff1d(np.arange(len(y)), test)
    found = discover(X[train], y[train], None if weight is None else weight[train], options)
    rows = Rows.from_table(X[test], y[test], None if weight is None else weight[test])
    errors = np.full(options.max_terms + 1, np.inf)
    for law in found.front:
        safe = law.structure.exponents[:, rows.has_zero].min(initial=0.0) >= 0
        errors[len(law)] = float(np.mean((rows.target - law.predict(rows)) ** 2)) if safe else np.inf
    current = np.inf
    for k in range(len(errors)):
        current = errors[k] = errors[k] if np.isfinite(errors[k]) else current
    return errors


def choose_size(errors: Floats) -> int:
    """Return the number of terms with the smallest mean error over folds (folds, sizes).

    >>> choose_size(np.array([[9.0, 1.0, 2.0], [9.0, 1.0, 1.5]]))
    1
    """
    mean = np.where(np.isfinite(errors).all(axis=0), np.median(errors, axis=0), np.inf)
    return int(np.argmin(mean)) if np.isfinite(mean).any() else errors.shape[1] - 1


def folds(n_rows: int, count: int, rng: np.random.Generator) -> list[np.ndarray]:
    """Return shuffled test folds."""
    return [np.sort(part) for part in np.array_split(rng.permutation(n_rows), min(count, n_rows))]


def best_of_size(found: Discovery, n_terms: int) -> Law:
    """Return the largest law of the front with at most this many terms."""
    allowed = [law for law in found.front if len(law) <= n_terms]
    return max(allowed, key=lambda law: (len(law), law.complexity)) if allowed else found.law
