"""Which noise, and which rows are beyond it: the attempts at one table, judged by one code length.

A first law is sought under constant noise. Where its residuals pass every test, that is the answer. Otherwise laws are
sought under noise in proportion to the value, lognormal noise where it is large, and without the rows that no noise
explains. An attempt that leaves out the rows O codes these by a wide normal law of their own,

    L = L(rows kept) + |O|/2 ln S_O + ln C(N, |O|) + 1/2 ln N,      S_O = mean of their squared residuals,

and all lengths are those of the target itself (`Table.length_in_target_units`), so that the shortest wins whatever it
assumes. An attempt must be shorter by strong evidence to replace one that assumes less, and by far to replace
one whose law does not explode beyond the rows where its own does.
"""

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
from scipy.special import gammaln

from ecsel._typing import Floats, Mask
from ecsel.discovery.budget import Budget
from ecsel.discovery.criterion import STRONG_EVIDENCE
from ecsel.discovery.fitted import FittedLaw
from ecsel.discovery.front import EXPLOSION, EXPLOSION_OF_MISFIT
from ecsel.discovery.methods import Outcome, Table
from ecsel.discovery.model import Structure
from ecsel.discovery.noise import CONSTANT, LOGNORMAL, RELATIVE, NoiseModel
from ecsel.discovery.ranking import TERM_EVIDENCE
from ecsel.discovery.robust import LARGEST_SHARE, is_inside, smooth_fit, suspects
from ecsel.discovery.search import PILE

FEW_ROWS = 30
"""With fewer rows the first search leaves nothing out, and many laws fit alike."""
MIN_ROWS = 12
"""With fewer rows nothing can be said of the noise."""
EXACT = 1e-9
"""Residuals below this share of every target are rounding, and there is no noise to model."""
LOUD = 0.12
"""Standard deviation from which lognormal and relative noise can be distinguished on tables of ordinary size."""
CLEAR, LONG = 5.0, 3
"""Nats by which constant noise must describe the residuals of a law with so many numbers better than others do, for
these not to be tried."""
HOPELESS = 0.5
"""Nats a row by which constant noise must describe the residuals better, for others not to be tried for a misfit."""
STEEP, PULLED = 4.0, 0.8
"""Exponents, and leverages of single rows, beyond which a law may have been bent to those rows."""
NARROW = 0.25
"""Standard deviation of ln|f| below which noise in proportion to f is next to constant."""
VAGUE, VAGUE_SUM = (0.05, 0.9), 0.01
"""Shares of the target's variance: what a law of few terms leaves between them may hold further terms. A sum of three
terms and more is one that was built up, and may lack some from the other share on."""
MAX_ATTEMPTS = 12
"""Searches after which nothing else is assumed of the noise."""
OUTLIER_ROUNDS = 4
"""Most searches for one set of outliers: each takes them from the law of the one before."""
DECISIVE_GAIN = 10.0
"""Nats by which a robust fit of logarithms must be shorter, for loud noise not to be taken for outliers."""
MAX_OWN = 8
"""Most laws that are judged by weights of their own where the noise is loud."""
PASSES = 2
"""Most searches under one noise model: each takes its weights from the law of the one before."""


@dataclass(frozen=True, eq=False)
class Task:
    """One search: noise, rows to keep, seconds, laws that others have found, and how to search.

    ``thorough`` goes on while the residual tests object, ``only_hints`` does not search at all, and ``decided`` is the
    law to return.
    """

    noise: NoiseModel
    keep: Mask
    seconds: float | None = None
    hints: tuple[Structure, ...] = ()
    thorough: bool = False
    only_hints: bool = False
    decided: Structure | None = None
    budget: Budget | None = None


Solve = Callable[[Task], tuple[Outcome, Table]]
"""Find a law."""


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
    def weighed_length(self) -> float:
        """The code length with the evidence that each term and real exponent must bring, as laws are chosen by it."""
        return self.code_length + TERM_EVIDENCE * self.outcome.law.size

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
        if (self.noise.kind == RELATIVE and self.is_loud) or self.is_pulled:
            return False
        # A long law may have fitted the noise of large values, and made it look constant.
        doubtful = CLEAR if self.outcome.law.size >= LONG else 0.0
        return self.noise.kind != CONSTANT or _proportional_gain(inside, values) < -doubtful

    @property
    def is_pulled(self) -> bool:
        """Whether a steep term may have bent the law to one row, whose residual then says nothing."""
        steep = any(abs(float(b)) > STEEP for term in self.outcome.law.terms for b in term.exponents.values())
        return steep and self.outcome.largest_leverage > PULLED

    @property
    def is_loud(self) -> bool:
        """Whether noise in proportion to the law is so large that its shape matters."""
        return self.noise.kind != CONSTANT and self.outcome.law.noise.sigma > LOUD


def _proportional_gain(residual: Floats, values: Floats) -> float:
    """Return the nats by which noise in proportion to the law, or its logarithm, describes residuals more shortly.

    Minus infinity where the law varies so little that it makes no difference.
    """
    target = values + residual
    seen = (values != 0) & (residual != 0)
    if seen.sum() < MIN_ROWS:
        return 0.0
    residual, values, target = residual[seen], values[seen], target[seen]
    n = len(residual)
    if np.std(np.log(np.abs(values))) < NARROW:
        return -np.inf
    constant = 0.5 * n * np.log(np.mean(residual**2))
    size = np.maximum(np.abs(values), 0.5 * np.abs(target))
    lengths = [0.5 * n * np.log(np.mean((residual / size) ** 2)) + np.log(size).sum()]
    ratio = target / values
    if (ratio > 0).all():
        lengths.append(0.5 * n * np.log(np.var(np.log(ratio))) + np.log(np.abs(target)).sum())
    return float(constant - min(lengths))


def _exact_proportion(target: Floats, values: Floats) -> float:
    """Return the nats by which noise in proportion to the law itself is longer than in the weights of its fit.

    There the law counts as at least half of each target, which no noise model says.
    """
    residual, own = target - values, np.maximum(np.abs(values), 1e-3 * np.abs(target))
    size = np.maximum(np.abs(values), 0.5 * np.abs(target))
    seen = size > 0
    if not residual[seen].any():
        return 0.0
    lengths = [
        0.5 * seen.sum() * np.log(np.mean((residual[seen] / s[seen]) ** 2)) + np.log(s[seen]).sum() for s in (own, size)
    ]
    return float(lengths[0] - lengths[1])


def _exact_logarithm(logarithms: Floats, working: Floats) -> float:
    """Return the nats by which ln(y / f) are longer than the residuals of a working target.

    The two are the same for the law that the working target was made around, and for no other.
    """
    if not (working.any() and logarithms.any()):
        return 0.0
    return float(0.5 * len(working) * np.log(np.mean(logarithms**2) / np.mean(working**2)))


def _length_with_outliers(residual: Floats) -> float:
    """Return the code length of residuals in which a few rows may have a wide noise of their own."""
    far = suspects(residual)
    n, n_out, least = len(residual), int(far.sum()), float(np.finfo(float).tiny)
    length = 0.5 * (n - n_out) * np.log(max(float(np.mean(residual[~far] ** 2)), least))
    if n_out:
        length += 0.5 * n_out * np.log(max(float(np.mean(residual[far] ** 2)), least)) + _choices(n, n_out)
    return float(length)


def _choices(n_rows: int, n_out: int) -> float:
    """Return the nats that naming some of the rows takes."""
    return float(gammaln(n_rows + 1) - gammaln(n_out + 1) - gammaln(n_rows - n_out + 1) + 0.5 * np.log(n_rows))


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
        Seconds for all attempts, which take the place of the budget.
    """

    X: Floats
    y: Floats
    weight: Floats | None
    solve: Solve
    evaluate: Callable[[FittedLaw], Floats]
    time_limit: float | None = None
    budget: Budget = field(default_factory=Budget)
    _deadline: float = field(init=False, default=np.inf)
    n_attempts: int = field(init=False, default=0)
    _smooth_fits: dict[bool, Floats] = field(init=False, default_factory=dict)
    _hints: dict[frozenset[bytes], tuple[Structure, FittedLaw]] = field(init=False, default_factory=dict)

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

    @property
    def is_cut(self) -> bool:
        """Whether the budget was spent, so that further searches may find a better law."""
        return self.time_limit is None and self.budget.is_spent

    @property
    def may_search(self) -> bool:
        """Whether there is time, and budget, for another search."""
        return self.has_time and not self.is_cut

    @property
    def may_go_on(self) -> bool:
        """Whether another noise model, or another set of outliers, may be tried."""
        return self.may_search and self.n_attempts < MAX_ATTEMPTS

    def _smooth(self, logarithmic: bool) -> Floats:
        """Return the robust smooth fit of the target, or of its logarithm, made once."""
        if logarithmic not in self._smooth_fits:
            self._smooth_fits[logarithmic] = smooth_fit(self.X, self.y, logarithmic=logarithmic)
        return self._smooth_fits[logarithmic]

    def attempt(
        self,
        noise: NoiseModel,
        keep: Mask | None = None,
        *,
        share: float = 1.0,
        thorough: bool = False,
        only_hints: bool = False,
        decided: Structure | None = None,
    ) -> Attempt:
        """Return the law under one noise model, whose weights are taken as they are."""
        keep = self.counted if keep is None else keep
        self.n_attempts += not only_hints and decided is None
        hints = tuple(structure for structure, _ in self._hints.values())
        budget = self.budget if self.time_limit is None else None
        task = Task(noise, keep, self.seconds(share), hints, thorough, only_hints, decided, budget)
        outcome, table = self.solve(task)
        pairs = zip(outcome.structures, outcome.laws, strict=True)
        self._hints.update({structure.key(): (structure, law) for structure, law in pairs})
        values = self.evaluate(outcome.law)
        residual = noise.standard_residuals(self.y, values)
        if noise.size is not None:  # in proportion to this law, not to the one before
            residual = noise.around(values, self.y).standard_residuals(self.y, values)
        out = self.counted & ~keep
        length = table.length_in_target_units(outcome.law.code_length)
        if noise.size is not None and not outcome.law.equation.names:
            length = np.inf  # noise in proportion to nothing
        elif noise.kind == LOGNORMAL and (self.y * values)[keep].min(initial=0.0) < 0.0:
            length = np.inf  # no factor changes a sign
        elif noise.kind == LOGNORMAL and noise.size is not None:
            working = (noise.working_target(self.y) - values) / noise.size
            length += _exact_logarithm(residual[keep], working[keep])
        elif noise.kind == RELATIVE:
            length += _exact_proportion(self.y[keep], values[keep])
        if out.any():
            n, n_out = int(self.counted.sum()), int(out.sum())
            wide = max(float(np.mean((self.y - values)[out] ** 2)), np.finfo(float).tiny)
            length += 0.5 * n_out * np.log(wide) + _choices(n, n_out)
        if outcome.explodes:
            length += EXPLOSION if outcome.misfit.is_adequate else EXPLOSION_OF_MISFIT
        return Attempt(noise, keep | ~self.counted, outcome, values, residual, float(length))

    def settle(
        self, kind: str, keep: Mask | None = None, start: Floats | None = None, *, share: float = 1.0
    ) -> Attempt:
        """Return the law under a kind of noise, its weights taken from the law itself by a few passes."""
        if kind == CONSTANT:
            return self.attempt(NoiseModel(), keep, share=share)
        if start is None:
            start = self._smooth(True) if kind == LOGNORMAL else self.y
        noise = NoiseModel.lognormal_around(start, self.y) if kind == LOGNORMAL else NoiseModel.relative_to(start)
        last = self.attempt(noise, keep, share=share / 2)
        settled: list[Attempt] = []
        for _ in range(PASSES):
            only_hints = kind == RELATIVE
            may_go_on = self.has_time if only_hints else self.may_search
            if not last.outcome.law.equation.names or last.outcome.interrupted or not may_go_on:
                break
            # Weights from the targets hide a law only where the noise is loud; elsewhere the law found is refined.
            around = noise.around(last.values, self.y)
            settled.append(self.attempt(around, keep, share=share / 2, only_hints=only_hints))
            if _monomials(settled[-1]) == _monomials(last):
                break
            last = settled[-1]
        # The first pass has weights from the noisy targets, which its length does not pay for.
        found = min(settled, key=lambda a: a.weighed_length, default=last)
        is_open = kind == LOGNORMAL and bool(settled) and np.isfinite(found.code_length)
        return self._of_its_own(found, keep) if is_open else found

    def _of_its_own(self, found: Attempt, keep: Mask | None) -> Attempt:
        """Return the best of the laws found so far under lognormal noise, each with weights of its own.

        A working target is exact at the law that it was made around. Where the noise is loud, others look worse or
        better than they are by more than what decides between them.
        """
        rows = found.keep & self.counted
        lengths: list[tuple[float, int, Structure, Floats]] = []
        for structure, law in self._hints.values():
            values = self.evaluate(law)
            if law.equation.names and (values * self.y)[rows].min(initial=0.0) >= 0.0 and values[rows].all():
                # A factor is fitted at once; what else the law says is what its terms cost.
                variance = float(np.var(np.log(values[rows] / self.y[rows])))
                own = 0.5 * rows.sum() * np.log(max(variance, EXACT**2)) + 2.0 * TERM_EVIDENCE * law.size
                lengths.append((own, len(lengths), structure, values))
        for _, _, structure, values in sorted(lengths)[:MAX_OWN]:
            if not self.has_time:
                break
            again = self.attempt(found.noise.around(values, self.y), keep, decided=structure)
            found = min(found, again, key=lambda a: a.weighed_length)
        return found

    def choose(self, kinds: tuple[str, ...], *, robust: bool | None) -> Attempt:
        """Return the best attempt; ``robust`` is whether rows may be left out, None where residuals ask for it."""
        best = self.settle(kinds[0], share=0.5 if len(kinds) > 1 else 1.0)
        if self._is_settled(best, forced=robust is True):
            return self.thorough(best)
        if len(best.outcome.law.terms) > PILE and self._proportional_margin < 0.0:
            # Long sums are missed more often than noise is mistaken.
            best = self.thorough(best)
            if self._is_settled(best, forced=robust is True):
                return best
        for other in self._alternatives(best, kinds, robust):
            # Strong evidence is asked of what assumes more; lognormal noise assumes no more than relative noise.
            alike = CONSTANT not in (best.noise.kind, other.noise.kind) and best.outliers == other.outliers
            if other.weighed_length < best.weighed_length - (0.0 if alike else STRONG_EVIDENCE):
                best = other
            if other.outcome.interrupted or not self.may_go_on:
                break
            if best is other and self._is_exact(best, best.keep):
                break
            # A few rows far off make any noise look loud, so that is not the last word unless a fit that is robust to
            # them says the same.
            surely_loud = other.noise.kind == LOGNORMAL and self._proportional_margin > DECISIVE_GAIN
            if best is other and other.is_explained and (surely_loud or not other.is_loud):
                break
        return self.thorough(self._assuming_less(best, kinds))

    def _assuming_less(self, best: Attempt, kinds: tuple[str, ...]) -> Attempt:
        """Return the best attempt again without what is not needed once the laws of all attempts are known.

        A law that was found without some rows, or under other noise, may explain all rows under the noise that assumes
        least.
        """
        if best.outcome.law.constants or not self.has_time or best.outcome.interrupted:
            return best
        plain = self.attempt(NoiseModel(), only_hints=True) if CONSTANT in kinds else best
        if self._is_exact(plain):
            return plain
        all_rows = best
        if best.outliers and best.noise.kind != CONSTANT:
            noise = best.noise if best.noise.size is None else best.noise.around(best.values, self.y)
            all_rows = self.attempt(noise, only_hints=True)
        least = min(plain, all_rows, key=lambda a: a.weighed_length)
        return least if least.weighed_length <= best.weighed_length + STRONG_EVIDENCE else best

    def _is_exact(self, attempt: Attempt, rows: Mask | None = None) -> bool:
        """Return whether a law leaves nothing but rounding at some of the rows, by default at all."""
        exact = np.abs(self.y - attempt.values) <= EXACT * np.abs(self.y)
        return bool(np.all(exact if rows is None else exact[rows]))

    def _is_settled(self, attempt: Attempt, *, forced: bool) -> bool:
        if attempt.outcome.interrupted or not self.may_search or self.counted.sum() < MIN_ROWS:
            return True
        if self._is_exact(attempt):
            return True
        return not forced and attempt.is_explained

    def _alternatives(self, first: Attempt, kinds: tuple[str, ...], robust: bool | None) -> Iterator[Attempt]:
        """Yield other attempts, first those that a smooth fit of the table asks for."""
        inside, values = first.residual[first.keep], first.values[first.keep]
        short = first.outcome.law.size < LONG
        hopeless = short and _proportional_gain(inside, values) < -HOPELESS * len(inside)
        proportional = RELATIVE in kinds[1:] and bool(self.y.any()) and not hopeless
        steps: list[Iterator[Attempt]] = [self._proportional(kinds)] if proportional else []
        if robust is not False:
            steps.insert(1 if self._proportional_margin >= 0.0 else 0, self._without_outliers(first))
        tried: list[Attempt] = []
        for step in steps:
            if any(self._explains_outliers(attempt, first) for attempt in tried):
                continue
            for attempt in step:
                tried.append(attempt)
                yield attempt
        if robust is False:
            return
        for attempt in [a for a in tried if a.noise.kind != CONSTANT and not a.outliers and np.isfinite(a.code_length)]:
            if any(self._explains_outliers(other, attempt) for other in tried):
                continue
            # Lognormal noise is for what is loud by itself; a few rows far off make any noise look loud.
            loud = True
            for found in self._without_outliers(attempt):
                loud = found.is_loud
                yield found
            if not loud:
                return

    def _explains_outliers(self, attempt: Attempt, first: Attempt) -> bool:
        """Return whether another noise model beats the first beyond doubt and has no outliers itself.

        What the first takes for outliers are then large values with large noise.
        """
        gain = first.weighed_length - attempt.weighed_length
        return attempt.noise.kind != CONSTANT and gain > DECISIVE_GAIN and not suspects(attempt.residual).any()

    def _proportional(self, kinds: tuple[str, ...]) -> Iterator[Attempt]:
        """Yield the laws under noise in proportion to the value, and under lognormal noise where that is large."""
        relative = self.settle(RELATIVE, share=0.5)
        yield relative
        has_law = bool(relative.outcome.law.equation.names)
        # Where proportional noise finds no law either, only a smooth fit can say that the logarithms hold one.
        may_be_loud = relative.is_loud if has_law else self._proportional_margin >= 0.0
        if LOGNORMAL in kinds and self.y.all() and may_be_loud and self.may_search:
            yield self.settle(LOGNORMAL, share=0.5)

    @cached_property
    def _proportional_margin(self) -> float:
        """The nats by which a smooth fit of logarithms describes the target more shortly than one of the target."""
        y = self.y[self.counted]
        if not y.all():
            return 0.0
        in_logarithms = np.log(np.abs(y / self._smooth(True)[self.counted]))
        length = _length_with_outliers(in_logarithms) + float(np.log(np.abs(y)).sum())
        return _length_with_outliers(y - self._smooth(False)[self.counted]) - length

    def _without_outliers(self, attempt: Attempt) -> Iterator[Attempt]:
        """Yield laws without the rows that the noise does not explain, which are sought in two ways."""
        kind, counted = attempt.noise.kind, self.counted
        smooth = self._smooth(kind != CONSTANT and bool(self.y.all()))
        noise = attempt.noise if kind == CONSTANT else attempt.noise.around(smooth, self.y)
        for residual in (noise.standard_residuals(self.y, smooth), attempt.residual):
            far = counted & suspects(np.where(counted, residual, 0.0))
            if not far.any():
                continue
            keep = counted & ~far
            for _ in range(OUTLIER_ROUNDS):
                if not self.may_go_on:
                    return
                found = self.settle(kind, keep, None if kind == CONSTANT else smooth, share=0.5)
                inside = counted & is_inside(found.residual, keep)
                if (inside == keep).all() or (counted & ~inside).sum() > max(LARGEST_SHARE * counted.sum(), 1):
                    break
                keep = inside
            yield found
            if found.is_explained:
                return

    def _is_vague(self, attempt: Attempt) -> bool:
        """Return whether a law under constant noise leaves so much that its tests are weak, and may hide terms."""
        seen = self.counted & attempt.keep
        rest, y = (self.y - attempt.values)[seen], self.y[seen]
        extent = np.ptp(y)
        if attempt.noise.kind != CONSTANT or not extent:
            return False
        # in units of the target's range: squares of SI units overflow
        least = VAGUE[0] if len(attempt.outcome.law.terms) < LONG else VAGUE_SUM
        return least < float(np.mean((rest / extent) ** 2) / (y / extent).var()) < VAGUE[1]

    def thorough(self, best: Attempt) -> Attempt:
        """Return the attempt after another search where its law is long, or leaves something to be explained."""
        law = best.outcome.law
        # A real exponent in a sum may stand for two terms.
        is_short = len(law.terms) <= (1 if law.free else PILE)
        # Small whole coefficients throughout are no accident.
        is_whole = not law.free and all(abs(t.coefficient) in range(1, 10) for t in law.terms)
        # Neither is an exact fit by coefficients of a few digits.
        is_exact = all(law.rounded) and self._is_exact(best)
        is_short = is_short and not self._is_vague(best)
        is_clear = best.outcome.misfit.is_adequate and (
            is_short or is_whole or is_exact or self.counted.sum() < FEW_ROWS
        )
        if is_clear or law.constants or best.outcome.interrupted or not self.may_search:
            return best
        again = self.attempt(best.noise, best.keep & self.counted, thorough=True)
        return again if again.weighed_length < best.weighed_length - 1e-9 else best


def _monomials(attempt: Attempt) -> frozenset[tuple[tuple[str, float], ...]]:
    return _monomials_of(attempt.outcome.law)


def _monomials_of(law: FittedLaw) -> frozenset[tuple[tuple[str, float], ...]]:
    """Return the exponents of each term, to a tenth: further passes would only move real ones by their error."""
    return frozenset(
        tuple(sorted((name, round(float(b), 1)) for name, b in term.exponents.items())) for term in law.terms
    )
