"""Python source that reads text and dates as the model does: part of what `to_python` writes.

The patterns are those of `ecsel.tables`, so that there is one place where it is decided what a number or a date is. A
row may hold numbers in the place of their text, and the parts of a date under their own names.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ecsel.tables.dates import CENTURY, FORMS, MONTHS, TYPED, WEEKDAYS, DateReading
from ecsel.tables.number_text import MISSING_WORDS, NUMBER, SPACES, NumberText, accepted_units

if TYPE_CHECKING:
    from collections.abc import Iterable

    from ecsel.export.program.program import InputColumn

ISO = "year-month-day"

_WORDS = f"""

_MISSING = {{{", ".join(map(ascii, sorted(MISSING_WORDS)))}}}
"""

_NUMBERS = f"""

_NUMBER = re.compile(
    {NUMBER.pattern!a}
)


def _number_text(row, name, decimal, thousands, units, lenient):
    value = _value(row, name)
    if not isinstance(value, str):
        return _number(row, name)
    found = _NUMBER.fullmatch(value.strip())
    if found is not None and found["unit"].strip() in units:
        digits = found["number"].translate({{{", ".join(f"{ord(a)}: {b!a}" for a, b in SPACES.items())}}})
        if thousands:
            digits = digits.replace(thousands, "")
        try:
            number = float(digits.replace(decimal, ".") + (found["exponent"] or ""))
        except ValueError:
            pass
        else:
            negative = bool(found["open"]) != ((found["sign"] or found["inner"] or "+") != "+")
            return -number if negative else number
    if lenient or value.strip().casefold() in _MISSING:
        return None
    raise ValueError(f"column {{name!r}} is a column of numbers, but holds {{value!r}}")
"""

_DATES = f"""

_MONTHS = {{{", ".join(f"{name!a}: {i}" for name, i in MONTHS.items())}}}
_WEEKDAYS = ({", ".join(map(ascii, WEEKDAYS))})


def _date(row, name, forms):
    value = _value(row, name)
    if value is None or isinstance(value, datetime):
        return value if value is None else value.replace(tzinfo=None)
    if isinstance(value, date):
        return datetime(value.year, value.month, value.day)
    if not isinstance(value, str) and hasattr(value, "astype"):
        return value.astype("M8[us]").item()
    text = str(value).strip()
    if text.casefold() in _MISSING:
        return None
    for form in forms:
        found = form.fullmatch(text)
        at = found.groupdict() if found else {{}}
        month = _MONTHS.get(at["b"][:3].lower()) if at.get("b") else int(at.get("m") or 0)
        if not month:
            continue
        year, hour = int(at["y"]), int(at["H"] or 0)
        if len(at["y"]) == 2:
            year += 1900 if year >= {CENTURY} else 2000
        if at["half"]:
            hour = hour % 12 + (12 if at["half"].lower() == "pm" else 0)
        try:
            return datetime(year, month, int(at.get("d") or 1), hour, int(at["M"] or 0), int(at["S"] or 0))
        except ValueError:
            continue
    raise ValueError(f"column {{name!r}} is a column of dates, but holds {{value!r}}: write it as 2020-12-31")


def _part_of_date(row, name, own, forms, reference, part):
    if own in row:
        return _value(row, own) if part == "weekday" else _number(row, own)
    moment = _date(row, name, forms)
    if moment is None:
        return None
    if part == "month":
        return float(moment.month)
    if part == "weekday":
        return _WEEKDAYS[moment.weekday()]
    if part == "hour":
        return float(moment.hour)
    if part == "whole days":
        moment = datetime(moment.year, moment.month, moment.day)
    return (moment - datetime(*reference)) / timedelta(days=1)
"""


def imports_of(columns: Iterable[InputColumn]) -> str:
    """Return the imports that the readers of these columns need beside those of every program."""
    readings = [column.prepared for column in columns]
    lines = ["import re\n"] if any(readings) else []
    if any(isinstance(reading, DateReading) for reading in readings):
        lines.append("from datetime import date, datetime, timedelta\n")
    return "".join(lines)


def readers_of(columns: Iterable[InputColumn]) -> str:
    """Return the functions and constants that read these columns; nothing where all are numbers or levels."""
    readings = [column.prepared for column in columns]
    dates = [reading for reading in readings if isinstance(reading, DateReading)]
    source = _WORDS if any(readings) else ""
    if len(dates) < sum(reading is not None for reading in readings):
        source += _NUMBERS
    if dates:
        forms = sorted({ISO, *(reading.form for reading in dates if reading.form != TYPED)})
        source += "\n\n" + "".join(f"{_form_name(form)} = re.compile({FORMS[form].pattern!a})\n" for form in forms)
        source += _DATES.removeprefix("\n\n")
    return source


def read_prepared(column: InputColumn, reading: NumberText | DateReading) -> str:
    """Return the call that reads a column from the row."""
    if isinstance(reading, NumberText):
        units = ", ".join(map(ascii, sorted(accepted_units(reading.unit))))
        style = f"{reading.decimal!a}, {reading.thousands!a}, {{{units}}}, {reading.lenient!a}"
        return f"_number_text(row, {reading.column!a}, {style})"
    part = reading.parts[reading.names.index(column.name)]
    noun = f"{'whole ' if reading.whole else ''}days" if part == "days" else part
    forms = ", ".join(_form_name(form) for form in dict.fromkeys([reading.form, ISO]) if form != TYPED)
    reference = tuple(map(int, reading.reference.split("-")))
    return f"_part_of_date(row, {reading.column!a}, {column.name!a}, ({forms},), {reference}, {noun!a})"


def _form_name(form: str) -> str:
    return f"_FORM_{list(FORMS).index(form)}"
