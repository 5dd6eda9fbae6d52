"""How columns are read before they become features: one set of rules, whoever fits.

Each column of the user's table is an *input*. A reading turns it into one or several *plain* columns of numbers or
levels: `NumberText` (numbers written as text), `DateReading` (dates), `LevelReading` (spellings and rare levels).
Inputs without a reading are plain already. What is left out (on request, or as an identifier) has no plain values. Each
rule leaves a note. Columns that are listed as categorical or ordinal are taken as they are written.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

import narwhals.stable.v2 as nw
import numpy as np

from ecsel.tables.dates import IN_ORDER, TYPED, DateReading, date_form, is_duration, is_temporal, learn_dates
from ecsel.tables.errors import short
from ecsel.tables.identifiers import FREQUENT_ROWS, all_different, number_identifier, text_identifier
from ecsel.tables.level_text import LevelReading, as_text, learn_levels, rare_below
from ecsel.tables.missing_codes import find_missing_codes
from ecsel.tables.number_text import NumberText, is_missing_word, learn_number_text
from ecsel.tables.raw import RawColumn
from ecsel.tables.reading import LazyColumns

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from numpy.typing import NDArray

    from ecsel.tables.observed import ColumnOptions

    Weights = NDArray[np.float64] | None

Reading: TypeAlias = NumberText | DateReading | LevelReading

MISSING_CODES_OFF = "missing_codes=None turns this off"
AS_TEXT = "categorical=[…] keeps the text"
"""What notes say of the options that undo a reading."""


class ReadColumn(NamedTuple):
    """What was learned of one input: its plain columns, or why it is left out."""

    columns: tuple[RawColumn, ...]
    options: ColumnOptions
    reading: Reading | None = None
    notes: tuple[str, ...] = ()
    left_out: str | None = None


class PlainColumns(LazyColumns):
    """The plain columns of a table, each made when it is first asked for."""

    def __init__(self, columns: Sequence[RawColumn], readings: Mapping[int, Reading], n_plain: Sequence[int]) -> None:
        self._columns, self._readings = columns, readings
        self._places = [(j, k) for j, n in enumerate(n_plain) for k in range(n)]
        self._made: dict[int, tuple[RawColumn, ...]] = {}

    def __len__(self) -> int:
        return len(self._places)

    def column(self, j: int) -> RawColumn:
        """Return the plain column at a position; an input is read once."""
        j, k = self._places[j]
        if j not in self._readings:
            return self._columns[j]
        if j not in self._made:
            self._made[j] = self._readings[j].plain(self._columns[j])
        return self._made[j][k]


def learn_readings(
    columns: Sequence[RawColumn],
    options: Sequence[ColumnOptions],
    weights: Weights,
    *,
    named: bool,
    target: Callable[[], NDArray[np.float64] | None] | None = None,
) -> list[ReadColumn]:
    """Learn how every input is read; the target (class codes or measurements) helps to tell identifiers."""
    taken = {column.name for column in columns}
    found = [_learn(raw.wrapped(), own, weights, taken) for raw, own in zip(columns, options, strict=True)]
    if not named:  # arrays are numbers that somebody has chosen
        return found
    single = {j: each.columns[0] for j, each in enumerate(found) if len(each.columns) == 1}
    numbers = {j: np.asarray(raw.numbers(), dtype=np.float64) for j, raw in single.items() if raw.holds_numbers()}
    learned = list(found)
    for j, values in numbers.items():
        own = options[j]
        if own.kept or own.nominal or own.order is not None or found[j].reading is not None:
            continue
        if columns[j].kind_and_dtype()[1] != "integer":
            continue
        if not all_different(values):
            continue
        outcome = None if target is None else target()
        others = [other for k, other in numbers.items() if k != j] + ([] if outcome is None else [outcome])
        if why := number_identifier(columns[j].name, values, others):
            found[j] = _left_out(columns[j], own, f"looks like an identifier: {why}", "; keep=[…] keeps it")
    if all(each.left_out is not None for each in found):  # an equation of nothing helps nobody
        for j in (j for j, each in enumerate(learned) if each.left_out is None):
            kept = "looks like an identifier, but nothing else is left, so it is kept; drop=[…] drops it"
            note = f"{columns[j].name!r} {kept}."
            found[j] = learned[j]._replace(notes=(*learned[j].notes, note))
    return found


def _learn(raw: RawColumn, options: ColumnOptions, weights: Weights, taken: set[str]) -> ReadColumn:
    if options.dropped or is_duration(raw):
        why = "as asked" if options.dropped else "a duration; turn it into numbers, such as days"
        return _left_out(raw, options, why)
    if is_temporal(raw):
        return _dates(raw, options, TYPED, taken)
    if options.order is None and raw.holds_text():
        return _text(raw, options, weights, taken)
    if options.order is not None:
        return ReadColumn((raw,), options)
    kind, _ = raw.kind_and_dtype()
    if kind == "text":  # categories of a type of their own, or text in arrays
        return _levels(raw, options, weights, text_counts(raw, weights), merge=False)
    quantity = kind == "number" and not options.nominal
    return _number_codes(raw, options) if quantity and options.finds_codes else ReadColumn((raw,), options)


def _text(raw: RawColumn, options: ColumnOptions, weights: Weights, taken: set[str]) -> ReadColumn:
    counts = text_counts(raw, weights)
    if options.nominal:
        return _levels(raw, options, weights, counts, merge=False)
    texts = [text for text in counts if isinstance(text, str)]
    notes: tuple[str, ...] = ()
    if options.finds_codes and (words := [text for text in texts if is_missing_word(text)]):
        options = replace(options, missing_codes=(*options.missing_codes, *words))
        n = sum(counts[word] for word in words)
        line = ", ".join(map(repr, sorted(words)[:3]))
        rows = "row" if n == 1 else "rows"
        notes = (f"{raw.name!r} is {line} in {n:g} {rows}, which is read as missing ({MISSING_CODES_OFF}).",)
    codes = {code for code in options.missing_codes if isinstance(code, str)}
    present = [text for text in texts if text not in codes]
    if len(texts) == len(counts) and (form := date_form(present)):
        return _dates(raw, options, form, taken, notes)
    written = {as_text(value): weight for value, weight in counts.items() if value not in codes}
    if (learned := learn_number_text(raw.name, written)) is not None:
        reading, strange = learned
        column = reading.plain(raw)[0]
        left = tuple(code for code in options.missing_codes if not isinstance(code, str))
        read = _number_codes(column, replace(options, missing_codes=left)) if options.finds_codes else None
        read = read or ReadColumn((column,), replace(options, missing_codes=left))
        return read._replace(
            reading=reading, notes=(*notes, *_number_notes(reading, list(written), strange), *read.notes)
        )
    return _levels(raw, options, weights, counts, notes, merge=True)


def _number_notes(reading: NumberText, texts: Sequence[str], strange: Sequence[str]) -> tuple[str, ...]:
    example = next((text for text in texts if text not in strange and not is_missing_word(text)), "")
    unit = f" of {reading.unit}" if reading.unit else ""
    note = f"{reading.column!r} is text that is read as numbers{unit}, such as {short(example)}"
    if strange:
        note += f"; {', '.join(map(short, strange))} is no number and counts as missing"
    return (f"{note} ({AS_TEXT}).",)


def _dates(
    raw: RawColumn, options: ColumnOptions, form: str, taken: set[str], notes: tuple[str, ...] = ()
) -> ReadColumn:
    def free(name: str) -> str:
        title, n = name, 1
        while title in taken:
            n += 1
            title = f"{name} #{n}"
        taken.add(title)
        return title

    reading = learn_dates(raw, form, free)
    if reading is None:
        return ReadColumn((RawColumn(raw.name, np.full(len(raw), np.nan)),), options, None, notes)
    line = ", ".join(map(repr, reading.names))
    written = "" if form == TYPED else f" written as {IN_ORDER.get(form, form)}"
    own = replace(options, missing_codes=(), nominal=False)
    return ReadColumn(reading.plain(raw), own, reading, (*notes, f"{raw.name!r} is a date{written}, read as {line}."))


def _number_codes(raw: RawColumn, options: ColumnOptions) -> ReadColumn:
    values = np.asarray(raw.numbers(), dtype=np.float64)
    codes = find_missing_codes(values)
    if not codes:
        return ReadColumn((raw,), options)
    n = int(np.isin(values, codes).sum())
    line = " or ".join(map(str, codes))
    note = f"{raw.name!r} is {line} in {n} of {values.size} rows, which is read as missing ({MISSING_CODES_OFF})."
    return ReadColumn((raw,), replace(options, missing_codes=(*options.missing_codes, *codes)), None, (note,))


def _levels(
    raw: RawColumn,
    options: ColumnOptions,
    weights: Weights,
    counts: Mapping[Any, float],
    notes: tuple[str, ...] = (),
    *,
    merge: bool,
) -> ReadColumn:
    """Merge spellings and rare levels; leave out what names rows."""
    codes = set(options.missing_codes)
    present = {value: weight for value, weight in counts.items() if value not in codes}
    if not present:
        return ReadColumn((raw,), options, None, notes)
    total = float(len(raw)) if weights is None else float(weights.sum())
    least = rare_below(len(raw), total)
    if options.kept:
        least = min(least, FREQUENT_ROWS * min(1.0, total / len(raw)))
    try:
        learned = learn_levels(raw.name, present, least * (1 - 1e-9), options.missing_codes, merge=merge)
    except ValueError as error:
        raise ValueError(f"Column {raw.name!r}: {error}") from None
    if not (options.kept or options.nominal):
        as_rows = max(1.0, len(raw) / total)  # weights below one row each are shares
        sizes = as_rows * np.array(list(learned.totals.values()))
        why = text_identifier(round(float(sizes.sum())), sizes, as_rows * least * (1 - 1e-9))
        if why is not None:
            return _left_out(raw, options, why, "; keep=[…] keeps it", notes)
    notes += learned.notes
    if learned.reading is None:
        return ReadColumn((raw,), options, None, notes)
    return ReadColumn(learned.reading.plain(raw), options, learned.reading, notes)


def text_counts(raw: RawColumn, weights: Weights) -> dict[Any, float]:
    """Return the rows, or the weight, of every different value; missing ones aside."""
    source = raw.source
    if weights is None and isinstance(source, nw.Series) and isinstance(source.dtype, nw.String):
        values = source.drop_nulls().to_list()
        return dict(Counter(values))
    values = raw.objects().tolist()
    counts: dict[Any, float] = {}
    for value, weight in zip(values, [1.0] * len(values) if weights is None else weights.tolist(), strict=True):
        if value is not None:
            counts[value] = counts.get(value, 0.0) + weight
    return counts


def _left_out(
    raw: RawColumn, options: ColumnOptions, why: str, advice: str = "", notes: tuple[str, ...] = ()
) -> ReadColumn:
    note = f"{raw.name!r} was left out: {why}{advice}."
    return ReadColumn((raw,), options, None, (*notes, note), why)
