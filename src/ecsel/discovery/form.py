"""Forms such as ``a*x**b + c*(t - t0)**d + e*exp(-t/tau)``, of which only the constants are fitted.

A form is a sum of products of numbers, constants to fit (names that are no column) and powers of bases: a column, a
column plus a shift, the absolute value or the logarithm of either, and exponentials of multiples of columns. It is
written in the syntax of equations (:mod:`ecsel.signomial.syntax`) and never executed. Exponents, shifts and rates are
numbers, constants, or sums of products of these; a constant may occur more than once.

:meth:`Form.slopes` has the derivatives by the constants, of which follow the fit (:mod:`form_fit`) and, by nonlinear
least squares, s^2 (J'J)^-1.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np

from ecsel._typing import Floats
from ecsel.discovery.form_numbers import Expression
from ecsel.discovery.form_reading import Base, FormTerm, Reader
from ecsel.signomial import Factor, Parity, Term, syntax
from ecsel.signomial.factor import Exponent

MAX_LENGTH = 2000  # a form is typed by hand


class Slopes(NamedTuple):
    """The value of a power of a base, and its derivatives by the exponent, the shift and the column."""

    value: Floats
    by_exponent: Floats
    by_shift: Floats
    by_column: Floats


class FreeNumber(NamedTuple):
    """An exponent, shift or rate that depends on constants, of a factor that is no plain power: where it stands."""

    term: int
    factor: int
    what: str


@dataclass(frozen=True)
class Form:
    """A parsed form; ``constants`` are in order of appearance."""

    terms: tuple[FormTerm, ...]
    constants: tuple[str, ...]

    @classmethod
    def parse(cls, text: str, columns: Sequence[str]) -> "Form":
        """Read a form; every name that is not a column is a constant to fit.

        >>> Form.parse("a*(x - x0)**b + c*exp(-x/tau)", ["x"]).constants
        ('a', 'x0', 'b', 'c', 'tau')
        """
        if len(text) > MAX_LENGTH:
            raise ValueError(f"the form has {len(text)} characters, the limit is {MAX_LENGTH}")
        try:
            tree = syntax.parse_expression(text)
        except ValueError as error:
            raise ValueError(f"form={text!r}: {error}") from error
        reader = Reader(frozenset(columns), text)
        try:
            terms = tuple(reader.sum(tree, 1.0))
        except (OverflowError, ZeroDivisionError) as error:
            raise reader.refuse("a number is too large, or divided by zero") from error
        named = sorted(_names(tree), key=lambda name: name.position)
        return cls(terms, tuple(dict.fromkeys(name.name for name in named if name.name in reader.constants)))

    @property
    def free(self) -> tuple[tuple[int, str], ...]:
        """(term, column) of the exponents of plain powers that depend on constants."""
        return tuple((k, n) for k, t in enumerate(self.terms) for n, power in t.exponents.items() if power.parts)

    def _inner(self) -> Iterator[tuple[int, Base, str, Expression]]:
        for k, term in enumerate(self.terms):
            for base, exponent in term.factors.items():
                if exponent.parts and not base.is_plain:
                    yield k, base, "rate" if base.kind == "exp" else "exponent", exponent
                if base.shift.parts:
                    yield k, base, "shift", base.shift

    def written(self, at: Mapping[str, float], table: Mapping[str, Floats]) -> tuple[Term, ...]:
        """Return the terms for given constants; a real power of a column that was ever negative is that of its size."""
        negative = {name for name, x in table.items() if (x < 0).any()}
        return tuple(
            Term.from_factors(t.coefficient(at), (_factor(b, e, at, negative) for b, e in t.factors.items()))
            for t in self.terms
        )

    def inner(self, at: Mapping[str, float], terms: Sequence[Term]) -> tuple[FreeNumber, ...]:
        """Return where the numbers stand in the written terms that are neither coefficients nor in ``free``."""
        found = []
        for k, base, what, _ in self._inner():
            key = (base.column, float(base.shift.value(at)), base.kind == "log", base.kind == "exp")
            places = [i for i, factor in enumerate(terms[k].factors) if factor.base == key]
            found.append(FreeNumber(k, places[0] if places else -1, what))
        return tuple(found)

    def chain(self, at: Mapping[str, float]) -> Floats:
        """Return the derivatives of the coefficients, the exponents in ``free``, and the others, by the constants.

        >>> Form.parse("2*a*x**(3*b)", ["x"]).chain({"a": 5.0, "b": 7.0})
        array([[2., 0.],
               [0., 3.]])
        """
        rows = [[t.coefficient_slope(at, name) for name in self.constants] for t in self.terms]
        inside = [self.terms[k].exponents[column] for k, column in self.free]
        inside += [expression for _, _, _, expression in self._inner()]
        rows += [[each.slope(at, name) for name in self.constants] for each in inside]
        return np.array(rows, dtype=float).reshape(-1, len(self.constants))

    def predict(self, at: Mapping[str, float], table: Mapping[str, Floats]) -> Floats:
        """Return the value of the form on the columns of a table; not a number where it is not defined."""
        total = np.zeros(len(next(iter(table.values()))))
        for term in self.terms:
            total += term.coefficient(at) * _product([s.value for s in _powers(term, at, table).values()], len(total))
        return total

    def slopes(self, at: Mapping[str, float], table: Mapping[str, Floats]) -> tuple[Floats, dict[str, Floats]]:
        """Return the derivatives by the constants, (rows, constants), and those by the columns."""
        n = len(next(iter(table.values())))
        by_constant = np.zeros((n, len(self.constants)))
        by_column = {name: np.zeros(n) for name in table}
        for term in self.terms:
            coefficient, powers = term.coefficient(at), _powers(term, at, table)
            whole = _product([s.value for s in powers.values()], n)
            for i, name in enumerate(self.constants):
                by_constant[:, i] += term.coefficient_slope(at, name) * whole
            for base, power in powers.items():
                others = coefficient * _product([s.value for b, s in powers.items() if b is not base], n)
                by_column[base.column] += others * power.by_column
                for i, name in enumerate(self.constants):
                    inside = term.factors[base].slope(at, name) * power.by_exponent
                    by_constant[:, i] += others * (inside + base.shift.slope(at, name) * power.by_shift)
        return by_constant, by_column


def _names(node: Any) -> Iterator[syntax.Name]:
    """Yield the names of a syntax tree."""
    if isinstance(node, syntax.Name):
        yield node
    elif isinstance(node, tuple):
        for part in node:
            yield from _names(part)


def _product(values: Sequence[Floats], n: int) -> Floats:
    total = np.ones(n)
    for value in values:
        total = total * value
    return total


def _powers(term: FormTerm, at: Mapping[str, float], table: Mapping[str, Floats]) -> dict[Base, Slopes]:
    with np.errstate(all="ignore"):
        return {
            base: _power(base, exponent.value(at), at, table[base.column]) for base, exponent in term.factors.items()
        }


def _power(base: Base, exponent: Exponent, at: Mapping[str, float], x: Floats) -> Slopes:
    """Return a power of a base; 0 to a positive power is 0, and so is its derivative by the exponent."""
    b = float(exponent)
    if base.kind == "exp":
        value = np.exp(b * x)
        return Slopes(value, x * value, np.zeros_like(x), b * value)
    g = x + float(base.shift.value(at))
    step = np.ones_like(g)
    if base.kind == "log":
        step, g = 1.0 / g, np.log(g)
    is_whole = isinstance(exponent, Fraction) and exponent.denominator == 1
    if base.absolute or (base.is_plain and not is_whole):
        step, g = step * np.sign(g), np.abs(g)
    if is_whole:
        # NumPy refuses whole numbers to negative whole powers, and floats to them are as exact
        value, slope = g ** int(b), b * g ** int(b - 1) if b else np.zeros_like(g)
    else:
        value, slope = g**b, b * g ** (b - 1.0)
    logs = np.log(np.abs(g), out=np.zeros_like(g), where=g != 0)
    return Slopes(value, value * logs, slope * step, slope * step)


def _factor(base: Base, exponent: Expression, at: Mapping[str, float], negative: set[str]) -> Factor:
    value = exponent.value(at)
    parity = Parity.ABSOLUTE if base.absolute else Parity.PLAIN
    if base.is_plain and base.column in negative and value != int(value):
        parity = Parity.ABSOLUTE
    shift = float(base.shift.value(at))
    return Factor(base.column, value, parity, shift, base.kind == "log", base.kind == "exp")
