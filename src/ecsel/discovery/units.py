"""Physical dimensions as a matrix: a term is allowed when its exponents give the dimension of the target.

The products of powers of columns without a dimension form a lattice, whose basis are the dimensionless groups of
Buckingham's theorem (1914): any law between the columns is one between the groups. Of the matrix D of dimensions they
are the null space. Gaussian elimination in fractions picks as many *repeating* columns as D has rank; each other column
x_j then has one group, x_j times powers of the repeating ones.
"""

from collections.abc import Mapping, Sequence
from fractions import Fraction
from math import gcd, lcm
from typing import Any

import numpy as np

from ecsel._typing import Floats
from ecsel.signomial import Signomial, Term


def dimension_matrix(names: Sequence[str], units: Mapping[str, str], target_unit: str) -> tuple[Floats, Floats]:
    """Return (base dimensions, columns) and (base dimensions,) for the units of the columns and of the target.

    Columns without a unit count as dimensionless.

    >>> matrix, target = dimension_matrix(["m", "v"], {"m": "kg", "v": "m/s"}, "J")
    >>> matrix @ [1, 2] == target
    array([ True,  True,  True])
    """
    try:
        import pint  # noqa: PLC0415 - an optional dependency
    except ImportError as error:
        raise ImportError('units need pint: pip install "ecsel[units]"') from error
    unknown = sorted(set(units) - set(names))
    if unknown:
        raise ValueError(f"units names columns that X does not have: {', '.join(map(repr, unknown))}")
    registry: Any = pint.UnitRegistry()

    def dimensions(unit: str, of: str) -> dict[str, float]:
        try:
            return {str(k): float(v) for k, v in registry.Unit(unit).dimensionality.items()}
        except Exception as error:
            raise ValueError(f"the unit {unit!r} of {of} is not known to pint") from error

    columns = [dimensions(units.get(name, ""), f"column {name!r}") for name in names]
    target = dimensions(target_unit, "the target")
    bases = sorted(set(target).union(*columns))
    matrix = np.array([[d.get(base, 0.0) for d in columns] for base in bases]).reshape(len(bases), len(names))
    wanted = np.array([target.get(base, 0.0) for base in bases])
    reachable = matrix @ np.linalg.lstsq(matrix, wanted)[0] if matrix.size else np.zeros(len(bases))
    if np.abs(reachable - wanted).max(initial=0.0) > 1e-9:
        raise ValueError(f"no product of powers of the columns has the dimension of target_unit={target_unit!r}")
    return matrix, wanted


def dimensionless_groups(names: Sequence[str], dimensions: Floats) -> tuple[Signomial, ...]:
    """Return the dimensionless groups of columns, given their dimensions (base dimensions, columns).

    >>> units = {"rho": "kg/m^3", "v": "m/s", "d": "m", "mu": "Pa*s"}
    >>> print(*dimensionless_groups(list(units), dimension_matrix(list(units), units, "N")[0]))
    mu/(d*rho*v)
    """
    rows, pivots = _eliminated(dimensions)
    found = []
    for j in range(len(names)):
        if j in pivots:
            continue
        exponents = {names[j]: Fraction(1)} | {
            names[p]: -row[j] for p, row in zip(pivots, rows, strict=True) if row[j] != 0
        }
        # Whole powers without a common divisor read best; a group to a power is the same group.
        whole = lcm(*(b.denominator for b in exponents.values()))
        size = Fraction(whole, gcd(*(int(b * whole) for b in exponents.values())))
        found.append(Signomial([Term(1.0, {name: b * size for name, b in exponents.items()})]))
    return tuple(found)


def product_with_dimension(names: Sequence[str], dimensions: Floats, target: Floats) -> Signomial:
    """Return a product of powers of the repeating columns that has the dimension of the target.

    >>> matrix, target = dimension_matrix(["m", "v", "t"], {"m": "kg", "v": "m/s", "t": "s"}, "J")
    >>> print(product_with_dimension(["m", "v", "t"], matrix, target))
    m*v**2
    """
    rows, pivots = _eliminated(np.column_stack([dimensions, target]))
    solved = {names[p]: row[-1] for p, row in zip(pivots, rows, strict=True) if p < len(names) and row[-1] != 0}
    return Signomial([Term(1.0, solved)])


def _eliminated(matrix: Floats) -> tuple[list[list[Fraction]], list[int]]:
    """Return the reduced echelon form of a matrix in exact fractions, and its pivot columns."""
    rows = [[Fraction(v).limit_denominator(1000) for v in row] for row in matrix.tolist()]
    pivots: list[int] = []
    for j in range(matrix.shape[1]):
        done = len(pivots)
        own = next((i for i in range(done, len(rows)) if rows[i][j] != 0), None)
        if own is None:
            continue
        rows[done], rows[own] = rows[own], rows[done]
        rows[done] = [v / rows[done][j] for v in rows[done]]
        for i, row in enumerate(rows):
            if i != done and row[j] != 0:
                rows[i] = [v - row[j] * w for v, w in zip(row, rows[done], strict=True)]
        pivots.append(j)
    return rows[: len(pivots)], pivots
