"""How many pieces: every fold repeats the whole search, and the held-out rows decide.

A candidate is a family, a number of pieces and a ridge. Each fold walks each family on its own training rows and scores
every candidate on the rows that it held out, so the loss of a size counts what choosing the pieces costs. Along a path
the loss of a size is the middle one of its own and its two neighbours', because a single size may be lucky. The choice
is the candidate with the fewest factors whose loss is within

    min(one paired standard error, `tolerance` of the best loss)

of the best one; of equally large ones the lower loss. Where products of two columns lower the loss by less than
`PRODUCTS_EARN`, only sums of single columns stand for choice: they read better. The equation itself comes from the walk
on all rows.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ecsel.search.batch_path import BatchWalk
from ecsel.search.losses import PRECISION
from ecsel.search.path import Family, Found, Limits, Training, Walk, refit

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from ecsel.search.losses import Loss
    from ecsel.search.typing import Floats, Places

RIDGES = (0.002, 0.03, 0.3, 3.0, 12.0)
"""Ridges of the last fits, in units of a standardised piece's observations."""
RIDGES_OF_MANY_ROWS, MANY_ROWS = (0, 2, 4), 3000
"""The positions of those that are tried where there are more rows than this, which ridges hardly move."""
RIDGES_OF_MANY_SCORES, MANY_SCORES = (2, 4), 4
"""The same where there are more scores than this: their fits are dear, and their pieces come in batches."""
TOLERANCE = 0.005
"""The share of the best loss that fewer factors may cost; chosen on 19 tuning tables."""
PRODUCTS_EARN = 0.02
"""Products of two columns must lower the best loss by this share, else a sum of single columns, which reads better, is
taken; it costs nothing on 37 tuning tables."""
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
        """Return a candidate, or the next smaller one of its family where it has none of that size."""
        sizes = [size for size in self.sizes[key.family] if size <= key.size]
        return self.found[key._replace(size=sizes[-1])]


def walk_all(
    training: Training,
    families: Sequence[Family],
    limits: Limits,
    stopped: Callable[[], bool] = lambda: False,
) -> Walked:
    """Walk every family and refit every size under every ridge."""
    found: dict[Key, Found] = {}
    sizes = []
    many_scores = training.loss.n_scores > MANY_SCORES
    ridges: Sequence[int] = range(len(RIDGES))
    if many_scores:
        ridges = RIDGES_OF_MANY_SCORES
    elif np.count_nonzero(training.weights) > MANY_ROWS:
        ridges = RIDGES_OF_MANY_ROWS
    # a batch cannot keep the signs of coefficients: it would have to take back those that turn
    walk = BatchWalk if many_scores and training.signs is None else Walk
    for f, family in enumerate(families):
        path = walk(training, family, limits, stopped).run()
        sizes.append(tuple(map(len, path)))
        for each in path:
            dispersion = training.loss.dispersion(each.fitted.scores, training.target, training.weights, len(each) + 1)
            for r in ridges:
                found[Key(f, len(each), r)] = refit(training, each, RIDGES[r], dispersion)
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

    def loss_of(self, found: Found) -> float:
        """Return the loss of these rows, added up."""
        return float(self.weights @ self.loss.values(self.scores(found), self.target))


@dataclass(frozen=True, eq=False)
class Judged:
    """A candidate: the loss of each fold (sums over held-out rows), its number of factors, whether it has products."""

    key: Key
    losses: Floats
    n_factors: int
    has_products: bool = False


@dataclass(frozen=True, eq=False)
class Choice:
    """The chosen candidate among all, with mean losses and their standard errors."""

    judged: list[Judged]
    weights: Floats
    best: int
    chosen: int
    near: tuple[int, ...]

    def loss(self, i: int) -> float:
        """Return the mean held-out loss of a candidate."""
        return float(self.judged[i].losses.sum() / self.weights.sum())

    def standard_error(self, i: int) -> float:
        """Return the standard error of the mean over the folds."""
        return _standard_error(self.judged[i].losses, self.weights)


def _standard_error(losses: Floats, weights: Floats) -> float:
    if len(losses) < 2:
        return 0.0
    per_row = losses / weights
    share = weights / weights.sum()
    mean = float(share @ per_row)
    return float(np.sqrt(share @ (per_row - mean) ** 2 / (len(losses) - 1)))


def choose(judged: list[Judged], weights: Floats, tolerance: float = TOLERANCE) -> Choice:
    """Apply the rule."""
    smooth = _smoothed(judged)
    totals = smooth.sum(axis=1)
    best = int(np.argmin(totals))
    plain = [i for i, each in enumerate(judged) if not each.has_products]
    if plain and judged[best].has_products:
        best_sum = min(plain, key=lambda i: totals[i])
        if totals[best_sum] - totals[best] <= PRODUCTS_EARN * abs(totals[best]):
            best = best_sum
    limit = tolerance * abs(totals[best]) / weights.sum()
    floor = RESOLUTION * abs(totals).max() / weights.sum()
    near = []
    for i in plain if best in plain else range(len(judged)):
        excess = (totals[i] - totals[best]) / weights.sum()
        allowed = max(floor, min(limit, _standard_error(smooth[i] - smooth[best], weights)))
        if excess <= allowed:
            near.append(i)
    chosen = min(near, key=lambda i: (judged[i].n_factors, totals[i]))
    return Choice(judged, weights, best, chosen, tuple(near))


def _smoothed(judged: list[Judged]) -> Floats:
    """Return the losses (candidates, folds): of each and the neighbouring sizes of its path those of the middle one.

    The middle one of three does not let a lucky size win, and leaves a sharp bend of the path where it is.
    """
    place = {each.key: i for i, each in enumerate(judged)}
    losses = np.array([each.losses for each in judged])
    smooth = losses.copy()
    for key, i in place.items():
        around = [place[near] for step in (-1, 0, 1) if (near := key._replace(size=key.size + step)) in place]
        if len(around) == 3:
            smooth[i] = losses[around[int(np.argsort(losses[around].sum(axis=1), kind="stable")[1])]]
        elif key.size > 0:
            smooth[i] = losses[around].mean(axis=0)
    return smooth


def judge(walked: Walked, folds: Sequence[tuple[Walked, HeldOut]]) -> tuple[list[Judged], Floats]:
    """Return every candidate with its held-out losses, and the weight of each fold."""
    weights = np.array([held.weights.sum() for _, held in folds])
    judged = []
    cache: dict[tuple[int, int], float] = {}
    for key, found in walked.found.items():
        losses = []
        for f, (inner, held) in enumerate(folds):
            there = inner.nearest(key)
            known = (f, id(there))
            if known not in cache:
                cache[known] = held.loss_of(there)
            losses.append(cache[known])
        n_factors = walked.training.atoms.count_factors(found.atoms)
        judged.append(Judged(key, np.array(losses), n_factors, n_factors > len(found)))
    return judged, weights


def by_code_length(walked: Walked) -> list[Judged]:
    """Return every candidate with its code length in place of held-out losses, where there was no time for folds.

    It is Σ w ℓ/φ + Σ cost in nats; squared errors are counted in the least noise variance φ of all candidates, since in
    its own every set has the same loss.
    """
    training = walked.training
    loss, target, weights = training.loss, training.target, training.weights
    noise = min(
        loss.dispersion(found.fitted.scores, target, weights, len(found) + 1) for found in walked.found.values()
    )
    judged = []
    for key, found in walked.found.items():
        price = float(training.atoms.costs[list(found.atoms)].sum())
        total = float(weights @ loss.values(found.fitted.scores, target)) / noise + price
        n_factors = training.atoms.count_factors(found.atoms)
        judged.append(Judged(key, np.array([total]), n_factors, n_factors > len(found)))
    return judged
