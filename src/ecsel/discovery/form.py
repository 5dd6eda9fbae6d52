"""Fitting the constants of a given form such as ``a*x**b + c``.

A form is a sum of products of numbers, constants to fit (names that are no column) and powers of columns, in the syntax
of equations (:mod:`ecsel.signomial.syntax`); it is never executed. An exponent is a number, a constant, or a sum or
multiple of such; a constant may occur more than once. The constants c minimise the weighted squared error from several
starts.

Their uncertainty is that of nonlinear least squares, s^2 (J'J)^-1 with J = D G: D holds the derivatives of the
prediction by the coefficients and exponents of the terms, G (:meth:`Form.chain`) those of coefficients and exponents
by c.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction

import numpy as np
from scipy.optimize import least_squares

from ecsel._typing import Floats
from ecsel.signomial import syntax

MAX_LENGTH = 2000  # a form is typed by hand
_EXPONENTS = "an exponent must be a number, a constant, or sums and multiples of them"


@dataclass(frozen=True)
class Affine:
    """An exponent: a number plus multiples of constants."""

    number: Fraction | float = Fraction(0)
    constants: Mapping[str, float] = field(default_factory=dict)

    def value(self, at: Mapping[str, float]) -> Fraction | float:
        """Return the exponent for given constants; exact when it has none."""
        if not self.constants:
            return self.number
        return float(self.number) + sum(c * at[name] for name, c in self.constants.items())


@dataclass(frozen=True)
class FormTerm:
    """number * product of constants to whole powers * product of columns to affine exponents."""

    number: float = 1.0
    constants: Mapping[str, int] = field(default_factory=dict)
    exponents: Mapping[str, Affine] = field(default_factory=dict)

    def coefficient(self, at: Mapping[str, float]) -> float:
        """Return the coefficient for given constants."""
        return self.number * float(np.prod([at[name] ** power for name, power in self.constants.items()]))

    def coefficient_slope(self, at: Mapping[str, float], name: str) -> float:
        """Return the derivative of the coefficient by one constant."""
        power = self.constants.get(name, 0)
        if not power:
            return 0.0
        others = {n: p for n, p in self.constants.items() if n != name}
        return power * at[name] ** (power - 1) * FormTerm(self.number, others).coefficient(at)


@dataclass(frozen=True)
class Form:
    """A parsed form; ``constants`` are in order of appearance."""

    terms: tuple[FormTerm, ...]
    constants: tuple[str, ...]

    @classmethod
    def parse(cls, text: str, columns: Sequence[str]) -> "Form":
        """Read a form; every name that is not a column is a constant to fit.

        >>> Form.parse("a*x**b + c", ["x"]).constants
        ('a', 'b', 'c')
        """
        if len(text) > MAX_LENGTH:
            raise ValueError(f"the form has {len(text)} characters, the limit is {MAX_LENGTH}")
        try:
            tree = syntax.parse_expression(text)
        except ValueError as error:
            raise ValueError(f"form={text!r}: {error}") from error
        reader = _Reader(frozenset(columns), text)
        try:
            terms = tuple(reader.sum(tree, 1.0))
        except (OverflowError, ZeroDivisionError) as error:
            raise reader.refuse("a number is too large, or divided by zero") from error
        return cls(terms, tuple(reader.constants))

    @property
    def free(self) -> tuple[tuple[int, str], ...]:
        """(term, column) of the exponents that depend on constants."""
        return tuple((k, n) for k, t in enumerate(self.terms) for n, affine in t.exponents.items() if affine.constants)

    def chain(self, at: Mapping[str, float]) -> Floats:
        """Return the derivatives of the coefficients, then of the exponents in ``free``, by the constants.

        >>> Form.parse("2*a*x**(3*b)", ["x"]).chain({"a": 5.0, "b": 7.0})
        array([[2., 0.],
               [0., 3.]])
        """
        coefficients = [[t.coefficient_slope(at, name) for name in self.constants] for t in self.terms]
        exponents = [
            [self.terms[k].exponents[column].constants.get(name, 0.0) for name in self.constants]
            for k, column in self.free
        ]
        return np.array([*coefficients, *exponents], dtype=float).reshape(-1, len(self.constants))

    def predict(self, at: Mapping[str, float], table: Mapping[str, Floats]) -> Floats:
        """Return the value of the form on the columns of a table."""
        n = len(next(iter(table.values())))
        total = np.zeros(n)
        for term in self.terms:
            value = np.full(n, term.coefficient(at))
            for name, affine in term.exponents.items():
                exponent = affine.value(at)
                x = table[name]
                whole = isinstance(exponent, Fraction) and exponent.denominator == 1
                value = value * (x ** int(exponent) if whole else np.abs(x) ** float(exponent))
            total += value
        return total

    def fit(
        self,
        table: Mapping[str, Floats],
        y: Floats,
        root_weight: Floats | None,
        rng: np.random.Generator,
        starts: int = 24,
    ) -> dict[str, float]:
        """Return the constants that fit best."""
        root = np.ones(len(y)) if root_weight is None else root_weight
        scale = float(np.sqrt(np.mean(y**2))) or 1.0

        def residual(theta: Floats) -> Floats:
            with np.errstate(all="ignore"):
                values = self.predict(dict(zip(self.constants, theta, strict=True)), table)
            return np.clip(np.nan_to_num((values - y) / scale, nan=1e6, posinf=1e6, neginf=-1e6), -1e6, 1e6) * root

        if not self.constants:
            return {}
        first = np.ones(len(self.constants))
        found = []
        for start in [first, *rng.normal(0, 1.5, (starts - 1, len(first)))]:
            found.append(least_squares(residual, start, max_nfev=300))
            best = min(found, key=lambda r: float(r.cost))
            # Three starts that agree are as sure as a multi-start can be.
            if sum(float(r.cost) <= float(best.cost) * (1 + 1e-6) + 1e-30 for r in found) >= 3:
                break
        return dict(zip(self.constants, best.x.tolist(), strict=True))


@dataclass
class _Reader:
    columns: frozenset[str]
    text: str
    constants: list[str] = field(default_factory=list)

    def refuse(self, why: str) -> ValueError:
        return ValueError(f"the form {self.text!r} cannot be fitted: {why}")

    def constant(self, name: str) -> str:
        if name not in self.constants:
            self.constants.append(name)
        return name

    def sum(self, node: syntax.Node, sign: float) -> list[FormTerm]:
        match node:
            case syntax.Sum(terms):
                return [t for minus, part, _ in terms for t in self.sum(part, -sign if minus else sign)]
            case syntax.Negative(operand):
                return self.sum(operand, -sign)
        return [self.product(node, FormTerm(sign), 1)]

    def product(self, node: syntax.Node, term: FormTerm, power: int) -> FormTerm:
        """Multiply a term by a factor, or divide by it when the power is -1."""
        match node:
            case syntax.Product(factors):
                for is_divided, factor, _ in factors:
                    term = self.product(factor, term, -power if is_divided else power)
                return term
            case syntax.Negative(operand):
                return self.product(operand, FormTerm(-term.number, term.constants, term.exponents), power)
            case syntax.Number(value):
                return FormTerm(term.number * float(value) ** power, term.constants, term.exponents)
            case syntax.Name(name):
                return self.times(term, name, Affine(Fraction(power)))
            case syntax.Power(syntax.Name(name), exponent):
                return self.times(term, name, _scaled(self.exponent(exponent), power))
        raise self.refuse("it must be a sum of products of numbers, constants and powers of columns")

    def times(self, term: FormTerm, name: str, exponent: Affine) -> FormTerm:
        if name in self.columns:
            old = term.exponents.get(name, Affine())
            return FormTerm(term.number, term.constants, {**term.exponents, name: _added(old, exponent)})
        if exponent.constants or not isinstance(exponent.number, Fraction) or exponent.number.denominator != 1:
            raise self.refuse(f"the constant {name!r} may only have whole powers")
        power = term.constants.get(self.constant(name), 0) + int(exponent.number)
        return FormTerm(term.number, {**term.constants, name: power}, term.exponents)

    def exponent(self, node: syntax.Node) -> Affine:
        match node:
            case syntax.Number(value):
                return Affine(value)
            case syntax.Name(name) if name not in self.columns:
                return Affine(Fraction(0), {self.constant(name): 1.0})
            case syntax.Negative(operand):
                return _scaled(self.exponent(operand), -1)
            case syntax.Sum(terms):
                total = Affine()
                for minus, part, _ in terms:
                    total = _added(total, _scaled(self.exponent(part), -1 if minus else 1))
                return total
            case syntax.Product(factors):
                total = Affine(Fraction(1))
                for is_divided, factor, _ in factors:
                    total = self.multiple(total, self.exponent(factor), divided=is_divided)
                return total
        raise self.refuse(_EXPONENTS)

    def multiple(self, left: Affine, right: Affine, *, divided: bool) -> Affine:
        if divided and not right.constants and right.number != 0:
            return _scaled(left, 1 / right.number)
        if not divided and not (left.constants and right.constants):
            return _scaled(left, right.number) if left.constants else _scaled(right, left.number)
        raise self.refuse(_EXPONENTS)


def _scaled(a: Affine, by: Fraction | float) -> Affine:
    return Affine(a.number * by, {name: c * float(by) for name, c in a.constants.items()})


def _added(a: Affine, b: Affine) -> Affine:
    names = {**a.constants, **b.constants}
    return Affine(a.number + b.number, {n: a.constants.get(n, 0.0) + b.constants.get(n, 0.0) for n in names})
