"""The last word: full code lengths for the most promising laws, and for what is one move away from the best of them.

The search works without the code of the coefficients, so a law whose coefficients are simple numbers may stand far down
its list. An optimistic bound (every coefficient rounds to one) tells which candidates can still win; they are finished,
then the single moves around the best laws are tried in the same way until nothing improves.
"""

from collections.abc import Callable, Sized
from dataclasses import dataclass, field

import numpy as np

from ecsel.discovery.criterion import STRONG_EVIDENCE
from ecsel.discovery.exchange import Exchange
from ecsel.discovery.law import Law, finish
from ecsel.discovery.model import Candidate, Problem, Structure
from ecsel.discovery.pairs import best_pair_exchange
from ecsel.discovery.pool import Pool

FEW_ROWS = 60
"""With fewer rows the tests on residuals are weak, and the whole search is cheap."""
MAX_LAWS = 160
"""No more laws than this are finished: where the data fit exactly, every candidate could still win."""
MAX_TERMS_FOR_PAIRS = 5
WORTH_EXPLORING = 12.0
CHEAPEST_COEFFICIENT = 1.0
TERM_EVIDENCE = 4.0
"""Nats that each further term or real exponent must save, a Bayes factor of 55: neighbouring whole powers with simple
coefficients imitate a fraction at next to no cost. Chosen on seeds that no benchmark reports."""


def optimistic(problem: Problem, candidate: Candidate) -> float:
    """Return the best full code length that a candidate could reach if all its coefficients were ones."""
    k = len(candidate)
    price = problem.criterion.parameter_price(candidate.rss, candidate.structure.n_parameters)
    return candidate.score - k * max(price - CHEAPEST_COEFFICIENT, 0.0)


def degree_ranges(problem: Problem) -> list[Structure]:
    """Return the complete ranges of degrees a, a + s, ..., d of one variable, which have a code of their own."""
    if problem.lattice.n_columns != 1:
        return []
    found = []
    for step in (1, 2):
        for first in (0, 1, 2):
            for n_terms in range(3, min(11, len(problem.rows) // 2) + 1):
                degrees = (first + step * np.arange(n_terms))[:, None]
                structure = Structure(degrees.astype(float), (degrees % 2).astype(np.int8))
                if degrees[-1, 0] <= 12 and np.isfinite(structure.cost(problem.lattice)):
                    found.append(structure)
    return found


@dataclass(eq=False)
class Ranking:
    """Laws with their full code length; each set of monomials is finished once.

    ``tick`` is called before each; it may end the ranking by raising.
    """

    problem: Problem
    round_coefficients: bool = True
    tick: Callable[[], None] = lambda: None
    _laws: dict[frozenset[bytes], Law] = field(default_factory=dict)

    def finish(self, structure: Structure) -> Law:
        """Return the finished law of a structure."""
        key = structure.key()
        if key not in self._laws:
            if self._laws:  # one law at least is finished, whatever the time
                self.tick()
            self._laws[key] = finish(self.problem, structure, round_coefficients=self.round_coefficients)
        return self._laws[key]

    def laws(self) -> list[Law]:
        """Return the finished laws, shortest code first."""
        return sorted(self._laws.values(), key=lambda law: (law.shortest, law.complexity))

    def consider(self, candidates: list[Candidate], most: int) -> None:
        """Finish the candidates that can still win, the most promising bounds first."""
        bounded = sorted((optimistic(self.problem, c), i) for i, c in enumerate(candidates))
        best = min((law.shortest for law in self._laws.values()), default=np.inf)
        for bound, i in bounded[:most]:
            if bound > best + STRONG_EVIDENCE or len(self._laws) >= MAX_LAWS:
                break
            best = min(best, self.finish(candidates[i].structure).shortest)

    def explore(self, exchange: Exchange, wanted: Callable[[Sized], bool], *, rounds: int = 5) -> None:
        """Try the moves around the best lattice laws of neighbouring sizes until the best code length stays."""
        # With few rows many laws fit alike before rounding, and more of them must be looked at.
        most, pairs = (60, 16) if len(self.problem.rows) < FEW_ROWS else (40, 8)
        tried: set[frozenset[bytes]] = set()
        for _ in range(rounds):
            self.drop_terms(wanted)
            before = self.laws()[0].shortest
            for law in self._leaders():
                key = law.structure.key()
                if key in tried:
                    continue
                tried.add(key)
                near = Pool()
                local = exchange.with_pool(near)
                atoms = exchange.as_atoms(law.structure)
                local.best_move(atoms, adds=True, swaps=True, keep=60)
                local.best_drop(atoms)
                if 1 < len(law) <= MAX_TERMS_FOR_PAIRS:
                    best_pair_exchange(local, atoms, keep=pairs)
                self.consider([c for c in near.ranked() if wanted(c)], most)
            if self.laws()[0].shortest >= before - 1e-9:
                return

    def drop_terms(self, wanted: Callable[[Sized], bool]) -> None:
        """Finish what is left of the best law without each of its terms, as long as that is better."""
        while True:
            best = self.laws()[0]
            for i in range(len(best)):
                rest = best.structure.keep([j for j in range(len(best)) if j != i])
                if wanted(rest):
                    self.finish(rest)
            if self.laws()[0] is best:
                return

    def _leaders(self) -> list[Law]:
        """Return the best two lattice laws, and the best with one term less and one more."""
        laws = [law for law in self.laws() if len(law) and not law.structure.n_free]
        if not laws:
            return []
        beside = [next((law for law in laws if len(law) == len(laws[0]) + d), None) for d in (-1, 1)]
        near = [law for law in beside if law is not None and law.shortest < laws[0].shortest + WORTH_EXPLORING]
        return [*laws[:2], *near]


def simplest_of_the_best(laws: list[Law]) -> Law:
    """Return the law with the shortest code where each further term or real exponent needs strong evidence.

    Of those as simple as it, and nearly as short, it is the one with the fewest fractions; which whole powers the
    exponents are is in the code length already.
    """
    best = min(laws, key=lambda law: (law.shortest + TERM_EVIDENCE * law.complexity, law.complexity))
    close = [
        law for law in laws if law.complexity <= best.complexity and law.shortest <= best.shortest + STRONG_EVIDENCE
    ]
    return min(close, key=lambda law: (law.complexity, law.structure.n_fractions, law.shortest))
