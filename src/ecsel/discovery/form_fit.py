"""Fitting the constants of a form by variable projection from several starts.

Constants that only multiply terms, at most one in each, enter linearly: for given other constants they are a linear
least-squares problem, so that only the others are searched (Golub and Pereyra 1973), with the derivatives of Kaufman
(1975): of D, the derivatives by the others, what the linear columns span is projected out. Starts know what a constant
is for: a shift leaves the column positive, a rate is about one over the spread of its column. The best start is
finished on all constants together.
"""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from scipy.optimize import least_squares

from ecsel._typing import Floats
from ecsel.discovery.form import Form
from ecsel.discovery.form_numbers import Expression

STARTS = 24
"""Starts at most; three that agree are as sure as several starts can be."""
BAD = 1e6
"""What a residual counts, in units of the target, where the form is not defined."""


def fit_form(
    form: Form,
    table: Mapping[str, Floats],
    y: Floats,
    root_weight: Floats | None,
    rng: np.random.Generator,
    starts: int = STARTS,
) -> dict[str, float]:
    """Return the constants that fit best.

    Examples
    --------
    >>> t = np.linspace(0.1, 8, 40)
    >>> form = Form.parse("a*exp(-t/tau) + c", ["t"])
    >>> found = fit_form(form, {"t": t}, 3 * np.exp(-t / 2) + 1, None, np.random.default_rng(0))
    >>> {name: round(value, 6) for name, value in found.items()}
    {'a': 3.0, 'tau': 2.0, 'c': 1.0}
    """
    if not form.constants:
        return {}
    projection = _Projection.of(form, table, y, root_weight)
    if not projection.searched:
        return projection.complete(np.zeros(0))
    found = []
    for i in range(starts):
        start = np.array([_start(form, table, name, i, rng) for name in projection.searched])
        found.append(least_squares(projection.residual, start, projection.jacobian, x_scale="jac", max_nfev=300))
        best = min(found, key=lambda r: float(r.cost))
        if sum(float(r.cost) <= float(best.cost) * (1 + 1e-6) + 1e-30 for r in found) >= 3:
            break
    return _finished(projection, projection.complete(best.x))


def linear_constants(form: Form) -> tuple[str, ...]:
    """Return the constants that enter linearly, given the others.

    Examples
    --------
    >>> linear_constants(Form.parse("a*x**b + a*c*x + d*e", ["x"]))
    ('a', 'd')
    """
    inside = {
        name
        for term in form.terms
        for base, exponent in term.factors.items()
        for name in exponent.constants | base.shift.constants
    }
    chosen: list[str] = []
    for name in form.constants:
        powers = [term.constants[name] for term in form.terms if term.constants.get(name)]
        together = any(name in term.constants and set(term.constants) & set(chosen) for term in form.terms)
        if name not in inside and not together and all(power == 1 for power in powers):
            chosen.append(name)
    return tuple(chosen)


@dataclass(frozen=True, eq=False)
class _Projection:
    """The residual as a function of the constants that are searched; the linear ones follow from them."""

    form: Form
    table: Mapping[str, Floats]
    y: Floats
    root: Floats
    linear: tuple[str, ...]
    searched: tuple[str, ...]

    @classmethod
    def of(cls, form: Form, table: Mapping[str, Floats], y: Floats, root_weight: Floats | None) -> "_Projection":
        linear = linear_constants(form)
        root = np.ones(len(y)) if root_weight is None else root_weight
        root = root / max(float(np.sqrt(np.mean((y * root) ** 2))), np.finfo(float).tiny)
        searched = tuple(name for name in form.constants if name not in linear)
        return cls(form, table, y, root, linear, searched)

    def at(self, theta: Floats, linear: Floats) -> dict[str, float]:
        known = dict(zip(self.searched, theta, strict=True)) | dict(zip(self.linear, linear, strict=True))
        return {name: float(known[name]) for name in self.form.constants}

    def _solve(self, theta: Floats) -> tuple[Floats, Floats, Floats]:
        """Return the linear constants, the columns that they multiply, and the residual."""
        at = self.at(theta, np.zeros(len(self.linear)))
        with np.errstate(all="ignore"):
            target = (self.y - self.form.predict(at, self.table)) * self.root
            columns = self.form.slopes(at, self.table)[0] * self.root[:, None]
        design = columns[:, [self.form.constants.index(name) for name in self.linear]]
        if not (np.isfinite(target).all() and np.isfinite(design).all()):
            return np.zeros(len(self.linear)), np.zeros_like(design), np.full(len(self.y), BAD)
        norm = np.sqrt(np.einsum("np,np->p", design, design))
        scaled = design / np.where(norm > 0, norm, 1.0)
        solution = np.linalg.lstsq(scaled, target, rcond=1e-13)[0]
        linear = solution / np.where(norm > 0, norm, 1.0)
        return linear, scaled, np.clip(scaled @ solution - target, -BAD, BAD)

    def residual(self, theta: Floats) -> Floats:
        return self._solve(theta)[2]

    def jacobian(self, theta: Floats) -> Floats:
        linear, scaled, residual = self._solve(theta)
        slopes = self.slopes(self.at(theta, linear))[:, [self.form.constants.index(n) for n in self.searched]]
        if (np.abs(residual) >= BAD).any():
            return np.zeros_like(slopes)
        u, s, _ = np.linalg.svd(scaled, full_matrices=False)
        u = u[:, s > 1e-13 * max(float(s.max(initial=0.0)), 1e-300)]
        return np.asarray(slopes - u @ (u.T @ slopes))

    def slopes(self, at: Mapping[str, float]) -> Floats:
        with np.errstate(all="ignore"):
            return np.nan_to_num(self.form.slopes(at, self.table)[0] * self.root[:, None], posinf=BAD, neginf=-BAD)

    def complete(self, theta: Floats) -> dict[str, float]:
        return self.at(theta, self._solve(theta)[0])


def _finished(projection: _Projection, at: Mapping[str, float]) -> dict[str, float]:
    """Return constants after a few more steps of all of them together."""
    names = projection.form.constants

    def constants(theta: Floats) -> dict[str, float]:
        return dict(zip(names, theta.tolist(), strict=True))

    def residual(theta: Floats) -> Floats:
        with np.errstate(all="ignore"):
            values = projection.form.predict(constants(theta), projection.table)
        error = (values - projection.y) * projection.root
        return np.clip(np.nan_to_num(error, nan=BAD, posinf=BAD, neginf=-BAD), -BAD, BAD)

    def jacobian(theta: Floats) -> Floats:
        return projection.slopes(constants(theta))

    start = np.array([at[name] for name in names])
    last = least_squares(residual, start, jacobian, x_scale="jac", max_nfev=100, ftol=1e-15, xtol=1e-15, gtol=1e-15)
    return constants(last.x) if last.cost <= 0.5 * float(np.sum(residual(start) ** 2)) else dict(at)


def _start(form: Form, table: Mapping[str, Floats], name: str, i: int, rng: np.random.Generator) -> float:
    """Return a first value of a constant that suits what it is for."""
    for term in form.terms:
        for base, exponent in term.factors.items():
            x = table[base.column]
            if name in base.shift.constants:
                return _start_of_shift(base.shift, x, name, i, rng, inside=base.absolute)
            if name in exponent.constants and base.kind == "exp":
                return _start_of_rate(exponent, x, name, i, rng)
    return 1.0 if i == 0 else float(rng.normal(0.0, 1.5))


def _start_of_shift(
    shift: Expression, x: Floats, name: str, i: int, rng: np.random.Generator, *, inside: bool
) -> float:
    low, high = float(x.min()), float(x.max())
    span = (high - low) or abs(high) or 1.0
    wanted = (
        -float(rng.uniform(low, high)) if inside else 10.0 ** float(rng.normal(-0.5, 0.7) if i else -0.5) * span - low
    )
    return _inverted(shift, name, wanted, rng)


def _start_of_rate(rate: Expression, x: Floats, name: str, i: int, rng: np.random.Generator) -> float:
    std = float(np.std(x)) or 1.0
    size = 10.0 ** float(rng.normal(-0.2, 0.5) if i else 0.0) / std
    sign = -1.0 if i % 2 else 1.0  # the first start is that of a constant as the form writes its sign
    own = rate.slope(dict.fromkeys(rate.constants, 1.0), name)
    return _inverted(rate, name, sign * size * (np.sign(own * _power_of(rate, name)) or 1.0), rng)


def _power_of(expression: Expression, name: str) -> int:
    return next(power for monomial, _ in expression.parts for each, power in monomial if each == name)


def _inverted(expression: Expression, name: str, wanted: float, rng: np.random.Generator) -> float:
    """Return the constant at which an expression has a value, where that is plain to see."""
    if len(expression.parts) == 1:
        ((monomial, c),) = expression.parts
        ratio = (wanted - float(expression.number)) / c
        if monomial == ((name, 1),):
            return float(ratio)
        if monomial == ((name, -1),) and ratio:
            return float(1.0 / ratio)
    return float(wanted * np.exp(rng.normal(0.0, 0.5)))
