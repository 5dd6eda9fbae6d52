"""The final form of a candidate: coefficients in raw units, rounded where the full code length gains.

Coefficients (and remaining free exponents) theta have C = (X'X)^-1 for the design X of derivatives in raw units.
Rounding coefficient i to v raises the residual by (v - theta_i)^2 / C_ii and conditions the rest, so many
ill-determined coefficients are rounded jointly by a beam: the K-best sphere decoder of the closest-vector problem. The
full code length is

    N/2 ln(RSS/(N - k_f)) + k_f/2 ln F + ln N + structure + costs of the coefficients,

k_f the parameters that stay real. A further digit of a coefficient needs strong evidence, as a further term does: of
the writings that differ from the shortest one only by fewer digits, the one with the fewest within
``STRONG_EVIDENCE`` of it is returned. Laws are compared by their shortest writing.

Where the noise is loud some simple number lies within the error of any coefficient, so that being simple says nothing
of the law, and rounding saves at most ``SAVED_WHERE_LOUD`` of what a real number costs, beside its degree of freedom.
"""

from dataclasses import dataclass, field, replace

import numpy as np

from ecsel._typing import Floats, Mask
from ecsel.discovery.criterion import STRONG_EVIDENCE, Criterion
from ecsel.discovery.model import Problem, Structure
from ecsel.discovery.numbers import REAL, significant_digits, simple_numbers
from ecsel.discovery.rows import LOG_OF_ZERO, Rows
from ecsel.discovery.snap import covariance
from ecsel.discovery.varpro import fit_exponents
from ecsel.signomial.columns import LOG_LIMIT

BEAM = 16
ILL_DETERMINED = 0.1
"""Standard error of a coefficient from which whole numbers are tried by themselves."""
LOUD, SAVED_WHERE_LOUD = 0.05, 1.0
"""Share of the residual in the target's energy from which the noise is loud, and the nats that rounding a coefficient
may save there: a sum of two products with the coefficients 1 and 1 imitates one product of half powers."""


@dataclass(frozen=True, eq=False)
class Law:
    """A law in raw units: coefficients, which of them are rounded, its monomials, and its full code length.

    ``shortest`` is the code length of the shortest writing of the same monomials, which laws are compared by.
    ``covariance`` is that of (coefficients, free exponents in row-major order) as the data determine them, that is
    before any rounding, and ``estimates`` are the coefficients that it speaks of. ``n_rows`` are the rows that all this
    comes from.
    """

    structure: Structure
    coefficients: Floats
    rounded: Mask
    rss: float
    code_length: float
    structure_cost: float
    covariance: Floats
    shortest: float
    n_rows: int
    estimates: Floats = field(default_factory=lambda: np.zeros(0))

    def __len__(self) -> int:
        return len(self.structure)

    @property
    def complexity(self) -> int:
        """Number of terms and free exponents."""
        return self.structure.n_parameters

    def predict(self, rows: Rows) -> Floats:
        """Return the weighted prediction on rows."""
        phi, log_scale = rows.columns(self.structure.exponents, self.structure.parity)
        return np.asarray(phi @ (self.coefficients * np.exp(np.clip(log_scale, -LOG_LIMIT, LOG_LIMIT))))


def design_matrix(rows: Rows, structure: Structure, coefficients: Floats) -> Floats:
    """Return the derivatives of the prediction by the raw coefficients and the free exponents."""
    columns = rows.raw_columns(structure.exponents, structure.parity)
    if not structure.n_free:
        return columns
    logs = np.where(rows.log_abs == LOG_OF_ZERO, 0.0, rows.log_abs + rows.centre)
    term, column = np.nonzero(structure.free)
    return np.concatenate([columns, columns[:, term] * coefficients[term] * logs[:, column]], axis=1)


def _least_squares(design: Floats, target: Floats) -> Floats:
    norm = np.sqrt(np.einsum("np,np->p", design, design))
    norm = np.where((norm > 0) & np.isfinite(norm), norm, 1.0)
    return np.asarray(np.linalg.lstsq(design / norm, target, rcond=1e-14)[0] / norm)


@dataclass(frozen=True, eq=False)
class _Beam:
    """A stack of partial roundings: parameters, their conditional (X'X)^-1, residuals, spent nats, what is rounded."""

    theta: Floats
    c: Floats
    rss: Floats
    cost: Floats
    rounded: Mask


def _roundings(problem: Problem, theta: Floats, c: Floats, rss: float, n_terms: int) -> list[_Beam]:
    """Return beams over all simple numbers and, where coefficients are ill determined, over whole numbers alone.

    Early choices of ill-determined coefficients are near to arbitrary; a small alphabet keeps the right one in sight.
    """
    beams = [_beam(problem, theta, c, rss, n_terms, whole=False)]
    variance = problem.criterion.noise_variance
    variance = rss / max(len(problem.rows) - len(theta), 1) if variance is None else variance
    if n_terms > 2 and np.sqrt(np.diag(c)[:n_terms].max() * variance) > ILL_DETERMINED:
        beams.append(_beam(problem, theta, c, rss, n_terms, whole=True))
    return beams


def _least_cost(criterion: Criterion, rss: float, n_parameters: int) -> float:
    """Return the least nats that naming a simple number takes."""
    if rss <= LOUD * criterion.energy:
        return 0.0
    return REAL + criterion.parameter_price(rss, n_parameters) - SAVED_WHERE_LOUD


def _beam(problem: Problem, theta: Floats, c: Floats, rss: float, n_terms: int, *, whole: bool) -> _Beam:
    """Return roundings of the coefficients, best full code length first (the structure's share left out)."""
    p, width = len(theta), BEAM * (1 + (n_terms > 4))
    least = _least_cost(problem.criterion, rss, p)
    beam = _Beam(theta[None], c[None], np.array([rss]), np.zeros(1), np.zeros((1, n_terms), dtype=bool))
    left = list(range(n_terms))
    while left:
        # The most reliable coefficient first, given those already rounded in the leading state.
        errors = np.sqrt(np.maximum(np.diag(beam.c[0])[left], 1e-300))
        i = left.pop(int(np.argmax(np.abs(beam.theta[0, left]) / errors)))
        values, costs = simple_numbers(beam.theta[:, i])
        costs = np.maximum(np.where(values == np.round(values), costs, np.inf) if whole else costs, least)
        # The last choice leaves the coefficient real.
        values, costs = (
            np.column_stack([values, beam.theta[:, i]]),
            np.column_stack([costs, np.full(len(values), REAL)]),
        )
        variance = np.maximum(beam.c[:, i, i], 1e-300)
        rise = _rise(values - beam.theta[:, i, None], variance[:, None])
        fixed = beam.rounded.sum(axis=1)[:, None] + (np.arange(values.shape[1]) < values.shape[1] - 1)
        length = problem.criterion.data(beam.rss[:, None] + rise, p - fixed) + beam.cost[:, None] + costs
        order = np.argsort(length, axis=None, kind="stable")[: 3 * width]
        state, choice = np.unravel_index(order, length.shape)
        # Two ways to write the same number are one choice; the cheaper one comes first.
        _, first = np.unique(np.column_stack([state, np.round(values[state, choice], 12)]), axis=0, return_index=True)
        first = np.sort(first)[:width]
        state, choice = state[first], choice[first]
        beam = _expand(beam, i, state, values[state, choice], costs[state, choice], choice < values.shape[1] - 1)
    return beam


def _rise(delta: Floats, variance: Floats) -> Floats:
    """Return delta² / variance, infinite where a power of data in SI units takes it out of the floating-point range."""
    with np.errstate(over="ignore"):
        return np.asarray((delta / np.sqrt(variance)) ** 2)


def _expand(beam: _Beam, i: int, state: np.ndarray, value: Floats, cost: Floats, fixed: Mask) -> _Beam:
    """Condition the chosen states on coefficient i where it is fixed; elsewhere it stays real."""
    theta, c = beam.theta[state], beam.c[state]
    variance = np.maximum(c[:, i, i], 1e-300)
    delta = np.where(fixed, value - theta[:, i], 0.0)
    direction = np.where(fixed[:, None], c[:, :, i] / variance[:, None], 0.0)
    moved = theta + direction * delta[:, None]
    moved[:, i] = value
    rounded = beam.rounded[state].copy()
    rounded[:, i] = fixed
    return _Beam(
        moved,
        c - direction[:, :, None] * c[:, None, i, :],
        beam.rss[state] + _rise(delta, variance),
        beam.cost[state] + cost,
        rounded,
    )


def _refine(
    problem: Problem, structure: Structure, coefficients: Floats, rounded: Mask
) -> tuple[Structure, Floats, float]:
    """Refit what stays real, with the rounded coefficients held: Gauss-Newton with step halving."""
    rows = problem.rows
    fixed = np.concatenate([rounded, np.zeros(structure.n_free, dtype=bool)])
    # A start or a step too far may overflow: such a start is worthless, and after such a step a shorter one is tried.
    with np.errstate(over="ignore", invalid="ignore"):
        residual = rows.target - rows.raw_columns(structure.exponents, structure.parity) @ coefficients
        rss = float(residual @ residual)
    if not np.isfinite(rss):
        return structure, coefficients, np.inf
    for _ in range(30 if structure.n_free else 0):
        design = design_matrix(rows, structure, coefficients)[:, ~fixed]
        if not design.shape[1]:
            break
        step = np.zeros(len(fixed))
        step[~fixed] = _least_squares(design, residual)
        improved = False
        for size in (1.0, 0.5, 0.1, 0.01):
            exponents = structure.exponents.copy()
            exponents[structure.free] += size * step[len(coefficients) :]
            trial = replace(structure, exponents=np.clip(exponents, problem.lattice.lower, problem.lattice.upper))
            trial_coefficients = coefficients + size * step[: len(coefficients)]
            with np.errstate(over="ignore", invalid="ignore"):
                left = rows.target - rows.raw_columns(trial.exponents, trial.parity) @ trial_coefficients
                reached = float(left @ left)
            if reached < rss:
                improved, gain = True, rss - reached
                structure, coefficients, residual, rss = trial, trial_coefficients, left, reached
                break
        if not improved or gain < 1e-10 * rss:
            break
    return structure, coefficients, rss


@dataclass(frozen=True, eq=False)
class _Writing:
    """Numbers for the monomials of a law and the code length that they give; the same with fewer digits, if any."""

    structure: Structure
    coefficients: Floats
    rounded: Mask
    rss: float
    code_length: float
    fewer_digits: "_Writing | None" = None


def finish(problem: Problem, structure: Structure, *, round_coefficients: bool = True) -> Law:
    """Fit a structure on the problem's rows, round its coefficients, and give it its full code length."""
    k, data, cost = len(structure), problem.criterion.data, structure.cost(problem.lattice)
    if not k:
        energy = problem.rows.energy
        length = float(data(energy, 0))
        none, nothing = np.zeros(0), np.zeros((0, 0))
        return Law(structure, none, none.astype(bool), energy, length, 0.0, nothing, length, len(problem.rows))
    structure, coefficients, rss = _fit(problem, structure)
    c = covariance(design_matrix(problem.rows, structure, coefficients))
    theta = np.concatenate([coefficients, structure.exponents[structure.free]])
    length = float(data(rss, len(theta))) + cost + k * REAL
    writings = [_Writing(structure, coefficients, np.zeros(k, dtype=bool), rss, length)]
    if round_coefficients:
        writings += _rounded_writings(problem, structure, theta, c, rss)
    best = min(writings, key=lambda w: w.code_length)
    shortest, brief = best.code_length, best.fewer_digits
    if brief is not None and brief.code_length <= shortest + STRONG_EVIDENCE:
        best = brief
    n_rows, variance = len(problem.rows), problem.criterion.noise_variance
    if variance is None:
        variance = best.rss / max(n_rows - len(theta), 1)
    numbers = best.structure, best.coefficients, best.rounded, best.rss
    return Law(*numbers, best.code_length, cost, c * variance, shortest, n_rows, coefficients)


def _rounded_writings(problem: Problem, structure: Structure, theta: Floats, c: Floats, rss: float) -> list[_Writing]:
    """Return the law with its coefficients rounded in the ways that code best."""
    k, cost = len(structure), structure.cost(problem.lattice)

    def writing(beam: _Beam, i: int) -> _Writing:
        exponents = structure.exponents.copy()
        exponents[structure.free] = beam.theta[i, k:]
        trial = replace(structure, exponents=exponents)
        fitted, coefficients, reached = _refine(problem, trial, beam.theta[i, :k], beam.rounded[i])
        real = len(theta) - int(beam.rounded[i].sum())
        length = float(problem.criterion.data(reached, real)) + cost + float(beam.cost[i])
        return _Writing(fitted, coefficients, beam.rounded[i], reached, length)

    found = []
    for beam in _roundings(problem, theta, c, rss, k):
        length = problem.criterion.data(beam.rss, len(theta) - beam.rounded.sum(axis=1)) + beam.cost
        # Without free exponents the model is linear and the beam's order is final; otherwise a few are refitted.
        for i in np.argsort(length, kind="stable")[: 3 if structure.n_free else 1].tolist():
            j = _with_fewer_digits(beam, length, i)
            found.append(replace(writing(beam, i), fewer_digits=None if j is None else writing(beam, j)))
    return found


def _with_fewer_digits(beam: _Beam, length: Floats, i: int) -> int | None:
    """Return the state with the fewest digits that differs from state i by them alone and is nearly as short."""
    rounded = beam.rounded[i]
    values = beam.theta[:, : len(rounded)][:, rounded]
    digits = significant_digits(values)
    fewer = ((digits <= digits[i]) & np.isfinite(digits)) | (values == values[i])
    near = fewer.all(axis=1) & (beam.rounded == rounded).all(axis=1) & (length <= length[i] + STRONG_EVIDENCE)
    total = np.where(near, np.where(np.isfinite(digits), digits, 0.0).sum(axis=1), np.inf)
    j = int(np.lexsort((length, total))[0])
    return j if total[j] < total[i] else None


def _fit(problem: Problem, structure: Structure) -> tuple[Structure, Floats, float]:
    """Return the least-squares fit of a structure in raw units."""
    rows = problem.rows
    if structure.n_free:
        start = structure.exponents[None], structure.parity[None], structure.free[None]
        structure = replace(structure, exponents=fit_exponents(rows, problem.lattice, *start).exponents[0])
    phi, log_scale = rows.columns(structure.exponents, structure.parity)
    scaled = _least_squares(phi, rows.target)
    residual = rows.target - phi @ scaled
    coefficients = scaled * np.exp(-np.clip(log_scale, -LOG_LIMIT, LOG_LIMIT))
    if not structure.n_free:
        return structure, coefficients, float(residual @ residual)
    return _refine(problem, structure, coefficients, np.zeros(len(structure), dtype=bool))
