"""The table of a law: numbers only, a known part taken out, frequencies as repeated rows in a fixed order."""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import narwhals.stable.v2 as nw
import numpy as np

from ecsel.discovery.methods import Table
from ecsel.signomial import Signomial
from ecsel.tables.reading import refuse_other_arrays

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from ecsel.discovery.noise import NoiseModel

    Floats = NDArray[np.float64]

SORTED_ROWS = 20_000
"""Up to this many rows, whole-number weights are rows repeated, literally, and rows are put in a fixed order."""


def numbers_of(X: Any) -> Any:
    """Return the numbers of a data frame, or X itself when it is none; refuse what is not a number by column name."""
    frame = nw.from_native(X, eager_only=True, pass_through=True)
    if not isinstance(frame, nw.DataFrame):
        refuse_other_arrays(X=X)
        return X
    columns = []
    for series in frame.iter_columns():
        if not (series.dtype.is_numeric() or series.dtype == nw.Boolean):
            hint = "encode it as numbers or leave it out"
            raise ValueError(f"column {series.name!r} holds {series.dtype}, a law needs numbers: {hint}.")
        values = series.cast(nw.Float64).to_numpy()
        missing = int(np.isnan(values).sum())
        if missing:
            raise ValueError(f"column {series.name!r} has {missing} missing values (NaN): fill or drop those rows.")
        columns.append(values)
    return np.column_stack(columns) if columns else np.zeros((len(frame), 0))


def known_part(fixed: Any) -> Signomial:
    """Return the part of a law that is given."""
    if fixed is None:
        return Signomial()
    if isinstance(fixed, Signomial):
        return fixed
    if isinstance(fixed, str):
        return Signomial.parse(fixed)
    raise ValueError(f"fixed_terms must be text or a Signomial, got {type(fixed).__name__}")


def evaluate_known(known: Signomial, X: Floats, names: tuple[str, ...]) -> Floats:
    """Return a given part of a law at the rows; columns that X does not have are refused."""
    unknown = sorted(set(known.names) - set(names))
    if unknown:
        raise ValueError(f"fixed_terms names columns that X does not have: {', '.join(map(repr, unknown))}")
    columns = {name: X[:, j] for j, name in enumerate(names)}
    return np.array(np.broadcast_to(known.evaluate(columns), len(X)), dtype=float)


def ranges_of(X: Floats, names: tuple[str, ...]) -> dict[str, tuple[float, float]]:
    """Return the smallest and the largest number of each column."""
    return {name: (float(X[:, j].min()), float(X[:, j].max())) for j, name in enumerate(names)}


def as_table(
    X: Floats,
    y: Floats,
    known: Floats,
    weight: Floats | None,
    noise: NoiseModel,
    names: tuple[str, ...],
    x_error: Mapping[str, Floats] = MappingProxyType({}),
) -> Table:
    """Return the table of a fit: frequencies become repeated rows, sorted so that their order is immaterial."""
    index = np.arange(len(y))
    if weight is not None and np.all(weight == np.round(weight)) and weight.sum() <= SORTED_ROWS:
        index, weight = np.repeat(index, weight.astype(np.intp)), None
    if len(index) <= SORTED_ROWS:
        index = index[np.lexsort((*X[index].T, y[index]))]
    parts = [w for w in (weight, noise.precision) if w is not None]
    total = np.prod(parts, axis=0)[index] if parts else None
    if total is not None and noise.variance is None:
        total = total / total[total > 0].mean()  # the scale of the weights tells nothing
    working = noise.working_target(y)
    errors = {name: error[index] for name, error in x_error.items()}
    return Table(X[index], (working - known)[index], total, names, noise.at_rows(index), known[index], y[index], errors)
