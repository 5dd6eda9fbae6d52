"""The inner problem: an ℓ1-penalised convex quadratic in a box, solved on its active face.

    minimise  ⟨g, x − x₀⟩ + ½ (x − x₀)ᵀ H (x − x₀) + Σ l1_p |x_p|   subject to |x_p| ≤ bound_p

On a face of the orthant (signs fixed, some coordinates zero) the problem is a linear system: one Cholesky solve. Where
the way to its solution crosses zeros, the objective along it is a convex piecewise quadratic: it is evaluated at every
crossing at once, the best is taken, and the coordinates that are zero there leave the face. Once a face is optimal, the
coordinates whose gradient exceeds l1 enter. The objective falls strictly, so no face is visited twice.
"""

from __future__ import annotations

from itertools import count

import numpy as np
from numpy.typing import NDArray
from scipy.linalg.lapack import dposv

Array = NDArray[np.floating]

MOST_FACES = 60


def solve_on_faces(H: Array, g: Array, x0: Array, l1: Array, bound: Array, tol: float) -> tuple[Array, float]:
    """Return the minimiser (to a KKT residual of `tol`) and the fall of the quadratic model that it promises."""
    x, gradient, fall = x0.copy(), g.copy(), 0.0
    penalised = l1 > 0
    bounded = bool(np.isfinite(bound).any())
    for _ in range(MOST_FACES):
        sign = np.sign(x)
        inside = (sign != 0) | ~penalised
        slope = gradient + l1 * sign
        if bounded:
            held = (np.abs(x) >= bound) & (slope * x < 0)
            inside &= ~held
        on_face = float(np.abs(slope[inside]).max(initial=0.0))
        excess = np.where(penalised & (sign == 0), np.abs(gradient) - l1, 0.0)
        worst = float(excess.max(initial=0.0))
        if max(on_face, worst) <= tol:
            break
        wanted = worst if worst > 0.1 * on_face else 0.0
        face, direction = _face_direction(H, gradient, x, l1, np.abs(x) >= bound, inside, excess, wanted)
        x, gradient, gain = _advance(H, gradient, x, l1, bound if bounded else None, face, direction)
        fall += gain
        if gain <= 0:
            break
    return x, fall


def _face_direction(
    H: Array,
    gradient: Array,
    x: Array,
    l1: Array,
    at_bound: NDArray[np.bool_],
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
        backwards, outwards = face[entering[face] & (onwards <= 0)], face[at_bound[face] & (onwards > 0)]
        if len(backwards) + len(outwards) == 0:
            break
        entering[backwards] = False
        inside[outwards] = False
        if attempt == 0 and len(backwards) and not entering.any():
            entering[int(excess.argmax())] = True
    return face, direction


def _advance(
    H: Array, gradient: Array, x: Array, l1: Array, bound: Array | None, face: NDArray[np.intp], direction: Array
) -> tuple[Array, Array, float]:
    """Move to the best point on the way to the face's minimiser; return it with its gradient and the fall."""
    step = np.zeros_like(x)
    step[face] = direction
    curved = H[:, face] @ direction
    target = x + step
    limit = 1.0
    if bound is not None and (np.abs(target) > bound).any():
        with np.errstate(divide="ignore", invalid="ignore"):
            room = np.where(np.abs(target) > bound, (np.sign(step) * bound - x) / step, 1.0)
        limit = float(np.clip(room.min(), 0.0, 1.0))
    crossing = np.flatnonzero((x * target < 0) & (l1 > 0))
    linear, quadratic = float(gradient @ step), float(direction @ curved[face])
    if len(crossing) == 0 and limit == 1.0:
        return target, gradient + curved, -(linear + 0.5 * quadratic + float(l1 @ (np.abs(target) - np.abs(x))))
    stops = np.append(-x[crossing] / step[crossing], limit)
    stops = stops[stops <= limit]
    values = stops * linear + 0.5 * stops**2 * quadratic + np.abs(x + stops[:, None] * step) @ l1 - l1 @ np.abs(x)
    best = int(values.argmin())
    length = float(stops[best])
    moved = x + length * step
    zero = crossing[np.abs(moved[crossing]) <= 1e-12 * np.abs(step[crossing])]
    moved[zero] = 0.0
    if bound is not None:
        close = np.abs(moved) >= bound * (1 - 1e-12)
        moved[close] = np.sign(moved[close]) * bound[close]
    return moved, gradient + H @ (moved - x), -float(values[best])


def _newton_direction(H: Array, gradient: Array, l1: Array, face: NDArray[np.intp], sign: Array) -> Array:
    if len(face) == 0:
        return np.zeros(0)
    # the transpose of a symmetric matrix is itself, in the order that LAPACK takes without a copy
    part = H[face[:, None], face].T
    _, direction, info = dposv(part, -(gradient[face] + l1[face] * sign[face]), overwrite_a=1, overwrite_b=1)
    return np.asarray(direction) if info == 0 else np.zeros(len(face))
