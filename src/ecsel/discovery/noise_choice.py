"""Which noise, and which rows are beyond it: the attempts at one table, judged by one code length.

A first law is sought under constant noise. Where its residuals pass every test, that is the answer. Otherwise laws are
sought under noise in proportion to the value, lognormal noise where it is large, and without the rows that no noise
explains. An attempt that leaves out the rows O codes these by a wide normal law of their own,

    L = L(rows kept) + |O|/2 ln S_O + ln C(N, |O|) + 1/2 ln N,      S_O = mean of their squared residuals,

and all lengths are those of the target itself (`Table.length_in_target_units`), so that the shortest wins whatever it
assumes. An attempt must be shorter by strong evidence to replace one that assumes less.
"""

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

import numpy as np
from scipy.special import gammaln

from ecsel.discovery.criterion import STRONG_EVIDENCE
from ecsel.discovery.lattice import Floats, Mask
from ecsel.discovery.methods import Outcome, Table
from ecsel.discovery.noise import CONSTANT, LOGNORMAL, RELATIVE, NoiseModel
from ecsel.discovery.robust import is_inside, smooth_fit, suspects

MIN_ROWS = 12
"""With fewer rows nothing can be said of the noise."""
EXACT = 1e-9
"""Residuals below this share of every target are rounding, and there is no noise to model."""
LOUD = 0.12
"""Standard deviation from which lognormal and relative noise can be told apart on tables of ordinary size."""
PASSES = 3
"""Most searches under one noise model: each takes its weights from the law of the one before."""

Solve = Callable[[NoiseModel, Mask, float | None, bool], tuple[Outcome, Table]]
"""Find a law: noise, rows to keep, seconds, and whether to go on searching while the residual tests object."""


@dataclass(frozen=True, eq=False)
class Attempt:
    """A law with what was assumed of the noise, its values at all rows, and its code length."""

    noise: NoiseModel
    keep: Mask
    outcome: Outcome
    values: Floats
    residual: Floats
    code_length: float

    @property
    def outliers(self) -> tuple[int, ...]:
        """The rows that were left out."""
        return tuple(np.flatnonzero(~self.keep).tolist())

    @property
    def is_explained(self) -> bool:
        """Whether neither the law, nor the noise model, nor any row leaves anything to be explained."""
        inside, values = self.residual[self.keep], self.values[self.keep]
        if not self.outcome.misfit.is_adequate or suspects(inside).any():
            return False
        if self.noise.kind == RELATIVE and self.is_loud:
            return False
        return self.noise.kind != CONSTANT or _proportional_gain(inside, values) < 1.0

    @property
    def is_loud(self) -> bool:
        """Whether noise in proportion to the law is so large that its shape matters."""
        return self.outcome.law.noise.sigma > LOUD


def _proportional_gain(residual: Floats, values: Floats) -> float:
    """Return the nats by which noise in proportion to the law, or its logarithm, describes residuals more shortly."""
    target = values + residual
    seen = (values != 0) & (residual != 0)
    if seen.sum() < MIN_ROWS:
        return 0.0
    residual, values, target = residual[seen], values[seen], target[seen]
    n = len(residual)
    constant = 0.5 * n * np.log(np.mean(residual**2))
    size = np.maximum(np.abs(values), 0.5 * np.abs(target))
    lengths = [0.5 * n * np.log(np.mean((residual / size) ** 2)) + np.log(size).sum()]
    ratio = target / values
    if (ratio > 0).all():
        lengths.append(0.5 * n * np.log(np.var(np.log(ratio))) + np.log(np.abs(target)).sum())
    return float(constant - min(lengths))


def _outlier_gain(residual: Floats) -> float:
    """Return the nats by which a few rows of their own describe residuals more shortly."""
    far = suspects(residual)
    n, n_out = len(residual), int(far.sum())
    if not n_out:
        return 0.0
    together, inside, outside = (float(np.mean(r**2)) for r in (residual, residual[~far], residual[far]))
    choices = gammaln(n + 1) - gammaln(n_out + 1) - gammaln(n - n_out + 1) + 0.5 * np.log(n)
    return float(0.5 * (n * np.log(together) - (n - n_out) * np.log(inside) - n_out * np.log(outside)) - choices)


@dataclass(eq=False)
class NoiseSearch:
    """The attempts at one table.

    Parameters
    ----------
    X, y, weight
        The table; ``weight`` is None where all rows count alike.
    solve
        Finds a law under a noise model on some of the rows.
    evaluate
        The values of a law at all rows, its known part included.
    time_limit
        Seconds for all attempts.
    """

    X: Floats
    y: Floats
    weight: Floats | None
    solve: Solve
    evaluate: Callable[[Outcome], Floats]
    time_limit: float | None = None
    _deadline: float = field(init=False, default=np.inf)

    def __post_init__(self) -> None:
        if self.time_limit is not None:
            self._deadline = time.monotonic() + self.time_limit

    @property
    def counted(self) -> Mask:
        """The rows that count."""
        return np.ones(len(self.y), dtype=bool) if self.weight is None else self.weight > 0

    def seconds(self, share: float = 1.0) -> float | None:
        """Return the share of the time left that one search may take."""
        return None if self.time_limit is None else max((self._deadline - time.monotonic()) * share, 1e-3)

    @property
    def has_time(self) -> bool:
        """Whether there is time for another attempt."""
        return time.monotonic() < self._deadline

    def attempt(
        self, noise: NoiseModel, keep: Mask | None = None, *, share: float = 1.0, thorough: bool = False
    ) -> Attempt:
        """Return the law under one noise model, whose weights are taken as they are."""
        keep = self.counted if keep is None else keep
        outcome, table = self.solve(noise, keep, self.seconds(share), thorough)
        values = self.evaluate(outcome)
        residual = noise.standard_residuals(self.y, values)
        if noise.size is not None:  # in proportion to this law, not to the one before
            residual = noise.around(values, self.y).standard_residuals(self.y, values)
        out = self.counted & ~keep
        length = table.length_in_target_units(outcome.law.code_length)
        if out.any():
            n, n_out = int(self.counted.sum()), int(out.sum())
            wide = max(float(np.mean((self.y - values)[out] ** 2)), np.finfo(float).tiny)
            choices = gammaln(n + 1) - gammaln(n_out + 1) - gammaln(n - n_out + 1)
            length += 0.5 * n_out * np.log(wide) + float(choices) + 0.5 * np.log(n)
        return Attempt(noise, keep | ~self.counted, outcome, values, residual, float(length))

    def settle(self, kind: str, keep: Mask | None = None, start: Floats | None = None, *, share: float = 1.0) -> Attempt:
        """Return the law under a kind of noise, its weights taken from the law itself by a few passes."""
        if kind == CONSTANT:
            return self.attempt(NoiseModel(), keep, share=share)
        if start is None:
            start = smooth_fit(self.X, self.y, logarithmic=True) if kind == LOGNORMAL else self.y
        noise = NoiseModel.lognormal_around(start, self.y) if kind == LOGNORMAL else NoiseModel.relative_to(start)
        best = self.attempt(noise, keep, share=share / 2)
        for _ in range(PASSES - 1):
            if not best.outcome.law.equation.names or best.outcome.interrupted or not self.has_time:
                break
            again = self.attempt(noise.around(best.values, self.y), keep, share=share / 2)
            same = _monomials(again) == _monomials(best)
            best = again
            if same:
                break
        return best

    def choose(self, kinds: tuple[str, ...], *, robust: bool | None) -> Attempt:
        """Return the best attempt; ``robust`` is whether rows may be left out, None where residuals ask for it."""
        best = self.settle(kinds[0], share=0.5 if len(kinds) > 1 else 1.0)
        if self._is_settled(best, forced=robust is True):
            return self.thorough(best)
        for other in self._alternatives(best, kinds, robust):
            # Strong evidence is asked of what assumes more.
            if other.code_length < best.code_length - STRONG_EVIDENCE:
                best = other
            if other.outcome.interrupted or not self.has_time or (best is other and other.is_explained):
                break
        return self.thorough(best)

    def _is_settled(self, attempt: Attempt, *, forced: bool) -> bool:
        if attempt.outcome.interrupted or not self.has_time or self.counted.sum() < MIN_ROWS:
            return True
        if np.all(np.abs(self.y - attempt.values) <= EXACT * np.abs(self.y)):
            return True
        return not forced and attempt.is_explained

    def _alternatives(self, first: Attempt, kinds: tuple[str, ...], robust: bool | None) -> Iterator[Attempt]:
        """Yield other attempts, first those that the residuals of the first one ask for most."""
        tried = [first]
        outliers_first = _outlier_gain(first.residual[first.keep]) > _proportional_gain(
            first.residual[first.keep], first.values[first.keep]
        )
        if robust is not False and (outliers_first or len(kinds) == 1):
            yield from self._without_outliers(first)
        if RELATIVE in kinds[1:] and self.y.any():
            tried.append(self.settle(RELATIVE, share=0.5))
            yield tried[-1]
            if LOGNORMAL in kinds and self.y.all() and (tried[-1].is_loud or not tried[-1].outcome.law.equation.names):
                tried.append(self.settle(LOGNORMAL, share=0.5))
                yield tried[-1]
        if robust is not False and len(kinds) > 1:
            best = min(tried, key=lambda a: a.code_length)
            if not (best is first and outliers_first):
                yield from self._without_outliers(best)

    def _without_outliers(self, attempt: Attempt) -> Iterator[Attempt]:
        """Yield laws without the rows that the noise does not explain, which are sought in two ways."""
        kind, counted = attempt.noise.kind, self.counted
        smooth = smooth_fit(self.X, self.y, logarithmic=kind != CONSTANT and bool(self.y.all()))
        noise = attempt.noise if kind == CONSTANT else attempt.noise.around(smooth, self.y)
        for residual in (attempt.residual, noise.standard_residuals(self.y, smooth)):
            far = counted & suspects(np.where(counted, residual, 0.0))
            if not far.any():
                continue
            keep = counted & ~far
            for _ in range(PASSES):
                if not self.has_time:
                    return
                found = self.settle(kind, keep, None if kind == CONSTANT else smooth, share=0.5)
                inside = counted & is_inside(found.residual, keep)
                if (inside == keep).all() or (counted & ~inside).sum() > max(0.15 * counted.sum(), 1):
                    break
                keep = inside
            yield found
            if found.is_explained:
                return

    def thorough(self, best: Attempt) -> Attempt:
        """Return the attempt after a longer search where its law leaves something to be explained."""
        if best.outcome.misfit.is_adequate or best.outcome.interrupted or not self.has_time:
            return best
        again = self.attempt(best.noise, best.keep & self.counted, thorough=True)
        return again if again.code_length < best.code_length - 1e-9 else best


def _monomials(attempt: Attempt) -> frozenset[str]:
    return frozenset(str(term.factors) for term in attempt.outcome.law.terms)
