"""The inner problem: an ℓ1-penalised convex quadratic in a box, solved on its active face.

    minimise  ⟨g, x − x₀⟩ + ½ (x − x₀)ᵀ H (x − x₀) + Σ l1_p |x_p|   subject to lower_p ≤ x_p ≤ upper_p

On a face of the orthant (signs fixed, some coordinates zero) the problem is a linear system: one Cholesky solve. Where
the way to its solution crosses zeros, the objective along it is a convex piecewise quadratic: it is evaluated at every
crossing at once, the best is taken, and the coordinates that are zero there leave the face. Once a face is optimal, the
coordinates whose gradient exceeds l1 enter, unless a bound at zero is in their way. The objective falls strictly, so no
face is visited twice.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import count
from typing import TYPE_CHECKING

import numpy as np
from scipy.linalg.lapack import dposv

from ecsel.fitting import kernel

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ecsel._typing import Array

MAX_ACTIVE_SETS = 60


def solve_active_set(
    H: Array, g: Array, x0: Array, l1: Array, lower: Array, upper: Array, tol: float
) -> tuple[Array, float]:
    """Return the minimiser (to a KKT residual of `tol`) and the fall of the quadratic model that it promises.

    `x0` must lie in the box; where `lower` equals `upper` a coordinate stays what it is.
    """
    if kernel.compiled is not None:
        x = np.array(x0, dtype=np.float64)
        return x, kernel.compiled.solve_active_set(len(x), H, g, x, l1, lower, upper, tol, MAX_ACTIVE_SETS)
    return _solve_with_numpy(H, g, x0, l1, lower, upper, tol)


def _solve_with_numpy(
    H: Array, g: Array, x0: Array, l1: Array, lower: Array, upper: Array, tol: float
) -> tuple[Array, float]:
    x, gradient, fall = x0.copy(), g.copy(), 0.0
    penalised = l1 > 0
    box = _Box(lower, upper) if np.isfinite(lower).any() or np.isfinite(upper).any() else None
    for _ in range(MAX_ACTIVE_SETS):
        sign = np.sign(x)
        inside = (sign != 0) | ~penalised
        slope = gradient + l1 * sign
        excess = np.where(penalised & (sign == 0), np.abs(gradient) - l1, 0.0)
        if box is not None:
            inside &= ~box.holds(x, -slope)
            excess[box.holds(x, -gradient)] = 0.0
        on_face = float(np.abs(slope[inside]).max(initial=0.0))
        worst = float(excess.max(initial=0.0))
        if max(on_face, worst) <= tol:
            break
        wanted = worst if worst > 0.1 * on_face else 0.0
        face, direction = _face_direction(H, gradient, x, l1, box, inside, excess, wanted)
        x, gradient, gain = _advance(H, gradient, x, l1, box, face, direction)
        fall += gain
        if gain <= 0:
            break
    return x, fall


@dataclass(frozen=True, slots=True)
class _Box:
    """lower ≤ x ≤ upper."""

    lower: Array
    upper: Array

    def holds(self, x: Array, direction: Array) -> NDArray[np.bool_]:
        """Return which coordinates are at a bound that keeps them from going that way."""
        is_active: NDArray[np.bool_] = ((x <= self.lower) & (direction < 0)) | ((x >= self.upper) & (direction > 0))
        return is_active

    def room(self, x: Array, step: Array) -> float:
        """Return the share of the step that can be made, at most 1."""
        target = x + step
        below, above = target < self.lower, target > self.upper
        if not (below | above).any():
            return 1.0
        gaps = np.concatenate([(self.lower - x)[below] / step[below], (self.upper - x)[above] / step[above]])
        return float(np.clip(gaps.min(), 0.0, 1.0))

    def settle(self, x: Array, step: Array) -> Array:
        """Return `x` in the box, what rounding has left beside a bound that it was on its way to being put on it."""
        low = (step < 0) & (x - self.lower <= 1e-12 * (np.abs(x) - step))
        high = (step > 0) & (self.upper - x <= 1e-12 * (np.abs(x) + step))
        x[low], x[high] = self.lower[low], self.upper[high]
        return np.clip(x, self.lower, self.upper)


def _face_direction(
    H: Array,
    gradient: Array,
    x: Array,
    l1: Array,
    box: _Box | None,
    inside: NDArray[np.bool_],
    excess: Array,
    worst: float,
) -> tuple[NDArray[np.intp], Array]:
    """Return a face and the step to its minimiser; `worst` > 0 asks for coordinates to enter, all those near the worst.

    An entering coordinate must move downhill. Of several some may not: they stay out; if none does, the worst enters
    alone, which on an optimal face always works. A coordinate at its bound that the step would push outwards stays
    there, though its own gradient points inwards: the step has no length otherwise.
    """
    sign = np.where(x != 0, np.sign(x), -np.sign(gradient))
    entering = (excess > 0.5 * worst) if worst > 0 else np.zeros_like(inside)
    for attempt in count():
        face = np.flatnonzero(inside | entering)
        direction = _newton_direction(H, gradient, l1, face, sign)
        onwards = direction * sign[face]
        backwards, outwards = face[entering[face] & (onwards <= 0)], face[:0]
        if box is not None:
            step = np.zeros_like(x)
            step[face] = direction
            outwards = np.flatnonzero(box.holds(x, step))
        if len(backwards) + len(outwards) == 0:
            break
        entering[backwards] = False
        inside[outwards] = entering[outwards] = False
        if attempt == 0 and len(backwards) and not entering.any():
            entering[int(excess.argmax())] = True
    return face, direction


def _advance(
    H: Array, gradient: Array, x: Array, l1: Array, box: _Box | None, face: NDArray[np.intp], direction: Array
) -> tuple[Array, Array, float]:
    """Move to the best point on the way to the face's minimiser; return it with its gradient and the fall."""
    step = np.zeros_like(x)
    step[face] = direction
    hessian_step = H[:, face] @ direction
    target = x + step
    limit = 1.0 if box is None else box.room(x, step)
    crossing = np.flatnonzero((x * target < 0) & (l1 > 0))
    linear, quadratic = float(gradient @ step), float(direction @ hessian_step[face])
    if len(crossing) == 0 and limit == 1.0:
        return target, gradient + hessian_step, -(linear + 0.5 * quadratic + float(l1 @ (np.abs(target) - np.abs(x))))
    stops = np.append(-x[crossing] / step[crossing], limit)
    stops = stops[stops <= limit]
    values = stops * linear + 0.5 * stops**2 * quadratic + np.abs(x + stops[:, None] * step) @ l1 - l1 @ np.abs(x)
    best = int(values.argmin())
    length = float(stops[best])
    moved = x + length * step
    zero = crossing[np.abs(moved[crossing]) <= 1e-12 * np.abs(step[crossing])]
    moved[zero] = 0.0
    if box is not None:
        moved = box.settle(moved, step)
    return moved, gradient + H @ (moved - x), -float(values[best])


def _newton_direction(H: Array, gradient: Array, l1: Array, face: NDArray[np.intp], sign: Array) -> Array:
    if len(face) == 0:
        return np.zeros(0)
    # the transpose of a symmetric matrix is itself, in the order that LAPACK takes without a copy
    part = H[face[:, None], face].T
    _, direction, info = dposv(part, -(gradient[face] + l1[face] * sign[face]), overwrite_a=1, overwrite_b=1)
    return np.asarray(direction) if info == 0 else np.zeros(len(face))
