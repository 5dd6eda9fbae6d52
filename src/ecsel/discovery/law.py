"""The final form of a candidate: coefficients in raw units, rounded where the full code length gains.

Coefficients (and remaining free exponents) theta have C = (X'X)^-1 for the design X of derivatives in raw units. Rounding
coefficient i to v raises the residual by (v - theta_i)^2 / C_ii and conditions the rest, so many ill-determined
coefficients are rounded jointly by a beam: the K-best sphere decoder of the closest-vector problem. The full code length is

    N/2 ln(RSS/(N - k_f)) + k_f/2 ln F + ln N + structure + costs of the rounded coefficients,

k_f the parameters that stay real.
"""

from dataclasses import dataclass, replace

import numpy as np

from ecsel.discovery.criterion import order_credit
from ecsel.discovery.lattice import RESOLUTION, Floats, Lattice, Mask
from ecsel.discovery.model import Problem, Structure
from ecsel.discovery.numbers import simple_numbers
from ecsel.discovery.rows import LOG_OF_ZERO, Rows
from ecsel.discovery.snap import covariance
from ecsel.discovery.varpro import fit_exponents

BEAM = 12


@dataclass(frozen=True, eq=False)
class Law:
    """A law in raw units: coefficients, which of them are rounded, its monomials, and its full code length.

    ``covariance`` is that of (coefficients, free exponents in row-major order), zero for rounded coefficients, already
    multiplied by the noise variance.
    """

    structure: Structure
    coefficients: Floats
    rounded: Mask
    rss: float
    code_length: float
    covariance: Floats

    def __len__(self) -> int:
        return len(self.structure)

    @property
    def complexity(self) -> int:
        """Number of terms and free exponents."""
        return self.structure.n_parameters

    def predict(self, rows: Rows) -> Floats:
        """Return the weighted prediction on rows."""
        phi, log_scale = rows.columns(self.structure.exponents, self.structure.parity)
        return np.asarray(phi @ (self.coefficients * np.exp(np.clip(log_scale, -700.0, 700.0))))


def structure_cost(structure: Structure, lattice: Lattice) -> float:
    """Return the description length of the monomials; in one variable a complete range of degrees has its own code.

    The degrees a, a + s, ..., d with s = 1 or 2 are named by (a, d, s) instead of one by one when that is shorter.
    """
    listed = structure.cost(lattice)
    if lattice.n_columns != 1 or len(structure) < 3 or structure.n_free or not np.isfinite(listed):
        return listed
    degrees = np.sort(structure.exponents[:, 0])
    steps = np.diff(degrees)
    natural = not lattice.signed[0] or bool(np.all(structure.parity[:, 0] == structure.exponents[:, 0] % 2))
    if degrees[0] < 0 or not natural or np.ptp(steps) > RESOLUTION or steps[0] not in (1.0, 2.0):
        return listed
    named = 2.0 + 1.7 * np.log(degrees[0] + 1.0) + 1.7 * np.log(degrees[-1]) + 0.7 * (steps[0] - 1.0)
    return min(listed, float(named))


def _design(rows: Rows, structure: Structure, coefficients: Floats) -> Floats:
    """Return the derivatives of the prediction by the raw coefficients and the free exponents."""
    columns = rows.raw_columns(structure.exponents, structure.parity)
    if not structure.n_free:
        return columns
    logs = np.where(rows.log_abs == LOG_OF_ZERO, 0.0, rows.log_abs + rows.centre)
    term, column = np.nonzero(structure.free)
    return np.concatenate([columns, columns[:, term] * coefficients[term] * logs[:, column]], axis=1)


def _least_squares(rows: Rows, design: Floats, target: Floats) -> Floats:
    norm = np.sqrt(np.einsum("np,np->p", design, design))
    norm = np.where((norm > 0) & np.isfinite(norm), norm, 1.0)
    return np.asarray(np.linalg.lstsq(design / norm, target, rcond=1e-14)[0] / norm)


@dataclass(frozen=True, eq=False)
class _State:
    theta: Floats
    c: Floats
    rss: float
    cost: float
    fixed: tuple[int, ...]


def _beam(problem: Problem, theta: Floats, c: Floats, rss: float, n_terms: int) -> list[_State]:
    """Return roundings of the coefficients, best full code length first (structure left out)."""
    data, p = problem.criterion.data, len(theta)

    def length(rss_: Floats, cost: Floats, fixed: int) -> Floats:
        return np.asarray(data(rss_, p - fixed) + cost)

    beam = [_State(theta, c, rss, 0.0, ())]
    precision = np.abs(theta[:n_terms]) / np.sqrt(np.maximum(np.diag(c)[:n_terms], 1e-300))
    for i in np.argsort(-precision, kind="stable"):
        grown: list[tuple[float, _State]] = []
        for state in beam:
            grown.append((float(length(np.array(state.rss), np.array(state.cost), len(state.fixed))), state))
            values, costs = simple_numbers(float(state.theta[i]))
            if not len(values):
                continue
            variance = max(float(state.c[i, i]), 1e-300)
            delta = values - state.theta[i]
            rises = state.rss + delta**2 / variance
            lengths = length(rises, state.cost + costs, len(state.fixed) + 1)
            for v in np.argsort(lengths, kind="stable")[:4]:
                moved = state.theta + state.c[:, i] / variance * delta[v]
                moved[i] = values[v]
                rest = state.c - np.outer(state.c[:, i], state.c[i]) / variance
                rest[i, :] = rest[:, i] = 0.0
                new = _State(moved, rest, float(rises[v]), state.cost + float(costs[v]), (*state.fixed, int(i)))
                grown.append((float(lengths[v]), new))
        grown.sort(key=lambda g: g[0])
        beam, seen = [], set()
        for _, state in grown:
            key = (state.fixed, tuple(state.theta[list(state.fixed)]))
            if key not in seen:
                seen.add(key)
                beam.append(state)
            if len(beam) == BEAM:
                break
    return beam


def _refine(problem: Problem, structure: Structure, coefficients: Floats, rounded: Mask) -> tuple[Structure, Floats, float]:
    """Refit what stays real, with the rounded coefficients held: Gauss-Newton with step halving."""
    rows = problem.rows
    held = np.concatenate([rounded, np.zeros(structure.n_free, dtype=bool)])
    residual = rows.target - rows.raw_columns(structure.exponents, structure.parity) @ coefficients
    rss = float(residual @ residual)
    for _ in range(30 if structure.n_free else 2):
        design = _design(rows, structure, coefficients)[:, ~held]
        if not design.shape[1]:
            break
        step = np.zeros(len(held))
        step[~held] = _least_squares(rows, design, residual)
        improved = False
        for size in (1.0, 0.5, 0.1, 0.01):
            exponents = structure.exponents.copy()
            exponents[structure.free] += size * step[len(coefficients) :]
            trial = replace(structure, exponents=np.clip(exponents, problem.lattice.lower, problem.lattice.upper))
            trial_coefficients = coefficients + size * step[: len(coefficients)]
            left = rows.target - rows.raw_columns(trial.exponents, trial.parity) @ trial_coefficients
            if float(left @ left) < rss:
                improved, gain = True, rss - float(left @ left)
                structure, coefficients, residual, rss = trial, trial_coefficients, left, float(left @ left)
                break
        if not improved or gain < 1e-10 * rss:
            break
    return structure, coefficients, rss


def finish(problem: Problem, structure: Structure, *, round_coefficients: bool = True) -> Law:
    """Fit a structure on the problem's rows, round its coefficients, and give it its full code length."""
    rows = problem.rows
    if structure.n_free:
        fits = fit_exponents(rows, problem.lattice, structure.exponents[None], structure.parity[None], structure.free[None])
        structure = replace(structure, exponents=fits.exponents[0])
    k = len(structure)
    phi, log_scale = rows.columns(structure.exponents, structure.parity)
    coefficients = _least_squares(rows, phi, rows.target) * np.exp(-np.clip(log_scale, -700.0, 700.0))
    none = np.zeros(k, dtype=bool)
    structure, coefficients, rss = _refine(problem, structure, coefficients, none)
    cost = structure_cost(structure, problem.lattice)
    if not k:
        return Law(structure, coefficients, none, rss, float(problem.criterion.data(rss, 0)), np.zeros((0, 0)))
    design = _design(rows, structure, coefficients)
    c = covariance(design)
    theta = np.concatenate([coefficients, structure.exponents[structure.free]])
    best = (structure, coefficients, none, rss, float(problem.criterion.data(rss, len(theta))) + cost)
    for state in _beam(problem, theta, c, rss, k)[:4] if round_coefficients else ():
        if not state.fixed:
            continue
        rounded = none.copy()
        rounded[list(state.fixed)] = True
        exponents = structure.exponents.copy()
        exponents[structure.free] = state.theta[k:]
        refined = _refine(problem, replace(structure, exponents=exponents), state.theta[:k], rounded)
        length = float(problem.criterion.data(refined[2], len(theta) - len(state.fixed))) + cost + state.cost
        if length < best[4]:
            best = (refined[0], refined[1], rounded, refined[2], length)
    return _with_covariance(problem, *best)


def _with_covariance(
    problem: Problem, structure: Structure, coefficients: Floats, rounded: Mask, rss: float, length: float
) -> Law:
    held = np.concatenate([rounded, np.zeros(structure.n_free, dtype=bool)])
    design = _design(problem.rows, structure, coefficients)[:, ~held]
    spread = problem.criterion.noise_variance
    if spread is None:
        spread = rss / max(len(problem.rows) - design.shape[1], 1)
    full = np.zeros((len(held), len(held)))
    if design.shape[1]:
        full[np.ix_(~held, ~held)] = covariance(design) * spread
    return Law(structure, coefficients, rounded, rss, length, full)


def optimistic(problem: Problem, score: float, rss: float, k: int) -> float:
    """Return the best full code length that a candidate could reach if every coefficient rounded to one."""
    return score - k * max(problem.criterion.parameter_price(rss, k) - 1.0, 0.0) + float(order_credit(0))
