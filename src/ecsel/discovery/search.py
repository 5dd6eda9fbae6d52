"""The search: cheap routes first, and an early exit when a law passes every residual test.

1. One continuous term, rounded. 2. Exchange on nested dictionaries of natural, Laurent and rational monomials.
3. Backward elimination from a complete polynomial. 4. Two and more continuous terms, rounded. 5. Pair exchange and
merging. Every law met is noted in a pool; the most promising ones get the full code length, which ranks them.
"""

import time
from collections.abc import Sized
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import islice

import numpy as np

from ecsel.discovery.budget import GROWN, Budget
from ecsel.discovery.continuous import merge, pair_of_parities, snap_best, split
from ecsel.discovery.criterion import STRONG_EVIDENCE, Criterion, order_credit
from ecsel.discovery.dictionary import Atoms, enumerate_monomials, evaluate
from ecsel.discovery.exchange import Exchange
from ecsel.discovery.growth import WIDTH, Growth
from ecsel.discovery.lattice import Parities
from ecsel.discovery.model import Candidate, Problem, Structure
from ecsel.discovery.one_term import fit_one_term
from ecsel.discovery.pairs import best_pair_exchange
from ecsel.discovery.parity import likely_parities
from ecsel.discovery.pool import Pool
from ecsel.discovery.progress import Progress, part, silent
from ecsel.discovery.ranking import FEW_ROWS
from ecsel.discovery.residual_tests import has_misfit
from ecsel.discovery.varpro import Fits
from ecsel.search.code_length import TERM

HEAVY_TAIL = 30.0
"""Ratio of the largest to the median target from which the search also runs with large targets weighed down."""
MILD_TAIL = 5.0
"""The same where no law is confirmed after all other routes."""
HOPELESS = 4.0
"""Nats by which every law with a variable must be worse than none before the search gives up early."""
PILE = 4
"""Terms from which a lattice law may be a pile of neighbouring powers that imitates fewer terms."""
LARGEST_HALF = 3.0
"""Largest power of the sums of half powers that backward elimination begins with."""
LEADERS, MAX_LOST = 12, 3
"""Laws that every second restart begins from, the others from the best alone, and most terms that these lose; where
they grow with free exponents they may lose half of their terms."""
DESCENT_EVERY = 5
"""Restarts with free exponents after which the best law is also improved on the lattice."""
DICTIONARIES = (("polynomial", 600), ("laurent", 2000), ("rational", 6000))
STAGES = {
    "one term": 0.0,
    "two terms": 0.05,
    "heavy tails": 0.1,
    "polynomial monomials": 0.15,
    "grown sums": 0.2,
    "laurent monomials": 0.3,
    "rational monomials": 0.45,
    "continuous terms": 0.7,
    "polishing": 0.8,
    "restarts": 0.85,
}
"""The stages of a search in their order, and the share of the longest search that has passed when each begins."""


class OutOfTimeError(Exception):
    """The time limit is reached; the pool holds the best laws so far."""


class OutOfBudgetError(Exception):
    """The budget is spent; the pool holds the best laws so far, which are still to be ranked with care."""


@dataclass(eq=False)
class Search:
    """One search on one sample of rows."""

    problem: Problem
    rng: np.random.Generator
    max_terms: int = 10
    n_terms: int | None = None
    deadline: float = np.inf
    pool: Pool = field(default_factory=Pool)
    progress: Progress = silent
    budget: Budget | None = None

    def tick(self, stage: str = "", within: float = 0.0, moves: float = 0.0) -> None:
        """Tell which stage has begun, or how much of it is done, and raise when the time or the budget is over."""
        if stage:
            begins = STAGES[stage]
            ends = min((share for share in STAGES.values() if share > begins), default=1.0)
            self.progress(begins + (ends - begins) * min(within, 1.0), stage)
        if time.monotonic() > self.deadline:
            raise OutOfTimeError
        if self.budget is not None:
            self.budget.spend(moves, len(self.problem.rows))
            if self.budget.is_spent:
                raise OutOfBudgetError

    def is_wanted(self, law: Sized) -> bool:
        """Return whether a law has the requested number of terms."""
        return self.n_terms is None or len(law) == self.n_terms

    def note(self, candidate: Candidate) -> Candidate:
        """Put a candidate into the pool."""
        if len(candidate) <= self.max_terms:
            self.pool.add(candidate)
        return candidate

    @property
    def best(self) -> Candidate:
        """The best candidate so far, of the requested number of terms as soon as there is one."""
        found = self.pool.best(n_terms=self.n_terms) or self.pool.best()
        if found is None:
            return self.problem.assess(Structure.empty(self.problem.lattice.n_columns))
        return found

    @cached_property
    def nearby(self) -> Exchange:
        """A quick exchange search on the natural polynomials, to look for better laws around one."""
        structure = enumerate_monomials(self.problem.lattice, *DICTIONARIES[0])
        return Exchange(
            self.problem,
            self.atoms(structure),
            self.pool,
            max_terms=self.max_terms,
            tick=lambda _: self.tick(moves=1.0),
        )

    @property
    def empty(self) -> Atoms:
        """The empty set of atoms."""
        return self.atoms(Structure.empty(self.problem.lattice.n_columns))

    def atoms(self, structure: Structure) -> Atoms:
        """Return a structure as atoms on the rows."""
        return evaluate(self.problem.rows, self.problem.lattice, structure)

    def run(self) -> None:
        """Search until a law is confirmed or every route is used."""
        problem = self.problem
        self.begin()
        self.tick("one term")
        parities = likely_parities(problem.rows, 6)
        fits = None
        if self.can_fit_exponents():
            fits = fit_one_term(problem.rows, problem.lattice, parities)
            self.round_promising(fits, 2)
            self.tick()
            if self.one_term_is_confirmed(fits):
                return
            self.two_terms(fits, parities)
            if len(self.best) == 2 and len(problem.rows) >= FEW_ROWS and self.is_confirmed(self.best):
                return
        weighed_down = self.downweighted(HEAVY_TAIL)
        if weighed_down and self.is_confirmed(self.best):
            return
        self.discrete()
        if self.is_confirmed(self.best):
            return
        if fits is not None and len(self.best) < PILE and not self.is_hopeless():
            self.continuous(fits)
        self.tick()
        self.polish()
        if not weighed_down and not self.is_hopeless() and not self.is_confirmed(self.best):
            self.downweighted(MILD_TAIL)

    def restart(self, exchange: Exchange, rounds: int, patience: int) -> None:
        """Iterated local search: the best laws lose some terms at random, grow beyond their size and shrink again.

        Long sums have many neighbours that no single move leaves. It ends after so many rounds without a gain once the
        residual tests are passed, and after all rounds otherwise.
        """
        waited = 0
        for i in range(rounds):
            self.tick("restarts", i / rounds)
            before = self.best.score
            lattice_laws = (c for c in self.pool.ranked() if not c.structure.n_free and 2 < len(c) <= self.max_terms)
            best = list(islice(lattice_laws, LEADERS if i % 2 else 1))
            if not best:
                return
            start = best[int(self.rng.integers(len(best)))].structure
            lost = int(self.rng.integers(1, min(MAX_LOST, len(start) - 1) + 1))
            left = np.sort(self.rng.permutation(len(start))[lost:])
            exchange.descend(exchange.path(self.atoms(start.keep(left)), patience=2)[1])
            waited = 0 if self.best.score < before - 1e-9 else waited + 1
            if waited >= patience and self.is_accepted():
                return

    def regrow(self, exchange: Exchange, rounds: int, patience: int) -> None:
        """Iterated local search as in `restart`, in which the sums grow and shrink with free exponents."""
        growth, waited = self.growth(exchange, WIDTH + 1), 0
        if len(self.best) <= 2 and self.is_accepted():
            return  # sums that were grown from nothing say the same
        for i in range(rounds):
            self.tick("restarts", i / rounds)
            before = self.best.score
            laws = (c for c in self.pool.ranked() if 2 < len(c) <= self.max_terms)
            best = list(islice(laws, LEADERS if i % 2 else 1))
            if not best:
                return
            start = best[int(self.rng.integers(len(best)))].structure
            lost = int(self.rng.integers(1, min(max(MAX_LOST, len(start) // 2), len(start) - 1) + 1))
            left = np.sort(self.rng.permutation(len(start))[lost:])
            rest = Structure(start.exponents[left], start.parity[left])
            grown = growth.grow(rest, min(self.max_terms, len(start) + 1), patience=MAX_LOST)
            growth.shrink(grown, max(len(start) - 1, 2))
            if i % DESCENT_EVERY == DESCENT_EVERY - 1:
                self.descend_from_best(exchange)
            waited = 0 if self.best.score < before - 1e-9 else waited + 1
            if waited >= patience and self.is_accepted():
                return

    def is_accepted(self) -> bool:
        """Return whether the residual tests leave the best law standing."""
        best = self.best
        return bool(len(best)) and not has_misfit(self.problem, best.structure)

    def begin(self) -> None:
        """Note the laws without any column."""
        m = self.problem.lattice.n_columns
        for structure in (Structure.empty(m), Structure.constant(m)):
            self.note(self.problem.assess(structure))

    def can_fit_exponents(self) -> bool:
        """Return whether a term with all exponents free is allowed, and determined well enough by the rows."""
        lattice = self.problem.lattice
        return lattice.allows_real and lattice.dimensions is None and 3 * lattice.n_columns < len(self.problem.rows)

    def is_hopeless(self) -> bool:
        """Return whether no law with a variable comes near to no law at all."""
        near = (c for c in self.pool.ranked()[:50] if np.abs(c.structure.exponents).max(initial=0.0) > 0)
        return all(c.score > self.best.score + HOPELESS for c in near)

    def round_promising(self, fits: Fits, count: int) -> None:
        """Round the best few fits of a stack that could beat the best law if rounding cost nothing."""
        k = fits.exponents.shape[1]
        bound = self.problem.criterion.data(fits.rss, k) + k * (TERM + 1.0) - order_credit(k)
        promising = np.flatnonzero(bound < self.best.score + STRONG_EVIDENCE)
        for candidate in snap_best(self.problem, fits.keep(promising), count):
            self.note(candidate)

    def one_term_is_confirmed(self, fits: Fits) -> bool:
        """Return whether a one-term law answers the tests, and no two terms and no short polynomial code better."""
        best = self.best
        if not self.is_wanted(best) or len(best) != 1 or has_misfit(self.problem, best.structure):
            return False
        unexplained = best.rss / self.problem.rows.energy
        doubtful = best.structure.n_free > 0 or len(self.problem.rows) < FEW_ROWS
        if unexplained > 0.5 or (unexplained > 0.01 and doubtful):
            return False
        if self.max_terms > 1:
            two = split(self.problem, Structure(fits.exponents[0], fits.parity[0]), self.rng, 6)
            self.round_promising(two, 1)
            self.nearby.path(self.empty, patience=1, longest=3)
        return len(self.best) == 1

    def two_terms(self, fits: Fits, parities: Parities) -> None:
        """Two continuous terms, from splits of the one-term fit and from pairs of likely parities."""
        if self.max_terms < 2:
            return
        self.tick("two terms")
        base = Structure(fits.exponents[0], fits.parity[0])
        self.round_promising(split(self.problem, base, self.rng, 12), 2)
        if self.problem.rows.signed.any():
            pairs = pair_of_parities(self.problem, parities[:4], fits.exponents[0][0], self.rng)
            if pairs is not None:
                self.round_promising(pairs, 2)

    def is_confirmed(self, candidate: Candidate) -> bool:
        """Return whether a lattice law answers the tests and none of its pairs merges into one term."""
        if not len(candidate) or not self.is_wanted(candidate) or candidate.structure.n_free:
            return False
        if has_misfit(self.problem, candidate.structure):
            return False
        score = self.best.score
        self.nearby.best_move(self.atoms(candidate.structure), adds=True, swaps=True)
        if self.best.score < score - 1e-9:
            return False
        merged = merge(self.problem, self.problem.assess(candidate.structure))
        if merged is None:
            return True
        self.note(merged)
        return merged.score > candidate.score

    def discrete(self) -> None:
        """Exchange on nested dictionaries and grow sums with free exponents; stop at the first confirmed law."""
        for kind, size in DICTIONARIES:
            stage = f"{kind} monomials"
            self.tick(stage)
            exchange = self.exchange(kind, size, stage)
            if exchange is None:
                continue
            exchange.path(self.empty, patience=self.max_terms if self.n_terms else 3)
            if kind != "laurent":
                self.backward(exchange, natural=kind == "polynomial")
            # Where monomials of whole powers explain the rows badly, exponents that are free say more than exchanges.
            grows = kind == "polynomial" and self.can_fit_exponents() and not self.is_hopeless()
            grows = grows and (len(self.best) > 2 or not self.is_accepted())
            if not grows or self.is_confirmed(self.best):
                self.improve(exchange)
                if self.is_confirmed(self.best):
                    return
            if grows:
                self.grow()
                if self.is_confirmed(self.best):
                    return

    def grow(self, width: int = WIDTH) -> None:
        """Grow sums with free exponents, and descend from the best of them once they are rounded."""
        exchange = self.exchange(*DICTIONARIES[-1], "grown sums")
        if exchange is None or self.max_terms < 2:
            return
        growth = self.growth(exchange, width)
        growth.shrink(growth.grow(Structure.empty(self.problem.lattice.n_columns), self.max_terms))
        self.descend_from_best(exchange)

    def growth(self, exchange: Exchange, width: int = WIDTH) -> Growth:
        """Return the growth of sums from the monomials of an exchange search."""
        return Growth(
            self.problem,
            exchange.atoms,
            self.note,
            lambda n_terms: self.tick("grown sums", n_terms / self.max_terms, GROWN),
            width,
        )

    def descend_from_best(self, exchange: Exchange) -> None:
        """Add, swap and drop terms from the best lattice law."""
        best = next((c for c in self.pool.ranked() if not c.structure.n_free and 1 < len(c) <= self.max_terms), None)
        if best is not None:
            exchange.descend(self.atoms(best.structure))

    def improve(self, exchange: Exchange) -> None:
        """Descend from the best lattice law, then try to change two of its terms at once."""
        best = self.best
        if len(best) and not best.structure.n_free:
            exchange.descend(self.atoms(best.structure))
        self.tick()
        best = self.best
        if len(best) and not best.structure.n_free:
            pair = best_pair_exchange(exchange, self.atoms(best.structure))
            if pair is not None and pair[0] <= self.best.score + 1e-9:
                exchange.descend(pair[1])

    def exchange(self, kind: str, size: int, stage: str = "") -> Exchange | None:
        """Return an exchange search on a dictionary of one kind; ``None`` when the kind has no monomials."""
        lattice = self.problem.lattice
        structure = enumerate_monomials(lattice, kind, size, ceiling=60_000 if lattice.dimensions is None else 400_000)
        if not len(structure):
            return None
        atoms = evaluate(self.problem.rows, lattice, structure)
        return Exchange(
            self.problem,
            atoms,
            self.pool,
            max_terms=self.max_terms,
            tick=lambda n_terms: self.tick(stage, n_terms / self.max_terms, 1.0),
        )

    def backward(self, exchange: Exchange, *, natural: bool) -> None:
        """Eliminate from the largest affordable complete sums, with and without products of variables.

        They are natural polynomials, or sums of whole and half powers to the third.
        """
        atoms = exchange.atoms
        exponents = np.abs(atoms.structure.exponents)
        if natural:
            simple = np.all(~self.problem.lattice.signed | (atoms.structure.parity == exponents % 2), axis=1)
        else:
            simple = np.all((2.0 * exponents == np.round(2.0 * exponents)) & (exponents <= LARGEST_HALF), axis=1)
        alone = (exponents > 0).sum(axis=1) <= 1
        affordable = min(int(0.6 * len(self.problem.rows)), 60)
        for family in (simple, simple & alone):
            for degree in range(int(exponents[simple].sum(axis=1).max(initial=0.0)), 0, -1):
                chosen = np.flatnonzero(family & (exponents.sum(axis=1) <= degree))
                if 2 <= len(chosen) <= affordable:
                    free = replace(exchange, max_terms=len(chosen), with_neighbours=False)
                    free.eliminate(atoms.keep(chosen))
                    break

    def downweighted(self, tail: float) -> bool:
        """Search with large targets weighed down where the largest is over so many medians: squares see few rows only.

        Return whether it is.
        """
        rows = self.problem.rows
        size = np.abs(rows.target)
        typical = float(np.median(size))
        if size.max(initial=0.0) <= tail * typical or typical == 0.0:
            return False
        self.tick("heavy tails")
        gentle = rows.reweighted(1.0 / (1.0 + size / typical))
        criterion = Criterion(len(gentle), gentle.energy)
        other = replace(
            self,
            problem=replace(self.problem, rows=gentle, criterion=criterion),
            pool=Pool(),
            progress=part(self.progress, STAGES["heavy tails"], STAGES["polynomial monomials"], "heavy tails, "),
        )
        other.discrete()
        for candidate in other.pool.ranked()[:30]:
            self.note(self.problem.assess(candidate.structure))
        return True

    def continuous(self, fits: Fits) -> None:
        """Two and more continuous terms: split, round, exchange; stop when more terms do not help."""
        base = Structure(fits.exponents[0], fits.parity[0])
        waited = 0
        for k in range(2, min(self.max_terms, 5) + 1):
            self.tick("continuous terms", (k - 2) / 4)
            grown = split(self.problem, base, self.rng, 12)
            before = self.best.score
            self.round_promising(grown, 2)
            base = Structure(grown.exponents[0], grown.parity[0])
            waited = 0 if self.best.score < before - 1e-9 else waited + 1
            if waited > 1 or k * base.exponents.shape[1] > len(self.problem.rows) // 3:
                break

    def polish(self) -> None:
        """Exchange, pair exchange and merging from the best laws until nothing improves."""
        for _ in range(6):
            self.tick("polishing")
            before = self.best.score
            merged = merge(self.problem, self.problem.assess(self.best.structure))
            if merged is not None:
                self.note(merged)
            best = self.best
            if not best.structure.n_free and len(best):
                exchange = self.exchange("rational", 2000)
                if exchange is not None:
                    exchange.descend(self.atoms(best.structure))
            if self.best.score >= before - 1e-9:
                return
