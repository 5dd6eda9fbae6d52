"""A signomial: z(x) = Σ_k α_k Π_j g_kj(x_j)^β_kj, a finite sum of terms with real coefficients and exponents.

A base g is the feature x itself, x + s, or log(x + s). Signomials are closed under addition and multiplication, so they
are values with arithmetic. With u = log|x| a term of plain powers is α_k·exp(⟨β_k, u⟩) but for its sign, and
derivatives in u only multiply it by exponents; a general term is a product of functions φ_kj of one feature each:

    ∂z/∂u_j = Σ_k β_kj z_k              or    Σ_k α_k φ'_kj Π_{i≠j} φ_ki           (the log-gradient, property G3)
    ∂²z/∂u_i∂u_j = Σ_k β_ki β_kj z_k    or    Σ_k α_k φ'_ki φ'_kj Π_{l≠i,j} φ_kl,  with φ''_ki for i = j
"""

from __future__ import annotations

import itertools
import math
import numbers
from fractions import Fraction
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from ecsel.signomial import convex, latex, symbolic, text
from ecsel.signomial.columns import Columns, LogColumns, clip_limits
from ecsel.signomial.factor import Factor, is_integer
from ecsel.signomial.factor_values import FeatureJet, product_of_others
from ecsel.signomial.term import Term

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from ecsel._typing import Floats


class Signomial:
    """A sum of terms in canonical form: equal products merged, zeros dropped, in the order of :class:`Term`.

    Parameters
    ----------
    terms : iterable of Term
        In any order, with repetitions.

    Notes
    -----
    Coefficients of equal products are added without intermediate rounding, so the result does not depend on their
    order. Signomials are immutable and hashable. ``+ - *`` take signomials, terms and numbers; ``**`` takes
    non-negative integers, and any real number for a single term; ``/`` divides by a single term or a number.

    Examples
    --------
    >>> x, y = Signomial.variable("x"), Signomial.variable("y")
    >>> square = (x + y) ** 2
    >>> square
    Signomial.parse('x**2 + 2*x*y + y**2')
    >>> square({"x": [1.0, 2.0], "y": [3.0, 4.0]})
    array([16., 36.])
    >>> format(square / 3, ".2g")
    '0.33*x**2 + 0.67*x*y + 0.33*y**2'
    >>> Signomial.parse(str(square)) == square
    True
    """

    __slots__ = ("_terms",)
    # numpy scalars leave the arithmetic to this class
    __array_ufunc__: ClassVar[None] = None

    def __init__(self, terms: Iterable[Term] = ()) -> None:
        self._terms = _canonical(terms)

    @classmethod
    def constant(cls, value: float) -> Signomial:
        """Return the signomial that is ``value`` everywhere."""
        return cls([Term(value)])

    @classmethod
    def variable(cls, name: str) -> Signomial:
        """Return the signomial x for the feature called ``name``."""
        return cls([Term(1.0, {name: 1})])

    @classmethod
    def parse(cls, source: str) -> Signomial:
        """Read a signomial from text in Python syntax; nothing is executed.

        >>> Signomial.parse("2*sqrt(x)*(x - 1/y)").terms[0]
        Term(2.0, {'x': Fraction(3, 2)})
        """
        from ecsel.signomial.parse import parse_signomial  # noqa: PLC0415  # the parser builds signomials

        return parse_signomial(source)

    @property
    def terms(self) -> tuple[Term, ...]:
        """The terms in canonical order."""
        return self._terms

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the features in use, sorted."""
        return tuple(sorted({name for term in self._terms for name in term.names}))

    @property
    def n_factors(self) -> int:
        """The number of factors of all terms together: how much there is to read.

        >>> Signomial.parse("2*x*log(y) + sqrt(x) - 3").n_factors
        3
        """
        return sum(len(term.factors) for term in self._terms)

    def evaluate(self, columns: Columns) -> Floats:
        """Return z for every row.

        Parameters
        ----------
        columns : mapping or data frame
            Anything with ``columns[name]``. Scalars in a mapping are repeated for every row.

        Raises
        ------
        ValueError
            Naming the column, for missing or infinite values, for 0 to a negative power, and for a negative number to a
            plain power that is not an integer.
        """
        table = LogColumns.read(columns, self.names)
        total = np.zeros(table.n_rows)
        for term, (_, top) in zip(self._terms, self._clip_limits, strict=True):
            total += term.coefficient * table.product(term.factors, top)
        return total

    __call__ = evaluate

    def log_gradient(self, columns: Columns) -> Floats:
        """Return the derivatives of z by log|x_j| (property G3), shape (rows, ``len(names)``), columns as in ``names``.

        >>> Signomial.parse("3*x**2 + y*log(y)").log_gradient({"x": [2.0], "y": [1.0]})
        array([[24.,  1.]])
        """
        table = LogColumns.read(columns, self.names)
        powers, values = self._power_law_values(table)
        gradient = values @ self._exponent_matrix(powers)
        for term, jets in self._general_terms(table):
            for j in jets:
                gradient[:, j] += term.coefficient * jets[j].first * product_of_others(jets, [j])
        return gradient

    def log_hessian(self, columns: Columns) -> Floats:
        """Return the second derivatives of z in log|x|, shape (rows, ``len(names)``, ``len(names)``)."""
        table = LogColumns.read(columns, self.names)
        powers, values = self._power_law_values(table)
        beta = self._exponent_matrix(powers)
        hessian: Floats = np.einsum("nk,ki,kj->nij", values, beta, beta, optimize=True)
        for term, jets in self._general_terms(table):
            for i, j in itertools.product(jets, jets):
                own = jets[j].second if i == j else jets[i].first * jets[j].first
                hessian[:, i, j] += term.coefficient * own * product_of_others(jets, [i, j])
        return hessian

    def select(self, names: Iterable[str]) -> Signomial:
        """Return the part of the signomial in which any of the names occurs.

        >>> Signomial.parse("x*y + y + 1").select(["x"])
        Signomial.parse('x*y')
        """
        wanted = frozenset([names] if isinstance(names, str) else names)
        return Signomial(term for term in self._terms if not wanted.isdisjoint(term.names))

    def rename(self, mapping: Mapping[str, str]) -> Signomial:
        """Return the signomial with features renamed; names that are not in the mapping stay.

        Two features that get the same name become one: x·y with both called z is z².

        >>> Signomial.parse("x*y + 1").rename({"x": "z", "y": "z"})
        Signomial.parse('z**2 + 1')
        """
        return Signomial(_rename_term(term, mapping) for term in self._terms)

    def to_latex(self, digits: int | None = None) -> str:
        r"""Return the formula in LaTeX, numbers to so many significant digits, or exact.

        >>> print(Signomial.parse("2.5*x1**2/sqrt(abs(y))").to_latex())
        \frac{2.5\,x_{1}^{2}}{\sqrt{\left|y\right|}}
        """
        return latex.latex_sum(self._terms, digits)

    def _repr_latex_(self) -> str:
        return rf"$\displaystyle {self.to_latex(digits=4)}$"

    def to_sympy(self) -> Any:
        """Return a SymPy expression whose symbols have the feature names verbatim.

        Exact exponents are rational. A symbol is positive if a power or logarithm of it needs that, else real.
        """
        return symbolic.sympy_sum(self._terms)

    @property
    def is_posynomial(self) -> bool:
        """Whether all terms are products of powers of columns with positive coefficients.

        >>> Signomial.parse("2*x/y + 1").is_posynomial, Signomial.parse("x - y").is_posynomial
        (True, False)
        """
        return convex.what_is_no_posynomial(self._terms) is None

    def to_cvxpy(
        self, variables: Mapping[str, Any] | None = None, ranges: Mapping[str, tuple[float, float]] | None = None
    ) -> convex.GeometricProgram:
        """Return a posynomial as an expression of CVXPY, for disciplined geometric programs.

        Parameters
        ----------
        variables : mapping of name to cvxpy.Variable, optional
            Variables to use, positive ones; others are made.
        ranges : mapping of name to (low, high), optional
            Bounds of variables, which become constraints.

        Returns
        -------
        GeometricProgram
            The ``expression``, its ``variables`` by name and the ``constraints``.

        Notes
        -----
        A signomial with a coefficient that is not positive, a logarithm, a shift or an exponential is refused. Needs
        CVXPY, which ``pip install "ecsel[convex]"`` brings::

            program = Signomial.parse("x*y + 4/x + 1/y").to_cvxpy(ranges={"x": (0.1, 10), "y": (0.1, 10)})
            cvxpy.Problem(cvxpy.Minimize(program.expression), program.constraints).solve(gp=True)
        """
        return convex.to_geometric_program(self._terms, variables, ranges)

    def __add__(self, other: object) -> Signomial:
        added = _as_signomial(other)
        return NotImplemented if added is None else Signomial((*self._terms, *added._terms))

    __radd__ = __add__

    def __neg__(self) -> Signomial:
        return Signomial(-term for term in self._terms)

    def __abs__(self) -> Signomial:
        if len(self._terms) > 1:
            raise ValueError(f"the absolute value of a sum of {len(self._terms)} terms is not a signomial")
        return Signomial(abs(term) for term in self._terms)

    def __sub__(self, other: object) -> Signomial:
        subtracted = _as_signomial(other)
        return NotImplemented if subtracted is None else self + (-subtracted)

    def __rsub__(self, other: object) -> Signomial:
        return -self + other

    def __mul__(self, other: object) -> Signomial:
        factor = _as_signomial(other)
        if factor is None:
            return NotImplemented
        return Signomial(mine * theirs for mine in self._terms for theirs in factor.terms)

    __rmul__ = __mul__

    def __truediv__(self, other: object) -> Signomial:
        divisor = _as_signomial(other)
        if divisor is None:
            return NotImplemented
        if len(divisor._terms) > 1:
            raise ValueError(f"a signomial can only be divided by a single term, not by {divisor:.4g}")
        if not divisor._terms:
            raise ZeroDivisionError("division of a signomial by zero")
        return Signomial(term / divisor.terms[0] for term in self._terms)

    def __rtruediv__(self, other: object) -> Signomial:
        numerator = _as_signomial(other)
        return NotImplemented if numerator is None else numerator / self

    def __pow__(self, power: object) -> Signomial:
        if not isinstance(power, numbers.Real):
            return NotImplemented
        if len(self._terms) == 1:
            return Signomial([self._terms[0] ** power])
        if power < 0 or not is_integer(float(power)):
            raise ValueError(
                f"a signomial of {len(self._terms)} terms has only non-negative integer powers, not {power}"
            )
        result, square, remaining = Signomial.constant(1.0), self, int(float(power))
        while remaining:
            if remaining % 2:
                result = result * square
            remaining //= 2
            if remaining:
                square = square * square
        return result

    def __eq__(self, other: object) -> bool:
        return self._terms == other._terms if isinstance(other, Signomial) else NotImplemented

    def __hash__(self) -> int:
        return hash(self._terms)

    def __str__(self) -> str:
        return text.print_sum(self._terms)

    def __format__(self, spec: str) -> str:
        return text.print_sum(self._terms, spec)

    def __repr__(self) -> str:
        return f"Signomial.parse({str(self)!r})"

    @property
    def _clip_limits(self) -> list[tuple[float, float]]:
        return clip_limits(term.coefficient for term in self._terms)

    def _power_law_values(self, table: LogColumns) -> tuple[list[Term], Floats]:
        """Return the terms of plain powers, and their values (rows, terms)."""
        found = [
            (term, top) for term, (_, top) in zip(self._terms, self._clip_limits, strict=True) if term.is_power_law
        ]
        values = np.empty((table.n_rows, len(found)))
        for k, (term, top) in enumerate(found):
            values[:, k] = term.coefficient * table.product(term.factors, top)
        return [term for term, _ in found], values

    def _exponent_matrix(self, terms: Sequence[Term]) -> Floats:
        """Return β of power laws, (terms, names)."""
        rows = [[float(term.exponents.get(name, 0)) for name in self.names] for term in terms]
        return np.array(rows, dtype=np.float64).reshape(len(terms), len(self.names))

    def _general_terms(self, table: LogColumns) -> Iterator[tuple[Term, dict[int, FeatureJet]]]:
        """Yield the terms with shifts or logarithms, and for each of their features its part and the derivatives."""
        position = {name: j for j, name in enumerate(self.names)}
        for term in self._terms:
            if not term.is_power_law:
                jets: dict[int, FeatureJet] = {}
                for factor in term.factors:
                    j, x = position[factor.name], table.values[factor.name]
                    jets[j] = jets.get(j, FeatureJet.one(table.n_rows)).times(factor, x)
                yield term, jets


def _canonical(terms: Iterable[Term]) -> tuple[Term, ...]:
    """Merge equal products, drop zeros, sort."""
    groups: dict[tuple[Factor, ...], list[Term]] = {}
    for term in terms:
        if not isinstance(term, Term):
            raise TypeError(f"a signomial is made of Term objects, not {type(term).__name__}")
        groups.setdefault(term.factors, []).append(term)
    merged = (group[0] if len(group) == 1 else _merge(group) for group in groups.values())
    return tuple(sorted((term for term in merged if term.coefficient != 0), key=Term.sort_key))


def _merge(terms: list[Term]) -> Term:
    """Add terms of equal products; of equal exponents, 1/2 and 0.5, the exact one stays."""
    try:
        coefficient = math.fsum(term.coefficient for term in terms)
    except OverflowError:
        coefficient = math.inf  # refused by Term with its own message
    alike = zip(*(term.factors for term in terms), strict=True)
    return Term.from_factors(
        coefficient,
        (next((f for f in factors if isinstance(f.exponent, Fraction)), factors[0]) for factors in alike),
    )


def _as_signomial(value: object) -> Signomial | None:
    if isinstance(value, Signomial):
        return value
    if isinstance(value, Term):
        return Signomial([value])
    return Signomial.constant(float(value)) if isinstance(value, numbers.Real) else None


def _rename_term(term: Term, mapping: Mapping[str, str]) -> Term:
    renamed = (factor._replace(name=mapping.get(factor.name, factor.name)) for factor in term.factors)
    return Term.from_factors(term.coefficient, renamed)
