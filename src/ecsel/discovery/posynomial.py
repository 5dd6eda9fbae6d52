"""Laws whose coefficients are all positive: posynomials, sums of products of powers of positive columns.

They are the functions of geometric programs. The least-squares fit of some monomials under a >= 0 is, on those with
a > 0, that without the constraint; so a set of monomials whose free fit is positive needs no constraint, and any other
is refused. The free search is asked first; where its law is no posynomial, laws grow by additions that help with a
positive coefficient and from the support of a nonnegative least-squares fit of many monomials (Lawson and Hanson 1974),
and the best of them gets its final form, simple numbers and near-ties as any other.
"""

from dataclasses import replace

import numpy as np

from ecsel.discovery.criterion import Criterion
from ecsel.discovery.fitted import FittedLaw
from ecsel.discovery.grouped import GroupedProblem, find_grouped_law
from ecsel.discovery.lattice import Lattice
from ecsel.discovery.methods import Outcome, Table, by_search
from ecsel.discovery.model import Structure
from ecsel.discovery.options import Options
from ecsel.discovery.progress import Progress, part, silent
from ecsel.discovery.rows import Rows


def check_positive(table: Table) -> None:
    """Refuse a table on which no posynomial can be defined, or be positive."""
    if bad := [name for j, name in enumerate(table.names) if not (table.X[:, j] > 0).all()]:
        raise ValueError(
            f"positive=True needs positive columns, but not all numbers of {', '.join(map(repr, bad))} are: leave such "
            "columns out, or add a number to them"
        )
    if not table.target.mean() > 0:
        raise ValueError("positive=True needs a target that is positive on average: a sum of positive terms is")


def is_positive(law: FittedLaw) -> bool:
    """Return whether every coefficient of a law is positive."""
    return all(term.coefficient > 0 for term in law.terms)


def by_posynomial(table: Table, options: Options, progress: Progress = silent) -> Outcome:
    """Return the posynomial with the shortest code length that the search finds."""
    check_positive(table)
    # Restarts help where residuals object; a law that needs negative terms leaves objections that none removes.
    free = by_search(table, replace(options, thorough=False), part(progress, 0.0, 0.5))
    if is_positive(free.law) and free.law.terms:
        return _positive_only(free)
    structure = _grown(table, options)
    decided = replace(options, decided=structure, hints=(), only_hints=False, thorough=False)
    return _positive_only(by_search(table, decided, part(progress, 0.5, 1.0)))


def _grown(table: Table, options: Options) -> Structure:
    rows = Rows.from_table(table.X, table.y, table.weight)
    lattice = Lattice.build(
        signed=rows.signed, has_zero=rows.has_zero, exponents=options.exponents, real=options.real, lower=options.lower,
        upper=options.upper, dimensions=options.dimensions, target_dimension=options.target_dimension,
    )  # fmt: skip
    criterion = Criterion(table.n_rows, rows.energy, options.noise_variance)
    problem = GroupedProblem(rows, np.zeros(len(rows), dtype=np.intp), 1, lattice, criterion, positive=True)
    best, *_ = find_grouped_law(problem, options.n_terms, options.max_terms)
    return best.structure


def _positive_only(outcome: Outcome) -> Outcome:
    """Return an outcome whose law, near-ties and front are posynomials."""
    if not is_positive(outcome.law):
        raise ValueError(
            "positive=True: no sum of positive terms was found that describes the target; leave positive out to see "
            "the signs that it asks for"
        )
    near = tuple(law for law in outcome.near_ties if is_positive(law))
    path = tuple(law for law in outcome.path if is_positive(law) and law.terms)
    laws = [(s, law) for s, law in zip(outcome.structures, outcome.laws, strict=True) if is_positive(law)]
    return replace(
        outcome,
        near_ties=near,
        path=path or (outcome.law,),
        structures=tuple(s for s, _ in laws),
        laws=tuple(law for _, law in laws),
    )
