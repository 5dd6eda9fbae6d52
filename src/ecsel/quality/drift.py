"""Has the population moved? The population stability index between two tables, column by column, and of a score.

With e_b and a_b the shares of a bin in the expected (training) and in the actual table,

    PSI = Σ_b (a_b − e_b)·log(a_b/e_b).

Numbers are binned at the training table's quantiles (ten bins of equal share; by value where there are no more distinct
ones), anything else by level; missing values have a bin of their own, and so have levels that training did not have. A
bin that is empty in one table counts there as half a row, since the logarithm needs a share.
"""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from ecsel.quality.frames import table_columns, to_pandas
from ecsel.quality.inputs import score_column

if TYPE_CHECKING:
    from collections.abc import Collection

    from numpy.typing import NDArray

    from ecsel._typing import Floats

MISSING, OTHER = "missing", "not in training"


@dataclass(frozen=True, slots=True)
class Drift:
    """The index of one column, and the bins it is made of: names and shares.

    Examples
    --------
    >>> Drift("age", 0.02, ("below 30", "30 and above"), (0.5, 0.5), (0.43, 0.57)).psi
    0.02
    """

    name: str
    psi: float
    bins: tuple[str, ...]
    expected: tuple[float, ...]
    actual: tuple[float, ...]

    def to_frame(self) -> Any:
        """Return a pandas data frame with a row per bin."""
        expected, actual = np.array(self.expected), np.array(self.actual)
        parts = (actual - expected) * np.log(actual / expected)
        columns = {"bin": self.bins, "expected": self.expected, "actual": self.actual, "psi": parts.tolist()}
        return to_pandas(columns, "Drift.to_frame()")


class TableDrift(tuple[Drift, ...]):
    """The drift of every column, in the order of the table.

    Examples
    --------
    >>> import pandas as pd
    >>> from ecsel.quality import psi
    >>> old, new = pd.DataFrame({"x": range(100)}), pd.DataFrame({"x": range(50, 150)})
    >>> [drift.name for drift in psi(old, new)]
    ['x']
    """

    __slots__ = ()

    def to_frame(self) -> Any:
        """Return a pandas data frame with a row per column of the table, the largest index first."""
        ordered = sorted(self, key=lambda drift: -drift.psi)
        columns: dict[str, list[Any]] = {"column": [d.name for d in ordered], "psi": [d.psi for d in ordered]}
        return to_pandas(columns, "TableDrift.to_frame()")


def psi(expected: Any, actual: Any, *, n_bins: int = 10, categorical: Collection[str] = ()) -> TableDrift:
    """Return the population stability index of every column between two tables.

    Parameters
    ----------
    expected, actual : data frames or arrays
        The table of training and the one of today (pandas, polars, pyarrow, NumPy) with the same columns.
    n_bins : int, default=10
        Bins of numeric columns.
    categorical : collection of names
        Columns of numbers that are to be compared level by level.

    Examples
    --------
    >>> import pandas as pd
    >>> drift = psi(pd.DataFrame({"home": ["own", "rent"]}), pd.DataFrame({"home": ["own", "own", "own", "rent"]}))
    >>> drift[0].name, round(drift[0].psi, 4)
    ('home', 0.2747)
    """
    before, after = table_columns(expected, "expected"), table_columns(actual, "actual")
    if list(before) != list(after):
        different = [name for name in {**before, **after} if (name in before) != (name in after)]
        text = f"only one of them has {different[0]!r}" if different else "their order differs"
        raise ValueError(f"the two tables must have the same columns, but {text}.")
    if unknown := [name for name in categorical if name not in before]:
        raise ValueError(f"categorical names {unknown[0]!r}, which is no column of the tables.")
    return TableDrift(
        _column_drift(name, before[name], after[name], n_bins, by_level=name in categorical) for name in before
    )


def score_psi(expected: Any, actual: Any, *, n_bins: int = 10) -> Drift:
    """Return the population stability index of a score (or probability) between two sets of rows.

    >>> score_psi(np.arange(100.0), np.arange(100.0)).psi
    0.0
    """
    before, after = (score_column(values, np.size(values)) for values in (expected, actual))
    return _column_drift("score", before, after, n_bins, by_level=False)


def _column_drift(name: str, before: NDArray[Any], after: NDArray[Any], n_bins: int, *, by_level: bool) -> Drift:
    if n_bins < 2:
        raise ValueError(f"n_bins={n_bins!r} must be at least 2.")
    if not (len(before) and len(after)):
        raise ValueError(f"column {name!r}: a table without rows has no shares.")
    if (before.dtype == object) != (after.dtype == object):
        raise ValueError(f"column {name!r} holds numbers in one table and levels in the other.")
    numeric = before.dtype != object and not by_level
    if numeric and len(np.unique(before[~np.isnan(before)])) > n_bins:
        labels, places = _by_quantile(before, after, n_bins)
    else:
        labels, places = _by_level(before, after)
    counts = [np.bincount(place, minlength=len(labels)).astype(np.float64) for place in places]
    seen = (counts[0] + counts[1]) > 0
    expected, actual = (np.where(count > 0, count, 0.5)[seen] / count.sum() for count in counts)
    index = float(((actual - expected) * np.log(actual / expected)).sum())
    kept = tuple(label for label, used in zip(labels, seen, strict=True) if used)
    return Drift(name, index, kept, tuple(expected.tolist()), tuple(actual.tolist()))


def _by_quantile(before: Floats, after: Floats, n_bins: int) -> tuple[list[str], list[NDArray[np.intp]]]:
    """Bins (edge, next edge] at the quantiles of training; NaN in the last bin."""
    edges = np.unique(np.quantile(before[~np.isnan(before)], np.arange(1, n_bins) / n_bins))
    ends = [-np.inf, *edges.tolist(), np.inf]
    labels = [f"({low:g}, {high:g}]" for low, high in itertools.pairwise(ends)]
    places = [
        np.where(np.isnan(values), len(labels), np.searchsorted(edges, values, side="left")).astype(np.intp)
        for values in (before, after)
    ]
    return [*labels, MISSING], places


def _by_level(before: NDArray[Any], after: NDArray[Any]) -> tuple[list[str], list[NDArray[np.intp]]]:
    known = [value for value in dict.fromkeys(before.tolist()) if not _is_missing(value)]
    position = {value: b for b, value in enumerate(known)}
    labels = [*(str(value) for value in known), OTHER, MISSING]
    places = [
        np.array(
            [len(known) + 1 if _is_missing(value) else position.get(value, len(known)) for value in values.tolist()],
            dtype=np.intp,
        )
        for values in (before, after)
    ]
    return labels, places


def _is_missing(value: Any) -> bool:
    """Tell None, NaN and pandas' marks for missing."""
    return (
        value is None
        or type(value).__name__ in {"NAType", "NaTType"}
        or (isinstance(value, float) and math.isnan(value))
    )
