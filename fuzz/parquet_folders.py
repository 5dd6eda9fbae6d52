"""Folders of Parquet files that drift apart: every value is read as it is written, or the file at fault is named."""

from __future__ import annotations

import datetime as dt
import decimal
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.parquet as pq

from ecsel.distributed import ParquetTable
from fuzz.attack import SERVED, refused

if TYPE_CHECKING:
    import random
    from collections.abc import Callable
    from pathlib import Path

N_ROWS = 12
NAMES = ("age", "income", "home", "day")
COLUMNS: dict[str, Callable[[], Any]] = {
    "int": lambda: pa.array(range(N_ROWS)),
    "small int": lambda: pa.array(range(N_ROWS), pa.int8()),
    "fraction": lambda: pa.array([0.5 + k for k in range(N_ROWS)]),
    "short fraction": lambda: pa.array([0.5 + k for k in range(N_ROWS)], pa.float32()),
    "bool": lambda: pa.array([k % 3 == 0 for k in range(N_ROWS)]),
    "text": lambda: pa.array([f"{k}" for k in range(N_ROWS)]),
    "long text": lambda: pa.array([f"{k}" for k in range(N_ROWS)], pa.large_string()),
    "levels": lambda: pa.array(["own", "rent"] * (N_ROWS // 2)).dictionary_encode(),
    "numbered levels": lambda: pa.array([1, 2] * (N_ROWS // 2)).dictionary_encode(),
    "decimal": lambda: pa.array([decimal.Decimal(k) / 4 for k in range(N_ROWS)]),
    "date": lambda: pa.array([dt.date(2020, 1, 1 + k) for k in range(N_ROWS)]),
    "time": lambda: pa.array([dt.datetime(2020, 1, 1 + k, 6) for k in range(N_ROWS)]),  # noqa: DTZ001
    "time in seconds": lambda: pa.array(
        [dt.datetime(2020, 1, 1 + k, 6) for k in range(N_ROWS)],  # noqa: DTZ001
        pa.timestamp("s"),
    ),
    "time in a zone": lambda: pa.array(
        [dt.datetime(2020, 1, 1 + k, 6, tzinfo=dt.UTC) for k in range(N_ROWS)], pa.timestamp("us", "Asia/Tokyo")
    ),
    "moment": lambda: pa.array([dt.datetime(2020, 1, 1 + k, 6, 0, 0, 123) for k in range(N_ROWS)]),  # noqa: DTZ001
    "large int": lambda: pa.array([2**60 + k for k in range(N_ROWS)]),
    "bytes": lambda: pa.array([b"a"] * N_ROWS),
    "list": lambda: pa.array([[k] for k in range(N_ROWS)]),
    "missing": lambda: pa.nulls(N_ROWS),
}


class ParquetFolders:
    """Two files, the second of which has other types, names, an order of its own, or damage."""

    name = "Parquet folders"

    def prepare(self, folder: Path) -> None:
        """Make the place for the files."""
        self.folder = folder / "parts"
        self.folder.mkdir()

    def run(self, rng: random.Random) -> str:
        """Write and read one folder."""
        kinds = {name: rng.choice(sorted(COLUMNS)) for name in NAMES}
        first = pa.table({name: COLUMNS[kind]() for name, kind in kinds.items()})
        changed = {name: rng.choice(sorted(COLUMNS)) if rng.random() < 0.3 else kind for name, kind in kinds.items()}
        columns = [(name, COLUMNS[kind]()) for name, kind in changed.items()]
        how = rng.random()
        if how < 0.1:
            del columns[rng.randrange(len(columns))]
        elif how < 0.25:
            at = rng.randrange(len(columns))
            name, values = columns[at]
            columns[at] = rng.choice([name.upper(), f"{name} ", f" {name}", name.title(), f"{name}s"]), values
        elif how < 0.4:
            rng.shuffle(columns)
        elif how < 0.5:
            columns.append(("surplus", COLUMNS[rng.choice(sorted(COLUMNS))]()))
        second = pa.table([values for _, values in columns], names=[name for name, _ in columns])
        pq.write_table(first, self.folder / "a.parquet")
        path = self.folder / "b.parquet"
        pq.write_table(second, path, row_group_size=rng.choice([5, N_ROWS]))
        if damaged := rng.random() < 0.2:
            content = bytearray(path.read_bytes())
            at = rng.randrange(len(content))
            if rng.random() < 0.3:
                del content[at:]
            else:
                content[at : at + 20] = rng.randbytes(20)
            path.write_bytes(content)
        try:
            read = pa.concat_tables(ParquetTable(self.folder).tables(list(NAMES)))
        except (ValueError, TypeError) as error:
            return self._refused(str(error))
        if not damaged:
            for name in NAMES:
                _check(name, read.column(name), [*first.column(name), *second.column(name)])
        return SERVED

    @staticmethod
    def _refused(message: str) -> str:
        if ".parquet" not in message:
            raise AssertionError(f"no file is named: {message}")
        return refused(message)


def _check(name: str, found: Any, written: list[Any]) -> None:
    for mine, theirs in zip(found, written, strict=True):
        if _plain(mine) != _plain(theirs):
            raise AssertionError(f"column {name!r}: {mine!r} instead of {theirs!r}")


def _plain(value: Any) -> Any:
    value = value.as_py()
    if isinstance(value, dt.date) and not isinstance(value, dt.datetime):
        return dt.datetime(value.year, value.month, value.day)  # noqa: DTZ001
    return value
