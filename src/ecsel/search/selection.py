"""How many pieces: every fold repeats the whole search, and the held-out rows decide.

A candidate is a family, a number of pieces and a ridge. Each fold walks each family on its own training rows and scores
every candidate on the rows that it held out, so the loss of a size counts what choosing the pieces costs. What folds
measure is the *optimism*, the held-out loss less the loss on the rows of training (Efron, The estimation of prediction
error, JASA 2004). It grows gently with the size, and what it does from one size to the next is luck of the folds. So it
is smoothed along each path, by a line fitted around each size with Gaussian weights, and the expected loss of a
candidate is

    its loss on all rows + φ · the smoothed optimism.

Optimism counts nats a row here, in units of the dispersion φ: 1 for likelihoods, a noise variance for squared errors.
It is log(1 + 2 · nats) that is smoothed, which is nearly the same where it is small, and for squared errors the
logarithm of the ratio of both variances: a fit that is nearly perfect may have a large one. A sharp bend of the path
stays where it is, since it is one of the loss on all rows. Other folds choose other sizes less often: on 40 tuning
tables 80 % of the pieces stay the same instead of 70 %, and the loss does not rise.

Where most folds end their walk at a smaller size, the line is drawn on from the sizes that they reach.

The choice is the candidate with the least

    expected loss + price · the best expected loss · factors of a score,

so every further factor must lower the expected loss by a share, the price. Simple forms read better and hold still, so
others need `EVIDENCE`: where curves and products lower the loss by less, only sums of columns as they are stand for
choice, and likewise sums of single columns where products do. The equation itself comes from the walk on all rows.
"""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ecsel.search.batch_path import BatchWalk
from ecsel.search.losses import PRECISION
from ecsel.search.path import Family, Found, SizeConstraints, Training, Walk, refit

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from ecsel._typing import Floats, Places
    from ecsel.search.losses import Loss

RIDGES = (0.0003, 0.03, 0.3, 3.0, 12.0)
"""Ridges of the last fits, in units of a standardised piece's observations; 40 brings nothing."""
SEPARATED = 0.003
"""The smallest ridge is for sets that separate the classes: with a loss of so many nats a row at most, on rows of
training and on those held out, under the next ridge; a loss below zero is not one of classes. Elsewhere a ridge below
0.03 costs 0.4 % of log-loss on 40 tuning tables."""
RIDGES_OF_MANY_ROWS, MANY_ROWS = (1, 2, 4), 3000
"""The positions of the others that are tried where there are more rows than this, which ridges hardly move."""
RIDGES_OF_MANY_SCORES, MANY_SCORES = (2, 4), 4
"""The same where there are more scores than this: their fits are dear, and their pieces come in batches."""
BANDWIDTH = 5.0
"""Factors over which optimism is smoothed: of 3, 5 and 8 the lowest loss and the most stable choice on these tables."""
MIN_OPTIMISM = -0.45
"""Nats a row: a held-out loss that is lower than that of training by more is luck, and has no logarithm."""
FACTOR_PRICE = 0.005
"""The share of the best expected loss that each factor of a score must save."""
MIN_COST, MAX_COST, COST_NATS = 0.01, 0.03, 16.0
"""What all saved factors together may cost: 1 % of the loss, and up to 3 % where that is no more than so many nats of
all rows. Many small effects of a large table, which are well supported, are not given up one by one. Beside the fewest
factors within 1 % of the best, this and the price cost 0.1 % of loss on 60 tuning tables, and spare one factor of the
longest tenth of the equations."""
NEAR = 0.01
"""The share of the best expected loss within which a candidate can be a tie."""
STRAIGHT, NONLINEAR, PRODUCTS = range(3)
"""The form of a candidate: columns as they are, some function of a single column, a product of two."""
EVIDENCE, MAX_SHARE = 5.0, 0.03
"""Nats, over all rows together, by which a less simple form must lower the expected loss to be taken, and the share of
the loss beyond which it needs no more. Five nats are odds of 150 to 1. With the family of straight columns this lowers
the loss by 0.8 % on 60 tuning tables (1.1 % on 36 small ones, 0.2 % on 24 draws from large ones), and 79 % instead of
77 % of the pieces stay the same under other folds. A share of 0.15 brings 2.1 % and 82 % on the small ones, and costs
0.6 % on the others."""
CACHED = 1 << 15
"""Scores whose losses are computed at once."""
RESOLUTION = PRECISION**2
"""Losses that differ by less than this share of the largest differ by rounding: perfect fits of squared errors."""


class Key(NamedTuple):
    """A candidate: the position of its family, its number of pieces, the position of its ridge."""

    family: int
    size: int
    ridge: int


@dataclass(frozen=True, eq=False)
class Walked:
    """The sets of every family and size on some rows, under every ridge."""

    training: Training
    found: dict[Key, Found]
    sizes: tuple[tuple[int, ...], ...]
    """The sizes that each family has reached, from 0."""

    def nearest(self, key: Key) -> Found:
        """Return a candidate, or the next smaller one of its family where it has none of that size.

        Rows that a set does not separate have it under the next ridge.
        """
        sizes = self.sizes[key.family]
        size = sizes[bisect_right(sizes, key.size) - 1]
        found = self.found.get(Key(key.family, size, key.ridge))
        return self.found[Key(key.family, size, key.ridge + 1)] if found is None else found


def walk_all(
    training: Training,
    families: Sequence[Family],
    constraints: SizeConstraints,
    stopped: Callable[[], bool] = lambda: False,
) -> Walked:
    """Walk every family and refit every size under every ridge."""
    found: dict[Key, Found] = {}
    sizes = []
    many_scores = training.loss.n_scores > MANY_SCORES
    ridges: Sequence[int] = range(1, len(RIDGES))
    if many_scores:
        ridges = RIDGES_OF_MANY_SCORES
    elif np.count_nonzero(training.weights) > MANY_ROWS:
        ridges = RIDGES_OF_MANY_ROWS
    # a batch cannot keep the signs of coefficients: it would have to take back those that turn
    walk = BatchWalk if many_scores and training.signs is None else Walk
    for f, family in enumerate(families):
        path = walk(training, family, constraints, stopped).run()
        sizes.append(tuple(map(len, path)))
        for each in path:
            dispersion = training.dispersion(each)
            # without folds nothing can tell ridges apart: that of the walk will do, and nobody waits for the others
            nearest = min(ridges, key=lambda r: abs(np.log(RIDGES[r] / family.ridge)))
            wanted = [nearest] if stopped() else list(ridges)
            if RIDGES[nearest] == family.ridge and dispersion == each.dispersion:
                found[Key(f, len(each), nearest)] = each
                wanted.remove(nearest)
            if wanted:
                others = refit(training, each, [RIDGES[r] for r in wanted], dispersion)
                found |= {Key(f, len(each), r): other for r, other in zip(wanted, others, strict=True)}
            least = found.get(Key(f, len(each), 1))
            if least is not None and 0.0 <= least.fitted.loss < SEPARATED * training.weights.sum():
                found[Key(f, len(each), 0)] = refit(training, least, RIDGES[:1], dispersion)[0]
    return Walked(training, found, tuple(sizes))


@dataclass(frozen=True, eq=False)
class HeldOut:
    """Rows that a fold holds out: which they are, their targets and weights."""

    loss: Loss
    rows: Places
    target: Floats
    weights: Floats

    def scores(self, found: Found) -> Floats:
        """Return the scores (scores × rows) of these rows by a set that was fitted without them."""
        return np.asarray(found.fitted.scores[:, self.rows])

    def losses_of(self, every: Sequence[Found]) -> Floats:
        """Return the loss of these rows by each set, added up."""
        n, losses = len(self.rows), np.empty(len(every))
        at_once = max(1, CACHED // (n * self.loss.n_scores))
        for first in range(0, len(every), at_once):
            some = every[first : first + at_once]
            scores = np.concatenate([self.scores(found) for found in some], axis=1)
            values = self.loss.values(scores, np.tile(self.target, len(some)))
            losses[first : first + at_once] = values.reshape(len(some), n) @ self.weights
        return losses


@dataclass(frozen=True, eq=False)
class Validated:
    """A candidate and what the folds say of it.

    Attributes
    ----------
    key
        The candidate.
    losses
        The loss of each fold, added up over the rows that it held out.
    expected
        The loss of a new row, expected: of training, plus smoothed optimism.
    n_factors, form
        Its number of factors, and `STRAIGHT`, `NONLINEAR` or `PRODUCTS`.
    dispersion
        The loss that is worth a nat.
    """

    key: Key
    losses: Floats
    expected: float
    n_factors: int
    form: int = PRODUCTS
    dispersion: float = 1.0


@dataclass(frozen=True, eq=False)
class Choice:
    """The chosen candidate among all, with mean losses and their standard errors."""

    validated: list[Validated]
    weights: Floats
    best: int
    chosen: int
    near: tuple[int, ...]

    def loss(self, i: int) -> float:
        """Return the mean held-out loss of a candidate."""
        return float(self.validated[i].losses.sum() / self.weights.sum())

    def standard_error(self, i: int) -> float:
        """Return the standard error of the mean over the folds."""
        return _standard_error(self.validated[i].losses, self.weights)

    def is_tie(self, i: int) -> bool:
        """Whether the folds cannot tell a candidate from the chosen one, by one standard error of the difference."""
        difference = self.validated[i].losses - self.validated[self.chosen].losses
        mean = abs(float(difference.sum() / self.weights.sum()))
        return i in self.near and mean <= _standard_error(difference, self.weights)


def _standard_error(losses: Floats, weights: Floats) -> float:
    if len(losses) < 2:
        return 0.0
    per_row = losses / weights
    share = weights / weights.sum()
    mean = float(share @ per_row)
    return float(np.sqrt(share @ (per_row - mean) ** 2 / (len(losses) - 1)))


def choose(validated: list[Validated], weights: Floats, price: float = FACTOR_PRICE) -> Choice:
    """Apply the rule; `weights` are those of the rows that each fold held out.

    Without a price the lowest expected loss is taken, whatever its form.
    """
    expected = np.array([each.expected for each in validated])
    n_factors = np.array([each.n_factors for each in validated])
    lowest = int(np.argmin(expected))
    nats = EVIDENCE * validated[lowest].dispersion / weights.sum()
    bound = min(nats, MAX_SHARE * abs(expected[lowest])) if price else 0.0
    for form in sorted({each.form for each in validated}):
        pool = np.array([i for i, each in enumerate(validated) if each.form <= form])
        best = int(pool[np.argmin(expected[pool])])
        if expected[best] - expected[lowest] <= bound:
            break
    floor = RESOLUTION * np.abs(expected).max()
    nats = COST_NATS * validated[best].dispersion / weights.sum()
    chosen = int(pool[cheapest(expected[pool], n_factors[pool], price, floor, nats)])
    near = (expected[pool] - expected[best] <= max(floor, NEAR * abs(expected[best]))) | (pool == chosen)
    return Choice(validated, weights, best, chosen, tuple(pool[near].tolist()))


def cheapest(losses: Floats, n_factors: Places, price: float, floor: float, nats: float) -> int:
    """Return the place of the least loss + price · the least loss · factors; losses below the floor are the same.

    `nats` is the loss that `COST_NATS` are worth; losses that lie above the least by more than factors may cost do not
    stand for choice.

    >>> losses = np.array([0.70, 0.50, 0.494, 0.493])
    >>> cheapest(losses, np.array([0, 3, 4, 9]), 0.005, 0.0, 0.01)
    2
    """
    least = float(losses.min())
    costs = np.maximum(losses, least + floor) + price * max(abs(least), floor) * n_factors
    most = max(floor, MIN_COST * abs(least), min(MAX_COST * abs(least), nats))
    allowed = np.flatnonzero(losses <= least + most)
    return min(allowed.tolist(), key=lambda i: (costs[i], n_factors[i], losses[i]))


def _form(training: Training, found: Found) -> int:
    atoms, places = training.atoms, list(found.atoms)
    if (atoms.n_factors[places] > 1).any():
        return PRODUCTS
    return STRAIGHT if atoms.straight[places].all() else NONLINEAR


def smoothed(sizes: Floats, values: Floats, at: Floats) -> Floats:
    """Return at some sizes the value of a line that is fitted to those around, over `BANDWIDTH` factors.

    A line stays as it is:

    >>> smoothed(np.arange(4.0), np.array([0.0, 1.0, 2.0, 3.0]), np.array([1.0, 5.0])).round(9).tolist()
    [1.0, 5.0]
    """
    distance = sizes[None, :] - at[:, None]
    near = np.exp(-0.5 * (distance / BANDWIDTH) ** 2) + 1e-12
    s0, s1, s2 = near.sum(axis=1), (near * distance).sum(axis=1), (near * distance**2).sum(axis=1)
    level, slope = near @ values, (near * distance) @ values
    determinant = s0 * s2 - s1**2
    with np.errstate(invalid="ignore", divide="ignore"):
        line = (s2 * level - s1 * slope) / determinant
    return np.asarray(np.where(determinant > 1e-9 * s0 * s2, line, level / s0))


def validate(walked: Walked, folds: Sequence[tuple[Walked, HeldOut]]) -> tuple[list[Validated], Floats]:
    """Return every candidate with its held-out and its expected loss, and the weight of each fold."""
    weights = np.array([unseen.weights.sum() for _, unseen in folds])
    keys = list(walked.found)
    losses, above = np.empty((2, len(keys), len(folds)))  # held out, added up; how many nats these are above training
    for f, (inner, unseen) in enumerate(folds):
        nearest = [inner.nearest(key) for key in keys]
        every = {found: i for i, found in enumerate(dict.fromkeys(nearest))}
        which = [every[found] for found in nearest]
        share = weights[f] / inner.training.weights.sum()
        losses[:, f] = unseen.losses_of(list(every))[which]
        above[:, f] = [
            loss / found.dispersion - share * found.fitted.loss
            for loss, found in zip(losses[:, f].tolist(), nearest, strict=True)
        ]
    measured = dict(zip(keys, losses, strict=True))
    optimisms = dict(zip(keys, (above.sum(axis=1) / weights.sum()).tolist(), strict=True))
    training = walked.training
    paths: dict[tuple[int, int], list[Key]] = {}
    for key in walked.found:
        if key.ridge:
            paths.setdefault((key.family, key.ridge), []).append(key)
    expected: dict[Key, float] = {}
    n_factors = {key: training.atoms.count_factors(found.atoms) for key, found in walked.found.items()}
    for path in paths.values():
        reached = np.median([inner.sizes[path[0].family][-1] for inner, _ in folds])
        optimism = np.array([optimisms[key] for key in path])
        sizes = np.array([n_factors[key] for key in path], dtype=np.float64)
        known = np.array([key.size <= reached for key in path])
        logs = np.log1p(2 * np.maximum(optimism[known], MIN_OPTIMISM))
        smooth = np.expm1(smoothed(sizes[known], logs, sizes)) / 2
        for key, more in zip(path, smooth.tolist(), strict=True):
            found = walked.found[key]
            expected[key] = found.dispersion * (found.fitted.loss / training.weights.sum() + more)
    held_out = {key: float(own.sum() / weights.sum()) for key, own in measured.items()}
    for key in keys:
        if not key.ridge and 0.0 <= held_out[key._replace(ridge=1)] < SEPARATED:
            expected[key] = held_out[key]  # too few sizes for a line
    validated = [
        Validated(key, measured[key], expected[key], n_factors[key], _form(training, found), found.dispersion)
        for key, found in walked.found.items()
        if key in expected
    ]
    return validated, weights


def by_code_length(walked: Walked) -> list[Validated]:
    """Return every candidate with its code length in place of held-out losses, where there was no time for folds.

    It is Σ w ℓ/φ + Σ cost in nats; squared errors are counted in the least noise variance φ of all candidates, since in
    its own every set has the same loss. The smallest ridge does not stand for choice: only held-out rows can ask for
    it.
    """
    training = walked.training
    loss, target, weights = training.loss, training.target, training.weights
    noise = min(map(training.dispersion, walked.found.values()))
    validated = []
    for key, found in walked.found.items():
        if not key.ridge:
            continue
        price = float(training.atoms.costs[list(found.atoms)].sum())
        total = float(weights @ loss.values(found.fitted.scores, target)) / noise + price
        n_factors = training.atoms.count_factors(found.atoms)
        validated.append(Validated(key, np.array([total]), total / weights.sum(), n_factors, _form(training, found)))
    return validated
