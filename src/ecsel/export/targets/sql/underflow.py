"""Products that never underflow, for databases that stop with an error where a product is rounded to zero.

Of c·v₁⋯v_m with a constant c, factors |v_i| < τ are taken as 0, which is no underflow. With one factor, τ is the
smallest double that c can be multiplied with, and no product changes. With more, τ^m·|c| = 10⁻³⁰⁰: products that are
changed are smaller than any number that a contribution is compared with. Left alone are products of constants with
logarithms, which are 0 or at least 10⁻¹⁷, and with exponentials, which the lowering has limited already.

The divisors of terms are at most exp(300) (see `ecsel.export.program.factors`): a dividend below 10⁻¹⁵⁰ is taken as 0.
"""

from __future__ import annotations

import math
from dataclasses import fields, replace
from typing import TYPE_CHECKING, Any

from ecsel.export.program.expr import Abs, Compare, Condition, Const, Div, Exp, Expr, If, Lookup, Mul, variables

if TYPE_CHECKING:
    from ecsel.export.program.program import Assignment, Program

_TINY_STAGES = {"value", "term", "link", "contribution"}
_TINY_CONSTANT = 1e-200
_TINY_DIVIDEND = 1e-150
_SMALLEST_PRODUCT = -300 * math.log(10)


def without_underflow(program: Program) -> Program:
    """Return the program with all products safe."""
    by_stage = [(each.stage, each.name) for each in program.assignments]
    tiny = {name for stage, name in by_stage if stage in _TINY_STAGES}
    values = {name for stage, name in by_stage if stage == "value"}

    def safe(each: Assignment) -> Assignment:
        return replace(each, value=_safe(each.value, tiny, values))

    return replace(program, assignments=tuple(map(safe, program.assignments)))


def flush_limit(constant: float, n_factors: int) -> float:
    """Return τ: below it a factor is taken as 0.

    Examples
    --------
    >>> flush_limit(0.25, 1), 0.25 * 1.5e-323, 0.25 * 1e-323
    (1.5e-323, 5e-324, 0.0)
    """
    size = abs(constant)
    if n_factors > 1:
        return math.exp((_SMALLEST_PRODUCT - math.log(size)) / n_factors)
    # A product is rounded to zero up to one half of the smallest double, 2⁻¹⁰⁷⁵; the search begins just below.
    mantissa, exponent = math.frexp(size)
    limit = math.nextafter(math.ldexp((1 - 1e-15) / mantissa, -1075 - exponent), 0.0)
    while limit * size == 0:
        limit = math.nextafter(limit, math.inf)
    return limit


def _safe(node: Any, tiny: set[str], values: set[str]) -> Any:
    if isinstance(node, tuple):
        return tuple(_safe(part, tiny, values) for part in node)
    if not isinstance(node, (Expr, Condition)) or isinstance(node, Lookup):
        return node
    rebuilt = type(node)(*(_safe(getattr(node, field.name), tiny, values) for field in fields(node)))
    if isinstance(rebuilt, Div):
        return _safe_quotient(rebuilt, values)
    return _safe_product(rebuilt, tiny) if isinstance(rebuilt, Mul) else rebuilt


def _safe_quotient(quotient: Div, values: set[str]) -> Expr:
    above = quotient.numerator
    if not values.intersection(variables(above)):
        return quotient
    return Div(If(Compare("<", Abs(above), Const(_TINY_DIVIDEND)), Const(0.0), above), quotient.denominator)


def _safe_product(product: Mul, tiny: set[str]) -> Expr:
    constant = math.prod(part.value for part in product.parts if isinstance(part, Const))
    factors = [part for part in product.parts if not isinstance(part, Const)]
    at_risk = abs(constant) < _TINY_CONSTANT or any(
        name in tiny for part in factors if not isinstance(part, Exp) for name in variables(part)
    )
    if constant == 0 or not at_risk or (len(factors) == 1 and abs(constant) >= 1):
        return product
    limit = Const(flush_limit(constant, len(factors)))
    return Mul(
        tuple(
            part if isinstance(part, Const) else If(Compare("<", Abs(part), limit), Const(0.0), part)
            for part in product.parts
        )
    )
