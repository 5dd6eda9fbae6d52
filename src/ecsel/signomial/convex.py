"""Posynomials as expressions of disciplined geometric programs in CVXPY.

A posynomial, a sum of products of powers of positive variables with positive coefficients, is convex in the logarithms
of its variables (Boyd and others 2007), so that a program of posynomials has one optimum, which is found.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from ecsel.signomial.text import print_term

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from ecsel.signomial.term import Term


class GeometricProgram(NamedTuple):
    """An expression, its variables by name, and the bounds of the variables as constraints."""

    expression: Any
    variables: dict[str, Any]
    constraints: list[Any]


def what_is_no_posynomial(terms: Sequence[Term]) -> str | None:
    """Say which term keeps a signomial from being a posynomial, None where none does.

    >>> from ecsel.signomial import Signomial
    >>> what_is_no_posynomial(Signomial.parse("x/y - 2*x").terms)
    'the coefficient of -2*x is not positive'
    >>> what_is_no_posynomial(Signomial.parse("log(x)").terms)
    'log(x) is no product of powers of columns'
    """
    if not terms:
        return "there are no terms"
    for term in terms:
        if not term.coefficient > 0:
            return f"the coefficient of {print_term(term)} is not positive"
        if not term.is_power_law:
            return f"{print_term(term)} is no product of powers of columns"
        if any(factor.exponent == 0 for factor in term.factors):
            return f"{print_term(term)} holds the sign of a column"
    return None


def to_geometric_program(
    terms: Sequence[Term],
    variables: Mapping[str, Any] | None = None,
    ranges: Mapping[str, tuple[float, float]] | None = None,
) -> GeometricProgram:
    """Return a posynomial as an expression of CVXPY; :meth:`Signomial.to_cvxpy` says more."""
    try:
        import cvxpy  # noqa: PLC0415 - an optional dependency
    except ImportError as error:
        raise ImportError('to_cvxpy() needs CVXPY: pip install "ecsel[convex]"') from error
    if problem := what_is_no_posynomial(terms):
        raise ValueError(
            f"only posynomials are expressions of geometric programs, but {problem}; fit with positive=True"
        )
    given, bounds = dict(variables or {}), dict(ranges or {})
    names = list(dict.fromkeys(name for term in terms for name in term.names))
    used = {name: given[name] if name in given else cvxpy.Variable(pos=True, name=name) for name in names}
    constraints = []
    for name in names:
        if name not in bounds:
            continue
        low, high = (float(end) for end in bounds[name])
        if not high > 0 or not low <= high:
            raise ValueError(f"the range of {name!r} must be (low, high) with a positive high, not {bounds[name]!r}")
        constraints += [used[name] >= low] * (low > 0) + [used[name] <= high]
    products = []
    for term in terms:
        product = cvxpy.Constant(term.coefficient)
        for factor in term.factors:
            product = product * used[factor.name] ** float(factor.exponent)
        products.append(product)
    return GeometricProgram(sum(products[1:], products[0]), used, constraints)
