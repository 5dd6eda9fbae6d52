"""A second look, on all rows, at a size that was chosen on folds of a sample.

The more rows there are, the weaker a penalty and the more terms they carry. From what the sample chose, one step after
the other is taken: a weaker penalty, alone or with one more term or with mirror images. Each candidate is fitted as the
final model will be, to a training part of all rows, and judged on the part that was held out; the step that lowers the
loss most is taken as long as it lowers it by more than `PAYS`.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from ecsel.fitting.fit import fit_scores
from ecsel.fitting.report import Status
from ecsel.fitting.selection import Choice, over_all_features, score_laws, size_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from numpy.typing import NDArray

    from ecsel.fitting.fit import FitOptions
    from ecsel.fitting.links import Link
    from ecsel.fitting.penalties import Penalty
    from ecsel.fitting.rows import Fold, Rows

WEAKER = 0.25
PAYS = 5e-4
"""A step must lower the held-out loss by this share."""


@dataclass(frozen=True, slots=True)
class Step:
    """A candidate: terms, strength and the features that may take part."""

    n_terms: int
    strength: float
    features: NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class Steps:
    """How far steps may go: most terms, the least strength, and the widest set of features."""

    most_terms: int
    least_strength: float
    wide: NDArray[np.bool_]

    def after(self, step: Step) -> Iterator[Step]:
        """Yield the steps that may follow."""
        weaker = replace(step, strength=max(WEAKER * step.strength, min(step.strength, self.least_strength)))
        if weaker.strength < step.strength:
            yield weaker
        if step.n_terms < self.most_terms:
            yield replace(weaker, n_terms=step.n_terms + 1)
        if not np.array_equal(step.features, self.wide):
            yield replace(weaker, features=self.wide)


def look_again(
    rows: Rows,
    fold: Fold,
    link: Link,
    penalty: Callable[[float], Penalty],
    start: Step,
    steps: Steps,
    *,
    intercept: bool,
    options: FitOptions,
) -> tuple[list[Choice], int]:
    """Return all candidates that were judged and the position of the chosen one; an interrupt keeps the best so far."""
    u, codes, _ = rows
    train, test = (np.flatnonzero(part) for part in fold)
    target, w = link.encode(codes[test], np.float64), fold[1][test] / fold[1][test].sum()

    def judged(step: Step) -> tuple[Choice, bool]:
        kept = step.features
        result = fit_scores(
            u[kept][:, train],
            codes[train],
            fold[0][train],
            link,
            penalty(step.strength).of_features(kept),
            step.n_terms,
            intercept=intercept,
            options=options,
        )
        loss = link.loss(score_laws(result.laws, u[kept][:, test]), target, w)
        choice = Choice(step.n_terms, step.strength, size_of(result.laws), loss, np.nan, result.laws)
        return over_all_features(choice, kept), result.report.status is Status.INTERRUPTED

    first, interrupted = judged(start)
    seen, at, step = [first], 0, start
    while not interrupted:
        best, taken = at, step
        for following in steps.after(step):
            choice, interrupted = judged(following)
            if interrupted:
                return seen, at
            seen.append(choice)
            if choice.loss < min((1 - PAYS) * seen[at].loss, seen[best].loss):
                best, taken = len(seen) - 1, following
        if best == at:
            break
        at, step = best, taken
    return seen, at
