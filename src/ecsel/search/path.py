r"""The exchange path: for every number of pieces the best set that additions, swaps and deletions reach.

The objective of a set S of pieces is

    Σ w ℓ/φ + ½ ρ Σ_k λ_k θ_k² + η Σ_{k∈S} cost(k),

the negative log-likelihood with a ridge (λ_k grows with leverage) and a price η on the code length. A round looks at
every piece of the dictionary (`ecsel.search.scan`) for the additions and exchanges that gain most to second order. The
best few of these are fitted exactly, and the best of them is taken. The dispersion φ is 1 for likelihoods; of squared
errors it is the noise variance that a size leaves, so that gains are nats.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from ecsel.search import glm
from ecsel.search.scan import MIN_GAIN, Candidates, Current, Scan, scan

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from ecsel._typing import Floats, Mask, Places
    from ecsel.search.dictionary import Atoms
    from ecsel.search.losses import Loss

ADDITIONS = 3
"""Additions that are fitted exactly in a round."""
SURPRISE = 4.0
"""Nats by which an exact fit may beat what the quadratic model promised; an addition further behind is not tried."""
SWAPS = 2
"""Swaps at one number of pieces on the way up; one on the way down."""
TRIED_SWAPS = 2
"""Swaps that are fitted exactly in a round."""
POOL = 256
"""Atoms that swaps on the way down choose from."""
LARGE, WORKING, WHOLE_EVERY = 1_000_000, 512, 3
"""A dictionary of more numbers is looked at whole at every third size only; in between its best atoms take part."""


@dataclass(frozen=True)
class SizeConstraints:
    """What an equation may have at most: factors in all, terms a score, and raw columns; None for no limit."""

    max_factors: int
    max_terms: int | None = None
    max_columns: int | None = None


@dataclass(frozen=True)
class Family:
    """A way to walk: the price η of code length, the ridge while searching, and the largest number of pieces.

    `singles` keeps products of two columns out, `straight` everything but columns as they are, `cuts` lets thresholds
    in. The walk ends after `patience` additions in a row that gain less than `min_addition` nats.
    """

    name: str
    price: float
    ridge: float
    max_pieces: int
    singles: bool = False
    straight: bool = False
    cuts: bool = False
    min_addition: float = 1.0
    patience: int = 2


@dataclass(frozen=True, eq=False)
class Training:
    """What a walk learns from: atoms and target of all rows, and the weights of those that take part, 0 for the others.

    `allowed` (scores, atoms) forbids pieces.
    """

    loss: Loss
    atoms: Atoms
    target: Floats
    weights: Floats
    allowed: Mask | None = None
    signs: Floats | None = None
    """(scores, atoms): +1 or −1 where a coefficient must have that sign, 0 where it is free."""

    def scaled_weights(self, dispersion: float) -> Floats:
        """Return the weights under which losses count in units of a dispersion φ."""
        return self.weights if dispersion == 1.0 else self.weights / dispersion

    def allows_signs(self, found: Found) -> bool:
        """Whether every coefficient has the sign that it must have."""
        if self.signs is None:
            return True
        wanted = self.signs[list(found.owners), list(found.atoms)] if found.atoms else np.zeros(0)
        return bool((wanted * found.fitted.coefficients >= 0).all())

    def dispersion(self, found: Found) -> float:
        """Return the dispersion φ that a set leaves, in whose units its loss counts nats."""
        return self.loss.dispersion(found.fitted.scores, self.target, self.weights, len(found) + 1)


@dataclass(frozen=True, eq=False)
class Found:
    """A set of pieces with its fit: atoms and the scores that they belong to."""

    atoms: tuple[int, ...]
    owners: tuple[int, ...]
    fitted: glm.Fitted
    total: float
    """The objective with the price of the code length."""
    dispersion: float = 1.0
    """The dispersion φ under which it was fitted."""

    def __len__(self) -> int:
        return len(self.atoms)


class Walk:
    """One walk through the sizes on the rows of a training."""

    def __init__(
        self,
        training: Training,
        family: Family,
        constraints: SizeConstraints,
        stopped: Callable[[], bool] = lambda: False,
    ) -> None:
        self._training = training
        self._family = family
        self._constraints = constraints
        self._stopped = stopped
        atoms = training.atoms
        usable = np.ones((training.loss.n_scores, len(atoms)), dtype=bool)
        if family.singles:
            usable &= atoms.n_factors == 1
        if family.straight:
            usable &= atoms.straight
        if not family.cuts:
            usable &= ~atoms.cut
        if training.allowed is not None:
            usable &= training.allowed
        self._usable = usable
        self._prices = family.price * atoms.costs
        self._price_list = self._prices.tolist()  # of few numbers a sum of Python's is the faster one
        self._ridge = family.ridge * atoms.leverage
        self._dispersion = 1.0
        self._dispersions: dict[int, float] = {}
        """φ of every size, under which sets of that size are compared."""
        self._dictionary = np.flatnonzero(usable.any(axis=0))
        self._looked_at: Candidates | None = None
        """The candidates of the last scan: the next one mostly looks at the same."""

    def run(self) -> list[Found]:
        """Return the best set of each size, from none to the most that there is room for, or time."""
        current = self._rescale(self._fit((), (), None))
        best: dict[int, Found] = {0: current}
        everything = self._everything(current) if self._family.straight else None
        if everything is not None:
            best[len(everything)] = everything
            self._shrink(best, everything, self._scan(everything, self._dictionary))
            return [best[size] for size in sorted(best)]
        look = self._scan(current, self._dictionary)
        pool = self._dictionary
        idle = 0
        while len(current) < self._family.max_pieces and not self._stopped():
            larger = self._add(current, look)
            if larger is None:
                break
            idle = idle + 1 if current.fitted.objective - larger.fitted.objective < self._family.min_addition else 0
            current = self._rescale(larger)
            if self._is_large:
                pool = self._dictionary if len(current) % WHOLE_EVERY == 0 else pool
            look = self._scan(current, pool)
            if self._is_large and pool is self._dictionary:
                pool = self._promising(best.values(), look, WORKING)
            for _ in range(SWAPS):
                swapped = self._swap(current, look)
                if swapped is None:
                    break
                current = swapped
                look = self._scan(current, pool)
            best[len(current)] = current
            if idle == self._family.patience:
                break
        self._shrink(best, current, look)
        return [best[size] for size in sorted(best)]

    def _everything(self, empty: Found) -> Found | None:
        """Return the set of all pieces of every score, where there is room for it.

        Columns that say much only together, as differences do, are lost on the way up and kept on the way down.
        """
        owners, atoms = np.nonzero(self._usable)
        n_factors = self._training.atoms.count_factors(atoms.tolist())
        few = n_factors <= min(self._constraints.max_factors, self._family.max_pieces)
        if (
            not few
            or not n_factors
            or self._constraints.max_terms is not None
            or self._constraints.max_columns is not None
        ):
            return None
        start = (empty.fitted.intercepts, np.zeros(len(atoms)))
        found = self._rescale(self._fit(tuple(atoms.tolist()), tuple(owners.tolist()), start))
        return found if self._training.allows_signs(found) else None

    def _shrink(self, best: dict[int, Found], current: Found, look: Scan) -> None:
        """Walk back to one piece and keep what beats the way up; `look` is the scan of the current set."""
        pool = self._promising(best.values(), look, POOL)
        nothing = pool[:0]
        while len(current) > 1 and not self._stopped():
            current = self._drop(current, look)
            look = self._scan(current, pool)
            swapped = self._swap(current, look)
            if swapped is not None:
                current = swapped
                look = self._scan(current, nothing)
            known = best.get(len(current))
            if known is None or current.total < known.total - MIN_GAIN:
                best[len(current)] = current

    @property
    def _is_large(self) -> bool:
        """Whether a look at the whole dictionary costs so much that most rounds do with a working set."""
        return len(self._dictionary) * len(self._training.target) > LARGE

    def _promising(self, met: Iterable[Found], look: Scan, size: int) -> Places:
        """Return so many atoms: those met so far, and the best of a scan."""
        if len(look.places) <= size:
            return look.places
        gain = look.best.copy()
        gain[np.isin(look.places, [a for found in met for a in found.atoms])] = np.inf
        return np.sort(look.places[np.argsort(-gain, kind="stable")[:size]])

    def _rescale(self, current: Found) -> Found:
        """Take φ from a set, and return the set fitted under it."""
        fitted, before = current.fitted, self._dispersion
        now = self._training.dispersion(current)
        self._dispersion = self._dispersions[len(current)] = now
        if now == before:
            return current
        return self._fit(current.atoms, current.owners, (fitted.intercepts, fitted.coefficients))

    def _fit(self, atoms: tuple[int, ...], owners: tuple[int, ...], start: tuple[Floats, Floats] | None) -> Found:
        training = self._training
        places = np.array(atoms, dtype=np.intp)
        fitted = glm.fit(
            training.loss,
            training.atoms.values,
            np.array(owners, dtype=np.intp),
            training.target,
            training.scaled_weights(self._dispersion),
            self._ridge[places],
            start,
            places=places,
            tolerance=glm.SEARCH_TOLERANCE,
        )
        total = fitted.objective + sum(self._price_list[a] for a in atoms)
        return Found(atoms, owners, fitted, total, self._dispersion)

    def _scan(self, current: Found, places: Places) -> Scan:
        training, own = self._training, np.array(current.atoms, dtype=np.intp)
        return scan(
            training.loss,
            training.atoms.values,
            training.target,
            training.scaled_weights(self._dispersion),
            Current(
                own,
                np.array(current.owners, dtype=np.intp),
                current.fitted.coefficients,
                current.fitted.scores,
                self._ridge[own],
                self._prices[own],
            ),
            self._candidates(places),
        )

    def _candidates(self, places: Places) -> Candidates:
        known = self._looked_at
        if known is None or known.places is not places:
            signs = self._training.signs
            known = self._looked_at = Candidates(
                places,
                self._ridge[places],
                self._prices[places],
                np.ascontiguousarray(self._usable[:, places]),
                None if signs is None else np.ascontiguousarray(signs[:, places]),
            )
        return known

    def _room(self, current: Found) -> Mask | None:
        """Return the atoms (scores, atoms) that may join the set; None where all may."""
        atoms, constraints = self._training.atoms, self._constraints
        left = constraints.max_factors - atoms.count_factors(current.atoms)
        if left >= 2 and constraints.max_terms is None and constraints.max_columns is None:
            return None
        room = np.repeat((atoms.n_factors <= left)[None, :], len(self._usable), axis=0)
        if constraints.max_terms is not None:
            room[np.bincount(current.owners, minlength=len(room)) >= constraints.max_terms] = False
        if constraints.max_columns is not None:
            used = np.unique(atoms.groups[list(current.atoms)])
            new = ~np.isin(atoms.groups, used)
            n_new = new[:, 0].astype(np.intp) + (new[:, 1] & (atoms.groups[:, 1] != atoms.groups[:, 0]))
            room &= n_new <= constraints.max_columns - len(used)
        return room

    def _fits(self, current: Found, atom: int, *, without: int) -> bool:
        """Whether an atom may take the place of a piece of the same score."""
        atoms, constraints = self._training.atoms, self._constraints
        places = [atom, *(a for i, a in enumerate(current.atoms) if i != without)]
        if 2 * len(places) > constraints.max_factors and atoms.count_factors(places) > constraints.max_factors:
            return False
        return constraints.max_columns is None or len(np.unique(atoms.groups[places])) <= constraints.max_columns

    def _add(self, current: Found, look: Scan) -> Found | None:
        room = self._room(current)
        gains = look.additions.copy() if room is None else np.where(room[:, look.places], look.additions, -np.inf)
        if not gains.size:
            return None
        best: Found | None = None
        fitted = current.fitted
        promised = gains.reshape(-1)
        for _ in range(ADDITIONS):
            at = int(promised.argmax())  # of equal ones the first
            least = -np.inf if best is None else current.total - best.total - SURPRISE
            if not least < promised[at]:
                break
            promised[at] = -np.inf
            c, place = divmod(at, gains.shape[1])
            a = int(look.places[place])
            # where the quadratic model of the loss has its minimum
            step, loss_by_it = look.addition(c, place)
            intercepts, coefficients = fitted.intercepts.copy(), fitted.coefficients.copy()
            intercepts[c] -= loss_by_it[0]
            coefficients[look.members[c]] -= loss_by_it[1:]
            start = (intercepts, np.concatenate([coefficients, [step]]))
            trial = self._fit((*current.atoms, a), (*current.owners, c), start)
            if self._training.allows_signs(trial) and (best is None or trial.total < best.total - MIN_GAIN):
                best = trial
        return best

    def _swap(self, current: Found, look: Scan) -> Found | None:
        moves = sorted(
            ((swap, c) for c, swaps in enumerate(look.swaps) for swap in swaps), key=lambda move: -move[0].gain
        )
        best: Found | None = None
        tried = 0
        for (gain, s, place), c in moves:
            # what the first one gained is more than any other promises
            if tried == TRIED_SWAPS or (best is not None and gain <= current.total - best.total):
                break
            a = int(look.places[place])
            if not self._fits(current, a, without=s):
                continue
            tried += 1
            atoms = (*current.atoms[:s], *current.atoms[s + 1 :], a)
            owners = (*current.owners[:s], *current.owners[s + 1 :], c)
            kept = _without(current.fitted.coefficients, s)
            trial = self._fit(atoms, owners, (current.fitted.intercepts, np.concatenate([kept, [0.0]])))
            lowest = current.total if best is None else best.total
            if trial.total < lowest - MIN_GAIN and self._training.allows_signs(trial):
                best = trial
        return best

    def _drop(self, current: Found, look: Scan) -> Found:
        """Return the set without the piece that is missed least: ½ θ²/M⁻¹_ss to second order."""
        fitted, places = current.fitted, np.array(current.atoms, dtype=np.intp)
        missed = 0.5 * fitted.coefficients**2 / look.variances()
        s = int(np.argmin(missed - self._prices[places]))
        atoms = (*current.atoms[:s], *current.atoms[s + 1 :])
        start = (fitted.intercepts, _without(fitted.coefficients, s))
        self._dispersion = self._dispersions.get(len(atoms), self._dispersion)
        return self._fit(atoms, (*current.owners[:s], *current.owners[s + 1 :]), start)


def refit(training: Training, found: Found, ridges: Sequence[float], dispersion: float = 1.0) -> list[Found]:
    """Return the same pieces fitted under other ridges."""
    places = np.array(found.atoms, dtype=np.intp)
    every = glm.fit_ridges(
        training.loss,
        training.atoms.values,
        np.array(found.owners, dtype=np.intp),
        training.target,
        training.scaled_weights(dispersion),
        np.outer(ridges, training.atoms.leverage[places]),
        (found.fitted.intercepts, found.fitted.coefficients),
        places,
    )
    return [Found(found.atoms, found.owners, fitted, found.total, dispersion) for fitted in every]


def _without(values: Floats, place: int) -> Floats:
    """Return the values but one; `np.delete` takes as long as a fit of few rows."""
    return np.concatenate([values[:place], values[place + 1 :]])
