"""The search for readable equations on a table: one bridge to `ecsel.search` for classes and for numbers.

The raw features of a table become the columns of the search, folds choose the size, and the rounded equation is the
model. Large tables are searched on a stratified sample, choose among the candidates on up to `VALIDATION_ROWS` rows,
and fit the coefficients of the chosen pieces on all rows in a few passes. What is special to classes stands in
`readable_classes`, what is special to numbers in `prediction`.
"""

from __future__ import annotations

import time
from dataclasses import asdict, dataclass, replace
from math import inf, isfinite, nan
from typing import TYPE_CHECKING, Any

import numpy as np

from ecsel.estimators.folds import SEARCH_ROWS, VALIDATION_ROWS
from ecsel.estimators.guarantees import piece_signs
from ecsel.estimators.path import Candidate, Path
from ecsel.estimators.progress import progress_for
from ecsel.estimators.search_columns import search_columns, with_cuts
from ecsel.estimators.settings import MIN_SECONDS
from ecsel.fitting import Status
from ecsel.fitting.rows.blocks import one_blas_thread
from ecsel.search.dictionary import PieceValues, SearchColumn, piece_factors, standardisation
from ecsel.search.large import choose_again, fit_streamed
from ecsel.search.rounding import rounded_coefficients
from ecsel.search.search import FAMILIES, THRESHOLDS, SearchOptions, search

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from ecsel.estimators.training_rows import TrainingRows
    from ecsel.search.dictionary import Function, Piece
    from ecsel.search.large import GlmPass, GlmSums
    from ecsel.search.losses import Loss
    from ecsel.search.path import Family
    from ecsel.search.search import Equations, Fold, SearchResult
    from ecsel.tables import TableEncoder

    Floats = NDArray[np.float64]
    AllRows = Callable[["BatchSums"], GlmSums]
    """Reads all rows once and returns the sum of a function of batches over them."""

STOPPED = "The search was stopped before its end; the best equation that was measured by then was taken."
"""What a warning says after an interrupt, or when the time is over."""


@dataclass(frozen=True, slots=True)
class SearchReport:
    """What happened in a search.

    Attributes
    ----------
    status
        Whether it came to its end.
    n_rows
        Distinct rows that the coefficients were fitted on.
    n_pieces
        Pieces that the search chose from.
    n_parameters
        Numbers of the chosen equations.
    loss
        The mean loss of the chosen equations on the rows of the search: log-loss, or squared error.
    """

    status: Status
    n_rows: int
    n_pieces: int
    n_parameters: int
    loss: float

    @property
    def converged(self) -> bool:
        """Whether the search came to its end."""
        return self.status is Status.CONVERGED

    def to_dict(self) -> dict[str, Any]:
        """Return plain JSON values."""
        return {**asdict(self), "status": self.status.name}


@dataclass(frozen=True, eq=False)
class HeldOutScores:
    """Scores (rows, scores) of held-out rows by fits that had not seen them, and the places of these rows.

    A row held out twice counts half in `weights` (those of the fit) and `sample_weights`.
    """

    scores: Floats
    places: NDArray[np.intp]
    weights: Floats
    sample_weights: Floats
    n_folds: int

    @classmethod
    def of(
        cls, found: SearchResult, folds: Sequence[Fold], rows: TrainingRows, weights: Floats
    ) -> HeldOutScores | None:
        """Return the scores that a search has kept of its finished folds; None where there are none."""
        done = list(zip(found.held_out, folds, strict=False))
        if not done:
            return None
        covered = np.sum([test for _, (_, test) in done], axis=0)
        outside = [np.flatnonzero(test) for _, (_, test) in done]
        share = np.concatenate([test[at] / covered[at] for (_, (_, test)), at in zip(done, outside, strict=True)])
        places = np.concatenate(outside)
        scores = np.concatenate([held_out.T for (held_out, _), _ in done])
        return cls(scores, places, share * weights[places], share * rows.weights[places], len(done))


@dataclass(frozen=True, eq=False)
class Searched:
    """What a search found on a table.

    Attributes
    ----------
    encoder
        The encoder of all features, thresholds included.
    columns
        The columns of the search on all rows.
    rows, used
        All rows, and those that the front was fitted on.
    found
        The front and the choice.
    held_out
        Scores of held-out rows; None where no fold was finished.
    weights
        The weights of the fit, of the rows in use.
    """

    encoder: TableEncoder
    columns: list[SearchColumn]
    rows: TrainingRows
    used: TrainingRows
    found: SearchResult
    held_out: HeldOutScores | None
    weights: Floats

    @property
    def chosen(self) -> Equations:
        """The chosen equations."""
        return self.found.front[self.found.chosen].equations

    def piece_values(self, equations: Equations) -> Floats:
        """Return the pieces of equations (pieces × rows in use)."""
        values = PieceValues(on_rows(self.columns, self.rows, self.used))
        return np.array([values.piece(piece) for piece in equations.pieces]).reshape(-1, len(self.used))

    def encoders(self) -> tuple[TableEncoder, TableEncoder]:
        """Return the encoders of the chosen equations and of all candidates: with the features that these use."""
        used = [
            {self.columns[part.column].name for piece in point.equations.pieces for part in piece}
            for point in self.found.front
        ]
        wide = self.encoder.keep_features(set().union(*used))
        return wide.keep_features(used[self.found.chosen]), wide

    def path(self, unit: float = 1.0) -> Path:
        """Return the front as candidates; losses are multiplied by `unit`, and unknown where no rows were held out."""
        unit = nan if self.held_out is None else unit
        return Path(
            Candidate(
                int(np.bincount(point.equations.owners, minlength=1).max()),
                None,
                point.equations.n_factors,
                unit * point.loss,
                unit * point.loss_se,
                point.equations.signomials(self.columns),
                len(self.used),
                unit * point.expected if isfinite(point.expected) else nan,  # one NaN, equal to itself in a tuple
            )
            for point in self.found.front
        )

    def report(self, loss: float) -> SearchReport:
        """Return what happened; `loss` is that of the chosen equations on the rows in use."""
        return SearchReport(
            Status.INTERRUPTED if self.found.stopped else Status.CONVERGED,
            len(self.used if self.found.stopped else self.rows),
            self.found.n_pieces,
            len(self.chosen.coefficients) + len(self.chosen.intercepts),
            loss,
        )


def scores_of(equations: Equations, raw: Floats) -> Floats:
    """Return the scores (scores × rows) of equations at the values of their pieces."""
    scores = np.repeat(equations.intercepts[:, None], raw.shape[1], axis=1)
    for k, c in enumerate(equations.owners):
        scores[c] += equations.coefficients[k] * raw[k]
    return scores


def families(*, thresholds: bool) -> tuple[Family, ...]:
    """Return the walks of a search, with one for thresholds where these are asked for."""
    return (*FAMILIES, THRESHOLDS) if thresholds else FAMILIES


@dataclass(frozen=True, eq=False)
class SearchTask:
    """One search: features, loss and options, and what the user allows.

    Attributes
    ----------
    encoder
        The raw encoder of all features.
    loss, options
        What is minimised, and how to search.
    class_weights
        The weight of each class; ones where there are no classes.
    seed, cv
        The seed of folds, and the folds themselves: a number, a splitter or a list of splits.
    exponent_bounds, allowed
        The option of that name, and the functions that are allowed, None for all.
    slopes
        The signs (scores, features) of promised slopes, given the encoder; None where nothing is promised.
    classes
        The labels of the codes, where there are classes.
    """

    encoder: TableEncoder
    loss: Loss
    options: SearchOptions
    class_weights: Floats
    seed: int
    cv: Any
    exponent_bounds: Any = None
    allowed: frozenset[Function] | None = None
    slopes: Callable[[TableEncoder], Floats | None] | None = None
    classes: tuple[Any, ...] = ()
    verbose: bool = False

    def run(self, rows: TrainingRows, everything: AllRows | None = None) -> Searched:
        """Search, choose and fit; `everything` reads all rows where `rows` are a sample of them."""
        if any(family.cuts for family in self.options.families):
            encoder, rows = with_cuts(self.encoder, rows)
            self = replace(self, encoder=encoder)  # noqa: PLW0642 - the same task with more features
        limit = self.options.time_limit
        deadline = inf if limit is None else time.monotonic() + limit
        columns = self.columns(rows)
        used = rows.thinned(SEARCH_ROWS)
        with one_blas_thread(), progress_for(verbose=self.verbose) as progress:
            left = None if limit is None else max(deadline - time.monotonic(), MIN_SECONDS)
            searched = self._search(columns, rows, used, replace(self.options, time_limit=left), progress)
            # Who has stopped the search waits neither for a choice on more rows nor for passes over all of them.
            try:
                if len(used) < len(rows) and not searched.found.stopped:
                    searched = self._choose_again(searched, lambda: time.monotonic() > deadline)
                if not searched.found.stopped and (everything is not None or len(searched.used) < len(rows)):
                    searched = self._fit_all(searched, everything)
            except KeyboardInterrupt:
                searched = replace(searched, found=replace(searched.found, stopped=True))
        return searched

    def columns(self, rows: TrainingRows) -> list[SearchColumn]:
        """Return the columns of the search on some rows."""
        return search_columns(self.encoder, rows, self.exponent_bounds, self.allowed)

    def folds(self, rows: TrainingRows) -> list[Fold]:
        """Return the folds as weights of the fit."""
        factor = rows.fit_weights(self.class_weights) / rows.weights
        return [
            (np.asarray(train * factor), np.asarray(test * factor)) for train, test in rows.folds(self.cv, self.seed)
        ]

    def signs(self, columns: Sequence[SearchColumn]) -> Callable[[Sequence[Piece]], Floats] | None:
        """Return the function that tells which signs the coefficients of pieces must have; None where all are free."""
        slopes = None if self.slopes is None else self.slopes(self.encoder)
        if slopes is None:
            return None
        return lambda pieces: piece_signs([piece_factors(piece, columns) for piece in pieces], self.encoder, slopes)

    def _search(
        self,
        columns: list[SearchColumn],
        rows: TrainingRows,
        sample: TrainingRows,
        options: SearchOptions,
        progress: Callable[..., None],
    ) -> Searched:
        """Search on a sample of the rows."""
        of_sample, folds = on_rows(columns, rows, sample), self.folds(sample)
        weights = sample.fit_weights(self.class_weights)
        found = search(
            of_sample,
            sample.target,
            weights,
            self.loss,
            folds,
            options,
            self.signs(of_sample),
            lambda done, total: progress(done / total, f"walk {done} of {total}"),
        )
        held_out = HeldOutScores.of(found, folds, sample, weights)
        return Searched(self.encoder, columns, rows, sample, found, held_out, weights)

    def _choose_again(self, searched: Searched, stopped: Callable[[], bool]) -> Searched:
        """Choose among the candidates on more rows, unless time is over before that is done."""
        more = searched.rows.thinned(VALIDATION_ROWS)
        weights, fold = more.fit_weights(self.class_weights), self.folds(more)[0]
        found = choose_again(
            searched.found,
            on_rows(searched.columns, searched.rows, more),
            more.target,
            weights,
            self.loss,
            fold,
            self.options,
            stopped,
        )
        if found.stopped:
            return replace(searched, found=found)
        return replace(
            searched, used=more, found=found, held_out=HeldOutScores.of(found, [fold], more, weights), weights=weights
        )

    def _fit_all(self, searched: Searched, everything: AllRows | None) -> Searched:
        """Fit the coefficients of the chosen pieces on all rows; digits are chosen on the rows in use."""
        found, rows, loss = searched.found, searched.rows, self.loss
        equations, raw = searched.chosen, searched.piece_values(searched.chosen)
        target, weights = searched.used.target, searched.weights
        standard = standardisation(raw, weights)
        needed = sorted({part.column for piece in equations.pieces for part in piece})
        place = {j: i for i, j in enumerate(needed)}
        reader = PieceReader(
            tuple(replace(searched.columns[j], values=np.empty(0)) for j in needed),
            tuple(tuple(part._replace(column=place[part.column]) for part in piece) for piece in equations.pieces),
        )
        if everything is None:
            whole = (reader(rows.values[needed]), rows.target, rows.fit_weights(self.class_weights))
            total: Callable[[GlmPass], GlmSums] = lambda one_pass: one_pass(*whole)  # noqa: E731
        else:
            narrow = self.encoder.keep_features([column.name for column in reader.columns])
            total = lambda one_pass: everything(  # noqa: E731
                BatchSums(narrow, reader, one_pass, self.class_weights, self.classes)
            )
        numbers = (equations.intercepts, equations.coefficients)
        dispersion = loss.dispersion(scores_of(equations, raw), target, weights, 1 + len(raw))
        exact = fit_streamed(loss, total, equations.owners, equations.ridge * dispersion, standard, numbers)
        if self.options.digits is not None:
            ridge = equations.ridge * standard[2] / standard[1] ** 2
            exact = rounded_coefficients(
                loss, raw, equations.owners, target, weights / dispersion, *exact, ridge, self.options.digits
            )
        fitted = replace(equations, intercepts=exact[0], coefficients=exact[1])
        front = list(found.front)
        front[found.chosen] = replace(front[found.chosen], equations=fitted)
        return replace(searched, found=replace(found, front=tuple(front)))


@dataclass(frozen=True, eq=False)
class PieceReader:
    """Turns features of rows into values of pieces (pieces × rows)."""

    columns: tuple[SearchColumn, ...]
    pieces: tuple[Piece, ...]

    def __call__(self, values: Floats) -> Floats:
        """Return the pieces of a batch."""
        there = PieceValues([replace(column, values=x) for column, x in zip(self.columns, values, strict=True)])
        return np.array([there.piece(piece) for piece in self.pieces]).reshape(len(self.pieces), values.shape[1])


@dataclass(frozen=True, eq=False)
class BatchSums:
    """A function of batches that can travel to where rows are kept: encode, evaluate the pieces, add up."""

    encoder: TableEncoder
    reader: PieceReader
    one_pass: GlmPass
    class_weights: Floats
    classes: tuple[Any, ...]

    def __call__(self, X: Any, labels: NDArray[Any], weights: Floats | None) -> GlmSums:
        """Return the sums of a batch."""
        return self.one_pass(*self.read(X, labels, weights))

    def read(self, X: Any, labels: NDArray[Any], weights: Floats | None) -> tuple[Floats, Floats, Floats]:
        """Return what is added up: the pieces of a batch, its class codes as numbers, and its weights."""
        codes = np.searchsorted(np.array(self.classes), labels).astype(np.intp)
        counts = self.class_weights[codes] if weights is None else weights * self.class_weights[codes]
        return self.reader(self.encoder.feature_rows(X, warn=False)), codes.astype(np.float64), counts


def on_rows(columns: list[SearchColumn], rows: TrainingRows, some: TrainingRows) -> list[SearchColumn]:
    """Return the columns on some of the rows."""
    if some is rows:
        return columns
    return [replace(column, values=x) for column, x in zip(columns, some.values, strict=True)]
