"""The default classifier: a search for short sums of simple pieces of raw columns.

The raw features of a table become the columns of `ecsel.search`, folds choose the size, and the rounded equation is the
model. Large tables are searched on a stratified sample, choose among the candidates on up to `JUDGED_ROWS` rows, and
fit the coefficients of the chosen pieces on all rows in a few passes.
"""

from __future__ import annotations

import warnings
from dataclasses import asdict, dataclass, replace
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from ecsel.estimators.bounds import exponent_bounds
from ecsel.estimators.choosing import JUDGED_ROWS, SEARCH_ROWS, explicit_folds, thin, usable_folds
from ecsel.estimators.guarantees import piece_signs, slope_signs
from ecsel.estimators.judging import Judgement, OutOfFold, judge
from ecsel.estimators.path import Candidate, Path
from ecsel.estimators.progress import ProgressBar
from ecsel.fitting import Status
from ecsel.fitting.blocks import one_blas_thread
from ecsel.fitting.rows import content_folds, merge_equal_rows
from ecsel.search.cuts import round_cuts
from ecsel.search.dictionary import SINGLES, PieceValues, SearchColumn, piece_factors
from ecsel.search.large import choose_again, fit_streamed, standardisation
from ecsel.search.losses import Logistic, Softmax
from ecsel.search.rounding import rounded_coefficients
from ecsel.search.search import FAMILIES, THRESHOLDS, SearchOptions, search
from ecsel.tables.shifts import column_origin, column_shift

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from ecsel.estimators.classifier import ECSELClassifier
    from ecsel.estimators.settings import Settings, ThresholdRule
    from ecsel.search.dictionary import Function, Piece
    from ecsel.search.large import GlmPass, GlmSums
    from ecsel.search.losses import Loss
    from ecsel.search.search import Equations, Fold, SearchResult
    from ecsel.signomial import Signomial
    from ecsel.tables import TableEncoder
    from ecsel.tables.features import Feature

    Floats = NDArray[np.float64]
    AllRows = Callable[["BatchSums"], GlmSums]
    """Reads all rows once and returns the sum of a function of batches over them."""

FOLDS_OF_SAMPLES = 3
"""Folds of a sample of a large table at most: sizes are judged again on more rows."""
STRAIGHT = frozenset({"level", "missing", "step", "above", "below"})
"""Kinds of features that enter with the first power only."""


@dataclass(frozen=True, eq=False)
class TrainingRows:
    """Rows of a raw encoder: features (features × rows), class codes and sample weights.

    For splits that name rows of the table, `labels` are those of all its rows and `kept` the places of these rows.
    """

    values: Floats
    codes: NDArray[np.intp]
    weights: Floats
    labels: NDArray[Any] | None = None
    kept: NDArray[np.intp] | None = None

    @classmethod
    def canonical(
        cls, cv: Any, values: Floats, codes: NDArray[np.intp], weights: Floats, labels: NDArray[Any]
    ) -> TrainingRows:
        """Return rows in an order that depends on their content alone, equal ones merged; as they are for splits."""
        if isinstance(cv, (int, np.integer)):
            merged, classes, counts = merge_equal_rows(values, codes, weights)
            return cls(np.asarray(merged, np.float64), classes.astype(np.intp), np.asarray(counts, np.float64))
        kept = np.flatnonzero(weights)
        return cls(values[:, kept], codes[kept], weights[kept], labels, kept)

    def thinned(self, size: int, seed: int) -> TrainingRows:
        """Return at most so many rows, each class in proportion and with its weight."""
        if len(self.codes) <= size:
            return self
        (values, codes, weights), kept = thin((self.values, self.codes, self.weights), size, seed)
        places = None if self.kept is None else self.kept[kept]
        return TrainingRows(np.asarray(values, np.float64), codes.astype(np.intp), weights, self.labels, places)

    def fit_weights(self, class_weights: Floats) -> Floats:
        """Return weights for the fit, which add up to the number of rows: a nat is a nat in any unit of weights."""
        whole = bool((self.weights % 1 == 0).all())
        total = float(self.weights.sum()) if whole else float(len(self.weights))
        weights = self.weights * class_weights[self.codes]
        return np.asarray(weights * (total / weights.sum()))


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
        The mean loss of the chosen equations on the rows of the search.
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
class ReadableFit:
    """What was found: encoders of the chosen model and of all candidates, equations, path, figures."""

    encoder: TableEncoder
    path_encoder: TableEncoder
    equations: tuple[Signomial, ...]
    path: Path
    near_ties: tuple[int, ...]
    judgement: Judgement
    report: SearchReport


@dataclass(frozen=True, eq=False)
class ReadableTask:
    """One fit of the default classifier: the options, the encoder of all features, classes and their weights."""

    model: ECSELClassifier
    settings: Settings
    encoder: TableEncoder
    classes: Sequence[Any]
    class_weights: Floats
    rule: ThresholdRule | None
    seed: int

    @cached_property
    def loss(self) -> Loss:
        """The loss of the link."""
        n = len(self.classes)
        return Logistic() if self.settings.link(n).name == "sigmoid" else Softmax(n)

    @cached_property
    def options(self) -> SearchOptions:
        """How to search."""
        model = self.model
        return SearchOptions(
            n_terms=self.settings.n_terms,
            max_terms=model.max_terms,
            max_factors=model.max_factors,
            max_columns=model.max_features,
            digits=model.digits,
            tolerance=0.0 if model.rule == "best" else SearchOptions.tolerance,
            time_limit=model.time_limit,
            n_threads=self.settings.n_threads,
            families=(*FAMILIES, THRESHOLDS) if model.thresholds else FAMILIES,
        )

    def fit(self, rows: TrainingRows, everything: AllRows | None = None) -> ReadableFit:
        """Search, choose, fit and round; `everything` reads all rows where `rows` are a sample of them."""
        if self.model.thresholds:
            encoder, rows = with_cuts(self.encoder, rows)
            return replace(self, encoder=encoder)._fit(rows, everything)
        return self._fit(rows, everything)

    def _fit(self, rows: TrainingRows, everything: AllRows | None) -> ReadableFit:
        columns = self.columns(rows)
        sample = rows.thinned(SEARCH_ROWS, self.seed)
        with one_blas_thread(), ProgressBar() if self.model.verbose else _silent() as progress:
            found, held = self.search(columns, rows, sample, progress)
            used = sample
            if len(sample.codes) < len(rows.codes) and not found.stopped:
                used = rows.thinned(JUDGED_ROWS, self.seed)
                found, held = self._choose_again(found, columns, rows, used)
            if found.stopped:
                warnings.warn(
                    "The search was stopped before its end; the best equation that was measured by then was taken.",
                    UserWarning,
                    stacklevel=5,
                )
            if everything is not None or len(used.codes) < len(rows.codes):
                found = self._fit_all(found, columns, rows, used, everything)
        judgement = judge(held, self.settings.link(len(self.classes)).name, self.rule, calibrate=self.model.calibrate)
        return self._finish(found, columns, rows, used, judgement)

    def columns(self, rows: TrainingRows) -> list[SearchColumn]:
        """Return the columns of the search: raw features with their shifts, origins and allowed functions."""
        groups = self.encoder.players.tolist()
        bounds = exponent_bounds(self.model.exponent_bounds, self.encoder)
        allowed = allowed_functions(self.model.allowed_exponents)
        columns = []
        for j, (feature, x) in enumerate(zip(self.encoder.features, rows.values, strict=True)):
            straight = feature.kind in STRAIGHT or _is_binary(x)
            functions = allowed
            if bounds is not None:
                inside = frozenset(f for f in SINGLES if f.log or bounds[0][j] <= float(f.exponent) <= bounds[1][j])
                functions = inside if functions is None else functions & inside
            shift, origin = (0.0, 0.0) if straight else _offsets(feature, x, rows.weights)
            columns.append(
                SearchColumn(feature.name, groups[j], x, shift, origin, straight, functions, feature.cut is not None)
            )
        return columns

    def search(
        self, columns: list[SearchColumn], rows: TrainingRows, sample: TrainingRows, progress: Callable[..., None]
    ) -> tuple[SearchResult, OutOfFold | None]:
        """Search on a sample of the rows."""
        of_sample = _on_rows(columns, rows, sample)
        folds = self.folds(sample)
        signs = self._signs(of_sample)
        found = search(
            of_sample,
            sample.codes.astype(np.float64),
            sample.fit_weights(self.class_weights),
            self.loss,
            folds,
            self.options,
            signs,
            lambda done, total: progress(done / total, f"walk {done} of {total}"),
        )
        return found, _held_out(found, folds, sample, sample.fit_weights(self.class_weights))

    def folds(self, rows: TrainingRows) -> list[Fold]:
        """Return the folds as weights of the fit."""
        cv = self.model.cv
        if isinstance(cv, (int, np.integer)):
            requested = min(int(cv), FOLDS_OF_SAMPLES) if len(rows.codes) >= SEARCH_ROWS else int(cv)
            n_folds = usable_folds(requested, rows.codes, rows.weights)
            dealt = content_folds(rows.values, rows.codes, rows.weights, n_folds, self.seed)
        elif rows.labels is None or rows.kept is None:
            raise TypeError("splits name the rows of a table in memory")
        else:
            dealt = explicit_folds(cv, rows.labels, rows.kept, rows.weights)
        factor = rows.fit_weights(self.class_weights) / rows.weights
        return [(np.asarray(train * factor), np.asarray(test * factor)) for train, test in dealt]

    def _signs(self, columns: Sequence[SearchColumn]) -> Callable[[Sequence[Piece]], Floats] | None:
        slopes = slope_signs(self.model.monotone, self.encoder, self.classes, self.loss.n_scores)
        if slopes is None:
            return None
        return lambda pieces: piece_signs([piece_factors(piece, columns) for piece in pieces], self.encoder, slopes)

    def _choose_again(
        self, found: SearchResult, columns: list[SearchColumn], rows: TrainingRows, more: TrainingRows
    ) -> tuple[SearchResult, OutOfFold | None]:
        fold = self.folds(more)[0]
        weights = more.fit_weights(self.class_weights)
        found = choose_again(
            found,
            _on_rows(columns, rows, more),
            more.codes.astype(np.float64),
            weights,
            self.loss,
            fold,
            self.options,
        )
        return found, _held_out(found, [fold], more, weights)

    def _fit_all(
        self,
        found: SearchResult,
        columns: list[SearchColumn],
        rows: TrainingRows,
        used: TrainingRows,
        everything: AllRows | None,
    ) -> SearchResult:
        """Fit the coefficients of the chosen pieces on all rows; digits are judged on the rows in use."""
        point = found.front[found.chosen]
        equations, loss = point.equations, self.loss
        values = PieceValues(_on_rows(columns, rows, used))
        raw = np.array([values.piece(piece) for piece in equations.pieces]).reshape(-1, len(used.codes))
        weights = used.fit_weights(self.class_weights)
        standard = standardisation(raw, weights)
        needed = sorted({part.column for piece in equations.pieces for part in piece})
        place = {j: i for i, j in enumerate(needed)}
        pieces = tuple(
            tuple(part._replace(column=place[part.column]) for part in piece) for piece in equations.pieces
        )
        specs = tuple(replace(columns[j], values=np.empty(0)) for j in needed)
        reader = PieceReader(specs, pieces, self.class_weights)
        if everything is None:
            whole = (rows.values[needed], rows.codes, rows.weights)
            total: Callable[[GlmPass], GlmSums] = lambda one_pass: one_pass(*reader(*whole))  # noqa: E731
        else:
            narrow = self.encoder.keep_features([column.name for column in specs])
            total = lambda one_pass: everything(BatchSums(narrow, reader, one_pass, tuple(self.classes)))  # noqa: E731
        numbers = (equations.intercepts, equations.coefficients)
        exact = fit_streamed(loss, total, equations.owners, equations.ridge, standard, numbers)
        if self.options.digits is not None:
            target = used.codes.astype(np.float64)
            ridge = equations.ridge * standard[2] / standard[1] ** 2
            exact = rounded_coefficients(
                loss, raw, equations.owners, target, weights, *exact, ridge, self.options.digits
            )
        fitted = replace(point, equations=replace(equations, intercepts=exact[0], coefficients=exact[1]))
        front = tuple(fitted if i == found.chosen else each for i, each in enumerate(found.front))
        return replace(found, front=front)

    def _finish(
        self,
        found: SearchResult,
        columns: list[SearchColumn],
        rows: TrainingRows,
        used: TrainingRows,
        judgement: Judgement,
    ) -> ReadableFit:
        values = PieceValues(_on_rows(columns, rows, used))
        weights = used.fit_weights(self.class_weights)
        target = used.codes.astype(np.float64)
        chosen = found.front[found.chosen].equations
        raw = np.array([values.piece(piece) for piece in chosen.pieces]).reshape(-1, len(used.codes))
        if judgement.temperature != 1.0:
            chosen = self._tempered(chosen, raw, target, weights, judgement.temperature)
        scores = np.repeat(chosen.intercepts[:, None], len(target), axis=1)
        for k, c in enumerate(chosen.owners):
            scores[c] += chosen.coefficients[k] * raw[k]
        loss = float(np.average(self.loss.values(scores, target), weights=weights))
        candidates = []
        for point in found.front:
            signomials = point.equations.signomials(columns)
            counts = np.bincount(point.equations.owners, minlength=self.loss.n_scores)
            candidates.append(
                Candidate(
                    int(counts.max(initial=0)),
                    None,
                    point.equations.n_factors,
                    point.loss,
                    point.loss_se,
                    signomials,
                    len(used.codes),
                )
            )
        equations = chosen.signomials(columns)
        every = {name for each in candidates for equation in each.equations for name in equation.names}
        path_encoder = self.encoder.keep_features(every)
        return ReadableFit(
            path_encoder.keep_features({name for equation in equations for name in equation.names}),
            path_encoder,
            equations,
            Path(candidates),
            found.near_ties,
            judgement,
            SearchReport(
                Status.INTERRUPTED if found.stopped else Status.CONVERGED,
                len(rows.codes),
                found.n_pieces,
                len(chosen.coefficients) + len(chosen.intercepts),
                loss,
            ),
        )

    def _tempered(
        self, equations: Equations, raw: Floats, target: Floats, weights: Floats, temperature: float
    ) -> Equations:
        """Return the equations with their scores divided by a temperature, and rounded once more."""
        intercepts, coefficients = equations.intercepts / temperature, equations.coefficients / temperature
        if self.options.digits is not None:
            intercepts, coefficients = rounded_coefficients(
                self.loss,
                raw,
                equations.owners,
                target,
                weights,
                intercepts,
                coefficients,
                np.zeros(len(coefficients)),
                self.options.digits,
            )
        return replace(equations, intercepts=intercepts, coefficients=coefficients)


@dataclass(frozen=True, eq=False)
class PieceReader:
    """Turns features of rows into values of pieces (pieces × rows), targets and weights of the fit."""

    columns: tuple[SearchColumn, ...]
    pieces: tuple[Piece, ...]
    class_weights: Floats

    def __call__(
        self, values: Floats, codes: NDArray[np.intp], sample_weights: Floats
    ) -> tuple[Floats, Floats, Floats]:
        """Return what a pass needs of a batch."""
        there = PieceValues([replace(column, values=x) for column, x in zip(self.columns, values, strict=True)])
        raw = np.array([there.piece(piece) for piece in self.pieces]).reshape(len(self.pieces), len(codes))
        return raw, codes.astype(np.float64), sample_weights * self.class_weights[codes]


@dataclass(frozen=True, eq=False)
class BatchSums:
    """A function of batches that can travel to where rows are kept: encode, evaluate the pieces, add up."""

    encoder: TableEncoder
    reader: PieceReader
    one_pass: GlmPass
    classes: tuple[Any, ...]

    def __call__(self, X: Any, labels: NDArray[Any], weights: Floats | None) -> GlmSums:
        """Return the sums of a batch."""
        codes = np.searchsorted(np.array(self.classes), labels).astype(np.intp)
        counts = np.ones(len(codes)) if weights is None else weights
        return self.one_pass(*self.reader(self.encoder.feature_rows(X, warn=False), codes, counts))


class _silent:  # noqa: N801 - a function in all but name
    """A progress bar that shows nothing."""

    def __enter__(self) -> Callable[..., None]:
        return lambda share, doing: None

    def __exit__(self, *details: object) -> None:
        return None


def allowed_functions(option: Any) -> frozenset[Function] | None:
    """Return the functions whose exponents are allowed; 0 or "log" is the logarithm, the limit of powers.

    >>> sorted(str(f.exponent) for f in allowed_functions([1, 2]))
    ['1', '2']
    """
    if option is None:
        return None
    exponents = {Fraction(0) if each == "log" else Fraction(each).limit_denominator(1000) for each in option}
    return frozenset(f for f in SINGLES if (Fraction(0) if f.log else f.exponent) in exponents)


def with_cuts(encoder: TableEncoder, rows: TrainingRows) -> tuple[TableEncoder, TrainingRows]:
    """Add thresholds of the numeric columns, at round numbers near their quantiles, as features."""
    places = {name: j for j, name in enumerate(encoder.feature_names)}
    cuts = {
        feature.column: [
            (kind, cut)
            for cut in round_cuts(rows.values[places[feature.name]], rows.weights)
            for kind in ("step", "above", "below")
        ]
        for feature in encoder.features
        if feature.kind == "number"
    }
    wide = encoder.with_cuts({column: found for column, found in cuts.items() if found})
    number = {feature.column: places[feature.name] for feature in encoder.features if feature.kind == "number"}
    missing = {feature.column: places[feature.name] for feature in encoder.features if feature.kind == "missing"}
    values = np.empty((len(wide.features), len(rows.codes)))
    for j, feature in enumerate(wide.features):
        if feature.cut is None:
            values[j] = rows.values[places[feature.name]]
            continue
        values[j] = feature.of_number(rows.values[number[feature.column]])
        if feature.column in missing and feature.fill is not None:
            values[j, rows.values[missing[feature.column]] == 1] = feature.fill
    return wide, replace(rows, values=values)


def _offsets(feature: Feature, x: Floats, weights: Floats) -> tuple[float, float]:
    """Return shift and origin of a column; values beyond the sample's range count, which the model meets too."""
    if feature.low < x.min() or feature.high > x.max():
        least = float(weights.min())
        x, weights = np.append(x, [feature.low, feature.high]), np.append(weights, [least, least])
    return column_shift(x, weights), column_origin(x, weights)


def _is_binary(x: Floats) -> bool:
    low, high = x.min(), x.max()
    return bool(((x == low) | (x == high)).all())


def _on_rows(columns: list[SearchColumn], rows: TrainingRows, some: TrainingRows) -> list[SearchColumn]:
    """Return the columns on some of the rows."""
    if some is rows:
        return columns
    return [replace(column, values=x) for column, x in zip(columns, some.values, strict=True)]


def _held_out(found: SearchResult, folds: Sequence[Fold], rows: TrainingRows, weights: Floats) -> OutOfFold | None:
    """Return the scores of held-out rows, each by a fit that had not seen it; rows held out twice count half.

    `weights` are those of the fit.
    """
    done = list(zip(found.held_out, folds, strict=False))
    if not done:
        return None
    covered = np.sum([test for _, (_, test) in done], axis=0)
    outside = [np.flatnonzero(test) for _, (_, test) in done]
    share = np.concatenate([test[at] / covered[at] for (_, (_, test)), at in zip(done, outside, strict=True)])
    places = np.concatenate(outside)
    scores = np.concatenate([held.T for (held, _), _ in done])
    return OutOfFold(scores, rows.codes[places], share * weights[places], share * rows.weights[places], len(done))
