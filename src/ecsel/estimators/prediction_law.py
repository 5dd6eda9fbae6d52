"""A product of powers, or the law of the table, among the candidates of a prediction, validated on the same folds.

The search for pieces knows small powers and products of two columns; a law may have any power and any number of
factors.

A product of powers is found fast enough to be tried in every fit. At first its powers come from all rows, its
coefficient from the training rows of each fold. As these powers have seen the held-out rows, that only tells where a
product is worth a closer look: its held-out error is smaller by more than a standard error of the difference. There the
powers are sought again by each fold on its training rows alone, and the product is taken where its held-out error is
the smaller one.

A law is sought on request, by each fold on its training rows alone, and predicts the others as the search for pieces
does: without holding values to the range of the fold, so that a law which explodes beyond it shows that. It is taken
where its held-out error is the smaller one. As of any prediction, values outside the training range then count as the
nearest end.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from functools import partial
from math import nan
from typing import TYPE_CHECKING

import numpy as np

from ecsel.discovery.discover import powers_of_a_product
from ecsel.discovery.fitted import FittedLaw
from ecsel.discovery.noise import Noise
from ecsel.estimators.folds import SEARCH_ROWS
from ecsel.estimators.path import Candidate, Path
from ecsel.quality import measure_regression
from ecsel.signomial import Signomial, Term

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from ecsel.estimators.prediction import PredictionFit
    from ecsel.estimators.training_rows import TrainingRows
    from ecsel.fitting.rows.merging import Fold
    from ecsel.quality import RegressionQuality
    from ecsel.tables import TableEncoder

    Floats = NDArray[np.float64]
    SeekLaw = Callable[[Floats, Floats, Floats], FittedLaw]
    """Return the law of columns (rows, columns), targets and weights; its columns are called x0, x1, …"""

MAX_COLUMNS = 20
"""Columns of numbers up to which a product of powers takes a small share of the time of a fit."""
MAX_LOSS = 1e-3
"""Share by which rounding a coefficient may raise the squared error."""


@dataclass(frozen=True, eq=False)
class _HeldOut:
    """Predictions of held-out rows: the places of these rows, the predictions, and how much each counts."""

    places: NDArray[np.intp]
    predicted: Floats
    counts: Floats

    @classmethod
    def of(cls, folds: list[Fold], predict: Callable[[Floats, NDArray[np.intp]], Floats]) -> _HeldOut:
        """Ask for the predictions of each fold's held-out rows, given the weights of its training rows."""
        outside = [np.flatnonzero(test) for _, test in folds]
        found = [predict(np.asarray(train, np.float64), at) for (train, _), at in zip(folds, outside, strict=True)]
        counts = [np.asarray(test[at], np.float64) for (_, test), at in zip(folds, outside, strict=True)]
        return cls(np.concatenate(outside), np.concatenate(found), np.concatenate(counts))

    def quality(self, y: Floats) -> tuple[RegressionQuality, float]:
        """Return the quality of the predictions, and the standard error of their mean squared error."""
        truth = y[self.places]
        quality = measure_regression(truth, self.predicted, self.counts)
        squares = (truth - self.predicted) ** 2
        variance = np.average((squares - quality.rmse**2) ** 2, weights=self.counts) / len(squares)
        return quality, float(np.sqrt(variance))

    def is_clearly_better(self, y: Floats, squares: Floats) -> bool:
        """Return whether other squared errors, one for each row, are larger by more than a standard error."""
        gain = squares[self.places] - (y[self.places] - self.predicted) ** 2
        seen = np.isfinite(gain)
        if seen.sum() < 2:
            return False
        mean = np.average(gain[seen], weights=self.counts[seen])
        variance = np.average((gain[seen] - mean) ** 2, weights=self.counts[seen]) / (seen.sum() - 1)
        return bool(mean > np.sqrt(variance))


def with_product(
    found: PredictionFit, encoder: TableEncoder, rows: TrainingRows, folds: list[Fold], digits: int | None
) -> PredictionFit:
    """Return a fit whose last candidate, and choice, is a product of powers where that predicts clearly better."""
    numbers = _columns_of_numbers(rows)
    few = 0 < len(numbers) <= MAX_COLUMNS
    if found.quality is None or found.squares is None or len(found.squares) != len(rows) or not few:
        return found
    y = rows.target
    columns = {encoder.feature_names[j]: rows.values[j] for j in numbers}
    best, fit = found.quality.rmse, found
    for relative in (False, True):
        product = _Product.of(columns, y, rows.weights, relative=relative)
        if product is None:
            continue
        held_out = _HeldOut.of(folds, partial(product.predict, y))
        if not held_out.is_clearly_better(y, found.squares):
            continue

        def predict(train: Floats, outside: NDArray[np.intp], *, relative: bool = relative) -> Floats:
            own = _Product.of(columns, y, train, relative=relative)
            if own is None:
                return np.full(len(outside), np.average(y, weights=train))
            return own.predict(y, train, outside)

        quality, error = _HeldOut.of(folds, predict).quality(y)
        if quality.rmse < best:
            law = product.law(y, rows.weights, quality.rmse**2, digits)
            best, fit = quality.rmse, _with_candidate(found, encoder, law, (quality, error, len(folds)), len(rows))
    return fit


@dataclass(frozen=True, eq=False)
class _Product:
    """A product of powers with its values at the rows; ``relative`` where the noise is in proportion to it."""

    term: Term
    values: Floats
    relative: bool

    @classmethod
    def of(cls, columns: dict[str, Floats], y: Floats, weights: Floats, *, relative: bool) -> _Product | None:
        """Return the product that describes the rows that count; None where there is none."""
        inside = np.flatnonzero(weights)
        table = np.column_stack([column[inside] for column in columns.values()])
        powers = powers_of_a_product(table, y[inside], weights[inside], relative=relative)
        if powers is None:
            return None
        term = Term(1.0, {name: _written(b) for name, b in zip(columns, powers.tolist(), strict=True) if b})
        with np.errstate(all="ignore"):  # a row outside may be zero where those inside are not
            values = np.array(np.broadcast_to(term.evaluate(columns), len(y)), dtype=float)
        usable = np.isfinite(values).all() and (values.all() if relative else values[inside].any())
        return cls(term, values, relative) if usable else None

    def factor(self, y: Floats, weights: Floats) -> float:
        """Return the coefficient by least squares, of relative errors where the noise is relative."""
        w = weights / self.values**2 if self.relative else weights
        return float((w * self.values) @ y / (w @ self.values**2))

    def predict(self, y: Floats, weights: Floats, places: NDArray[np.intp]) -> Floats:
        """Return the values at some rows, with the coefficient of those that have weights."""
        return np.asarray(self.factor(y, weights) * self.values[places])

    def law(self, y: Floats, weights: Floats, held_out: float, digits: int | None) -> FittedLaw:
        """Return the product with its coefficient, rounded as far as the error allows, and how well that is known."""
        exact, total = self.factor(y, weights), float(weights.sum())

        def squares(factor: float) -> float:
            return float(weights @ (y - factor * self.values) ** 2)

        shorter = () if digits is None else (float(f"{exact:.{d}g}") for d in range(digits, 17))
        factor = next((f for f in shorter if squares(f) <= (1.0 + MAX_LOSS) * squares(exact)), exact)
        w = weights / self.values**2 if self.relative else weights
        # Huber's and White's covariance, as that of sums of pieces
        meat = float((w**2 / weights) @ (self.values * (y - exact * self.values)) ** 2)
        left = max(total - 1.0, 1.0)
        variance = meat / float(w @ self.values**2) ** 2 * total / left
        return FittedLaw(
            (Term.from_factors(factor, self.term.factors),),
            (False,),
            (),
            np.array([[variance]]),
            squares(factor) / left,
            left,
            nan,
            squares(factor) / total,
            held_out,
            Noise(sigma=float(np.sqrt(max(squares(factor) / left, held_out)))),
        )


def _written(power: float) -> Fraction | float:
    """Return a power as it is printed: a simple fraction, or a real number of two digits.

    >>> _written(1 / 3), _written(0.7349)
    (Fraction(1, 3), 0.73)
    """
    simple = Fraction(power).limit_denominator(12)
    return simple if abs(float(simple) - power) < 1e-7 else float(f"{power:.2g}")


def _columns_of_numbers(rows: TrainingRows) -> NDArray[np.intp]:
    """Return the features that have powers: all powers of an indicator are the indicator."""
    return np.flatnonzero(~np.isin(rows.values, (0.0, 1.0)).all(axis=1))


def with_law(
    found: PredictionFit,
    encoder: TableEncoder,
    rows: TrainingRows,
    folds: list[Fold],
    seek: SeekLaw,
) -> PredictionFit:
    """Return a fit with the law of the table as its last candidate, chosen where it predicts held-out rows better."""
    numbers = _columns_of_numbers(rows)
    if found.quality is None or len(rows) > SEARCH_ROWS or not len(numbers):
        return found
    table, y = rows.values[numbers].T, rows.target

    def predict(train: Floats, outside: NDArray[np.intp]) -> Floats:
        inside = np.flatnonzero(train)
        return _values(seek(table[inside], y[inside], train[inside]), table[outside])

    quality, error = _HeldOut.of(folds, predict).quality(y)
    law = _named(seek(table, y, rows.weights), [encoder.feature_names[j] for j in numbers])
    law = replace(law, mse=law.plain_mse, validation_mse=quality.rmse**2)
    fit = _with_candidate(found, encoder, law, (quality, error, len(folds)), len(rows))
    if quality.rmse < found.quality.rmse:
        return fit
    return replace(found, path=fit.path, laws=fit.laws, path_encoder=fit.path_encoder)


def _with_candidate(
    found: PredictionFit,
    encoder: TableEncoder,
    law: FittedLaw,
    validated: tuple[RegressionQuality, float, int],
    n_rows: int,
) -> PredictionFit:
    """Return a fit with a law as its last candidate, which is chosen."""
    quality, error, n_folds = validated
    names = set(law.equation.names)
    candidate = Candidate(
        sum(not term.is_constant for term in law.terms),
        None,
        law.equation.n_factors,
        quality.rmse**2,
        error,
        (law.equation,),
        n_rows,
    )
    wide = encoder.keep_features(names | set(found.path_encoder.feature_names))
    return replace(
        found,
        path=Path([*found.path, candidate]),
        laws=(*found.laws, law),
        path_encoder=wide,
        encoder=wide.keep_features(names),
        chosen=len(found.path),
        near_ties=(),
        quality=quality,
        n_folds=n_folds,
    )


def _values(law: FittedLaw, table: Floats) -> Floats:
    columns = {f"x{j}": table[:, j] for j in range(table.shape[1])}
    return np.array(np.broadcast_to(law.equation.evaluate(columns), len(table)), dtype=float)


def _named(law: FittedLaw, names: Sequence[str]) -> FittedLaw:
    """Return a law of x0, x1, … as one of named features."""
    own = {f"x{j}": name for j, name in enumerate(names)}
    return replace(
        law,
        terms=tuple(Signomial([term]).rename(own).terms[0] for term in law.terms),
        free=tuple((k, own[name]) for k, name in law.free),
    )
