"""How columns are read, in JSON: numbers written as text, dates, spellings of levels."""

from __future__ import annotations

import datetime as dt
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from ecsel.files.errors import ModelFileError
from ecsel.tables import CategoricalColumn, NumericColumn, OrdinalColumn
from ecsel.tables.dates import FORMS, PARTS, TYPED, DateReading
from ecsel.tables.level_text import LevelReading
from ecsel.tables.number_text import NumberText

if TYPE_CHECKING:
    from ecsel.files.node import Node
    from ecsel.tables import TableEncoder
    from ecsel.tables.readings import Reading

KINDS = (NumberText.kind, DateReading.kind, LevelReading.kind)
SEPARATORS = (".", ",", " ", "'", "")


def encode_reading(reading: Reading) -> dict[str, Any]:
    """Return a reading as JSON values."""
    return {"kind": reading.kind, **{name: _plain(value) for name, value in asdict(reading).items()}}


def _plain(value: Any) -> Any:
    return [_plain(each) for each in value] if isinstance(value, tuple) else value


def decode_reading(node: Node) -> Reading:
    """Read a reading."""
    kind = node.get("kind").choice(KINDS)
    if kind == NumberText.kind:
        _, column, decimal, thousands, unit, lenient = node.fields(
            "kind", "column", "decimal", "thousands", "unit", "lenient"
        )
        return NumberText(
            column.text(), decimal.choice((".", ",")), thousands.choice(SEPARATORS), unit.text(), lenient.flag()
        )
    if kind == DateReading.kind:
        _, column, form, reference, parts, whole, names = node.fields(
            "kind", "column", "form", "reference", "parts", "whole", "names"
        )
        try:
            day = dt.date.fromisoformat(reference.text())
        except ValueError:
            reference.refuse("a day such as 2020-01-01")
        found = DateReading(
            column.text(),
            form.choice((TYPED, *FORMS)),
            str(day),
            parts.each(lambda part: part.choice(PARTS)),
            whole.flag(),
            names.each(lambda name: name.text()),
        )
        if not found.parts or len(found.parts) != len(found.names):
            names.refuse("a name for each part")
        return found
    _, column, levels, spellings, other = node.fields("kind", "column", "levels", "spellings", "other")
    return LevelReading(
        column.text(),
        levels.each(lambda level: level.label()),
        spellings.each(_decode_pair),
        other.optional(lambda level: level.label()),
    )


def _decode_pair(node: Node) -> tuple[Any, Any]:
    pair = node.each(lambda level: level.label())
    if len(pair) != 2:
        node.refuse("a spelling and its level")
    return pair[0], pair[1]


def check_readings(encoder: TableEncoder, node: Node) -> None:
    """Check that readings make the columns that the encoder has, of the right kinds and side by side."""
    columns = {column.name: column for column in encoder.columns}
    order = list(columns)
    for reading, item in zip(encoder.readings, node.items(), strict=True):
        if absent := [name for name in reading.names if name not in columns]:
            raise ModelFileError(f"{item.path}.column", f"there is no column {absent[0]!r}")
        at = order.index(reading.names[0])
        if tuple(order[at : at + len(reading.names)]) != reading.names:
            raise ModelFileError(f"{item.path}.names", "the parts of a date do not stand side by side")
        if reading.kind == "levels" and not isinstance(columns[reading.column], (CategoricalColumn, OrdinalColumn)):
            raise ModelFileError(item.path, f"{reading.column!r} has no levels")
        if reading.kind == "number" and not isinstance(columns[reading.column], NumericColumn):
            raise ModelFileError(item.path, f"{reading.column!r} has no numbers")
    inputs = [reading.column for reading in encoder.readings]
    if len(set(inputs)) < len(inputs) or len(set(encoder.inputs)) < len(encoder.inputs):
        raise ModelFileError(node.path, "a column is read twice")
