"""Continuous fit of exponents: variable projection with a batched Levenberg-Marquardt iteration.

For fixed exponents the coefficients are linear, so they are projected out: with Phi = QR the residual is r = y - QQ'y,
and Kaufman's Jacobian with respect to exponent b_kj is

    J_kj = -(I - QQ') (alpha_k phi_k * ln|x_j|).

Many starts run side by side as one stack of small matrices.
"""

from dataclasses import dataclass, fields

import numpy as np
import numpy.typing as npt

from ecsel._typing import Floats, Mask
from ecsel.discovery.lattice import Lattice, Parities
from ecsel.discovery.rows import LOG_OF_ZERO, Rows

Indices = npt.NDArray[np.intp]

LONGEST_STEP = 1.5
"""No exponent moves further than this in one iteration."""


@dataclass(frozen=True, eq=False)
class Fits:
    """A stack of fits: exponents (starts, terms, columns), coefficients (starts, terms), residual sums of squares."""

    exponents: Floats
    parity: Parities
    coefficients: Floats
    rss: Floats

    def keep(self, index: np.ndarray) -> "Fits":
        """Return some of the fits."""
        return Fits(self.exponents[index], self.parity[index], self.coefficients[index], self.rss[index])

    def sorted(self) -> "Fits":
        """Return the fits, smallest residual first."""
        return self.keep(np.argsort(self.rss, kind="stable"))


@dataclass(frozen=True, eq=False)
class _Projection:
    q: Floats
    coefficients: Floats
    phi: Floats
    residual: Floats
    rss: Floats

    def keep(self, index: np.ndarray) -> "_Projection":
        return _Projection(*(getattr(self, f.name)[index] for f in fields(self)))

    def replace(self, where: Mask, other: "_Projection") -> "_Projection":
        """Return this stack with some members taken from another."""
        return _Projection(
            *(
                np.where(
                    where.reshape(-1, *[1] * (getattr(self, f.name).ndim - 1)),
                    getattr(other, f.name),
                    getattr(self, f.name),
                )
                for f in fields(self)
            )
        )


def _project(rows: Rows, exponents: Floats, parity: Parities) -> _Projection:
    phi, _ = rows.powers(exponents)
    # A product that is zero in every row has no direction: it stands for a constant until it is judged by itself.
    phi += ~phi.any(axis=1, keepdims=True)
    if parity.any() and rows.negative.any():
        phi *= 1.0 - 2.0 * (np.matmul(rows.negative[None], parity.transpose(0, 2, 1).astype(float)) % 2.0)
    if rows.root_weight is not None:
        phi *= rows.root_weight[None, :, None]
    q, r = np.linalg.qr(phi)
    # A tiny ridge on the diagonal keeps coinciding terms solvable; it is far below the rounding of real data.
    diagonal = np.abs(np.einsum("bkk->bk", r)).max(axis=1)[:, None]
    r = r + 1e-13 * np.maximum(diagonal, 1e-300)[:, :, None] * np.eye(r.shape[1])
    z = np.matmul(q.transpose(0, 2, 1), rows.target[None, :, None])
    coefficients = np.linalg.solve(r, z)[:, :, 0]
    residual = rows.target[None] - np.matmul(q, z)[:, :, 0]
    return _Projection(q, coefficients, phi, residual, np.einsum("bn,bn->b", residual, residual))


def _jacobian(rows: Rows, p: _Projection, wanted: Indices | None = None) -> Floats:
    """Return -J, (starts, rows, terms * columns), or only the wanted columns of each start."""
    logs = np.where(rows.log_abs == LOG_OF_ZERO, 0.0, rows.log_abs)
    starts, n, k = p.phi.shape
    m = logs.shape[1]
    parts = p.phi * p.coefficients[:, None, :]
    if wanted is None:
        a = (parts[:, :, :, None] * logs[None, :, None, :]).reshape(starts, n, k * m)
    else:
        a = np.take_along_axis(parts, wanted[:, None, :] // m, axis=2) * logs[:, wanted % m].transpose(1, 0, 2)
    return np.asarray(a - np.matmul(p.q, np.matmul(p.q.transpose(0, 2, 1), a)))


def jacobian(rows: Rows, exponents: Floats, parity: Parities) -> tuple[Floats, Floats, Floats]:
    """Return coefficients, residual and -J of one structure (terms, columns)."""
    p = _project(rows, exponents[None], parity[None])
    return p.coefficients[0], p.residual[0], _jacobian(rows, p)[0]


def _damped_step(j: Floats, residual: Floats, fixed: Mask, damping: Floats) -> Floats:
    """Solve (J'J + damping diag) step = J'r for a stack, fixed parameters left at zero and steps kept moderate."""
    h = np.matmul(j.transpose(0, 2, 1), j)
    g = np.matmul(j.transpose(0, 2, 1), residual[:, :, None])[:, :, 0]
    h[fixed[:, :, None] | fixed[:, None, :]] = 0.0
    diagonal = np.einsum("bii->bi", h)
    top = diagonal.max(axis=1, keepdims=True)
    scale = np.maximum(diagonal, 1e-12 * top + 1e-300)
    diagonal[...] = np.where(fixed, np.maximum(top, 1e-300), diagonal + damping[:, None] * scale)
    step = np.linalg.solve(h, np.where(fixed, 0.0, g)[:, :, None])[:, :, 0]
    longest = np.abs(step).max(axis=1, keepdims=True)
    return np.asarray(step * np.minimum(1.0, LONGEST_STEP / np.maximum(longest, 1e-300)))


def _free_positions(free: Mask) -> tuple[Indices, Mask] | None:
    """Return the positions of the free parameters of each start, and which of them only fill up; None where all are.

    Starts with fewer free parameters than others are filled up with fixed ones.
    """
    counts = free.sum(axis=1)
    widest = int(counts.max(initial=0))
    if widest in (0, free.shape[1]):
        return None
    return np.argsort(~free, axis=1, kind="stable")[:, :widest], np.arange(widest) >= counts[:, None]


def fit_exponents(
    rows: Rows,
    lattice: Lattice,
    exponents: Floats,
    parity: Parities,
    free: Mask | None = None,
    *,
    max_iter: int = 40,
    tol: float = 1e-7,
) -> Fits:
    """Minimise the residual over the free exponents of a stack of starts (starts, terms, columns)."""
    mask = np.ones(exponents.shape, dtype=bool) if free is None else free
    b = np.where(mask, np.clip(exponents, lattice.lower, lattice.upper), exponents)
    p = _project(rows, b, parity)
    coefficients, rss = p.coefficients.copy(), p.rss.copy()
    live = np.flatnonzero(mask.any(axis=(1, 2)))
    p = p.keep(live)
    damping = np.full(len(live), 1e-2)
    flat = mask.reshape(len(mask), -1)
    places = _free_positions(flat)
    for _ in range(max_iter):
        if not len(live):
            break
        step = np.zeros((len(live), flat.shape[1]))
        if places is None:
            step = _damped_step(_jacobian(rows, p), p.residual, ~flat[live], damping)
        else:
            wanted, fixed = places[0][live], places[1][live]
            free_step = _damped_step(_jacobian(rows, p, wanted), p.residual, fixed, damping)
            np.put_along_axis(step, wanted, free_step, axis=1)
        moved = np.clip(b[live] + step.reshape(len(live), *b.shape[1:]), lattice.lower, lattice.upper)
        trial = np.where(mask[live], moved, b[live])
        q = _project(rows, trial, parity[live])
        better = q.rss < p.rss
        gain = (p.rss - q.rss) / np.maximum(p.rss, 1e-300)
        won = live[better]
        b[won], coefficients[won], rss[won] = trial[better], q.coefficients[better], q.rss[better]
        damping = np.where(better, np.maximum(damping * 0.2, 1e-12), damping * 6.0)
        length = np.abs(step).max(axis=1)
        done = np.where(better, (gain < tol) & (length < 1e-3), length < 1e-9)
        done |= (damping > 1e8) | (q.rss <= rows.energy * 1e-28)
        p = p.replace(better, q).keep(~done)
        live, damping = live[~done], damping[~done]
    return Fits(b, parity, coefficients, rss)
