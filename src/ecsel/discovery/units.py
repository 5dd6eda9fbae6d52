"""Physical dimensions as a matrix: a term is allowed when its exponents give the dimension of the target."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from ecsel._typing import Floats


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
