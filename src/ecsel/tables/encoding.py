"""Raw columns to positive features, x' = scale·x + offset, or to their logs: the hot path.

Rows are taken in blocks that stay in the processor's cache, so that reading, range checks, the affine map and the logarithm
together cost one trip through memory. A block is written straight into the rows of a feature-major array. In-range values need
no clipping: rounding is monotone, so x ≥ low implies scale·x + offset ≥ scale·low + offset in floating point too.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import reduce
from itertools import repeat
from operator import add
from typing import TYPE_CHECKING, Any

import numpy as np

from ecsel.tables.columns import CategoricalColumn, NumericColumn, OrdinalColumn
from ecsel.tables.report import ColumnReport, OutOfRange, TransformReport

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from ecsel.tables.features import Feature, Level
    from ecsel.tables.reading import RawColumn

BLOCK_ROWS = 16_384
MISSING, UNKNOWN = -1, -2
"""Codes of a label that is missing or was never seen: they index the last two entries of a feature's table of values."""


@dataclass(frozen=True, slots=True)
class EncodingJob:
    """One raw column, its features, and its values: real numbers with NaN, or integer codes of its levels."""

    column: NumericColumn | CategoricalColumn | OrdinalColumn
    features: tuple[Feature, ...]
    rows: slice
    values: NDArray[Any]
    raw: RawColumn


def level_codes(raw: RawColumn, levels: Sequence[Level], missing_codes: Sequence[Level] = ()) -> NDArray[np.int32]:
    """Return the position of each row's level, `MISSING` or `UNKNOWN`."""
    raw.kind_and_dtype()
    values, missing = raw.labels()
    position: dict[Level, int] = {level: code for code, level in enumerate(levels)}
    position.update(dict.fromkeys(missing_codes, MISSING))
    codes = np.fromiter(map(position.get, values, repeat(UNKNOWN)), dtype=np.int32, count=len(values))
    codes[missing] = MISSING
    return codes


def prepare(column: NumericColumn | CategoricalColumn | OrdinalColumn, raw: RawColumn) -> NDArray[Any]:
    """Read a raw column into the form that its encoding needs, and refuse missing values that have no place."""
    if isinstance(column, NumericColumn):
        return raw.numbers()
    return level_codes(raw, column.levels, column.missing_codes)


def encode(
    jobs: Sequence[EncodingJob],
    out: NDArray[Any],
    *,
    log: bool,
    out_of_range: OutOfRange,
    n_threads: int = 1,
) -> TransformReport:
    """Write every job's features into the rows of `out` (features × rows) and report what lay outside training."""
    n_rows = out.shape[1]
    tables = [None if isinstance(job.column, NumericColumn) else _level_table(job, log=log) for job in jobs]

    def encode_rows(start: int) -> list[ColumnReport]:
        rows = slice(start, min(start + BLOCK_ROWS, n_rows))
        block = out[:, rows]
        reports = []
        for job, table in zip(jobs, tables, strict=True):
            if table is None:
                reports.append(_encode_numbers(job, rows, block[job.rows], log=log, out_of_range=out_of_range))
            else:
                reports.append(_encode_levels(job, rows, block[job.rows], table))
        return reports

    starts = range(0, n_rows, BLOCK_ROWS)
    if n_threads > 1:
        with ThreadPoolExecutor(n_threads) as pool:
            reports = list(pool.map(encode_rows, starts))
    else:
        reports = list(map(encode_rows, starts))
    return TransformReport(n_rows, out_of_range, tuple(reduce(add, column) for column in zip(*reports, strict=True)))


def _level_table(job: EncodingJob, *, log: bool) -> NDArray[np.float64]:
    """Return x' (features × codes) for every level, then for `UNKNOWN`, then for `MISSING`."""
    column = job.column
    assert not isinstance(column, NumericColumn)  # noqa: S101 - narrows the type for the checker
    table = np.ones((len(job.features), len(column.levels) + 2))
    for row, feature in zip(table, job.features, strict=True):
        if feature.kind == "ordinal":
            row[:-2] = feature.positive(np.arange(len(column.levels), dtype=np.float64))
            row[UNKNOWN] = np.exp(feature.baseline)
        elif feature.kind == "level":
            row[column.levels.index(feature.level)] = feature.ceiling  # type: ignore[arg-type]
        row[MISSING] = np.nan if feature.fill is None else feature.fill
    return np.log(table) if log else table


def _encode_levels(job: EncodingJob, rows: slice, out: NDArray[Any], table: NDArray[np.float64]) -> ColumnReport:
    codes = job.values[rows]
    if codes.min() == MISSING and any(feature.fill is None for feature in job.features):
        refuse_missing(job.column.name, int(np.count_nonzero(job.values == MISSING)))
    for row, values in zip(out, table, strict=True):
        row[:] = values[codes]
    unknown = codes == UNKNOWN
    n_unknown = int(np.count_nonzero(unknown))
    if not n_unknown:
        return ColumnReport(job.column.name)
    values, _ = job.raw.labels()
    return ColumnReport(job.column.name, n_unknown=n_unknown, unknown=(values[rows.start + int(np.argmax(unknown))],))


def _encode_numbers(
    job: EncodingJob, rows: slice, out: NDArray[Any], *, log: bool, out_of_range: OutOfRange
) -> ColumnReport:
    column = job.column
    assert isinstance(column, NumericColumn)  # noqa: S101 - narrows the type for the checker
    raw = job.values[rows].astype(np.float64)
    if column.missing_codes:
        raw[np.isin(raw, column.missing_codes)] = np.nan
    low, high = raw.min(), raw.max()
    missing = None
    if np.isnan(low):
        missing = np.isnan(raw)
        if any(feature.fill is None for feature in job.features):
            refuse_missing(column.name, count_missing(job.values, column.missing_codes))
        raw[missing] = column.low
        low, high = raw.min(), raw.max()
    if np.isinf(low) or np.isinf(high):
        refuse_infinite(column.name, job.values)
    below, above = low < column.low, high > column.high
    positive = np.empty_like(raw)
    for row, feature in zip(out, job.features, strict=True):
        if feature.kind == "missing":
            positive.fill(feature.floor)
        else:
            with np.errstate(over="ignore"):
                np.multiply(raw, feature.scale, out=positive)
                positive += feature.offset
            if below or above:
                _settle_out_of_range(feature, raw, positive, rows.start, out_of_range)
        if missing is not None:
            positive[missing] = feature.fill
        np.log(positive, out=row, casting="same_kind") if log else np.copyto(row, positive)
    return ColumnReport(
        column.name,
        column.low,
        column.high,
        n_below=int(np.count_nonzero(raw < column.low)) if below else 0,
        n_above=int(np.count_nonzero(raw > column.high)) if above else 0,
    )


def _settle_out_of_range(
    feature: Feature, raw: NDArray[np.float64], positive: NDArray[np.float64], start: int, out_of_range: OutOfRange
) -> None:
    if out_of_range == "clip":
        np.maximum(positive, feature.floor, out=positive)
    elif out_of_range == "error":
        at = int(np.argmax((raw < feature.low) | (raw > feature.high)))
        raise ValueError(
            f"Column {feature.column!r} is {raw[at]} in row {start + at}, outside its training range "
            f"[{feature.low}, {feature.high}]; out_of_range='clip' or 'extrapolate' would allow it."
        )
    elif positive.min() <= 0:
        at = int(np.argmin(positive))
        raise ValueError(
            f"Column {feature.column!r} is {raw[at]} in row {start + at}, so far below its training range "
            f"[{feature.low}, {feature.high}] that {feature.name!r} is not positive; out_of_range='clip' would allow it."
        )
    if np.isinf(positive.max()):
        at = int(np.argmax(positive))
        raise ValueError(
            f"Column {feature.column!r} is {raw[at]} in row {start + at}, so far outside its training range "
            f"[{feature.low}, {feature.high}] that {feature.name!r} overflows."
        )


def count_missing(values: NDArray[Any], missing_codes: Sequence[Level] = ()) -> int:
    """Count NaN and the codes that stand for missing."""
    return int(np.count_nonzero(np.isnan(values) | np.isin(values, missing_codes)))


def refuse_missing(name: str, count: int) -> None:
    """Raise the error about missing values in a column that had none in training."""
    raise ValueError(
        f"Column {name!r} has {count} missing value(s) (NaN or None), but had none when the model was fitted; fill them, "
        "or fit with missing='median'."
    )


def refuse_infinite(name: str, values: NDArray[Any]) -> None:
    """Raise the error about infinite values."""
    count = int(np.count_nonzero(np.isinf(values)))
    raise ValueError(
        f"Column {name!r} has {count} infinite value(s) (inf); replace them by numbers or by missing values."
    )
