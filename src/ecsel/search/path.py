r"""The exchange path: for every number of pieces the best set that additions, swaps and deletions reach.

The objective of a set S of pieces is

    Σ w ℓ/φ + ½ ρ Σ_k λ_k θ_k² + η Σ_{k∈S} cost(k),

the negative log-likelihood with a ridge (λ_k grows with leverage) and a price η on the code length. A round looks at
every piece of the dictionary from one matrix product: with the residual r, the curvature weights h and M the Hessian of
the current set (intercept included),

    g = x'r,   c = X_S' h x,   q = x'hx + ρλ − c'M⁻¹c,   v = M⁻¹c,

adding the piece x gains ½ g²/q to second order, and exchanging piece s for it gains

    ½ g²/q − ½ (θ_s − v_s g/q)² / (M⁻¹_ss + v_s²/q).

The best few of these are fitted exactly, and the best of them is taken. Scores of several classes are looked at class
by class, as glmnet's cycle does; the exact fit then has the full curvature.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from ecsel.search import glm

if TYPE_CHECKING:
    from collections.abc import Callable

    from ecsel.search.dictionary import Atoms
    from ecsel.search.losses import Loss
    from ecsel.search.typing import Floats, Mask, Places, Singles

ADDITIONS = 3
"""Additions that are fitted exactly in a round."""
SWAPS = 2
"""Swaps at one number of pieces on the way up; one on the way down."""
TRIED_SWAPS = 2
"""Swaps that are fitted exactly in a round."""
MIN_GAIN = 1e-6
"""Nats that a swap must gain, so that rounding does not make it go round in circles."""
COLLINEAR = 1e-3
"""A piece of which less than this share (squared sine) is new to the set is no new direction."""


@dataclass(frozen=True)
class Limits:
    """What an equation may have at most: factors in all, terms a score, and raw columns; None for no limit."""

    max_factors: int
    max_terms: int | None = None
    max_columns: int | None = None


@dataclass(frozen=True)
class Family:
    """A way to walk: the price η of code length, the ridge while searching, and the largest number of pieces.

    `singles` keeps products of two columns out, `cuts` lets thresholds in.
    """

    name: str
    price: float
    ridge: float
    max_pieces: int
    singles: bool = False
    cuts: bool = False


@dataclass(frozen=True, eq=False)
class Training:
    """The rows of a search: atoms on these rows, target and weights. `allowed` (scores, atoms) forbids pieces."""

    loss: Loss
    atoms: Atoms
    target: Floats
    weights: Floats
    allowed: Mask | None = None
    signs: Floats | None = None
    """(scores, atoms): +1 or −1 where a coefficient must have that sign, 0 where it is free."""


@dataclass(frozen=True, eq=False)
class Found:
    """A set of pieces with its fit: atoms and the scores that they belong to."""

    atoms: tuple[int, ...]
    owners: tuple[int, ...]
    fitted: glm.Fitted
    total: float
    """The objective with the price of the code length."""

    def __len__(self) -> int:
        return len(self.atoms)


@dataclass(frozen=True, eq=False)
class _Scan:
    """Gains to second order: additions (scores, atoms), and for each score its swaps (pieces of it, atoms)."""

    additions: Floats
    swaps: list[tuple[Places, Floats]]


class Walk:
    """One walk through the sizes on the rows of a training."""

    def __init__(
        self, training: Training, family: Family, limits: Limits, stopped: Callable[[], bool] = lambda: False
    ) -> None:
        self._training = training
        self._family = family
        self._limits = limits
        self._stopped = stopped
        atoms = training.atoms
        usable = np.ones((training.loss.n_scores, len(atoms)), dtype=bool)
        if family.singles:
            usable &= atoms.n_factors == 1
        if not family.cuts:
            usable &= ~atoms.cut
        if training.allowed is not None:
            usable &= training.allowed
        self._usable = usable
        self._values: Singles = atoms.values
        self._squares: Singles = atoms.values**2
        self._prices = family.price * atoms.costs
        self._ridge = family.ridge * atoms.leverage
        self._dispersion = 1.0

    def run(self) -> list[Found]:
        """Return the best set of each size, from none to the most that there is room for, or time."""
        current = self._fit((), (), None)
        best: dict[int, Found] = {0: current}
        while len(current) < self._family.max_pieces and not self._stopped():
            self._rescale(current)
            larger = self._add(current)
            if larger is None:
                break
            current = larger
            for _ in range(SWAPS):
                swapped = self._swap(current)
                if swapped is None:
                    break
                current = swapped
            best[len(current)] = current
        while len(current) > 1 and not self._stopped():
            current = self._drop(current)
            swapped = self._swap(current)
            current = current if swapped is None else swapped
            known = best.get(len(current))
            if known is None or current.total < known.total - MIN_GAIN:
                best[len(current)] = current
        return [best[size] for size in sorted(best)]

    def _rescale(self, current: Found) -> None:
        training = self._training
        fitted = current.fitted
        self._dispersion = training.loss.dispersion(fitted.scores, training.target, training.weights, len(current) + 1)

    def _fit(self, atoms: tuple[int, ...], owners: tuple[int, ...], start: tuple[Floats, Floats] | None) -> Found:
        training = self._training
        places = np.array(atoms, dtype=np.intp)
        fitted = glm.fit(
            training.loss,
            self._values[places],
            np.array(owners, dtype=np.intp),
            training.target,
            training.weights / self._dispersion,
            self._ridge[places],
            start,
        )
        return Found(atoms, owners, fitted, fitted.objective + float(self._prices[places].sum()))

    def _scan(self, current: Found, *, additions: bool, swaps: bool) -> _Scan:
        training, fitted = self._training, current.fitted
        loss, weights = training.loss, training.weights / self._dispersion
        means = loss.means(fitted.scores)
        residuals = weights * loss.residuals(means, training.target)
        places, owners = np.array(current.atoms, dtype=np.intp), np.array(current.owners, dtype=np.intp)
        columns, curvatures = [], []
        for c in range(loss.n_scores):
            mine = places[owners == c]
            h = np.broadcast_to(weights * loss.curvature(means, c, c), weights.shape)
            curvatures.append(h)
            columns.append(np.vstack([residuals[c], h, self._values[mine] * h]).astype(np.float32))
        products = self._values @ np.concatenate(columns).T
        own = self._squares @ np.array(curvatures, dtype=np.float32).T
        gains = np.full((loss.n_scores, len(self._values)), -np.inf)
        exchanged = []
        first = 0
        for c in range(loss.n_scores):
            which = np.flatnonzero(owners == c)
            mine = places[which]
            part = products[:, first : first + 2 + len(mine)].astype(np.float64)
            first += 2 + len(mine)
            hessian = np.empty((1 + len(mine), 1 + len(mine)))
            hessian[0, 0] = float(curvatures[c].sum()) + glm.INTERCEPT_RIDGE
            hessian[1:] = part[mine, 1:]
            hessian[0, 1:] = hessian[1:, 0]
            hessian[1:, 1:] = (hessian[1:, 1:] + hessian[1:, 1:].T) / 2 + np.diag(self._ridge[mine])
            inverse = np.linalg.inv(hessian)
            g, cross = part[:, 0], part[:, 1:]
            v = cross @ inverse
            whole = own[:, c] + self._ridge
            q = whole - np.einsum("ak,ak->a", cross, v)
            new = q > COLLINEAR * whole
            q = np.where(new, q, np.inf)
            gain = 0.5 * g**2 / q
            step = g / q
            usable = self._usable[c] & new
            if training.signs is not None:
                usable &= training.signs[c] * step >= 0
            if additions:
                gains[c] = np.where(usable, gain - self._prices, -np.inf)
            if swaps and len(mine):
                theta = fitted.coefficients[which]
                leaving = theta - v[:, 1:] * step[:, None]
                room = np.diagonal(inverse)[1:] + v[:, 1:] ** 2 / q[:, None]
                change = gain[:, None] - 0.5 * leaving**2 / room - self._prices[:, None] + self._prices[mine]
                # what has left makes room: a piece may be new once its rival is gone
                outside = np.isfinite(q)
                change = np.where((self._usable[c] & outside)[:, None], change, -np.inf)
                change[mine] = -np.inf
                exchanged.append((which, change.T))
            else:
                exchanged.append((which, np.empty((0, len(self._values)))))
            gains[c, mine] = -np.inf
        return _Scan(gains, exchanged)

    def _room(self, current: Found, without: int | None = None) -> Mask:
        """Return the atoms (scores, atoms) that may join the set, perhaps after the piece `without` has left."""
        atoms, limits = self._training.atoms, self._limits
        kept = [i for i in range(len(current)) if i != without]
        places = [current.atoms[i] for i in kept]
        room = np.tile(atoms.n_factors <= limits.max_factors - int(atoms.n_factors[places].sum()), (len(self._usable), 1))
        if limits.max_terms is not None:
            counts = np.bincount([current.owners[i] for i in kept], minlength=len(room))
            room[counts >= limits.max_terms] = False
        if limits.max_columns is not None:
            used = np.unique(atoms.groups[places])
            new = ~np.isin(atoms.groups, used)
            n_new = new[:, 0].astype(np.intp) + (new[:, 1] & (atoms.groups[:, 1] != atoms.groups[:, 0]))
            room &= n_new <= limits.max_columns - len(used)
        return room

    def _has_signs(self, found: Found) -> bool:
        signs = self._training.signs
        if signs is None:
            return True
        wanted = signs[list(found.owners), list(found.atoms)] if found.atoms else np.zeros(0)
        return bool((wanted * found.fitted.coefficients >= 0).all())

    def _add(self, current: Found) -> Found | None:
        gains = self._scan(current, additions=True, swaps=False).additions
        gains[~self._room(current)] = -np.inf
        best: Found | None = None
        fitted = current.fitted
        for at in _largest(gains.reshape(-1), ADDITIONS):
            c, a = divmod(int(at), gains.shape[1])
            start = (fitted.intercepts, np.append(fitted.coefficients, 0.0))
            trial = self._fit((*current.atoms, a), (*current.owners, c), start)
            if self._has_signs(trial) and (best is None or trial.total < best.total - MIN_GAIN):
                best = trial
        return best

    def _swap(self, current: Found) -> Found | None:
        scan = self._scan(current, additions=False, swaps=True)
        moves: list[tuple[float, int, int]] = []
        for c, (which, change) in enumerate(scan.swaps):
            for s, row in zip(which.tolist(), change, strict=True):
                row[~self._room(current, without=s)[c]] = -np.inf
                moves += [(float(row[a]), s, int(a)) for a in _largest(row, TRIED_SWAPS) if row[a] > MIN_GAIN]
        moves.sort(reverse=True)
        best: Found | None = None
        for _, s, a in moves[:TRIED_SWAPS]:
            atoms = (*current.atoms[:s], *current.atoms[s + 1 :], a)
            owners = (*current.owners[:s], *current.owners[s + 1 :], current.owners[s])
            kept = np.delete(current.fitted.coefficients, s)
            trial = self._fit(atoms, owners, (current.fitted.intercepts, np.append(kept, 0.0)))
            lowest = current.total if best is None else best.total
            if trial.total < lowest - MIN_GAIN and self._has_signs(trial):
                best = trial
        return best

    def _drop(self, current: Found) -> Found:
        """Return the set without the piece that is missed least: ½ θ²/M⁻¹_ss to second order."""
        training, fitted = self._training, current.fitted
        places, owners = np.array(current.atoms, dtype=np.intp), np.array(current.owners, dtype=np.intp)
        weights = training.weights / self._dispersion
        means = training.loss.means(fitted.scores)
        missed = np.empty(len(places))
        for c in range(training.loss.n_scores):
            which = np.flatnonzero(owners == c)
            if not len(which):
                continue
            h = np.broadcast_to(weights * training.loss.curvature(means, c, c), weights.shape)
            x = np.vstack([np.ones(len(h)), self._values[places[which]]])
            hessian = (x * h) @ x.T
            hessian[np.arange(1, len(x)), np.arange(1, len(x))] += self._ridge[places[which]]
            missed[which] = 0.5 * fitted.coefficients[which] ** 2 / np.diagonal(np.linalg.inv(hessian))[1:]
        s = int(np.argmin(missed - self._prices[places]))
        atoms = (*current.atoms[:s], *current.atoms[s + 1 :])
        start = (fitted.intercepts, np.delete(fitted.coefficients, s))
        return self._fit(atoms, (*current.owners[:s], *current.owners[s + 1 :]), start)


def refit(training: Training, found: Found, ridge: float, dispersion: float = 1.0) -> Found:
    """Return the same pieces fitted under another ridge."""
    places = np.array(found.atoms, dtype=np.intp)
    fitted = glm.fit(
        training.loss,
        training.atoms.values[places],
        np.array(found.owners, dtype=np.intp),
        training.target,
        training.weights / dispersion,
        ridge * training.atoms.leverage[places],
        (found.fitted.intercepts, found.fitted.coefficients),
    )
    return replace(found, fitted=fitted)


def _largest(values: Floats, count: int) -> list[int]:
    """Return the places of the largest finite values, in order; of equal ones the first."""
    count = min(count, len(values))
    if not count:
        return []
    cut = np.partition(values, len(values) - count)[len(values) - count]
    if not np.isfinite(cut):
        places = np.flatnonzero(np.isfinite(values))
    else:
        places = np.flatnonzero(values >= cut)
    order = np.argsort(-values[places], kind="stable")[:count]
    return [int(i) for i in places[order]]
