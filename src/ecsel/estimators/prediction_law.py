"""A law among the candidates of a prediction, sought and judged on the same folds.

The search for pieces knows small powers and products of two columns; a law may have any power and any number of
factors. Each fold seeks a law of its own on its training rows and predicts the others, as the search for pieces does:
without holding values to the range of the fold, so that a law which explodes beyond it shows that. The law is taken
where its held-out error is the smaller one; as of any prediction, values outside the training range then count as the
nearest end.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from ecsel.estimators.folds import SEARCH_ROWS
from ecsel.estimators.path import Candidate, Path
from ecsel.quality import measure_regression
from ecsel.signomial import Signomial

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from ecsel.discovery.fitted import FittedLaw
    from ecsel.estimators.prediction import PredictionFit
    from ecsel.estimators.training_rows import TrainingRows
    from ecsel.fitting.rows.merging import Fold
    from ecsel.tables import TableEncoder

    Floats = NDArray[np.float64]
    SeekLaw = Callable[[Floats, Floats, Floats], FittedLaw]
    """Return the law of columns (rows, columns), targets and weights; its columns are called x0, x1, …"""


def with_law(
    found: PredictionFit,
    encoder: TableEncoder,
    rows: TrainingRows,
    folds: list[Fold],
    seek: SeekLaw,
) -> PredictionFit:
    """Return a fit with the law of the table as its last candidate, chosen where it predicts held-out rows better."""
    # All powers of an indicator are the indicator, so that a law has no exponent for it.
    numbers = np.flatnonzero(~np.isin(rows.values, (0.0, 1.0)).all(axis=1))
    if found.quality is None or len(rows) > SEARCH_ROWS or not len(numbers):
        return found
    table, y = rows.values[numbers].T, rows.target
    places, predicted, weights = [], [], []
    for train, test in folds:
        inside, outside = np.flatnonzero(train), np.flatnonzero(test)
        law = seek(table[inside], y[inside], np.asarray(train[inside], np.float64))
        predicted.append(_values(law, table[outside]))
        places.append(outside)
        weights.append(test[outside])
    truth, guess, counts = (
        y[np.concatenate(places)],
        np.concatenate(predicted),
        np.concatenate(weights).astype(np.float64),
    )
    quality = measure_regression(truth, guess, counts)
    squares = (truth - guess) ** 2
    std = float(np.sqrt(np.average((squares - quality.rmse**2) ** 2, weights=counts) / len(squares)))
    law = _named(seek(table, y, rows.weights), [encoder.feature_names[j] for j in numbers])
    law = replace(law, mse=law.plain_mse, validation_mse=quality.rmse**2)
    names = set(law.equation.names)
    candidate = Candidate(
        sum(not term.is_constant for term in law.terms),
        None,
        law.equation.n_factors,
        quality.rmse**2,
        std,
        (law.equation,),
        len(rows),
    )
    wide = encoder.keep_features(names | set(found.path_encoder.feature_names))
    fit = replace(found, path=Path([*found.path, candidate]), laws=(*found.laws, law), path_encoder=wide)
    if quality.rmse >= found.quality.rmse:
        return fit
    return replace(
        fit,
        encoder=wide.keep_features(names),
        chosen=len(found.path),
        near_ties=(),
        quality=quality,
        n_folds=len(folds),
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
