"""Reading a form: the syntax tree of equations becomes terms with constants to fit."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from fractions import Fraction
from math import exp, log
from typing import Literal, NamedTuple

import numpy as np

from ecsel.discovery.form_numbers import Expression, whole_power
from ecsel.signomial import syntax

ONE = Expression(Fraction(1))
_EXPONENTS = "an exponent must be a number, a constant, or sums and multiples of them"
_SUM = "it must be a sum of products of numbers, constants and powers of columns"


class Base(NamedTuple):
    """What is raised to a power: x + s, its size, log(x + s), or exp(x)."""

    column: str
    kind: Literal["power", "log", "exp"] = "power"
    shift: Expression = Expression()
    absolute: bool = False

    @property
    def is_plain(self) -> bool:
        """Whether it is the column itself."""
        return self.kind == "power" and self.shift == Expression() and not self.absolute


@dataclass(frozen=True)
class FormTerm:
    """number * product of constants to whole powers * product of bases to the power of expressions."""

    number: float = 1.0
    constants: Mapping[str, int] = field(default_factory=dict)
    factors: Mapping[Base, Expression] = field(default_factory=dict)

    @property
    def exponents(self) -> dict[str, Expression]:
        """The exponents of the plain powers by column."""
        return {base.column: exponent for base, exponent in self.factors.items() if base.is_plain}

    def coefficient(self, at: Mapping[str, float]) -> float:
        """Return the coefficient for given constants."""
        return self.number * float(np.prod([whole_power(at[name], power) for name, power in self.constants.items()]))

    def coefficient_slope(self, at: Mapping[str, float], name: str) -> float:
        """Return the derivative of the coefficient by one constant."""
        power = self.constants.get(name, 0)
        if not power:
            return 0.0
        others = {n: p for n, p in self.constants.items() if n != name}
        return power * whole_power(at[name], power - 1) * FormTerm(self.number, others).coefficient(at)

    def times(self, base: Base, exponent: Expression) -> "FormTerm":
        """Return the term times a power of a base."""
        old = self.factors.get(base, Expression())
        return replace(self, factors={**self.factors, base: old.plus(exponent)})

    def scaled(self, number: float) -> "FormTerm":
        """Return the term times a number."""
        return replace(self, number=self.number * number)


@dataclass
class Reader:
    """Reads the terms of one form; names that are no columns are collected as constants, in order of appearance."""

    columns: frozenset[str]
    text: str
    constants: list[str] = field(default_factory=list)

    def refuse(self, why: str) -> ValueError:
        """Return the error that says why a form cannot be fitted."""
        return ValueError(f"the form {self.text!r} cannot be fitted: {why}")

    def constant(self, name: str) -> str:
        """Note a constant."""
        if name not in self.constants:
            self.constants.append(name)
        return name

    def sum(self, node: syntax.Node, sign: float) -> list[FormTerm]:
        """Return the terms of a sum."""
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
                return self.product(operand, term.scaled(-1.0), power)
            case syntax.Number(value):
                return term.scaled(float(value) ** power)
            case syntax.Call("exp", argument):
                return self.exponential(argument, term, power)
            case syntax.Power(base, exponent):
                return self.raised(base, term, self.exponent(exponent).times(Expression(Fraction(power))))
        return self.raised(node, term, Expression(Fraction(power)))

    def raised(self, node: syntax.Node, term: FormTerm, exponent: Expression) -> FormTerm:
        """Multiply a term by a power of a name, a shifted column, or a function of either."""
        match node:
            case syntax.Name(name) if name not in self.columns:
                return self.constant_power(term, name, exponent)
            case syntax.Call("sqrt", argument):
                return self.raised(argument, term, exponent.times(Expression(Fraction(1, 2))))
            case syntax.Call("log", syntax.Number(value)) if value > 0 and exponent in (ONE, Expression(Fraction(-1))):
                return term.scaled(log(float(value)) ** float(exponent.number))
            case syntax.Call("log", argument):
                column, shift = self.shifted(argument)
                return term.times(Base(column, "log", shift), exponent)
            case syntax.Call("abs", argument):
                column, shift = self.shifted(argument)
                return term.times(Base(column, "power", shift, absolute=True), exponent)
            case syntax.Name() | syntax.Sum():
                column, shift = self.shifted(node)
                return term.times(Base(column, "power", shift), exponent)
        raise self.refuse(_SUM)

    def constant_power(self, term: FormTerm, name: str, exponent: Expression) -> FormTerm:
        """Multiply a term by a whole power of a constant."""
        number = exponent.number
        if exponent.parts or not isinstance(number, Fraction) or number.denominator != 1:
            raise self.refuse(f"the constant {name!r} may only have whole powers")
        power = term.constants.get(self.constant(name), 0) + int(number)
        return replace(term, constants={**term.constants, name: power})

    def shifted(self, node: syntax.Node) -> tuple[str, Expression]:
        """Return column and shift of ``x``, ``x + s`` or ``s + x``."""
        linear, rest = self.linear(node, _SUM)
        if len(linear) != 1 or next(iter(linear.values())) != ONE:
            raise self.refuse(
                "a sum in brackets must be a column plus or minus constants, such as (x - x0)**b; for x below x0 "
                "write abs(x - x0)**b"
            )
        return next(iter(linear)), rest

    def exponential(self, argument: syntax.Node, term: FormTerm, power: int) -> FormTerm:
        """Multiply a term by the exponential of a sum of multiples of columns."""
        why = "exp() takes multiples of columns, such as exp(c*x) or exp(-t/tau)"
        linear, rest = self.linear(argument, why)
        if rest.parts:
            raise self.refuse(f"{why}; a constant beside them is a factor: write a*exp(c*x)")
        for column, rate in linear.items():
            term = term.times(Base(column, "exp"), rate.times(Expression(Fraction(power))))
        return term.scaled(exp(power * float(rest.number)))

    def linear(self, node: syntax.Node, why: str) -> tuple[dict[str, Expression], Expression]:
        """Return a sum of multiples of columns, and what stands beside them."""
        match node:
            case syntax.Name(name) if name in self.columns:
                return {name: ONE}, Expression()
            case syntax.Negative(operand):
                return _times(*self.linear(operand, why), Expression(Fraction(-1)))
            case syntax.Sum(terms):
                total: dict[str, Expression] = {}
                rest = Expression()
                for minus, part, _ in terms:
                    sign = Expression(Fraction(-1 if minus else 1))
                    linear, beside = _times(*self.linear(part, why), sign)
                    total.update({name: total.get(name, Expression()).plus(each) for name, each in linear.items()})
                    rest = rest.plus(beside)
                return total, rest
            case syntax.Product(factors):
                linear, rest = {}, ONE
                for is_divided, factor, _ in factors:
                    own, beside = self.linear(factor, why)
                    if own and (linear or is_divided):
                        raise self.refuse(why)
                    if own:
                        linear, rest = _times(own, beside, rest)
                    else:
                        linear, rest = _times(linear, rest, self.inverse(beside) if is_divided else beside)
                return linear, rest
        return {}, self.exponent(node, why)

    def inverse(self, expression: Expression) -> Expression:
        """Return one over an expression."""
        try:
            return expression.inverse()
        except ValueError as error:
            raise self.refuse(str(error)) from error

    def exponent(self, node: syntax.Node, why: str = _EXPONENTS) -> Expression:
        """Return a number that depends on constants alone."""
        match node:
            case syntax.Number(value):
                return Expression(value)
            case syntax.Name(name) if name not in self.columns:
                return Expression.constant(self.constant(name))
            case syntax.Negative(operand):
                return self.exponent(operand, why).times(Expression(Fraction(-1)))
            case syntax.Sum(terms):
                total = Expression()
                for minus, part, _ in terms:
                    total = total.plus(self.exponent(part, why).times(Expression(Fraction(-1 if minus else 1))))
                return total
            case syntax.Product(factors):
                total = ONE
                for is_divided, factor, _ in factors:
                    own = self.exponent(factor, why)
                    total = total.times(self.inverse(own) if is_divided else own)
                return total
        raise self.refuse(why)


def _times(
    linear: Mapping[str, Expression], rest: Expression, by: Expression
) -> tuple[dict[str, Expression], Expression]:
    return {name: each.times(by) for name, each in linear.items()}, rest.times(by)
