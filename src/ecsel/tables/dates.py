"""Dates and times as numbers: days since a round day, and month, weekday and hour where they vary.

A date column `signup` becomes `signup (days since 2020-01-01)` and, of dates that span a year or more, `signup month`
(1 to 12); `signup weekday` where dates fall on several weekdays without being the same day of every month; and `signup
hour` (0 to 23) where times of day vary. The reference day is the first of January of the earliest year. Days are whole,
unless times vary within a span of less than `SHORT_SPAN` days. Zones of time are left aside: local time counts.

Typed columns and objects (`datetime.date`, `datetime.datetime`) are dates; text is where every value is one of `FORMS`.
"""

from __future__ import annotations

import datetime as dt
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Literal, TypeAlias

import narwhals.stable.v2 as nw
import numpy as np

from ecsel.tables.errors import short
from ecsel.tables.number_text import is_missing_word
from ecsel.tables.raw import RawColumn

if TYPE_CHECKING:
    from collections.abc import Callable, Collection

    from numpy.typing import NDArray

    Instants = NDArray[np.datetime64]

Part: TypeAlias = Literal["days", "month", "weekday", "hour"]
PARTS: tuple[Part, ...] = ("days", "month", "weekday", "hour")
WEEKDAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
SHORT_SPAN = 30
"""Days below which a fraction of a day matters."""
YEAR = 365
CENTURY = 30
"""Two-digit years from here on are of the twentieth century, as in spreadsheets."""

MONTHS = {
    name: i
    for i, name in enumerate(
        ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"], start=1
    )
}
_ZONE = r"(?:Z|UTC|[-+]\d{2}:?\d{2})?"
_CLOCK = r"(?P<H>\d{1,2}):(?P<M>\d{2})(?::(?P<S>\d{2})(?:[.,]\d+)?)?\s*(?P<half>[AaPp][Mm])?"
_TIME = rf"(?:[T ]\s*{_CLOCK}\s*{_ZONE})?"
_DATES = {
    "year-month-day": r"(?P<y>\d{4})(?P<s>[-/.])(?P<m>\d{1,2})(?P=s)(?P<d>\d{1,2})",
    "day.month.year": r"(?P<d>\d{1,2})(?P<s>[-/.])(?P<m>\d{1,2})(?P=s)(?P<y>\d{4}|\d{2})",
    "month/day/year": r"(?P<m>\d{1,2})(?P<s>[-/.])(?P<d>\d{1,2})(?P=s)(?P<y>\d{4}|\d{2})",
    "day month-name year": r"(?P<d>\d{1,2})[-/. ]\s*(?P<b>[A-Za-z]{3,9})\.?[-/, ]\s*(?P<y>\d{4}|\d{2})",
    "month-name day, year": r"(?P<b>[A-Za-z]{3,9})\.?\s+(?P<d>\d{1,2}),?\s+(?P<y>\d{4})",
    "month-name year": r"(?P<b>[A-Za-z]{3,9})\.?[-/ ](?P<y>\d{4}|\d{2})",
    "year-month": r"(?P<y>\d{4})-(?P<m>\d{2})",
}
FORMS: dict[str, re.Pattern[str]] = {name: re.compile(form + _TIME) for name, form in _DATES.items()}
"""How dates are written; of `03/04/2020` the first is the day where any value says so, or where points are between."""
TYPED = "typed"
IN_ORDER = {"day.month.year": "day, month, year", "month/day/year": "month, day, year"}
"""What messages say of forms in which points, slashes and hyphens mean the same."""


@dataclass(frozen=True, slots=True)
class DateReading:
    """How a column of dates becomes numbers.

    Attributes
    ----------
    column
        The column.
    form
        One of `FORMS`, or ``"typed"`` for columns of dates and times proper.
    reference
        The day from which days are counted, as in ``"2020-01-01"``.
    parts
        What comes out: of ``"days"``, ``"month"``, ``"weekday"`` and ``"hour"`` those that vary.
    whole
        Whether days are whole.
    names
        The names of the columns that come out, in the order of `parts`.
    """

    column: str
    form: str
    reference: str
    parts: tuple[Part, ...]
    whole: bool
    names: tuple[str, ...]
    kind: ClassVar[str] = "date"

    def describe(self, name: str) -> str:
        """Return what a part is, in words."""
        part = self.parts[self.names.index(name)]
        if part == "days":
            return f"the {'whole ' if self.whole else ''}days from {self.reference} to {self.column!r}"
        span = {"month": "1 to 12", "weekday": "'Monday' to 'Sunday'", "hour": "0 to 23"}[part]
        return f"the {part} of {self.column!r}, {span}"

    def plain(self, raw: RawColumn) -> tuple[RawColumn, ...]:
        """Return the parts as columns of numbers, and of weekdays by name."""
        values = instants(raw.renamed(self.column), self.form)
        missing = np.isnat(values)
        known = np.where(missing, np.datetime64(self.reference, "us"), values)
        return tuple(
            RawColumn(name, _part(part, known, missing, self.reference, whole=self.whole))
            for part, name in zip(self.parts, self.names, strict=True)
        )


def learn_dates(raw: RawColumn, form: str, name_of: Callable[[str], str]) -> DateReading | None:
    """Return how a column of dates is read, None where it has no value; `name_of` makes a name that is free."""
    values = instants(raw, form)
    values = values[~np.isnat(values)]
    if not values.size:
        return None
    first, last = values.min(), values.max()
    reference = np.datetime64(first, "Y").astype("M8[D]")
    span = (last - first) / np.timedelta64(1, "D")
    days = values.astype("M8[D]")
    hours = (values - days).astype(np.int64)
    parts: list[Part] = ["days"]
    if span >= YEAR:
        parts.append("month")
    of_month = (days - days.astype("M8[M]")).astype(np.int64)
    weekdays = days.astype(np.int64) % 7
    if (weekdays != weekdays[0]).any() and (of_month != of_month[0]).any():
        parts.append("weekday")
    timed = bool((hours != hours[0]).any())
    if timed:
        parts.append("hour")
    column = raw.name
    titles = [f"{column} (days since {reference})" if part == "days" else f"{column} {part}" for part in parts]
    names = tuple(map(name_of, titles))
    return DateReading(column, form, str(reference), tuple(parts), not (timed and span < SHORT_SPAN), names)


def date_form(texts: Collection[str]) -> str | None:
    """Return the form in which all different texts of a column are dates, None where there is none.

    >>> date_form(["13/02/2018", "01/03/2018"]), date_form(["Dec-2011"]), date_form(["2018-02-30"]), date_form(["a"])
    ('day.month.year', 'month-name year', None, None)
    """
    present = [text.strip() for text in texts if not is_missing_word(text)]
    if not present:
        return None
    fitting = [form for form in FORMS if _parse(present[0], form) is not None]
    fitting = [form for form in fitting if all(_parse(text, form) is not None for text in present)]
    if "month/day/year" in fitting and "day.month.year" in fitting:
        return "day.month.year" if "." in present[0] else "month/day/year"
    return fitting[0] if fitting else None


def is_temporal(raw: RawColumn) -> bool:
    """Whether a column holds dates proper: by its type, or as objects."""
    source = raw.wrapped().source
    if isinstance(source, np.ndarray):
        if source.dtype.kind == "M":
            return True
        objects = source if source.dtype.kind == "O" else None
    elif source.dtype in {nw.Date, nw.Datetime} or isinstance(source.dtype, nw.Datetime):
        return True
    else:
        objects = raw.objects() if source.dtype == nw.Object else None
    if objects is None:
        return False
    first = next((value for value in objects.tolist() if value is not None and value == value), None)  # noqa: PLR0124
    return isinstance(first, (dt.date, np.datetime64))


def is_duration(raw: RawColumn) -> bool:
    """Whether a column holds spans of time by its type."""
    source = raw.wrapped().source
    return source.dtype.kind == "m" if isinstance(source, np.ndarray) else isinstance(source.dtype, nw.Duration)


def instants(raw: RawColumn, form: str) -> Instants:
    """Return a column of dates as moments; what cannot be one is refused by name."""
    source = raw.wrapped().source
    if isinstance(source, np.ndarray) and source.dtype.kind == "M":
        return source.astype("M8[us]")
    if isinstance(source, nw.Series) and (source.dtype == nw.Date or isinstance(source.dtype, nw.Datetime)):
        if isinstance(source.dtype, nw.Datetime) and source.dtype.time_zone is not None:
            source = source.dt.replace_time_zone(None)
        return np.asarray(source.to_numpy()).astype("M8[us]")
    values = raw.objects().tolist()
    known = {value: int(_moment(raw.name, value, form).astype(np.int64)) for value in set(values)}
    return np.fromiter(map(known.__getitem__, values), dtype=np.int64, count=len(values)).view("M8[us]")


def _moment(column: str, value: Any, form: str) -> np.datetime64:
    if value is None:
        return np.datetime64("NaT", "us")
    if isinstance(value, str):
        text = value.strip()
        if is_missing_word(text):
            return np.datetime64("NaT", "us")
        moment = _parse(text, form) if form != TYPED else None
        moment = moment or _parse(text, "year-month-day")
        if moment is not None:
            return np.datetime64(moment, "us")
    elif isinstance(value, (dt.datetime, dt.date)):
        naive = value.replace(tzinfo=None) if isinstance(value, dt.datetime) else value
        return np.datetime64("NaT", "us") if value != value else np.datetime64(naive, "us")  # noqa: PLR0124 - NaT
    elif isinstance(value, np.datetime64):
        converted: np.datetime64 = value.astype("M8[us]")
        return converted
    raise ValueError(f"Column {column!r} is a column of dates, but holds {short(value)}: write it as 2020-12-31.")


def _parse(text: str, form: str) -> dt.datetime | None:
    found = FORMS[form].fullmatch(text)
    if found is None:
        return None
    at = found.groupdict()
    month = MONTHS.get(at["b"][:3].lower()) if at.get("b") else int(at["m"])
    if month is None:
        return None
    year = int(at["y"])
    if len(at["y"]) == 2:
        year += 1900 if year >= CENTURY else 2000
    hour = int(at["H"] or 0)
    if at["half"]:
        hour = hour % 12 + (12 if at["half"].lower() == "pm" else 0)
    try:
        return dt.datetime(year, month, int(at.get("d") or 1), hour, int(at["M"] or 0), int(at["S"] or 0))  # noqa: DTZ001
    except ValueError:
        return None


def _part(part: Part, moments: Instants, missing: NDArray[np.bool_], reference: str, *, whole: bool) -> NDArray[Any]:
    days = moments.astype("M8[D]")
    if part == "weekday":
        names: NDArray[Any] = np.array(WEEKDAYS, dtype=object)[(days.astype(np.int64) + 3) % 7]
        names[missing] = None
        return names
    if part == "month":
        found = days.astype("M8[M]").astype(np.int64) % 12 + 1.0
    elif part == "hour":
        found = ((moments - days) // np.timedelta64(1, "h")).astype(np.float64)
    else:
        found = ((days if whole else moments) - np.datetime64(reference, "us")) / np.timedelta64(1, "D")
    return np.where(missing, np.nan, found)
