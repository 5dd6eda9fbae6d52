"""From a file to what a model is fitted to: the target apart, rows and columns that cannot take part left out.

Every omission is remembered with its reason, so that it can be told.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from ecsel.cli.errors import Refusal
from ecsel.cli.screening import ColumnKind, Task, TaskKind, column_kind, detect_task, identifier, listed

if TYPE_CHECKING:
    from collections.abc import Collection

    import pandas as pd

    from ecsel.cli.reading import TableFile

MOSTLY_MISSING = 0.5
"""A law needs every value: a column with a larger share missing is left out, else its rows are."""


@dataclass(frozen=True, slots=True)
class Prepared:
    """The rows and columns of a fit, and what was left out."""

    X: pd.DataFrame
    y: np.ndarray[Any, Any]
    target: str
    task: Task
    kinds: dict[str, ColumnKind]
    missing: dict[str, int]
    dropped: dict[str, str]
    """Columns that take no part, with the reason."""
    n_read: int
    n_without_target: int
    n_incomplete: int

    @property
    def classes(self) -> dict[Any, int]:
        """The classes with their numbers of rows, sorted; empty for a regression."""
        if self.task.kind == "regression":
            return {}
        labels, counts = np.unique(self.y, return_counts=True)
        return dict(zip(labels.tolist(), counts.tolist(), strict=True))

    @property
    def codes(self) -> np.ndarray[Any, Any]:
        """The classes as numbers, or the values themselves."""
        return self.y if self.task.kind == "regression" else np.unique(self.y, return_inverse=True)[1]


def prepare(
    table: TableFile,
    target: str,
    *,
    task: TaskKind | None,
    drop: Collection[str],
    keep: Collection[str],
    as_law: bool = True,
) -> Prepared:
    """Return what takes part in a fit; a target that cannot be learned is refused.

    Of a quantity, `as_law` leaves out text and rows with missing values, which a law cannot take.
    """
    frame = table.frame
    _check_names(table, target, drop, keep)
    known = frame[target].notna()
    if not known.any():
        raise Refusal(f"{table.name}: the target {target!r} has no value in any row.")
    frame = frame[known].reset_index(drop=True)
    decided = detect_task(frame[target]) if task is None else Task(task, "as asked")
    features = frame.drop(columns=target)
    kinds = {name: column_kind(features[name]) for name in features.columns}
    as_law = as_law and decided.kind == "regression"
    dropped = left_out(features, kinds, drop, keep, as_law=as_law)
    X = features.drop(columns=list(dropped))
    missing = {str(name): int(n) for name, n in X.isna().sum().items() if n}
    n_known = len(X)
    if as_law:
        X = X.dropna()
    if X.empty:
        told = "; ".join(f"{name} ({why})" for name, why in list(dropped.items())[:4])
        raise Refusal(f"{table.name} has nothing left to learn from; left out: {told or 'rows with missing values'}.")
    y = _target(frame[target].loc[X.index], decided, table.name)
    n_incomplete = n_known - len(X)
    X = X.reset_index(drop=True)
    return Prepared(X, y, target, decided, kinds, missing, dropped, len(table), int((~known).sum()), n_incomplete)


def left_out(
    X: pd.DataFrame, kinds: dict[str, ColumnKind], drop: Collection[str], keep: Collection[str], *, as_law: bool
) -> dict[str, str]:
    """Return the columns that take no part, with the reason."""
    found = {}
    for name in X.columns:
        kind = kinds[name]
        why = None
        if name in drop:
            why = "as asked"
        elif kind in {"empty", "constant"}:
            why = "no value" if kind == "empty" else "one value only"
        elif kind == "dates":
            why = "dates; turn them into numbers, such as days"
        elif name not in keep and kind in {"numbers", "levels"} and (reason := identifier(X[name])):
            why = f"looks like an identifier: {reason}"
        elif as_law and kind == "levels":
            why = "text; a law needs numbers"
        elif as_law and X[name].isna().mean() > MOSTLY_MISSING:
            why = "mostly missing; a law needs every value"
        if why is not None:
            found[name] = why
    return found


def _check_names(table: TableFile, target: str, drop: Collection[str], keep: Collection[str]) -> None:
    columns = list(table.frame.columns)
    for option, names in (("--target", [target]), ("--drop", drop), ("--keep", keep)):
        for name in names:
            if name not in columns:
                near = next((c for c in columns if c.casefold().strip() == name.casefold().strip()), None)
                hint = f"did you mean {near!r}?" if near else f"its columns are {listed(columns, 8)}."
                raise Refusal(f"{table.name} has no column {name!r} for {option}; {hint}")
    if target in drop:
        raise Refusal(f"the column {target!r} cannot be the target and be dropped.")


def _target(values: pd.Series[Any], task: Task, name: str) -> np.ndarray[Any, Any]:
    import pandas as pd

    numeric = pd.api.types.is_numeric_dtype(values.dtype)
    if task.kind == "regression":
        if not numeric:
            raise Refusal(
                f"{name}: the target {values.name!r} holds text, so it cannot be a quantity; leave out --task."
            )
        return values.to_numpy(dtype=np.float64)
    if values.nunique() < 2:
        only = values.iloc[0]
        raise Refusal(f"{name}: the target {values.name!r} has only one value ({only!r}); there is nothing to learn.")
    if values.nunique() > max(20, len(values) // 4):
        raise Refusal(
            f"{name}: the target {values.name!r} has {values.nunique()} different values in {len(values)} rows, too "
            "many for classes; choose another --target" + (" or --task regression." if numeric else ".")
        )
    if numeric and not pd.api.types.is_bool_dtype(values.dtype):
        whole = bool((values == values.round()).all())
        return values.to_numpy(dtype=np.int64 if whole else np.float64)
    return np.array(values.tolist(), dtype=bool if pd.api.types.is_bool_dtype(values.dtype) else None)
