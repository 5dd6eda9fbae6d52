"""From a table to a law: choose columns and rows, search, rank, and refit on everything.

Columns that do not vary, or repeat another one up to a factor, have no exponent of their own and are left out; where
units are given, a constant column with a unit is a known constant, whose exponents the units determine. A large
table is searched on a sample; the laws found are searched further and ranked on more rows, and the best of them are
refitted on all rows with only the columns that they use in memory.
"""

import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace

import numpy as np

from ecsel._typing import Floats
from ecsel.discovery.budget import DECIDED as DECIDED_MOVES
from ecsel.discovery.budget import RANKING as RANKING_MOVES
from ecsel.discovery.criterion import STRONG_EVIDENCE, Criterion
from ecsel.discovery.found import Discovery, extreme_scale
from ecsel.discovery.front import (
    EXPLOSION,
    EXPLOSION_OF_MISFIT,
    explodes,
    explodes_at_corner,
    finish_representatives,
    front,
    is_carried_by_one_row,
    leave_one_out,
    leverages,
    undominated,
)
from ecsel.discovery.lattice import Lattice
from ecsel.discovery.law import Law
from ecsel.discovery.model import Problem, Structure
from ecsel.discovery.one_term import fit_one_term
from ecsel.discovery.options import Options
from ecsel.discovery.parity import likely_parities
from ecsel.discovery.pool import Pool
from ecsel.discovery.progress import Progress, part, silent
from ecsel.discovery.ranking import Ranking, degree_ranges, simplest_of_the_best
from ecsel.discovery.residual_tests import Misfit, misfit_of_law
from ecsel.discovery.rows import Rows
from ecsel.discovery.search import OutOfBudgetError, OutOfTimeError, Search

SEARCH_ROWS = 300
RANKING_ROWS = 2000
FEWEST_ROWS = 3
RESTARTS = 40, 12
"""Most restarts of a thorough search, and those without a gain after which it ends."""
REGROWN = 24, 10
"""The same where sums grow with free exponents."""
RESTART_MONOMIALS = 6000
BEAM_WIDTH = 6
WIDE = 5
"""Sums kept side by side where they grow with free exponents in a second search."""
MAX_NEAR_TIES = 20
OVERWHELMING = 5.0
"""Nats by which a law that owes a term to a single row must be shorter than one as simple that does not."""
RANKING, REFIT = 0.85, 0.95
"""Shares of the work that have passed when the ranking and the refit on all rows begin."""


def discover(
    X: Floats,
    y: Floats,
    weight: Floats | None = None,
    options: Options | None = None,
    progress: Progress = silent,
) -> Discovery:
    """Search for the signomial law of a table; a keyboard interrupt ends the search with the best law so far.

    >>> x = np.linspace(1.0, 3.0, 40)[:, None]
    >>> law = discover(x, 2.0 * x[:, 0] ** 2 + 3.0).law
    >>> law.coefficients[np.argsort(law.structure.exponents[:, 0])]
    array([3., 2.])
    """
    options = options or Options()
    if weight is not None:
        keep = weight > 0
        X, y, weight = X[keep], y[keep], weight[keep]
        # The scale of the weights is immaterial unless the noise of a row of weight one is known.
        weight = weight if options.noise_variance is not None else weight / weight.mean()
    scale = extreme_scale(y)
    if scale != 1.0:
        noise = None if options.noise_variance is None else options.noise_variance / scale**2
        return discover(X, y / scale, weight, replace(options, noise_variance=noise), progress).rescaled(scale)
    used = np.union1d(independent_columns(X), known_constants(X, options.dimensions))
    rng = np.random.default_rng(options.seed)
    run = _Run(X, y, weight, used, options, rng, progress)
    laws, found = run.mean() if len(y) < FEWEST_ROWS or np.ptp(y) == 0.0 else run.search()
    laws, found = run.verified(laws, found)
    best, near = run.choose(laws)
    left_out = tuple(sorted(set(range(X.shape[1])) - set(used.tolist())))
    return Discovery(
        run.expand(best),
        tuple(map(run.expand, near)),
        tuple(map(run.expand, found)),
        leave_one_out(run.ranking_problem, best),
        tuple(leave_one_out(run.ranking_problem, law) for law in near),
        tuple(leave_one_out(run.ranking_problem, law) for law in found),
        left_out,
        run.misfit(best),
        float(leverages(run.ranking_problem, best).max(initial=0.0)),
        run.explodes(run.ranking_problem, best),
        run.complete,
        run.interrupted,
    )


def powers_of_a_product(X: Floats, y: Floats, weight: Floats | None = None, *, relative: bool = False) -> Floats | None:
    """Return the exponents of the product of powers that describes a target most shortly; None where there is none.

    With ``relative`` rows count in proportion to their targets' noise rather than alike. This is the first step of
    `discover` alone, which takes a hundredth of its time.

    >>> x = np.random.default_rng(0).uniform(1.0, 3.0, (50, 2))
    >>> powers_of_a_product(x, 2.0 * x[:, 0] ** 2 / x[:, 1])
    array([ 2., -1.])
    """
    rng = np.random.default_rng(0)
    index = np.sort(rng.permutation(len(y))[:RANKING_ROWS])
    X, y, weight = X[index], y[index], None if weight is None else weight[index]
    if relative and y.all():
        precision = (np.abs(y).max() / np.abs(y)) ** 2
        weight = precision if weight is None else weight * precision
        weight = weight / weight.mean()
    run = _Run(X, y, weight, independent_columns(X), Options(max_terms=1), rng, silent)
    problem = run.problem(run.all_rows)
    search = Search(problem, rng, 1)
    search.begin()
    if not len(run.used) or not search.can_fit_exponents():
        return None
    search.round_promising(fit_one_term(problem.rows, problem.lattice, likely_parities(problem.rows, 6)), 2)
    structure = _in_columns(search.best.structure, run.used, run.X.shape[1])
    signed = (structure.parity != structure.exponents % 2) & (X < 0).any(axis=0)
    if not structure.exponents.any() or signed.any():
        return None
    return np.asarray(structure.exponents[0])


def independent_columns(X: Floats) -> np.ndarray:
    """Return the columns that vary and are not multiples of an earlier one.

    >>> independent_columns(np.array([[1.0, 2.0, 5.0, 3.0], [2.0, 4.0, 5.0, 1.0]]))
    array([0, 3])
    """
    seen: dict[bytes, int] = {}
    for j in range(X.shape[1]):
        column = X[:, j]
        low, high = column.min(initial=np.inf), column.max(initial=-np.inf)
        if not low < high:
            continue
        top = column[np.argmax(np.abs(column))]
        seen.setdefault(np.round(column / top, 12).tobytes(), j)
    return np.array(sorted(seen.values()), dtype=np.intp)


def known_constants(X: Floats, dimensions: Floats | None) -> np.ndarray:
    """Return the columns that hold one positive number with a unit, such as the constant of gravity.

    >>> known_constants(np.array([[1.0, 6.7e-11, 2.0], [2.0, 6.7e-11, 2.0]]), np.array([[1.0, 3.0, 0.0]]))
    array([1])
    """
    if dimensions is None or not len(X):
        return np.zeros(0, dtype=np.intp)
    is_constant = (np.ptp(X, axis=0) == 0.0) & (X[0] > 0)
    return np.flatnonzero(is_constant & dimensions.any(axis=0))


def has_one_size(X: Floats) -> np.ndarray:
    """Return which columns hold zeros and numbers of one size alone, such as indicators.

    >>> has_one_size(np.array([[0.0, 1.0, -3.0], [1.0, 2.0, 3.0], [1.0, 0.0, 0.0]]))
    array([ True, False,  True])
    """
    size = np.abs(X)
    return np.asarray(((size == 0) | (size == size.max(axis=0, initial=0.0))).all(axis=0))


@dataclass(eq=False)
class _Run:
    X: Floats
    y: Floats
    weight: Floats | None
    used: np.ndarray
    options: Options
    rng: np.random.Generator
    progress: Progress
    complete: bool = True
    interrupted: bool = False
    ranking_problem: Problem = field(init=False)
    lattice: Lattice = field(init=False)

    def __post_init__(self) -> None:
        o, X = self.options, self.X[:, self.used]
        self.lattice = Lattice.build(
            signed=(X.min(axis=0, initial=np.inf) < 0) & (X.max(axis=0, initial=-np.inf) > 0),
            has_zero=np.any(X == 0, axis=0),
            one_size=has_one_size(X) if o.dimensions is None else None,
            exponents=o.exponents,
            real=o.real,
            lower=None if o.lower is None else o.lower[self.used],
            upper=None if o.upper is None else o.upper[self.used],
            dimensions=None if o.dimensions is None else o.dimensions[:, self.used],
            target_dimension=o.target_dimension,
        )

    @property
    def all_rows(self) -> np.ndarray:
        return np.arange(len(self.y))

    def problem(self, index: np.ndarray) -> Problem:
        """Return the search problem on some of the rows."""
        weight = None if self.weight is None else self.weight[index]
        rows = Rows.from_table(self.X[np.ix_(index, self.used)], self.y[index], weight)
        return Problem(rows, Criterion(len(rows), rows.energy, self.options.noise_variance), self.lattice)

    def mean(self) -> tuple[list[Law], list[Law]]:
        """Return the mean as the only law, for a constant target or fewer rows than any law could be judged by."""
        self.ranking_problem = self.problem(self.all_rows)
        m = len(self.used)
        structure = Structure.constant(m) if np.any(self.y) else Structure.empty(m)
        mean = Ranking(self.ranking_problem, round_coefficients=len(self.y) >= FEWEST_ROWS).finish(structure)
        return [mean], [mean]

    def search(self) -> tuple[list[Law], list[Law]]:
        """Return the laws found, best first, and the front."""
        o = self.options
        deadline = np.inf if o.time_limit is None else time.monotonic() + o.time_limit
        order = self.rng.permutation(len(self.y))
        first = self.problem(np.sort(order[:SEARCH_ROWS]))
        report = part(self.progress, 0.0, RANKING)
        search = Search(first, self.rng, o.largest, o.n_terms, deadline, progress=report, budget=o.budget)
        work = (lambda: self._search_from_beam(search)) if o.thorough else search.run
        self._attempt(search, search.begin if o.only_hints or o.decided is not None else work)
        self._attempt(search, lambda: self._note_hints(search))
        if o.only_hints:
            self._attempt(search, lambda: search.improve(search.nearby))
        if len(self.y) > SEARCH_ROWS:
            search = self._on_more_rows(search, np.sort(order[:RANKING_ROWS]))
            self._attempt(search, lambda: self._improve(search))
        search.budget = None  # whatever was found is ranked with care
        if o.budget is not None:
            o.budget.spend(RANKING_MOVES if o.decided is None else DECIDED_MOVES)
        self.ranking_problem = search.problem
        ranking = Ranking(search.problem, tick=search.tick)
        self._attempt(search, lambda: self._rank(search, ranking))
        self._attempt(search, lambda: finish_representatives(search.pool, ranking, o.largest))
        if not ranking.laws():  # interrupted again, before any law was finished
            raise KeyboardInterrupt
        return [law for law in ranking.laws() if len(law) <= o.largest], front(ranking, o.largest)

    def _search_from_beam(self, search: Search) -> None:
        """Search in another way than the first one did: sums that grow side by side, then restarts."""
        search.begin()
        exchange = search.exchange("rational", RESTART_MONOMIALS, "restarts")
        if exchange is not None and search.can_fit_exponents():
            self._note_hints(search)
            growth = search.growth(exchange, WIDE)
            growth.shrink(growth.grow(Structure.empty(search.problem.lattice.n_columns), search.max_terms))
            search.regrow(exchange, *REGROWN)
            search.improve(exchange)
        elif exchange is not None:
            # Where there are few monomials, more sums can be kept side by side at the same cost.
            width = BEAM_WIDTH * int(np.clip(np.sqrt(RESTART_MONOMIALS / len(exchange.atoms)), 1.0, 6.0))
            exchange.beam(search.empty, width)
            self._note_hints(search)
            search.restart(exchange, *RESTARTS)
            search.improve(exchange)

    def _note_hints(self, search: Search) -> None:
        """Put the laws that other searches have found among the candidates, as far as the lattice allows them."""
        decided = () if self.options.decided is None else (self.options.decided,)
        for hint in (*decided, *self.options.hints):
            own = self._own(hint)
            if own is not None and np.isfinite(own.cost(self.lattice)):
                search.note(search.problem.assess(own))
        search.tick()

    def _own(self, law: Structure) -> Structure | None:
        """Return a law of all columns as one of the columns in use; None where it needs others."""
        left = np.delete(np.arange(law.exponents.shape[1]), self.used)
        if (law.exponents[:, left] != 0).any():
            return None
        return Structure(law.exponents[:, self.used], law.parity[:, self.used], law.free[:, self.used])

    def _decided(self, laws: list[Law]) -> Law | None:
        """Return the law that was decided on; None where the choice is open."""
        own = None if self.options.decided is None else self._own(self.options.decided)
        if own is None:
            return None
        # A real exponent moves with the fit, so that the law is told by its size and which exponents are real.
        same = [
            law
            for law in laws
            if len(law) == len(own)
            and (law.structure.free == own.free).all()
            and np.allclose(law.structure.exponents[~own.free], own.exponents[~own.free])
        ]
        return min(same, key=lambda law: law.shortest) if same else None

    def _improve(self, search: Search) -> None:
        """Look for better laws around the best one, on more rows than it was found on."""
        search.improve(search.nearby)
        if self.options.thorough:
            search.restart(search.nearby, *RESTARTS)

    def _on_more_rows(self, search: Search, index: np.ndarray) -> Search:
        """Return a search on more rows that starts from the laws of another one."""
        larger = replace(search, problem=self.problem(index), pool=Pool())
        # Backward elimination notes sums longer than allowed, which may be all of the best: filter before cutting.
        allowed = [candidate for candidate in search.pool.ranked() if len(candidate) <= search.max_terms]
        for candidate in allowed[:40]:
            larger.note(larger.problem.assess(candidate.structure))
        return larger

    def _rank(self, search: Search, ranking: Ranking) -> None:
        self.progress(RANKING, "ranking")
        found = [c for c in search.pool.ranked() if len(c) <= search.max_terms and search.is_wanted(c)]
        found = found or search.pool.ranked()
        decided = None if self.options.decided is None else self._own(self.options.decided)
        if decided is not None:
            ranking.finish(decided)
            ranking.consider(found, 24)
            return
        ranking.consider(found[:4], 4)
        ranking.consider(
            [search.problem.assess(s) for s in degree_ranges(search.problem) if len(s) <= search.max_terms], 12
        )
        ranking.consider(found, 24)
        search.tick()
        ranking.explore(search.nearby, search.is_wanted)

    def _attempt(self, search: Search, work: Callable[[], None]) -> None:
        """Work until done, out of budget or time, or interrupted; the best so far is kept in the pool."""
        try:
            work()
        except OutOfBudgetError:
            return
        except OutOfTimeError:
            self.complete = False
        except KeyboardInterrupt:
            self.complete, self.interrupted = False, True
            search.deadline = -np.inf

    def choose(self, laws: list[Law]) -> tuple[Law, list[Law]]:
        """Return the simplest law without strong evidence against it, and those that the data cannot tell from it.

        A law that owes a term to a single row, or explodes beyond the rows, gives way to one as simple that does not,
        unless that is hopeless.
        """
        laws = [law for law in laws if self.options.n_terms in (None, len(law))] or laws
        decided = self._decided(laws)
        best = simplest_of_the_best(laws) if decided is None else decided
        for is_wrong in (is_carried_by_one_row, self.explodes):
            if decided is None and is_wrong(self.ranking_problem, best):
                evidence = OVERWHELMING if is_wrong is is_carried_by_one_row else self._price_of_explosion(best)
                others = [
                    law
                    for law in laws
                    if law.complexity <= best.complexity
                    and law.shortest <= best.shortest + evidence
                    and not is_wrong(self.ranking_problem, law)
                ]
                best = simplest_of_the_best(others) if others else best
        near = [law for law in laws if law is not best and law.shortest <= best.shortest + STRONG_EVIDENCE]
        return best, near[:MAX_NEAR_TIES]

    def _price_of_explosion(self, law: Law) -> float:
        """Return the nats by which a law that explodes must be shorter than one that does not."""
        return EXPLOSION if self.misfit(law).is_adequate else EXPLOSION_OF_MISFIT

    def explodes(self, problem: Problem, law: Law) -> bool:
        """Return whether a law leaves the range of its values where columns are combined in another way.

        A law that the residual tests leave standing is judged by recombined rows, another one by the corners too.
        """
        return explodes(problem, law) or (explodes_at_corner(problem, law) and not self.misfit(law).is_adequate)

    def misfit(self, law: Law) -> Misfit:
        """Return how well a law passes the residual tests; its column is one of all columns."""
        found = misfit_of_law(self.ranking_problem, law.structure)
        return found if found.column is None else replace(found, column=int(self.used[found.column]))

    def verified(self, laws: list[Law], found: list[Law]) -> tuple[list[Law], list[Law]]:
        """Return the laws that may be the best, and the front, as all rows see them where only a sample was ranked.

        All rows may decide between laws that the sample cannot tell apart, and for a term too weak for it.
        """
        best, near = self.choose(laws)
        if len(self.y) <= RANKING_ROWS:
            return laws, found
        if not self.complete:
            return [self.refitted(best)], found
        ours = {law.structure.key(): law for law in (best, *near, *found)}
        seen = {key: self.refitted(law) for key, law in ours.items()}
        if self.interrupted:
            return laws, found
        return sorted(seen.values(), key=lambda law: (law.shortest, law.complexity)), undominated(seen.values())

    def refitted(self, law: Law) -> Law:
        """Return a law refitted on all rows, or as it is where that is interrupted."""
        if self.interrupted:
            return law
        try:
            return self.on_all_rows(law)
        except KeyboardInterrupt:
            self.complete, self.interrupted = False, True
            return law

    def on_all_rows(self, law: Law) -> Law:
        """Refit a law on all rows, with only its own columns in memory."""
        if len(self.y) <= RANKING_ROWS:
            return law
        self.progress(REFIT, "refit on all rows")
        s = law.structure
        columns = np.flatnonzero((np.abs(s.exponents) > 0).any(axis=0) | s.free.any(axis=0))
        own = replace(self, used=self.used[columns])
        problem = replace(own.problem(self.all_rows), lattice=self.lattice.take(columns))
        small = Structure(s.exponents[:, columns], s.parity[:, columns], s.free[:, columns])
        refitted = Ranking(problem).finish(small)
        return replace(refitted, structure=_in_columns(refitted.structure, columns, len(self.used)))

    def expand(self, law: Law) -> Law:
        """Return a law in terms of all columns of the table."""
        return replace(law, structure=_in_columns(law.structure, self.used, self.X.shape[1]))


def _in_columns(structure: Structure, columns: np.ndarray, n_columns: int) -> Structure:
    shape = (len(structure), n_columns)
    exponents, parity, free = np.zeros(shape), np.zeros(shape, dtype=np.int8), np.zeros(shape, dtype=bool)
    exponents[:, columns], parity[:, columns], free[:, columns] = structure.exponents, structure.parity, structure.free
    return Structure(exponents, parity, free)
