"""Choosing the columns, the number of terms and the strength of the penalty by cross-validation.

For each training part a path is followed: strengths fall from the one that empties the model, terms grow from one to
`max_terms`, every fit starts from its neighbours on the path. The validation losses are averaged over the folds; the
path ends where they have clearly passed their best, and the smallest equation within min(one standard error, 0.2 % of
the loss) of the best is chosen. Several sets of features (with mirror images and without) are so many paths on the same
folds. Folds, and the path on all rows, are walked side by side on the threads.

Where the largest number of terms clearly wins, more may be better still: a few more are measured on the same folds
around the chosen strength, never chosen, so that a user can be told what they would bring. An interrupt ends the walks;
what was measured on all folds by then is chosen from.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ecsel.fitting.blocks import ArrayBlocks, Coordinates, one_blas_thread
from ecsel.fitting.fit import PowerLaws, class_shares, to_power_laws
from ecsel.fitting.in_step import in_step
from ecsel.fitting.newton import Outcome, Stop, minimise
from ecsel.fitting.problem import Problem
from ecsel.fitting.starts import first_starts, interrupted, pad_terms, seeds

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from ecsel.fitting.links import Link
    from ecsel.fitting.penalties import Penalty
    from ecsel.fitting.rows import Fold, Rows

Array = NDArray[np.floating]

N_STRENGTHS = 14
SMALLEST_STRENGTH = 1e-4
NEAR_BEST = 0.002
NEW_TERM_FALL = 1 - 1e-3
"""A term that lowers the objective by less than this pays too little: it is grown anew, and no further one is tried."""
PROMISING = 1.01
"""Features whose best loss with one term is within this factor of the best are walked with more terms."""
_NEARLY = Stop(tol=1e-4, kkt=np.inf, max_iter=25)
"""Nearly converged: an early stop would tell of a better model than the one that is fitted in the end."""


@dataclass(frozen=True, slots=True)
class Choice:
    """One point of the path: its size, its cross-validated loss with standard error, and its laws on all rows.

    The laws speak of all features, whichever took part.
    """

    n_terms: int
    strength: float
    size: int
    loss: float
    loss_se: float
    laws: PowerLaws


@dataclass(frozen=True, slots=True)
class Candidates:
    """What to choose from: numbers of terms, and strengths (falling); `None` means a path of strengths.

    `beyond` numbers of terms are measured for comparison where the last of `n_terms` clearly wins.
    """

    n_terms: Sequence[int]
    strengths: Sequence[float] | None
    beyond: Sequence[int] = ()


class Selection(NamedTuple):
    """All candidates, the position of the chosen one, and whether an interrupt kept others from being measured."""

    choices: list[Choice]
    best: int
    interrupted: bool


def choose(
    log_features: Array,
    codes: NDArray[np.integer],
    weights: Array,
    link: Link,
    penalty: Penalty,
    candidates: Candidates,
    folds: Sequence[Fold],
    *,
    feature_sets: Sequence[NDArray[np.bool_]] = (),
    intercept: bool = True,
    n_threads: int = 1,
    tell: Callable[[str], object] | None = None,
) -> Selection:
    """Return all candidates and the position of the chosen one.

    `feature_sets` are masks of the features that take part; none means one path with all of them. More than one term is
    only tried with the sets that promise something with one. An interrupt before anything was measured is raised.
    """
    sets = list(feature_sets) or [np.ones(len(log_features), dtype=bool)]
    begun: list[_Walk] = []

    def walk(position: int, terms: Sequence[int], strengths: Sequence[float] | None) -> _Walk:
        mask = sets[position]
        rows, several = (log_features[mask], codes, weights), Candidates(terms, strengths)
        path = _Walk(position, [])
        begun.append(path)
        for row in _choices(rows, link, penalty.of_features(mask), several, folds, intercept, n_threads):
            path.choices.extend(over_all_features(choice, mask) for choice in row)
            if tell is not None:
                tell(_told(position, row, begun))
        return path

    most = candidates.n_terms[-1]
    with one_blas_thread():
        try:
            paths = _walk_sets(walk, len(sets), candidates)
            choices = [choice for path in paths for choice in path.choices]
            best = _smallest_near_the_best(choices)
            if candidates.beyond and choices[best].n_terms == most and _last_term_pays(choices, most):
                home = next(path for path in paths if any(choice is choices[best] for choice in path.choices))
                choices += walk(home.position, candidates.beyond, _around(choices[best], home.choices)).choices
        except KeyboardInterrupt:
            choices = [choice for choice in _measured_once(begun) if choice.n_terms <= most]
            if not choices:
                raise
            return Selection(choices, _smallest_near_the_best(choices), interrupted=True)
    return Selection(choices, best, interrupted=False)


class _Walk(NamedTuple):
    """What is measured along the path of one set of features."""

    position: int
    choices: list[Choice]

    @property
    def lowest(self) -> float:
        return min(choice.loss for choice in self.choices)


def _walk_sets(
    walk: Callable[[int, Sequence[int], Sequence[float] | None], _Walk], n_sets: int, candidates: Candidates
) -> list[_Walk]:
    """Walk the path of every set of features, with more than one term where one promises something."""
    terms, strengths = candidates.n_terms, candidates.strengths
    if n_sets == 1 or len(terms) == 1 or terms[0] != 1:
        return [walk(position, terms, strengths) for position in range(n_sets)]
    paths = [walk(position, [1], strengths) for position in range(n_sets)]
    limit = PROMISING * min(path.lowest for path in paths)
    return [walk(path.position, terms, strengths) if path.lowest <= limit else path for path in paths]


def _measured_once(paths: Sequence[_Walk]) -> list[Choice]:
    """Return what was measured; a path that was walked with more terms has the candidates of the first walk again."""
    return list({(path.position, c.n_terms, c.strength): c for path in paths for c in path.choices}.values())


def _told(position: int, row: Sequence[Choice], paths: Sequence[_Walk]) -> str:
    lowest = min(path.lowest for path in paths)
    terms = f"{row[0].n_terms} to {row[-1].n_terms} terms" if len(row) > 1 else f"{row[0].n_terms} terms"
    where = f"set of features {position + 1}, {terms}, l1 {row[0].strength:.2e}"
    return f"choosing: {where}; lowest loss so far {lowest:.6f}"


def _smallest_near_the_best(choices: Sequence[Choice]) -> int:
    best = min(choices, key=lambda choice: choice.loss)
    limit = best.loss + min(best.loss_se, NEAR_BEST * best.loss)
    near = [i for i, choice in enumerate(choices) if choice.loss <= limit]
    return min(near, key=lambda i: (choices[i].size, choices[i].n_terms, choices[i].loss))


def _around(chosen: Choice, walked: Sequence[Choice]) -> list[float]:
    """Return the chosen strength after the next stronger one, and all weaker ones where it empties the model."""
    strengths = sorted({choice.strength for choice in walked}, reverse=True)
    at = strengths.index(chosen.strength)
    return strengths[max(at - 1, 0) : at + 1 if chosen.size else None]


def _last_term_pays(choices: Sequence[Choice], most: int) -> bool:
    """Whether the largest number of terms is clearly better than all fewer ones."""
    with_all, with_fewer = (
        min((c.loss for c in choices if (c.n_terms == most) is all_), default=np.inf) for all_ in (True, False)
    )
    return bool(with_all < (1 - NEAR_BEST) * with_fewer)


def _choices(
    rows: Rows,
    link: Link,
    penalty: Penalty,
    candidates: Candidates,
    folds: Sequence[Fold],
    intercept: bool,
    n_threads: int,
) -> Iterator[list[Choice]]:
    """Yield the path of one set of features, strength by strength, until the best is well behind."""
    log_features, codes, _ = rows
    whole = pose(*rows, link, penalty, intercept=intercept)
    strengths = list(candidates.strengths or path_strengths(*whole).tolist())
    share = np.array([validation.sum() for _, validation in folds])
    share /= share.sum()
    walks: list[Iterator[Any]] = [walk_path(*whole, strengths, candidates)]
    walks += (_validation_losses(log_features, codes, whole[0], strengths, candidates, fold) for fold in folds)
    means: list[Array] = []
    errors: list[Array] = []
    for strength, (laws, *losses) in zip(strengths, in_step(walks, n_threads), strict=True):
        means.append(share @ np.stack(losses))
        errors.append(np.sqrt(share @ (np.stack(losses) - means[-1]) ** 2 / max(len(share) - 1, 1)))
        yield [
            Choice(k, strength, size_of(law), float(mean), float(error), law)
            for k, law, mean, error in zip(candidates.n_terms, laws, means[-1], errors[-1], strict=True)
        ]
        if _well_behind(np.stack(means), np.stack(errors)):
            break


def size_of(laws: PowerLaws) -> int:
    """Return the number of exponents that are not zero."""
    return int(np.count_nonzero(laws.exponents))


def over_all_features(choice: Choice, mask: NDArray[np.bool_]) -> Choice:
    """Return the choice with exponents of zero for the features that took no part."""
    exponents = np.zeros((*choice.laws.exponents.shape[:2], len(mask)))
    exponents[:, :, mask] = choice.laws.exponents
    return replace(choice, laws=replace(choice.laws, exponents=exponents))


def _well_behind(means: Array, errors: Array) -> bool:
    """Whether two strengths in a row are worse than the best by more than its standard error, for all numbers of terms.

    Weaker penalties would cost most and only overfit further.
    """
    best = np.unravel_index(int(means.argmin()), means.shape)
    return len(means) > 2 and bool((means[-2:] > means[best] + errors[best]).all())


def pose(
    log_features: Array, codes: NDArray[np.integer], weights: Array, link: Link, penalty: Penalty, *, intercept: bool
) -> tuple[Problem, Coordinates, Array]:
    """Return the problem of one term a score, its coordinates and the shares of the classes."""
    centred = Coordinates.of(log_features, weights)
    blocks = ArrayBlocks.standardised(log_features, codes, weights, centred)
    return Problem(blocks, link, penalty, 1, intercept, centred.spread), centred, class_shares(codes, weights, link)


def path_strengths(problem: Problem, centred: Coordinates, shares: Array) -> Array:
    """Return strengths that fall from the smallest one with an empty model."""
    del centred
    theta = problem.empty(shares)
    if not problem.form.has_intercept:
        problem.unpack(theta)[1][...] = 1.0
    slopes = problem.downhill(problem.value_and_gradient(theta)[1])  # what may not move needs no penalty to stay
    unit = replace(problem.penalty, strength=1.0).slope_weights(problem.spread)  # type: ignore[type-var]
    top = float(np.max(np.abs(slopes) / unit, initial=1e-6)) or 1e-6
    top *= 1 + 1e-6  # at the very threshold rounding decides
    return np.geomspace(top, SMALLEST_STRENGTH * top, N_STRENGTHS)


def walk_path(
    problem: Problem,
    centred: Coordinates,
    shares: Array,
    strengths: Sequence[float],
    candidates: Candidates,
) -> Iterator[list[PowerLaws]]:
    """Yield, strength by strength, the laws of each number of terms."""
    warm: dict[int, Array] = {}
    for strength in strengths:
        penalty = replace(problem.penalty, strength=float(strength))  # type: ignore[type-var]
        row = []
        best: Outcome | None = None
        pays = True
        for k in range(1, max(candidates.n_terms) + 1):
            wide = replace(problem, penalty=penalty, n_terms=k)
            if best is not None and not pays:
                best = pad_terms(best, wide, k - 1)
            else:
                fewer = best
                best = _best_of(wide, warm, fewer, shares)
                pays = fewer is None or best.objective < NEW_TERM_FALL * fewer.objective
            warm[k] = best.theta
            if k in candidates.n_terms:
                row.append(to_power_laws(wide, warm[k], centred))
        yield row


def _best_of(wide: Problem, warm: dict[int, Array], fewer: Outcome | None, shares: Array) -> Outcome:
    """Continue from the stronger penalty's optimum; without one, or if its last term does not pay, grow from fewer."""
    runs = [minimise(wide, warm[wide.n_terms], _NEARLY)] if wide.n_terms in warm else []
    if fewer is None:
        starts = [] if runs else first_starts(wide, shares)
    else:
        done = any(wide.all_alive(r.theta) and r.objective < NEW_TERM_FALL * fewer.objective for r in runs)
        starts = [] if done else seeds(fewer.theta, wide)
    runs += [minimise(wide, start, _NEARLY) for start in starts]
    if interrupted(runs):
        raise KeyboardInterrupt
    return min(runs, key=lambda run: run.objective)


def _validation_losses(
    log_features: Array,
    codes: NDArray[np.integer],
    template: Problem,
    strengths: Sequence[float],
    candidates: Candidates,
    fold: Fold,
) -> Iterator[Array]:
    """Yield, strength by strength, the loss of each number of terms on the rows that a fold holds out."""
    train, test = (np.flatnonzero(w) for w in fold)
    part = pose(
        log_features[:, train],
        codes[train],
        fold[0][train],
        template.link,
        template.penalty,
        intercept=template.intercept,
    )
    u, target = log_features[:, test], template.link.encode(codes[test], np.float64)
    w = fold[1][test] / fold[1][test].sum()
    for row in walk_path(*part, strengths, candidates):
        yield np.array([template.link.loss(score_laws(laws, u), target, w) for laws in row])


def score_laws(laws: PowerLaws, u: Array) -> Array:
    """Return z = intercept + Σ α exp(⟨β, u⟩), (scores, rows)."""
    exponents = np.clip(np.tensordot(laws.exponents, u, axes=1), -700, 700)
    scores: Array = laws.intercepts[:, None] + np.matmul(laws.coefficients[:, None, :], np.exp(exponents))[:, 0, :]
    return scores
