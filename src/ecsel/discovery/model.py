"""A candidate law: its monomials, which exponents are free, and how it fits."""

from dataclasses import dataclass, field

import numpy as np

from ecsel._typing import Floats, Mask
from ecsel.discovery.criterion import Criterion, order_credit
from ecsel.discovery.lattice import RESOLUTION, Lattice, Parities
from ecsel.discovery.rows import Rows
from ecsel.search.code_length import TERM


@dataclass(frozen=True, eq=False)
class Structure:
    """The monomials of a law: (terms, columns) exponents, parities, and which exponents are free real numbers."""

    exponents: Floats
    parity: Parities
    free: Mask = field(default_factory=lambda: np.zeros((0, 0), dtype=bool))

    def __post_init__(self) -> None:
        if self.free.shape != self.exponents.shape:
            object.__setattr__(self, "free", np.zeros(self.exponents.shape, dtype=bool))

    @classmethod
    def empty(cls, n_columns: int) -> "Structure":
        """Return the law y = 0."""
        return cls(np.zeros((0, n_columns)), np.zeros((0, n_columns), dtype=np.int8))

    @classmethod
    def constant(cls, n_columns: int) -> "Structure":
        """Return the law y = a."""
        return cls(np.zeros((1, n_columns)), np.zeros((1, n_columns), dtype=np.int8))

    def __len__(self) -> int:
        return len(self.exponents)

    @property
    def n_free(self) -> int:
        """Number of free exponents."""
        return int(self.free.sum())

    @property
    def n_fractions(self) -> int:
        """Number of rounded exponents that are no whole numbers."""
        whole = np.abs(self.exponents - np.round(self.exponents)) < RESOLUTION
        return int((~whole & ~self.free).sum())

    @property
    def n_parameters(self) -> int:
        """Number of real numbers to estimate: coefficients and free exponents."""
        return len(self) + self.n_free

    def term_keys(self) -> list[bytes]:
        """Return a hashable identity of every monomial."""
        code = np.round(self.exponents / (100 * RESOLUTION)).astype(np.int64) * 4 + self.parity * 2 + self.free
        return [row.tobytes() for row in code]

    def key(self) -> frozenset[bytes]:
        """Return a hashable identity of the set of monomials."""
        return frozenset(self.term_keys())

    def keep(self, index: "np.ndarray | list[int]") -> "Structure":
        """Return some of the terms."""
        return Structure(self.exponents[index], self.parity[index], self.free[index])

    def join(self, other: "Structure") -> "Structure":
        """Return the terms of both."""
        return Structure(
            np.concatenate([self.exponents, other.exponents]),
            np.concatenate([self.parity, other.parity]),
            np.concatenate([self.free, other.free]),
        )

    def distinct(self) -> "Structure":
        """Return the structure without repeated monomials."""
        seen: dict[bytes, int] = {}
        for i, key in enumerate(self.term_keys()):
            seen.setdefault(key, i)
        return self if len(seen) == len(self) else self.keep(list(seen.values()))

    def cost(self, lattice: Lattice) -> float:
        """Return the description length of the monomials."""
        if not len(self):
            return 0.0
        listed = float(lattice.term_costs(self.exponents, self.parity, self.free).sum() - order_credit(len(self)))
        return min(listed, self._cost_as_range(lattice)) if np.isfinite(listed) else listed

    def _cost_as_range(self, lattice: Lattice) -> float:
        """Return the length of naming degrees a, a + s, ..., d of one variable by (a, d, s), infinite for others.

        Such a complete range is one idea, not one idea per term.
        """
        if lattice.n_choices != 1 or len(self) < 3 or self.n_free:
            return np.inf
        degrees = np.sort(self.exponents[:, 0])
        steps = np.diff(degrees)
        natural = not lattice.signed[0] or bool(np.all(self.parity[:, 0] == self.exponents[:, 0] % 2))
        if degrees[0] < 0 or not natural or np.ptp(steps) > RESOLUTION or steps[0] not in (1.0, 2.0):
            return np.inf
        return float(TERM + 2.0 + 1.7 * np.log(degrees[0] + 1.0) + 1.7 * np.log(degrees[-1]) + 0.7 * (steps[0] - 1.0))


@dataclass(frozen=True, eq=False)
class Candidate:
    """A structure with its least-squares fit on some rows: coefficients refer to :meth:`Rows.columns`."""

    structure: Structure
    coefficients: Floats
    rss: float
    score: float

    def __len__(self) -> int:
        return len(self.structure)


def solve(rows: Rows, structure: Structure) -> tuple[Floats, float, Floats]:
    """Return least-squares coefficients, residual sum of squares and residual of a structure."""
    if not len(structure):
        return np.zeros(0), rows.energy, rows.target
    phi, _ = rows.columns(structure.exponents, structure.parity)
    norm = np.sqrt(np.einsum("nk,nk->k", phi, phi))
    norm = np.where(norm > 0, norm, 1.0)
    coefficients = np.linalg.lstsq(phi / norm, rows.target, rcond=1e-14)[0] / norm
    residual = rows.target - phi @ coefficients
    return coefficients, float(residual @ residual), residual


@dataclass(frozen=True, eq=False)
class Problem:
    """What is searched: rows, the code length of their target, and the exponents allowed."""

    rows: Rows
    criterion: Criterion
    lattice: Lattice

    def assess(self, structure: Structure) -> Candidate:
        """Fit the coefficients of a structure and give it its code length."""
        coefficients, rss, _ = solve(self.rows, structure)
        score = float(self.criterion.data(rss, structure.n_parameters)) + structure.cost(self.lattice)
        return Candidate(structure, coefficients, rss, score)
