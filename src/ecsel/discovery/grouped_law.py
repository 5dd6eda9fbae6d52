"""A law of groups in the form of all laws: a sum over groups, each with its indicator.

    y = sum_k sum_g a_kg [column = g] prod_j x_j^b_kj

The exponents are shared: the constants of the law are the prefactors and the real exponents, and the covariance of all
coefficients and exponents follows from theirs.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from ecsel._typing import Floats
from ecsel.discovery.criterion import Criterion
from ecsel.discovery.grouped import GroupedFit, GroupedProblem, find_grouped_law, raw_coefficients
from ecsel.discovery.lattice import Lattice
from ecsel.discovery.methods import FormParts, Outcome, Table, described
from ecsel.discovery.options import Options
from ecsel.discovery.rows import Rows
from ecsel.signomial import Factor, Parity, Signomial, Term


@dataclass(frozen=True)
class GroupNames:
    """What the column of groups is called, and the labels of the groups."""

    column: str
    labels: tuple[Any, ...]

    @property
    def indicators(self) -> tuple[str, ...]:
        """The names of the indicators.

        >>> GroupNames("material", ("steel", "brass")).indicators
        ('[material = steel]', '[material = brass]')
        """
        return tuple(f"[{self.column} = {label}]" for label in self.labels)


def by_groups(table: Table, names: GroupNames, options: Options) -> Outcome:
    """Return the law of groups of a table whose last column holds the position of each row's group."""
    X, groups = table.X[:, :-1], table.X[:, -1].astype(np.intp)
    rows = Rows.from_table(X, table.y, table.weight)
    lattice = Lattice.build(
        signed=rows.signed, has_zero=rows.has_zero, exponents=options.exponents, real=options.real, lower=options.lower,
        upper=options.upper,
    )  # fmt: skip
    criterion = Criterion(table.n_rows, rows.energy, options.noise_variance)
    problem = GroupedProblem(rows, groups, len(names.labels), lattice, criterion)
    fits = find_grouped_law(problem, options.n_terms, options.max_terms)
    inner = Table(X, table.y, table.weight, table.names[:-1], table.noise, table.known, table.measured)
    indicators = {name: (groups == g).astype(float) for g, name in enumerate(names.indicators)}
    outcomes = [_outcome(inner, problem, fit, names, indicators) for fit in fits]
    by_size = sorted((outcome.law for outcome in outcomes), key=lambda law: law.n_terms)
    return Outcome(outcomes[0].law, tuple(by_size), misfit=outcomes[0].misfit)


@dataclass(frozen=True, eq=False)
class _GroupedTable(Table):
    """A table with the indicators of its groups among the columns by name."""

    indicators: dict[str, Floats] | None = None

    @property
    def columns(self) -> dict[str, Floats]:
        return {**super().columns, **(self.indicators or {})}


def _outcome(
    table: Table, problem: GroupedProblem, fit: GroupedFit, names: GroupNames, indicators: dict[str, Floats]
) -> Outcome:
    s, n = fit.structure, len(table.y)
    coefficients = raw_coefficients(problem, fit)
    factors = [_factors(table, problem, fit, k) for k in range(len(s))]
    terms = tuple(
        Term.from_factors(float(coefficients[k, g]), [*factors[k], Factor(name, Fraction(1), Parity.ODD)])
        for k in range(len(s))
        for g, name in enumerate(names.indicators)
    )
    moved = [(k, int(j)) for k, j in zip(*np.nonzero(s.free), strict=True)]
    free = tuple((k * len(indicators) + g, table.names[j]) for k, j in moved for g in range(len(indicators)))
    monomials = np.column_stack(
        [np.broadcast_to(Term.from_factors(1.0, f).evaluate(table.columns), n).astype(float) for f in factors]
    )
    root = np.ones(n) if table.weight is None else np.sqrt(table.weight)
    own = coefficients[:, problem.groups].T * monomials
    blocks = [monomials[:, k] * each for k in range(len(s)) for each in indicators.values()]
    with np.errstate(divide="ignore"):
        slopes = [own[:, k] * np.log(np.abs(table.X[:, j])) for k, j in moved]
    jacobian = np.column_stack([*blocks, *slopes]) * root[:, None]
    chain = np.zeros((len(terms) + len(free), len(terms) + len(moved)))
    chain[: len(terms), : len(terms)] = np.eye(len(terms))
    for i in range(len(moved)):
        chain[len(terms) + i * len(indicators) : len(terms) + (i + 1) * len(indicators), len(terms) + i] = 1.0
    tag = [""] if len(s) == 1 else [str(k + 1) for k in range(len(s))]
    constants = {
        f"a{tag[k]}[{label}]": float(coefficients[k, g]) for k in range(len(s)) for g, label in enumerate(names.labels)
    }
    constants |= {f"b{tag[k]}[{table.names[j]}]": float(s.exponents[k, j]) for k, j in moved}
    with_indicators = _GroupedTable(
        table.X, table.y, table.weight, table.names, table.noise, table.known, table.measured, indicators=indicators
    )
    parts = FormParts(terms, free, (), constants, chain)
    residual = (table.y - own.sum(axis=1)) * root
    return described(with_indicators, parts, jacobian, residual, float((table.y * root) @ (table.y * root)))


def _factors(table: Table, problem: GroupedProblem, fit: GroupedFit, k: int) -> list[Factor]:
    exact = {round(float(b), 7): b for b in problem.lattice.exponents}
    found = []
    for j in np.flatnonzero((fit.structure.exponents[k] != 0) | fit.structure.free[k]).tolist():
        value = float(fit.structure.exponents[k, j])
        exponent = value if fit.structure.free[k, j] else exact.get(round(value, 7), value)
        is_size = (table.X[:, j] < 0).any() and exponent != int(exponent)
        found.append(Factor(table.names[j], exponent, Parity.ABSOLUTE if is_size else Parity.PLAIN))
    return found


def equation_of_group(terms: Sequence[Term], indicator: str) -> Signomial:
    """Return the equation of one group, without indicators.

    >>> terms = Signomial.parse("2*[m = a]*x + 3*[m = b]*x").terms
    >>> print(equation_of_group(terms, "[m = b]"))
    3*x
    """
    return Signomial(
        Term.from_factors(t.coefficient, (f for f in t.factors if f.name != indicator))
        for t in terms
        if indicator in t.names
    )
