"""One search for equations: dictionary → screening → exchange path → size by folds → digits, for any loss.

The walk on all rows gives the equations, the walks on the training rows of every fold say how large they should be, and
the rounded equation is the model. `search` is what both estimators call.
"""

from __future__ import annotations

import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from ecsel.search import glm
from ecsel.search.dictionary import PieceValues, piece_factors
from ecsel.search.path import Family, SizeConstraints, Training
from ecsel.search.pruning import without_idle_pieces
from ecsel.search.rounding import rounded_coefficients
from ecsel.search.screening import screened_atoms, steep_corners
from ecsel.search.selection import (
    FACTOR_PRICE,
    MANY_SCORES,
    RIDGES,
    HeldOut,
    by_code_length,
    choose,
    validate,
    walk_all,
)
from ecsel.signomial import Signomial, Term

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from ecsel._typing import Floats, Mask, Places
    from ecsel.search.dictionary import Atoms, Piece, SearchColumn
    from ecsel.search.losses import Loss
    from ecsel.search.selection import Choice, Key, Walked

FAMILIES = (
    Family("pairs", price=1.0, ridge=0.3, max_pieces=16),
    Family("wide", price=2.5, ridge=5.0, max_pieces=20, singles=True, min_addition=0.6, patience=3),
    Family("straight", price=0.0, ridge=0.3, max_pieces=20, straight=True, min_addition=0.3, patience=3),
)
"""Products of two suit separable tables, many single pieces under a larger ridge many small effects, and columns as
they are, which all cost the same to tell, tables on which logistic regression does well."""
THRESHOLDS = Family("thresholds", price=1.0, ridge=0.3, max_pieces=16, cuts=True)
"""Beside the others where the user asks for thresholds."""
MAX_FACTORS = 20
"""Factors of a score at most: what still fits on a page."""
MAX_GROWTH = 5.5
"""Pieces of all scores together grow with their number up to this factor, which ten classes reach: the curvature of a
softmax costs the square of both. Half of it costs the digits of scikit-learn 80 % of log-loss."""
LAST_SHARE = 0.2
"""The share of a time limit that is kept for the last fits and their digits, which have to be done in any case."""
PATIENCE = 0.3
"""Seconds after a stop in which candidates beside the chosen one are still fitted: the answer is due within one."""
ROUNDING_ERROR = 1e-13
"""Intercepts of classes of the same size differ by this, and should print as 0."""
MAX_RESCALINGS = 20
"""Fits at most until the noise variance, in whose units the ridge of squared errors counts, has settled."""

Fold = tuple["Floats", "Floats"]
"""Row weights for training and row weights for validation."""


@dataclass(frozen=True)
class SearchOptions:
    """How to search.

    Attributes
    ----------
    n_terms, max_terms
        The number of terms of a score, exactly or at most; None for no limit.
    max_factors
        Factors of a score at most.
    max_columns
        Raw columns of all equations at most.
    digits
        Significant digits of coefficients; None keeps them exact.
    factor_price
        The share of the best expected loss that each factor of a score must save; 0 takes the best.
    time_limit
        Seconds after which the best so far is taken.
    n_threads
        Walks at once.
    max_corner
        Standard deviations that a product may reach at a corner of the training ranges; None for no limit, as where
        probabilities bound what a steep product can do.
    """

    n_terms: int | None = None
    max_terms: int | None = None
    max_factors: int = MAX_FACTORS
    max_columns: int | None = None
    digits: int | None = 2
    factor_price: float = FACTOR_PRICE
    time_limit: float | None = None
    n_threads: int = 1
    max_corner: float | None = None
    families: tuple[Family, ...] = FAMILIES


@dataclass(frozen=True, eq=False)
class Equations:
    """One equation a score: pieces with the score that they belong to, coefficients and intercepts."""

    pieces: tuple[Piece, ...]
    owners: Places
    coefficients: Floats
    intercepts: Floats
    ridge: float
    """The ridge under which they were fitted."""

    @property
    def n_factors(self) -> int:
        """The number of factors of all scores together."""
        return sum(map(len, self.pieces))

    def signomials(self, columns: Sequence[SearchColumn]) -> tuple[Signomial, ...]:
        """Return the equations as values."""
        terms: list[list[Term]] = [[Term(float(b))] for b in self.intercepts]
        for piece, c, coefficient in zip(self.pieces, self.owners.tolist(), self.coefficients.tolist(), strict=True):
            terms[c].append(Term.from_factors(coefficient, piece_factors(piece, columns)))
        return tuple(Signomial(each) for each in terms)


@dataclass(frozen=True, eq=False)
class FrontPoint:
    """A candidate of the front: its equations, the held-out loss and its standard error, NaN where no fold was done.

    `expected` is the loss by which the size was chosen, smoothed over the sizes; NaN where `loss` itself decided.
    """

    equations: Equations
    loss: float
    loss_se: float
    key: Key
    """Where it stands in the walks."""
    expected: float = np.nan


@dataclass(frozen=True, eq=False)
class SearchResult:
    """What a search found.

    Attributes
    ----------
    front
        Candidates from small to large, each with a lower held-out loss than every smaller one, and the chosen one.
    chosen
        The position of the chosen one.
    near_ties
        Positions of the candidates that the folds cannot tell from the chosen one, itself among them.
    held_out
        (scores × rows) scores of the chosen candidate for rows as each fold held them out, with their weights: one
        array pair a fold.
    stopped
        Whether time ran out or the user interrupted.
    n_pieces
        Pieces of the dictionary.
    """

    front: tuple[FrontPoint, ...]
    chosen: int
    near_ties: tuple[int, ...]
    held_out: tuple[tuple[Floats, Floats], ...]
    stopped: bool
    n_pieces: int


@dataclass(eq=False)
class _Clock:
    """Tells walkers to stop: by time, or because somebody has asked for it."""

    deadline: float | None = None
    stopped_at: float | None = None

    def __call__(self) -> bool:
        if self.stopped_at is None and self.deadline is not None and time.monotonic() > self.deadline:
            self.stopped_at = self.deadline
        return self.stopped_at is not None

    def stop(self) -> None:
        """Stop now."""
        if self.stopped_at is None:
            self.stopped_at = time.monotonic()

    def is_late(self) -> bool:
        """Whether whoever has stopped the search waits for longer than `PATIENCE`."""
        return self.stopped_at is not None and time.monotonic() > self.stopped_at + PATIENCE


def search(
    columns: Sequence[SearchColumn],
    target: Floats,
    weights: Floats,
    loss: Loss,
    folds: Sequence[Fold],
    options: SearchOptions,
    signs: Callable[[Sequence[Piece]], Floats] | None = None,
    report: Callable[[int, int], None] | None = None,
) -> SearchResult:
    """Find equations.

    Parameters
    ----------
    columns : sequence of SearchColumn
        The columns, on all rows.
    target, weights : arrays (rows,)
        Targets as the loss wants them, and positive weights.
    loss : Loss
        What is minimised.
    folds : sequence of (training weights, validation weights)
        The folds that decide the size.
    options : SearchOptions
        How to search.
    signs : callable, optional
        Returns for pieces the signs (scores, pieces) that their coefficients must have: +1, −1, 0 for free, NaN where
        the piece is forbidden.
    report : callable, optional
        Called with the number of walks done and the number of all.
    """
    limit = options.time_limit
    clock = _Clock(None if limit is None else time.monotonic() + (1 - LAST_SHARE) * limit)
    constraints, families = _constraints(options, loss)
    order = _by_fold(folds, len(target))
    columns = [replace(column, values=column.values[order]) for column in columns]
    target, weights, folds = target[order], weights[order], [(train[order], test[order]) for train, test in folds]
    every = [weights, *(train for train, _ in folds)]
    atoms, masks = screened_atoms(columns, loss, target, every)
    if options.max_corner is not None:
        limit = options.max_corner
        masks = [mask & ~steep_corners(atoms, columns, each, limit) for mask, each in zip(masks, every, strict=True)]
    required = None if signs is None else signs(atoms.pieces)
    trainings = [_training(loss, atoms, target, each, mask, required) for each, mask in zip(every, masks, strict=True)]

    def walk_fold(training: Training, test: Floats) -> tuple[Walked, HeldOut] | None:
        if clock():
            return None
        outside = np.flatnonzero(test)
        outside = outside[np.argsort(order[outside])]  # as the caller has them: a row may be held out by several folds
        walked = walk_all(training, families, constraints, clock)
        unseen = HeldOut(loss, outside, target[outside], test[outside])
        return None if clock() else (walked, unseen)  # a walk that was cut short says nothing of larger sizes

    done = 0

    def count() -> None:
        nonlocal done
        done += 1
        if report is not None:
            report(done, 1 + len(folds))

    with ThreadPoolExecutor(max(1, options.n_threads)) as pool:
        first = pool.submit(walk_all, trainings[0], families, constraints, clock)
        others = [
            pool.submit(walk_fold, training, test) for training, (_, test) in zip(trainings[1:], folds, strict=True)
        ]
        try:
            walked = first.result()
            count()
            inner = []
            for each in others:
                inner.append(each.result())
                count()
        except KeyboardInterrupt:
            clock.stop()
            walked = first.result()
            inner = [each.result() for each in others]
    finished = _before_the_first_cut(inner)
    if finished:
        validated, fold_weights = validate(walked, finished)
    else:
        validated, fold_weights = by_code_length(walked), weights.sum()[None]
    if options.n_terms is not None:
        wanted = options.n_terms * loss.n_scores
        reached = max((each.key.size for each in validated if each.key.size <= wanted), default=0)
        validated = [each for each in validated if each.key.size == reached]
    choice = choose(validated, fold_weights, options.factor_price / loss.n_scores)
    return _result(choice, walked, finished, columns, options, clock)


def _before_the_first_cut(walked: Sequence[tuple[Walked, HeldOut] | None]) -> list[tuple[Walked, HeldOut]]:
    """Return the folds before the first that was cut short, so that results stay beside their folds."""
    finished = []
    for each in walked:
        if each is None:
            break
        finished.append(each)
    return finished


def _constraints(options: SearchOptions, loss: Loss) -> tuple[SizeConstraints, list[Family]]:
    n_scores = loss.n_scores
    constraints = SizeConstraints(
        options.max_factors * n_scores,
        options.n_terms if options.n_terms is not None else options.max_terms,
        options.max_columns,
    )
    families = []
    for family in options.families:
        if family.straight and n_scores > MANY_SCORES:
            continue  # of the digits of scikit-learn they have half as much log-loss again, and folds do not see it
        most = family.max_pieces if n_scores == 1 else round(family.max_pieces * min((1 + n_scores) / 2, MAX_GROWTH))
        if options.n_terms is not None:
            most = options.n_terms * n_scores
        families.append(replace(family, max_pieces=most))
    return constraints, families


def _by_fold(folds: Sequence[Fold], n_rows: int) -> Places:
    """Return an order of the rows in which those that a fold holds out lie together, so that scans can skip them."""
    fold = np.zeros(n_rows, dtype=np.intp)
    for f, (_, test) in enumerate(folds):
        fold[test > 0] = f
    return np.argsort(fold, kind="stable")


def _training(
    loss: Loss, atoms: Atoms, target: Floats, weights: Floats, mask: Mask, required: Floats | None
) -> Training:
    if required is None:
        return Training(loss, atoms, target, weights, mask)
    return Training(loss, atoms, target, weights, mask & ~np.isnan(required), np.nan_to_num(required))


def _result(
    choice: Choice,
    walked: Walked,
    inner: list[tuple[Walked, HeldOut]],
    columns: Sequence[SearchColumn],
    options: SearchOptions,
    clock: _Clock,
) -> SearchResult:
    validated = choice.validated
    chosen = validated[choice.chosen]
    values = PieceValues(columns)
    stopped = clock.stopped_at is not None
    points: dict[int, FrontPoint] = {}
    falling = _falling(choice, [each.n_factors for each in validated], range(len(validated)))
    for i in sorted(falling, key=lambda i: i != choice.chosen):  # the chosen one first
        if points and clock.is_late():
            break
        points[i] = FrontPoint(
            equations_of(walked, validated[i].key, values, options),
            choice.loss(i) if inner else np.nan,
            choice.standard_error(i) if inner else np.nan,
            validated[i].key,
            validated[i].expected if inner else np.nan,
        )
    # idle pieces gone, candidates may be as small as others, or smaller
    front = _falling(choice, {i: point.equations.n_factors for i, point in points.items()}, points)
    held_out = tuple((unseen.scores(walk.nearest(chosen.key)), unseen.weights) for walk, unseen in inner)
    near = tuple(p for p, i in enumerate(front) if choice.is_tie(i))
    found = tuple(points[i] for i in front)
    return SearchResult(found, front.index(choice.chosen), near, held_out, stopped, len(walked.training.atoms))


def _falling(choice: Choice, sizes: Sequence[int] | Mapping[int, int], places: Iterable[int]) -> list[int]:
    """Return the best candidate of each size whose loss is below that of all smaller ones, and the chosen one."""
    best: dict[int, int] = {}
    for i in places:
        other = best.get(sizes[i])
        if other is None or i == choice.chosen or (other != choice.chosen and choice.loss(i) < choice.loss(other)):
            best[sizes[i]] = i
    front, lowest = [], np.inf
    for size in sorted(best):
        i = best[size]
        if choice.loss(i) < lowest or i == choice.chosen:
            lowest = min(lowest, choice.loss(i))
            front.append(i)
    return front


def equations_of(walked: Walked, key: Key, values: PieceValues, options: SearchOptions) -> Equations:
    """Return a candidate as equations in raw columns: without idle pieces, fitted in double precision, then rounded.

    Another ridge or the rounding may turn a sign that was promised; such a piece says nearly nothing, and goes.
    """
    found, training, ridge = walked.found[key], walked.training, RIDGES[key.ridge]
    if options.n_terms is None:
        found = without_idle_pieces(training, found, ridge)
    atoms = training.atoms
    places, owners = np.array(found.atoms, dtype=np.intp), np.array(found.owners, dtype=np.intp)
    start: tuple[Floats, Floats] = (found.fitted.intercepts, found.fitted.coefficients)
    while True:
        pieces = tuple(atoms.pieces[a] for a in places)
        equations = fit_pieces(
            training.loss,
            np.array([values.piece(piece) for piece in pieces]).reshape(len(pieces), len(training.target)),
            pieces,
            owners,
            training.target,
            training.weights,
            ridge,
            (atoms.mean[places], atoms.scale[places], atoms.leverage[places]),
            options.digits,
            start,
        )
        if training.signs is None:
            return equations
        right = training.signs[owners, places] * equations.coefficients * atoms.scale[places]
        if (right >= 0).all():
            return equations
        worst = int(np.argmin(right))
        places, owners = np.delete(places, worst), np.delete(owners, worst)
        start = (start[0], np.delete(start[1], worst))


def fit_pieces(
    loss: Loss,
    raw: Floats,
    pieces: tuple[Piece, ...],
    owners: Places,
    target: Floats,
    weights: Floats,
    ridge: float,
    standard: tuple[Floats, Floats, Floats],
    digits: int | None,
    start: tuple[Floats, Floats] | None = None,
) -> Equations:
    """Fit given pieces exactly and round: `raw` (pieces × rows) are their values, `standard` mean, scale, leverage."""
    mean, scale, leverage = standard
    z = (raw - mean[:, None]) / scale[:, None]
    dispersion = 1.0
    for _ in range(MAX_RESCALINGS):
        fitted = glm.fit(loss, z, owners, target, weights / dispersion, ridge * leverage, start)
        before, start = dispersion, (fitted.intercepts, fitted.coefficients)
        dispersion = loss.dispersion(fitted.scores, target, weights, len(pieces) + 1)
        if abs(dispersion - before) <= 1e-6 * before:
            break
    weights = weights / dispersion
    coefficients = fitted.coefficients / scale
    intercepts = fitted.intercepts - np.bincount(owners, coefficients * mean, minlength=loss.n_scores)
    if loss.n_scores > 1:
        # scores of classes are free up to a common constant: an equation without pieces is zero
        empty = [c for c in range(loss.n_scores) if c not in owners]
        intercepts = intercepts - (intercepts[empty[0]] if empty else intercepts.mean())
        intercepts = np.where(np.abs(intercepts) < ROUNDING_ERROR, 0.0, intercepts)  # of classes of the same size
    if digits is not None:
        intercepts, coefficients = rounded_coefficients(
            loss, raw, owners, target, weights, intercepts, coefficients, ridge * leverage / scale**2, digits
        )
    return Equations(pieces, owners, coefficients, intercepts, ridge)
