"""From a file to what a model is fitted to: the target apart, columns read by the rules of `ecsel.tables`.

Every omission and every reading is kept with its reason, for the messages.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from ecsel.cli.errors import CommandError
from ecsel.estimators.targets import target_numbers
from ecsel.explain.frames import plain_table
from ecsel.study.screening import Task, TaskKind, detect_task, listed
from ecsel.tables import CategoricalColumn, EmptyColumn, NumericColumn, TableEncoder
from ecsel.tables.cautions import Caution, find_cautions
from ecsel.tables.dates import DateReading
from ecsel.tables.quantities import is_missing

if TYPE_CHECKING:
    from collections.abc import Collection

    import pandas as pd

    from ecsel.cli.reading import TableFile

MOSTLY_MISSING = 0.5
"""A law needs every value: a column with a larger share missing is left out, else its rows are."""


@dataclass(frozen=True, slots=True)
class ColumnOptions:
    """What the user says of columns."""

    drop: Collection[str] = ()
    keep: Collection[str] = ()
    categorical: Collection[str] = ()
    missing_codes: Any = "auto"

    def as_arguments(self) -> dict[str, Any]:
        """Return the options of an estimator or an encoder, where they ask for anything."""
        asked = {name: list(getattr(self, name)) for name in ("drop", "keep", "categorical")}
        codes = {} if self.missing_codes == "auto" else {"missing_codes": self.missing_codes}
        return {**{name: value for name, value in asked.items() if value}, **codes}


@dataclass(frozen=True, slots=True)
class Prepared:
    """The rows and columns of a fit, and what was left out.

    `X` is the table as it was given, `plain` its columns that take part as numbers and levels; a law is sought in the
    numbers of `plain`, which `X` is then.
    """

    X: pd.DataFrame
    plain: pd.DataFrame
    y: np.ndarray[Any, Any]
    target: str
    task: Task
    encoder: TableEncoder
    missing: dict[str, int]
    dropped: dict[str, str]
    """Columns that take no part, with the reason."""
    n_read: int
    n_without_target: int
    n_incomplete: int
    row_numbers: np.ndarray[Any, Any]
    """The number of every row in the file, from 1, as all commands count them."""

    @property
    def outcomes(self) -> Any:
        """The classes, or the quantity under its name, which is the left-hand side of its equation."""
        import pandas as pd

        return self.y if self.task.kind == "classification" else pd.Series(self.y, name=self.target)

    @property
    def classes(self) -> dict[Any, int]:
        """The classes with their numbers of rows, sorted; empty for a regression."""
        if self.task.kind == "regression":
            return {}
        labels, counts = np.unique(self.y, return_counts=True)
        return dict(zip(labels.tolist(), counts.tolist(), strict=True))

    @property
    def cautions(self) -> list[Caution]:
        """The columns that ask for a second look."""
        is_class = self.task.kind == "classification"
        if self.n_incomplete or len(self.X.columns) != len(self.encoder.inputs):
            encoder = TableEncoder.fit(self.X, scaling="raw", missing_codes=None, keep=list(self.X.columns))
            return find_cautions(encoder, self.X, self.codes.astype(np.float64), self.target, classes=is_class)
        return find_cautions(self.encoder, self.X, self.codes.astype(np.float64), self.target, classes=is_class)

    @property
    def codes(self) -> np.ndarray[Any, Any]:
        """The classes as numbers, or the values themselves."""
        return self.y if self.task.kind == "regression" else np.unique(self.y, return_inverse=True)[1]


def prepare(
    table: TableFile, target: str, *, task: TaskKind | None, options: ColumnOptions, as_law: bool = True
) -> Prepared:
    """Return what takes part in a fit; a target that cannot be learned is refused.

    Of a quantity, `as_law` leaves out text and rows with missing values, which a law cannot take.
    """
    frame = table.frame
    _check_names(table, target, options)
    known = frame[target].notna()
    if not known.any():
        raise CommandError(f"{table.name}: the target {target!r} has no value in any row.")
    frame = frame[known].reset_index(drop=True)
    decided = detect_task(frame[target]) if task is None else Task(task, "as asked")
    X = frame.drop(columns=target)
    if X.columns.empty:
        raise CommandError(f"{table.name} has nothing left to learn from; its only column is the target.")
    outcome = frame[target]
    encoder = TableEncoder.fit(
        X, scaling="raw", **options.as_arguments(), target=lambda: target_numbers(outcome.astype(str), len(outcome))
    )
    dropped = left_out(encoder)
    used = [column.name for column in encoder.columns if _takes_part(encoder, column)]
    plain = plain_table(X, encoder.read(X))[used]
    source = {name: reading.column for reading in encoder.readings for name in reading.names}
    missing = {source.get(name, name): n for name in used if (n := _n_missing(encoder, plain, name))}
    n_known = len(X)
    as_law = as_law and decided.kind == "regression"
    if as_law:
        plain, more = _numbers_for_a_law(encoder, plain)
        dropped |= more
        missing = {name: n for name, n in missing.items() if name not in dropped}
        plain = plain.dropna()
        X = plain
    if plain.empty or plain.columns.empty:
        line = "; ".join(f"{name} ({why})" for name, why in list(dropped.items())[:4])
        raise CommandError(
            f"{table.name} has nothing left to learn from; left out: {line or 'rows with missing values'}."
        )
    y = _target(frame[target].loc[plain.index], decided, table.name)
    n_incomplete = n_known - len(plain)
    numbers = np.flatnonzero(known)[plain.index] + 1
    X, plain = X.loc[plain.index].reset_index(drop=True), plain.reset_index(drop=True)
    counts = (len(table), int((~known).sum()), n_incomplete)
    return Prepared(X, plain, y, target, decided, encoder, missing, dropped, *counts, numbers)


def left_out(encoder: TableEncoder) -> dict[str, str]:
    """Return the columns that take no part, with the reason."""
    found = {}
    for column in encoder.columns:
        if isinstance(column, EmptyColumn):
            found[column.name] = column.reason or "no value"
        elif not _takes_part(encoder, column):
            found[column.name] = _why(encoder, column.name)
    return found


def left_out_note(column: str) -> str:
    """Return how the note of a column begins that the rules of the table have left out."""
    return f"{column!r} was left out: "


def _why(encoder: TableEncoder, column: str) -> str:
    """Return why a column that has values makes no feature, from the note of the rules that left it out."""
    for note in encoder.notes:
        if note.startswith(left_out_note(column)):
            return note.removeprefix(left_out_note(column)).rstrip(".")
        if note.startswith(f"{column!r} varies in its last digits only"):
            return "it varies in its last digits only"
    return "one value only"


def _takes_part(encoder: TableEncoder, column: Any) -> bool:
    return any(feature.column == column.name for feature in encoder.features)


def _n_missing(encoder: TableEncoder, plain: pd.DataFrame, name: str) -> int:
    """Return the rows in which a plain column is missing; of a date the first part tells."""
    column = next(each for each in encoder.columns if each.name == name)
    later = {part for reading in encoder.readings for part in reading.names[1:]}
    if name in later or not getattr(column, "has_missing", False):
        return 0
    if isinstance(column, NumericColumn):
        return int(is_missing(plain[name].to_numpy(dtype=np.float64, na_value=np.nan), column.missing_codes).sum())
    codes = getattr(column, "missing_codes", ())
    return int((plain[name].isna() | plain[name].isin(codes)).sum())


def _numbers_for_a_law(encoder: TableEncoder, plain: pd.DataFrame) -> tuple[pd.DataFrame, dict[str, str]]:
    """Return the numbers that a law is sought in, missing ones as NaN, and what a law cannot take."""
    dates = {name for reading in encoder.readings if isinstance(reading, DateReading) for name in reading.names[1:]}
    numbers: dict[str, Any] = {}
    dropped: dict[str, str] = {}
    for column in encoder.columns:
        if column.name not in plain or column.name in dates:
            continue
        if isinstance(column, CategoricalColumn) and column.dtype == "boolean":
            numbers[column.name] = plain[column.name].astype("float64")
        elif not isinstance(column, NumericColumn):
            dropped[column.name] = "text; a law needs numbers"
        else:
            values = plain[column.name].to_numpy(dtype=np.float64, na_value=np.nan)
            if (missing := is_missing(values, column.missing_codes)).mean() > MOSTLY_MISSING:
                dropped[column.name] = "mostly missing; a law needs every value"
            else:
                numbers[column.name] = np.where(missing, np.nan, values)
    return type(plain)(numbers, index=plain.index), dropped


def _check_names(table: TableFile, target: str, options: ColumnOptions) -> None:
    columns = list(table.frame.columns)
    asked = (("--target", [target]), ("--drop", options.drop), ("--keep", options.keep))
    for option, names in (*asked, ("--categorical", options.categorical)):
        for name in names:
            if name not in columns:
                near = next((c for c in columns if c.casefold().strip() == name.casefold().strip()), None)
                hint = f"did you mean {near!r}?" if near else f"its columns are {listed(columns, 8)}."
                raise CommandError(f"{table.name} has no column {name!r} for {option}; {hint}")
    if target in options.drop:
        raise CommandError(f"the column {target!r} cannot be the target and be dropped.")


def _target(values: pd.Series[Any], task: Task, name: str) -> np.ndarray[Any, Any]:
    import pandas as pd

    numeric = pd.api.types.is_numeric_dtype(values.dtype)
    if task.kind == "regression":
        if not numeric:
            raise CommandError(
                f"{name}: the target {values.name!r} holds text, so it cannot be a quantity; leave out --task."
            )
        return values.to_numpy(dtype=np.float64)
    if values.nunique() < 2:
        only = values.iloc[0]
        raise CommandError(
            f"{name}: the target {values.name!r} has only one value ({only!r}); there is nothing to learn."
        )
    if values.nunique() > max(20, len(values) // 4):
        raise CommandError(
            f"{name}: the target {values.name!r} has {values.nunique()} different values in {len(values)} rows, too "
            "many for classes; choose another --target" + (" or --task regression." if numeric else ".")
        )
    if numeric and not pd.api.types.is_bool_dtype(values.dtype):
        whole = bool((values == values.round()).all())
        return values.to_numpy(dtype=np.int64 if whole else np.float64)
    return np.array(values.tolist(), dtype=bool if pd.api.types.is_bool_dtype(values.dtype) else None)
