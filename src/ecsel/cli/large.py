"""Parquet files that are too large to be read at once: a sample of the rows is looked at, all of them are fitted."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ecsel.cli.errors import CommandError
from ecsel.cli.reading import TableFile

if TYPE_CHECKING:
    from collections.abc import Callable

    from ecsel.cli.preparing import Prepared
    from ecsel.distributed import ParquetTable

LARGE_FROM = 2_000_000
"""Rows from which on a file is read in batches."""
LOOKED_AT = 200_000
"""Rows that are looked at: enough to find types, identifiers and leaks, and to compare the model with others."""


def large_table(path: str) -> ParquetTable | None:
    """Return the table if the path is a folder of Parquet files or a large one, else None."""
    place = Path(path)
    if not (place.is_dir() or (place.is_file() and place.suffix.lower() in {".parquet", ".pq"})):
        return None
    from ecsel.distributed import ParquetTable

    table = ParquetTable(place)
    try:
        n_rows = table.n_rows
    except ValueError:
        if place.is_file():
            return None  # the reader of whole files tells what is wrong with it
        n_rows = 0
    if place.is_dir() and n_rows == 0:
        raise CommandError(f"{place} is a folder without rows in Parquet files; name a file, or another folder.")
    return table if place.is_dir() or n_rows >= LARGE_FROM else None


def looked_at(table: ParquetTable) -> TableFile:
    """Return every so many-th row of a table, at most `LOOKED_AT`, read batch by batch."""
    import pyarrow as pa

    stride = max(1, -(-table.n_rows // LOOKED_AT))
    parts, first = [], 0
    for part in table.tables(table.names):
        parts.append(part.take(np.arange(-first % stride, part.num_rows, stride)))
        first += part.num_rows
    frame = pa.concat_tables(parts).to_pandas()
    name = Path(table.path).name
    text = (
        f"{name} has {table.n_rows} rows: {len(frame)} of them are looked at and judged by; "
        "the model is fitted to all, read in batches"
    )
    return TableFile(frame, name, (text,) if stride > 1 else ())


def fit_all(table: ParquetTable, prepared: Prepared) -> Callable[[Any], Any]:
    """Return the function that fits a model to all rows of the columns that take part."""
    from ecsel.distributed import ParquetTable as Table

    columns = [name for name in prepared.encoder.inputs if name not in prepared.dropped]
    return lambda model: model.fit(Table(table.path, columns), prepared.target)
