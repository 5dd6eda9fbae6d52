"""The files of a Parquet folder, each compared with the first: what differs is reported by file, row group and column.

pyarrow reads a folder by the schema of its first file. A column that another file does not have, or spells otherwise,
would be missing in all its rows, and numbers that are text there would be turned into numbers; both would be silent.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence


def check_fragment(fragment: Any, schema: Any, names: Sequence[str], first: str) -> None:
    """Refuse a file that has not the columns in use, or has others under their names; `schema` is that of `first`."""
    import pyarrow as pa  # noqa: PLC0415 - optional

    try:
        own = fragment.physical_schema
    except (OSError, pa.ArrowException) as error:
        raise ValueError(f"{fragment.path!r} cannot be read as Parquet: {error}") from None
    known = set(own.names)
    for name in names:
        if name not in known:
            alike = [each for each in own.names if each.casefold().strip() == name.casefold().strip()]
            hint = f" (it has {alike[0]!r})" if alike else ""
            raise ValueError(
                f"{fragment.path!r} has no column {name!r}{hint}, but {first!r} has: name it alike in all."
            )
        here, there = own.field(name).type, schema.field(name).type
        if not _goes_into(here, there):
            raise ValueError(
                f"{fragment.path!r}: the column {name!r} holds {here}, but {there} in {first!r}: give it one type."
            )


def read_group(group: Any, number: int, schema: Any, options: dict[str, Any]) -> Iterator[Any]:
    """Yield the batches of a row group; damage is reported by file, row group and column."""
    import pyarrow as pa  # noqa: PLC0415 - optional

    try:
        yield from group.to_batches(schema, **options)
    except (OSError, pa.ArrowException) as error:
        column = next((name for name in options["columns"] if not _is_readable(group, schema, name)), None)
        where = "" if column is None else f", column {column!r}"
        raise ValueError(f"{group.path!r}, row group {number}{where}: cannot be read: {error}") from None


def _is_readable(group: Any, schema: Any, name: str) -> bool:
    import pyarrow as pa  # noqa: PLC0415 - optional

    try:
        group.to_table(schema, columns=[name], use_threads=False)
    except (OSError, pa.ArrowException):
        return False
    return True


def _goes_into(here: Any, there: Any) -> bool:
    """Whether values of a type are read as another one without a change of meaning."""
    from pyarrow import types  # noqa: PLC0415 - optional

    here, there = (each.value_type if types.is_dictionary(each) else each for each in (here, there))
    if here == there or types.is_null(here):
        return True
    if types.is_integer(here):
        return bool(types.is_integer(there) or types.is_floating(there) or types.is_decimal(there))
    if types.is_floating(here):
        return bool(types.is_floating(there))
    if types.is_timestamp(here):  # as a date it would lose its time of day, and without its zone it is another time
        return bool(types.is_timestamp(there) and here.tz == there.tz)
    if types.is_date(here):
        return bool(types.is_date(there) or (types.is_timestamp(there) and there.tz is None))
    texts = (types.is_string, types.is_large_string, types.is_string_view)
    return any(kind(here) for kind in texts) and any(kind(there) for kind in texts)
