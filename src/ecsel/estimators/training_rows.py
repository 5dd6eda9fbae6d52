"""Rows of a search: features of a raw encoder with class codes or measurements, in an order of their own.

Rows are ordered by their content and equal ones are merged, so that a search does not depend on the order of a table.
Folds are dealt from the content too: classes one by one; measurements in strata of like size, so that every fold has
small and large ones.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from ecsel.estimators.folds import explicit_folds, fold_count, is_count, stratified_sample, usable_folds
from ecsel.fitting.rows.merging import content_folds, merge_equal_rows

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ecsel.fitting.rows.merging import Fold

    Floats = NDArray[np.float64]

MAX_STRATA = 50
"""Strata of measurements at most: more even folds would not tell more."""


@dataclass(frozen=True, eq=False)
class TrainingRows:
    """Rows of a raw encoder: features (features × rows), class codes and sample weights.

    `measured` are the targets where these are numbers; all codes are 0 then. For splits that name rows of the table,
    `labels` are the targets of all its rows and `kept` the places of these rows.
    """

    values: Floats
    codes: NDArray[np.intp]
    weights: Floats
    labels: NDArray[Any] | None = None
    kept: NDArray[np.intp] | None = None
    measured: Floats | None = None

    @classmethod
    def canonical(
        cls, cv: Any, values: Floats, codes: NDArray[np.intp], weights: Floats, labels: NDArray[Any]
    ) -> TrainingRows:
        """Return rows in an order that depends on their content alone, equal ones merged; as they are for splits."""
        if is_count(cv):
            merged, classes, counts = merge_equal_rows(values, codes, weights)
            return cls(np.asarray(merged, np.float64), classes.astype(np.intp), np.asarray(counts, np.float64))
        kept = np.flatnonzero(weights)
        return cls(values[:, kept], codes[kept], weights[kept], labels, kept)

    @classmethod
    def of_measurements(cls, cv: Any, values: Floats, measured: Floats, weights: Floats) -> TrainingRows:
        """Return such rows with numbers for targets."""
        together = np.vstack([values, measured])
        rows = cls.canonical(cv, together, np.zeros(len(measured), dtype=np.intp), weights, measured)
        return replace(rows, values=rows.values[:-1], measured=rows.values[-1])

    @property
    def target(self) -> Floats:
        """The targets as a loss wants them: measurements, or class codes as numbers."""
        return self.codes.astype(np.float64) if self.measured is None else self.measured

    def __len__(self) -> int:
        return len(self.codes)

    def take(self, places: NDArray[np.intp], weights: Floats) -> TrainingRows:
        """Return some of the rows with new weights."""
        return TrainingRows(
            self.values[:, places],
            self.codes[places],
            weights,
            self.labels,
            None if self.kept is None else self.kept[places],
            None if self.measured is None else self.measured[places],
        )

    def thinned(self, size: int, seed: int = 0) -> TrainingRows:
        """Return at most so many rows, each class in proportion and with its weight.

        A search draws the same rows whatever its own seed, which deals folds: two people with one table shall not
        find two equations because they drew two samples.
        """
        if len(self) <= size:
            return self
        kept, factors = stratified_sample(self.codes, self.weights, size, seed)
        return self.take(kept, self.weights[kept] * factors)

    def fit_weights(self, class_weights: Floats) -> Floats:
        """Return weights for the fit, which add up to the number of rows: a nat is a nat in any unit of weights."""
        whole = bool((self.weights % 1 == 0).all())
        total = float(self.weights.sum()) if whole else float(len(self.weights))
        weights = self.weights * class_weights[self.codes]
        return np.asarray(weights * (total / weights.sum()))

    def folds(self, cv: Any, seed: int) -> list[Fold]:
        """Return the folds as pairs of sample weights."""
        if not is_count(cv):
            if self.labels is None or self.kept is None:
                raise TypeError("splits name the rows of a table in memory")
            return explicit_folds(cv, self.labels, self.kept, self.weights)
        n_folds = usable_folds(fold_count(cv, len(self)), self.codes, self.weights)
        if self.measured is None:
            return content_folds(self.values, self.codes, self.weights, n_folds, seed)
        strata = like_sized(self.measured, self.weights, max(1, min(MAX_STRATA, len(self) // n_folds)))
        rank = np.unique(self.measured, return_inverse=True)[1]  # the same in any unit of the target
        return content_folds(np.vstack([self.values, rank]), strata, self.weights, n_folds, seed)


def like_sized(measured: Floats, weights: Floats, n_strata: int) -> NDArray[np.intp]:
    """Return the stratum of each number, of about equal weight; equal numbers share one.

    >>> like_sized(np.array([5.0, 1.0, 2.0, 1.0, 9.0, 7.0]), np.ones(6), 3).tolist()
    [1, 0, 1, 0, 2, 2]
    """
    distinct, place = np.unique(measured, return_inverse=True)
    totals = np.bincount(place, weights=weights, minlength=len(distinct))
    middle = (np.cumsum(totals) - totals / 2) / totals.sum()
    strata: NDArray[np.intp] = np.minimum((n_strata * middle).astype(np.intp), n_strata - 1)
    return strata[place]
