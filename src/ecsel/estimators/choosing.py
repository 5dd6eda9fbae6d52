"""Choosing terms, strength and mirrored features for a classifier: which rows, which folds, which candidates.

Folds are pairs of row weights, one for training and one for validation. A number of folds makes them from the content
of the rows alone; a splitter or a list of splits is taken as it is. Large tables are thinned class by class, and what
a thin sample has chosen is looked at again on (nearly) all rows.
"""

from __future__ import annotations

import sys
import warnings
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.model_selection import check_cv

from ecsel.estimators.equations import laws_to_equations
from ecsel.estimators.options import check_integer
from ecsel.estimators.path import Candidate, Path
from ecsel.fitting.rows import Fold, Rows, content_folds
from ecsel.fitting.screening import first_columns
from ecsel.fitting.second_look import Step, Steps, look_again
from ecsel.fitting.selection import SMALLEST_STRENGTH, Candidates, choose

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from ecsel.estimators.classifier import ECSELClassifier
    from ecsel.estimators.settings import Settings
    from ecsel.fitting import Link
    from ecsel.fitting.fit import FitOptions, PowerLaws
    from ecsel.fitting.selection import Choice
    from ecsel.tables import TableEncoder

SELECTION_ROWS = 8192
"""Larger tables choose the number of terms and the strength on a stratified sample of this size."""
SECOND_LOOK_ROWS = 100_000
"""Most rows of the second look, and of what is measured out of fold."""
BEYOND = 1
"""Terms above `max_terms` that are measured, to tell what more would bring, where `max_terms` clearly wins."""
_FEWEST_OF_A_CLASS = 50


@dataclass(frozen=True, slots=True)
class FoldedRows:
    """The rows that are cross-validated, their folds, and the share of the table's weight that each unit stands for."""

    rows: Rows
    folds: list[Fold]
    thinning: float

    @property
    def thinned(self) -> bool:
        """Whether rows were left out."""
        return self.thinning < 1

    def with_features(self, kept: NDArray[np.bool_]) -> FoldedRows:
        """Return the same rows and folds with some of the features."""
        logs, codes, weights = self.rows
        return replace(self, rows=(logs[kept], codes, weights))


def fold_rows(
    cv: Any, rows: Rows, original: tuple[Rows, NDArray[Any]], seed: int, *, again: bool = False
) -> FoldedRows:
    """Return the rows to cross-validate on, thinned where they are many, with their folds; more rows for a second look.

    `rows` are the canonical rows, `original` the rows in the order of the table with their labels, for explicit splits.
    """
    size = SECOND_LOOK_ROWS if again else SELECTION_ROWS
    if isinstance(cv, (int, np.integer)):
        check_integer("cv", cv, least=2)
        (logs, codes, weights), kept = thin(rows, size, seed)
        folds = content_folds(logs, codes, weights, usable_folds(int(cv), codes, weights))
        before = rows[2]
    else:
        (logs, codes, weights), kept = thin(original[0], size, seed)
        folds = explicit_folds(cv, original[1], kept, weights)
        before = original[0][2]
    return FoldedRows((logs.astype(np.float64), codes, weights), folds, float(before[kept].sum() / weights.sum()))


@dataclass(frozen=True, slots=True)
class Size:
    """What was chosen: terms, strength, the mirrored features that count, and every candidate.

    `laws` are those of the second look, from which the last fit goes on: it could end in a poorer minimum of its own.
    Who has interrupted the choice gets no second look.
    """

    n_terms: int
    l1: float
    mirrors: frozenset[str]
    path: Path
    laws: PowerLaws | None = None
    interrupted: bool = False

    def with_features(self, kept: NDArray[np.bool_]) -> Size:
        """Return the choice as a model of some of the features, among them all that it uses."""
        if self.laws is None:
            return self
        return replace(self, laws=replace(self.laws, exponents=self.laws.exponents[:, :, kept]))


def choose_columns(model: ECSELClassifier, settings: Settings, link: Link, rows: Rows, seed: int) -> Settings:
    """Return the settings that keep all but `max_features` columns out; large tables choose on a sample."""
    if model.max_features is None or settings.columns is None:
        return settings
    (logs, codes, weights), _ = thin(rows, SELECTION_ROWS, seed)
    kept = first_columns(
        (logs.astype(np.float64), codes, weights),
        link,
        settings.limits,
        settings.columns,
        model.max_features,
    )
    return replace(settings, limits=settings.limits.only(kept))


def choose_size(
    model: ECSELClassifier, settings: Settings, link: Link, folded: FoldedRows | None, encoder: TableEncoder
) -> Size:
    """Choose terms, strength and (with ``two_sided="auto"``) mirrored features; with no folds they must be given."""
    mirrors = _mirrors(encoder)
    if settings.n_terms is not None and settings.l1 is not None:
        return Size(settings.n_terms, settings.l1, mirrors, Path(()))
    if folded is None:
        raise TypeError("the number of terms and the strength are chosen on folds")
    logs, codes, weights = folded.rows
    candidates = Candidates(
        [settings.n_terms] if settings.n_terms is not None else list(range(1, model.max_terms + 1)),
        [settings.l1] if settings.l1 is not None else None,
        range(model.max_terms + 1, model.max_terms + 1 + BEYOND) if settings.n_terms is None else (),
    )
    choices, best, interrupted = choose(
        logs,
        codes,
        weights,
        link,
        settings.penalty(0.0),
        candidates,
        folded.folds,
        feature_sets=_feature_sets(settings, encoder, logs),
        intercept=model.fit_intercept,
        n_threads=settings.n_threads,
        tell=_tell if model.verbose else None,
    )
    if interrupted:
        warnings.warn(
            f"The choice of terms and strength was interrupted; the best of the {len(choices)} candidates that were "
            "measured by then was taken, and path_ has no others.",
            UserWarning,
            stacklevel=4,
        )
    path = _path(choices, encoder, len(codes))
    if settings.mirrors_chosen:
        mirrors &= _names(path[best])
    return Size(choices[best].n_terms, choices[best].strength, mirrors, path, interrupted=interrupted)


def _tell(line: str) -> None:
    sys.stderr.write(f"{line}\n")


def choose_again(
    model: ECSELClassifier,
    settings: Settings,
    link: Link,
    folded: FoldedRows,
    encoder: TableEncoder,
    size: Size,
    options: FitOptions,
) -> Size:
    """Look again at a size that a sample has chosen, on (nearly) all rows: these carry weaker penalties, more terms."""
    if not size.path or size.interrupted:
        return size
    sets = _feature_sets(settings, encoder, folded.rows[0])
    narrow = sets[-1] if size.mirrors or len(sets) == 1 else sets[0]
    steps = Steps(
        most_terms=model.max_terms if settings.n_terms is None else size.n_terms,
        least_strength=SMALLEST_STRENGTH * max(c.l1 for c in size.path) if settings.l1 is None else size.l1,
        wide=sets[-1],
    )
    start = Step(size.n_terms, size.l1, narrow)
    choices, best = look_again(
        folded.rows,
        folded.folds[0],
        link,
        settings.penalty,
        start,
        steps,
        intercept=model.fit_intercept,
        options=options,
    )
    seen = _path(choices, encoder, int(np.count_nonzero(folded.folds[0][1])))
    mirrors = _mirrors(encoder) & _names(seen[best]) if settings.mirrors_chosen else size.mirrors
    chosen = choices[best]
    return Size(chosen.n_terms, chosen.strength, mirrors, Path((*size.path, *seen)), chosen.laws)


def _path(choices: Sequence[Choice], encoder: TableEncoder, n_rows: int) -> Path:
    names = encoder.feature_names
    return Path(
        Candidate(c.n_terms, c.strength, c.size, c.loss, c.loss_se, laws_to_equations(c.laws, names), n_rows)
        for c in choices
    )


def _mirrors(encoder: TableEncoder) -> frozenset[str]:
    return frozenset(feature.name for feature in encoder.features if feature.kind == "mirror")


def _names(candidate: Candidate) -> frozenset[str]:
    return frozenset(name for equation in candidate.equations for name in equation.names)


def _feature_sets(settings: Settings, encoder: TableEncoder, logs: NDArray[np.floating]) -> list[NDArray[np.bool_]]:
    """Return the features that may take part; where mirror images are chosen without them, and with the useful ones."""
    allowed = settings.limits.open(len(encoder.features))
    if not settings.mirrors_chosen:
        return [allowed]
    mirror = np.array([feature.kind == "mirror" for feature in encoder.features], dtype=bool)
    # Of two values the mirror image tells nothing new.
    middle = np.array([len(np.unique(u)) > 2 for u in logs], dtype=bool)
    plain, both = allowed & ~mirror, allowed & (~mirror | middle)
    return [plain] if np.array_equal(plain, both) else [plain, both]


def usable_folds(wished: int, codes: NDArray[np.integer], weights: NDArray[np.floating]) -> int:
    """Return the number of folds, no more than the rows of the rarest class; whole weights count as repetitions."""
    check_integer("cv", wished, least=2)
    totals = np.bincount(codes, weights=weights)
    rarest = totals[totals > 0].min() / min(1.0, float(weights[weights > 0].min()))
    return max(2, min(wished, int(rarest)))


def explicit_folds(cv: Any, y: NDArray[Any], kept: NDArray[np.intp], weights: NDArray[np.floating]) -> list[Fold]:
    """Return the folds of a splitter or of a list of splits over all rows, as weights of the rows that were kept."""
    splitter = check_cv(cv, y, classifier=True)
    folds = [
        (weights * np.isin(kept, train), weights * np.isin(kept, test))
        for train, test in splitter.split(np.empty((len(y), 1)), y)
    ]
    if not folds:
        raise ValueError("cv gives no splits: use a number of folds, a splitter or a list of (train, test) indices.")
    for i, (train, test) in enumerate(folds):
        if not (train.any() and test.any()):
            raise ValueError(f"cv: split {i} has no rows of positive weight for training or for validation.")
    return folds


def thin(rows: Rows, size: int, seed: int) -> tuple[Rows, NDArray[np.intp]]:
    """Keep about `size` rows, each class in proportion (a rare one as far as it goes) with its total weight kept."""
    logs, codes, weights = rows
    n = len(codes)
    if n <= size:
        return rows, np.arange(n)
    rng = np.random.default_rng(seed)
    chosen, factors = [], np.ones(n)
    for c in np.unique(codes):
        members = np.flatnonzero(codes == c)
        quota = min(len(members), max(round(size * len(members) / n), _FEWEST_OF_A_CLASS))
        chosen.append(rng.choice(members, quota, replace=False))
        factors[chosen[-1]] = weights[members].sum() / weights[chosen[-1]].sum()
    kept = np.sort(np.concatenate(chosen))
    return (logs[:, kept], codes[kept], weights[kept] * factors[kept]), kept
