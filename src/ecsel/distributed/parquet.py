"""Parquet files and datasets as a source of batches, and predictions written beside them.

Reading uses pyarrow (extra ``distributed``), row group by row group; no more than a few batches are in memory, whatever
the size of the file. Row groups of about 100 000 rows suit it best.
"""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ecsel.distributed.fragments import check_fragment, read_group
from ecsel.distributed.packing import pack_source
from ecsel.distributed.profiling import Profile
from ecsel.distributed.sources import Batch, sum_over
from ecsel.fitting.rows.chunks import CHUNK_ROWS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from numpy.typing import NDArray

    from ecsel.distributed.packing import Packer
    from ecsel.fitting.rows.stored import StoredBlocks


def _pyarrow() -> tuple[Any, Any, Any]:
    try:
        import pyarrow as pa  # noqa: PLC0415 - optional
        import pyarrow.dataset as ds  # noqa: PLC0415
        import pyarrow.parquet as pq  # noqa: PLC0415
    except ImportError as error:
        raise ImportError('Reading Parquet needs pyarrow: pip install "ecsel[distributed]"') from error
    return pa, ds, pq


@dataclass(frozen=True)
class ParquetTable:
    """A Parquet file, or a folder of them, that is read in batches and never as a whole.

    Parameters
    ----------
    path : str or path
        A file or a folder.
    columns : list of str, optional
        The columns to use; all by default. Target and weights are named in `fit`.

    Examples
    --------
    >>> import tempfile, pandas as pd
    >>> from ecsel import ECSELClassifier
    >>> frame = pd.DataFrame({"size": [i / 4 for i in range(400)], "ill": [i > 200 for i in range(400)]})
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     frame.to_parquet(f"{folder}/rows.parquet")
    ...     model = ECSELClassifier(n_terms=1, l1=1e-3).fit(ParquetTable(f"{folder}/rows.parquet"), "ill")
    >>> model.predict(pd.DataFrame({"size": [10, 90]})).tolist()
    [False, True]
    """

    path: str | os.PathLike[str]
    columns: Sequence[str] | None = field(default=None)

    @cached_property
    def dataset(self) -> Any:
        """The dataset of pyarrow."""
        _, ds, _ = _pyarrow()
        if not Path(self.path).exists():
            raise FileNotFoundError(f"There is no Parquet file or folder {os.fspath(self.path)!r}.")
        try:
            return ds.dataset(os.fspath(self.path), format="parquet")
        except (ValueError, OSError) as error:
            raise ValueError(f"{os.fspath(self.path)!r} cannot be read as Parquet: {error}") from None

    @property
    def names(self) -> list[str]:
        """The columns in use."""
        known = list(self.dataset.schema.names)
        if self.columns is None:
            return known
        for name in self.columns:
            self.require(name, "columns")
        return list(self.columns)

    def require(self, name: str, option: str) -> str:
        """Return a name if there is such a column."""
        known = list(self.dataset.schema.names)
        if name not in known:
            listed = ", ".join(map(repr, known[:10])) + (", …" if len(known) > 10 else "")
            raise ValueError(f"{option} names the column {name!r}, but {os.fspath(self.path)!r} has {listed}.")
        return name

    @cached_property
    def n_rows(self) -> int:
        """The number of rows, which the files tell without being read."""
        n_rows = 0
        for fragment in self.dataset.get_fragments():
            try:
                n_rows += int(fragment.count_rows())
            except (OSError, ValueError) as error:
                raise ValueError(f"{fragment.path!r} cannot be read as Parquet: {error}") from None
        return n_rows

    def tables(self, names: Sequence[str]) -> Iterator[Any]:
        """Yield pyarrow tables of at most `CHUNK_ROWS` rows, in the order of the file."""
        pa, _, _ = _pyarrow()
        # A scanner of the whole dataset decodes up to a gigabyte ahead of a slow reader; one of a row group can not.
        options = {"columns": list(names), "batch_size": CHUNK_ROWS, "use_threads": False, "batch_readahead": 0}
        schema, first = self.dataset.schema, None
        for fragment in self.dataset.get_fragments():
            first = first or fragment.path
            check_fragment(fragment, schema, names, first)
            for number, group in enumerate(fragment.split_by_row_group()):
                for batch in read_group(group, number, schema, options):
                    if batch.num_rows:
                        yield pa.Table.from_batches([batch])


@dataclass(frozen=True)
class ParquetSource:
    """A Parquet table with the names of its target and of its weights."""

    table: ParquetTable
    target: str
    weight: str | None
    in_file: bool = True

    @classmethod
    def of(cls, table: ParquetTable, y: Any, sample_weight: Any) -> ParquetSource:
        """Check the names of the columns that `fit` was given."""
        for option, name in (("y", y), ("sample_weight", sample_weight)):
            if not isinstance(name, str) and not (option == "sample_weight" and name is None):
                raise TypeError(
                    f"{option} must be the name of a column of {os.fspath(table.path)!r}, not {type(name).__name__}: "
                    "rows of a file are read together with their labels and weights."
                )
            if name is not None:
                table.require(name, option)
        if table.n_rows == 0:
            raise ValueError(f"{os.fspath(table.path)!r} has no rows.")
        return cls(table, y, sample_weight)

    @property
    def n_rows(self) -> int:
        """The number of rows."""
        return self.table.n_rows

    @property
    def weighted(self) -> bool:
        """Whether rows have weights."""
        return self.weight is not None

    @property
    def features(self) -> list[str]:
        """The columns that are neither target nor weight."""
        return [name for name in self.table.names if name not in {self.target, self.weight}]

    def profile(self) -> Profile:
        """Read all rows once for what their columns and classes are."""
        profile, stride = Profile(), Profile.stride(self.n_rows)
        for batch in self.batches():
            profile = profile.look(batch, stride)
        return profile

    def pack(self, packer: Packer, *, n_threads: int) -> StoredBlocks:
        """Encode all rows into a temporary file."""
        return pack_source(self, packer, n_threads=n_threads)

    def sum_batches(self, function: Any) -> Any:
        """Return the sum of a function of table, labels and weights over all rows."""
        return sum_over(self.batches(), function)

    def batches(self) -> Iterator[Batch]:
        """Read all rows in order."""
        features, first = self.features, 0
        extra = [self.target] if self.weight is None else [self.target, self.weight]
        for part in self.table.tables([*features, *extra]):
            labels = part.column(self.target)
            if labels.null_count:
                raise ValueError(f"The target {self.target!r} has missing labels: drop or fill these rows.")
            weights = None if self.weight is None else _weights(part.column(self.weight), self.weight)
            yield Batch(part.select(features), labels.to_numpy(), weights, first)
            first += part.num_rows


def _weights(column: Any, name: str) -> NDArray[np.float64]:
    weights = np.asarray(column.to_numpy(), dtype=np.float64)
    if not np.isfinite(weights).all() or (weights < 0).any():
        raise ValueError(f"The weights {name!r} must be finite and not negative.")
    return weights


def write_batches(
    table: ParquetTable, names: Sequence[str], make: Callable[[Any], Any], path: str | os.PathLike[str]
) -> int:
    """Write what `make` returns for each batch of rows (a dict of columns) to a new Parquet file; return the rows.

    The file appears under its name when it is complete.
    """
    pa, _, pq = _pyarrow()
    target = Path(path)
    if target.exists() and not target.is_file():
        raise ValueError(f"{os.fspath(path)!r} is no regular file: Parquet is written to a file.")
    fresh = target.with_name(target.name + ".part")
    writer, written = None, 0
    try:
        for part in table.tables(names):
            found = pa.table(make(part))
            writer = writer or pq.ParquetWriter(fresh, found.schema)
            writer.write_table(found.cast(writer.schema))
            written += found.num_rows
    except BaseException:
        if writer is not None:
            writer.close()
        fresh.unlink(missing_ok=True)
        raise
    if writer is None:
        raise ValueError(f"{os.fspath(table.path)!r} has no rows.")
    writer.close()
    fresh.replace(target)
    return written
