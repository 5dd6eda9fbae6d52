"""Errors in the columns: a form fitted by orthogonal distances.

Where a column is measured with errors too, x_i = xi_i + d_i with standard deviations s_x, least squares in y alone is
biased towards smaller slopes. The constants c of y = f(xi; c) minimise

    sum_i min_d [ (y_i - f(x_i + d; c))^2 / s_y^2 + sum_j d_j^2 / s_xj^2 ],

the distance to the curve in units of the errors (orthogonal distance regression, Boggs and Rogers 1990; York 1968 for
lines). For given constants the d of each row follow from Gauss and Newton's steps, and with f_x = df/dx there

    V_i = s_y^2 + sum_j s_xj^2 f_xj^2,     r_i = (y_i - f) sqrt(V_i) / s_y^2,     dr_i/dc = -(df/dc) / sqrt(V_i),

so that the fit is one least-squares problem in c whose rows weigh 1/V_i, the effective variance. Its (J'J)^-1 is the
covariance of c that eliminating all d from that of the whole problem gives.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.optimize import least_squares

from ecsel._typing import Floats
from ecsel.discovery.form import Form
from ecsel.discovery.form_fit import fit_form
from ecsel.discovery.noise import standard_deviations

STEPS, TOLERANCE = 60, 1e-12
"""Most steps for the errors of the rows, and the change, in their standard deviations, at which they end."""
BAD = 1e6


def column_errors(requested: Any, names: tuple[str, ...], n_rows: int) -> dict[str, Floats]:
    """Return the standard deviations of columns, one for each row, from a mapping of columns to one or all of them.

    >>> column_errors({"x": 0.1}, ("x", "y"), 2)
    {'x': array([0.1, 0.1])}
    """
    if not isinstance(requested, Mapping) or not requested:
        raise TypeError("x_error must map columns to standard deviations, such as {'x': 0.1}")
    if unknown := [name for name in requested if name not in names]:
        raise ValueError(f"x_error names columns that X does not have: {', '.join(map(repr, unknown))}")
    errors = {}
    for name, value in requested.items():
        try:
            errors[str(name)] = np.array(np.broadcast_to(standard_deviations(value, n_rows), n_rows))
        except ValueError as error:
            raise ValueError(f"x_error of {name!r}: {str(error).replace('noise', 'it')}") from error
    return errors


@dataclass(frozen=True, eq=False)
class Distances:
    """The orthogonal distances of rows to a form: residuals, derivatives by the constants, and effective variances."""

    residual: Floats
    by_constant: Floats
    variance: Floats
    columns: Mapping[str, Floats]


def distances(
    form: Form,
    at: Mapping[str, float],
    table: Mapping[str, Floats],
    y: Floats,
    variance: Floats,
    errors: Mapping[str, Floats],
) -> Distances:
    """Return the distances for given constants; ``variance`` is that of the noise of each target.

    A line of slope 1 has a distance of (y - x) / sqrt(s_y^2 + s_x^2):

    >>> x, one = np.array([1.0, 2.0]), np.ones(2)
    >>> found = distances(Form.parse("a*x", ["x"]), {"a": 1.0}, {"x": x}, np.array([2.0, 2.0]), one, {"x": one})
    >>> found.residual.round(6)
    array([0.707107, 0.      ])
    """
    shift = {name: np.zeros(len(y)) for name in errors}

    def evaluated(shift: Mapping[str, Floats]) -> tuple[Floats, Floats]:
        moved = {**table, **{name: table[name] + d for name, d in shift.items()}}
        error = y - form.predict(at, moved)
        size = error**2 / variance
        for name, d in shift.items():
            size = size + np.divide(d, errors[name], out=np.zeros_like(d), where=errors[name] > 0) ** 2
        return error, np.where(np.isfinite(size), size, np.inf)

    with np.errstate(all="ignore"):
        error, size = evaluated(shift)
        for _ in range(STEPS):
            moved = {**table, **{name: table[name] + d for name, d in shift.items()}}
            slope = form.slopes(at, moved)[1]
            effective = variance + sum(errors[name] ** 2 * slope[name] ** 2 for name in errors)
            linear = error + sum(slope[name] * shift[name] for name in errors)
            wanted = {name: errors[name] ** 2 * slope[name] * linear / effective for name in errors}
            step = np.ones(len(y))
            for _ in range(12):  # shorter where a step would lead away
                tried = {name: shift[name] + step * (wanted[name] - shift[name]) for name in errors}
                _, new_size = evaluated(tried)
                worse = ~(new_size <= size * (1 + 1e-14))
                if not worse.any():
                    break
                step = np.where(worse, step / 2, step)
            tried = {name: np.where(worse, shift[name], d) for name, d in tried.items()}
            change = max(
                (np.abs(tried[name] - shift[name]) / np.maximum(errors[name], 1e-300)).max() for name in errors
            )
            shift = tried
            error, size = evaluated(shift)
            if change <= TOLERANCE:
                break
        moved = {**table, **{name: table[name] + d for name, d in shift.items()}}
        by_constant, slope = form.slopes(at, moved)
        effective = variance + sum(errors[name] ** 2 * slope[name] ** 2 for name in errors)
        return Distances(np.sign(error) * np.sqrt(size), by_constant, effective, moved)


def fit_orthogonal(
    form: Form,
    table: Mapping[str, Floats],
    y: Floats,
    variance: Floats,
    errors: Mapping[str, Floats],
    rng: np.random.Generator,
) -> dict[str, float]:
    """Return the constants with the smallest sum of squared distances, from those of ordinary least squares."""
    at = fit_form(form, table, y, 1.0 / np.sqrt(variance), rng)

    def constants(theta: Floats) -> dict[str, float]:
        return dict(zip(form.constants, theta.tolist(), strict=True))

    def found(theta: Floats) -> Distances:
        return distances(form, constants(theta), table, y, variance, errors)

    def residual(theta: Floats) -> Floats:
        return np.clip(np.nan_to_num(found(theta).residual, nan=BAD, posinf=BAD, neginf=-BAD), -BAD, BAD)

    def jacobian(theta: Floats) -> Floats:
        all_found = found(theta)
        with np.errstate(all="ignore"):
            return np.nan_to_num(-all_found.by_constant / np.sqrt(all_found.variance)[:, None], posinf=BAD, neginf=-BAD)

    start = np.array([at[name] for name in form.constants])
    if not len(start):
        return {}
    best = least_squares(residual, start, jacobian, x_scale="jac", ftol=1e-14, xtol=1e-14, gtol=1e-14, max_nfev=200)
    return constants(best.x)
