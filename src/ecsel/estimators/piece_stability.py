"""How firm are the columns and the pieces of readable equations? The whole search, repeated on bootstrap draws.

The rows of each class are drawn anew with replacement, as many as there are, and every draw runs the search with its
folds (copies of a row stay in one fold). Columns are stable, shapes are not: ``log(x)``, ``sqrt(x)`` and ``x`` are
nearly the same curve over most ranges, so that draws which agree on the column often disagree on the piece. A column
that few draws choose, or with the other sign, is a reason to doubt the model; a piece that is often replaced by another
one of the same column is not.

The part of a column in a score is what the score loses when the column is put at its value in a typical row. Its
effect in the model is the standard deviation σ of that part p over the rows, and in a draw with the part q

    cov(q, p)/σ,

what the draw has of it: negative where the draw turns it round, zero where it leaves the column out.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from ecsel.estimators import settings
from ecsel.estimators.folds import SEARCH_ROWS, is_count
from ecsel.estimators.options import check_integer
from ecsel.estimators.readable_classes import class_task
from ecsel.estimators.search_columns import with_cuts
from ecsel.estimators.stability import Stability, check_level, draw_seed, percentiles_of, resample, run_draws
from ecsel.estimators.targets import check_target, check_weights, class_weights, known_codes
from ecsel.estimators.training import encoder_options
from ecsel.estimators.training_rows import TrainingRows
from ecsel.quality.frames import to_pandas
from ecsel.search.search import search
from ecsel.signomial import Signomial, Term
from ecsel.tables import TableEncoder
from ecsel.tables.reading import read_table

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ecsel.estimators.classifier import ECSELClassifier
    from ecsel.estimators.readable import SearchTask
    from ecsel.search.dictionary import SearchColumn
    from ecsel.search.search import Fold
    from ecsel.signomial import Factor

    Floats = NDArray[np.float64]
    Equations = tuple[Signomial, ...]
    Shape = tuple[int, tuple[Factor, ...]]
    """A piece: the position of its score, and its factors."""


@dataclass(frozen=True, eq=False)
class PieceStability(Stability):
    """What the draws say of the columns (`feature_names`) and of the pieces of the model.

    Attributes
    ----------
    pieces
        The pieces of the model as text, score by score.
    piece_classes
        The class of each piece's score.
    coefficients
        The coefficient of each piece in every draw, (draws, pieces); NaN where a draw has not chosen it.
    other_shapes
        Whether a draw has, in place of a piece, other pieces of all its columns, (draws, pieces).
    coefficient
        The coefficients of the model, (pieces,).
    draws
        The equations of every draw, without rounding.
    encoder
        The features of all draws.
    temperature
        What the model divides its scores by.
    """

    pieces: tuple[str, ...]
    piece_classes: tuple[Any, ...]
    coefficients: Floats
    other_shapes: NDArray[np.bool_]
    coefficient: Floats
    draws: tuple[Equations, ...]
    encoder: TableEncoder
    temperature: float

    def scores(self, X: Any) -> Floats:
        """Return the scores of rows by the equations of every draw, (draws, rows, scores)."""
        features = self.encoder.feature_rows(read_table(X), warn=False)
        values = dict(zip(self.encoder.feature_names, features, strict=True))
        found = np.empty((len(self.draws), features.shape[1], len(self.draws[0])))
        for i, equations in enumerate(self.draws):
            for c, equation in enumerate(equations):
                found[i, :, c] = equation.evaluate(values)
        return found / self.temperature

    @property
    def sign_agreement(self) -> Floats:
        """Of the draws that use a column, the share with the sign of the model; NaN where it leaves the column out."""
        return np.where(self.effect == 0, np.nan, super().sign_agreement)

    @property
    def piece_frequency(self) -> Floats:
        """The share of draws that have exactly this piece, (pieces,)."""
        return np.asarray((~np.isnan(self.coefficients)).mean(axis=0))

    @property
    def piece_sign_agreement(self) -> Floats:
        """Of the draws that have a piece, the share with the sign of the model, (pieces,); NaN where none has it."""
        chosen = ~np.isnan(self.coefficients)
        same = (np.sign(self.coefficients) == np.sign(self.coefficient)) & chosen
        times = chosen.sum(axis=0)
        return np.where(times > 0, same.sum(axis=0) / np.maximum(times, 1), np.nan)

    def to_frame(self, level: float = 0.95) -> Any:
        """Return a pandas data frame with a line for every piece of the model.

        `frequency` is the share of draws with exactly this piece, `other_shapes` the share with other pieces of its
        columns instead; `low` and `high` are percentiles of the coefficient over the draws that have the piece.
        """
        check_level(level)
        low, high = percentiles_of(self.coefficients, level)
        columns: dict[str, Any] = {
            "class": self.piece_classes,
            "piece": self.pieces,
            "frequency": self.piece_frequency,
            "other_shapes": self.other_shapes.mean(axis=0),
            "sign_agreement": self.piece_sign_agreement,
            "coefficient": self.coefficient,
            "low": low,
            "high": high,
        }
        return to_pandas(columns, "PieceStability.to_frame()")

    def columns_to_frame(self, level: float = 0.95) -> Any:
        """Return a pandas data frame with a line per class and column, the most frequent first within a class."""
        return super().to_frame(level).rename(columns={"feature": "column"})


def piece_stability(
    model: ECSELClassifier, X: Any, y: Any, *, n_bootstrap: int, random_state: Any, sample_weight: Any
) -> PieceStability:
    """Repeat the search on bootstrap draws of the rows; an interrupt keeps the draws that are done."""
    check_integer("n_bootstrap", n_bootstrap, least=1)
    chosen = settings.check(model)
    table = read_table(X)
    labels = check_target(model, table.n_rows, y)
    weights = check_weights(sample_weight, table.n_rows)
    codes = known_codes(labels, model.classes_)
    model.encoder_.transform_report(table)  # refuses another number of columns
    encoder = TableEncoder.fit(table, **encoder_options(model, chosen), sample_weight=weights)
    kept = np.flatnonzero(weights)
    rows = TrainingRows(encoder.feature_rows(table, warn=False)[:, kept], codes[kept], weights[kept], labels, kept)
    if model.thresholds:
        encoder, rows = with_cuts(encoder, rows)
    unknown = [name for name in model.encoder_.feature_names if name not in encoder.feature_names]
    if unknown:
        raise ValueError(f"X are not the rows of training: they give no feature {unknown[0]!r}, which the model uses.")
    per_class = class_weights(model.class_weight, model.classes_, rows.codes, rows.weights)
    seed = draw_seed(random_state)
    task = class_task(model, replace(chosen, n_threads=1), encoder, model.classes_.tolist(), per_class, seed)
    draws = SearchDraws(task, rows, task.columns(rows))
    found = run_draws(draws, n_bootstrap, chosen.n_threads, verbose=bool(model.verbose))
    return _collect(model, found, ColumnParts(encoder, rows.thinned(SEARCH_ROWS, seed)), n_bootstrap)


@dataclass(frozen=True, eq=False)
class SearchDraws:
    """The search on draws of some rows; shifts and origins of columns are those of all rows."""

    task: SearchTask
    rows: TrainingRows
    columns: list[SearchColumn]

    def __call__(self, i: int) -> Equations | None:
        """Return the equations of draw i; None where the user interrupted."""
        task, rows = self.task, self.rows
        counts = resample(rows.codes, rows.weights, np.random.default_rng([task.seed, i]))
        places = np.flatnonzero(counts)
        drawn = rows.take(places, counts[places]).thinned(SEARCH_ROWS, task.seed + i)
        columns = [replace(column, values=x) for column, x in zip(self.columns, drawn.values, strict=True)]
        weights = drawn.fit_weights(task.class_weights)
        started = time.monotonic()
        found = search(
            columns,
            drawn.target,
            weights,
            task.loss,
            self._folds(drawn, weights),
            replace(task.options, digits=None),
            task.signs(self.columns),
        )
        limit = task.options.time_limit
        if found.stopped and (limit is None or time.monotonic() - started < limit):
            return None
        return found.front[found.chosen].equations.signomials(self.columns)

    def _folds(self, drawn: TrainingRows, weights: Floats) -> list[Fold]:
        """Return folds that keep the copies of a row together; splits of the user that lost their rows are left out."""
        whole = is_count(self.task.cv)
        dealt = self.task.folds(_unweighted(drawn if whole else self.rows))
        if whole:
            return [(weights * (train > 0), weights * (test > 0)) for train, test in dealt]
        place = np.searchsorted(self._kept(self.rows), self._kept(drawn))
        folds = [(weights * (train[place] > 0), weights * (test[place] > 0)) for train, test in dealt]
        return [(train, test) for train, test in folds if train.any() and test.any()]

    @staticmethod
    def _kept(rows: TrainingRows) -> NDArray[np.intp]:
        return np.arange(len(rows.codes)) if rows.kept is None else rows.kept


def _unweighted(rows: TrainingRows) -> TrainingRows:
    return replace(rows, weights=np.ones(len(rows.codes)))


class ColumnParts:
    """The parts that raw columns have in an equation, over some rows."""

    def __init__(self, encoder: TableEncoder, rows: TrainingRows) -> None:
        self.encoder = encoder
        self.columns = encoder.raw_names
        self._column = {feature.name: feature.column for feature in encoder.features}
        self._values = dict(zip(encoder.feature_names, rows.values, strict=True))
        self._typical = {feature.name: feature.baseline for feature in encoder.features}
        self._share = rows.weights / rows.weights.sum()

    def of(self, term: Term) -> frozenset[str]:
        """Return the raw columns of a term."""
        return frozenset(self._column[name] for name in term.names)

    def parts(self, equation: Signomial) -> dict[str, Floats]:
        """Return the centred part of every column that the equation uses."""
        parts = {}
        for column in {column for term in equation.terms for column in self.of(term)}:
            own = Signomial([term for term in equation.terms if column in self.of(term)])
            typical = {name: x for name, x in self._typical.items() if self._column[name] == column}
            part = own.evaluate(self._values) - own.evaluate({**self._values, **typical})
            parts[column] = part - self._share @ part
        return parts

    def effects(self, parts: dict[str, Floats], of_model: dict[str, Floats]) -> Floats:
        """Return cov(q, p)/σ of every raw column; of a column that the model leaves out the size of its part."""
        effects = np.zeros(len(self.columns))
        for j, column in enumerate(self.columns):
            if column in parts:
                own = of_model.get(column, parts[column])
                std = float(np.sqrt(self._share @ own**2))
                effects[j] = self._share @ (parts[column] * own) / std if std > 0 else 0.0
        return effects


def _collect(model: ECSELClassifier, draws: list[Equations], parts: ColumnParts, n_bootstrap: int) -> PieceStability:
    temperature = model.temperature_
    equations = tuple(model.equations_.values())
    labels = tuple(model.equations_)
    own = [(c, term) for c, equation in enumerate(equations) for term in equation.terms if not term.is_constant]
    coefficients = np.full((len(draws), len(own)), np.nan)
    others = np.zeros((len(draws), len(own)), dtype=bool)
    used = np.zeros((len(draws), len(equations), len(parts.columns)), dtype=bool)
    effects = np.zeros(used.shape)
    of_model = [parts.parts(equation) for equation in equations]
    for i, drawn in enumerate(draws):
        there = {(c, term.factors): term.coefficient for c, each in enumerate(drawn) for term in each.terms}
        seen = [frozenset(name for term in each.terms for name in parts.of(term)) for each in drawn]
        for k, (c, term) in enumerate(own):
            coefficients[i, k] = there.get((c, term.factors), np.nan) / temperature
            others[i, k] = (c, term.factors) not in there and parts.of(term) <= seen[c]
        for c, each in enumerate(drawn):
            used[i, c] = [column in seen[c] for column in parts.columns]
            effects[i, c] = parts.effects(parts.parts(each), of_model[c]) / temperature
    return PieceStability(
        labels,
        parts.columns,
        used,
        effects,
        np.array([parts.effects(mine, mine) for mine in of_model]),
        n_bootstrap,
        tuple(str(Signomial([Term.from_factors(1.0, term.factors)])) for _, term in own),
        tuple(labels[c] for c, _ in own),
        coefficients,
        others,
        np.array([term.coefficient for _, term in own]),
        tuple(draws),
        parts.encoder,
        temperature,
    )
