"""Numbers written as text: `36,338`, `$9,558.11`, `12.74%`, `36 months`, `1.234,5`.

A column of text is read as numbers where every value (missing words aside) is a number with

- one way to write thousands and decimals throughout: `1,234.5`, `1.234,5`, `1 234,5` or `1'234.5`;
- a currency sign or none, and the same unit behind the number in all rows (`12.74%`, `36 months`, `1 year`, `2 years`);
- no leading zero, as in `00731`: that is a code.

Per cent stay per cent: `12.74%` is 12.74. Where at most one row in a hundred is no number, these rows are missing.
"""

from __future__ import annotations

import math
import numbers
import re
from dataclasses import dataclass
from decimal import Decimal
from functools import lru_cache
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from ecsel.tables.errors import short
from ecsel.tables.raw import RawColumn

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

MISSING_WORDS = frozenset(
    {"", "?", "na", "n/a", "#n/a", "<na>", "nan", "null", "<null>", "\\n", "missing", "-", "--", "."}
)
"""Text that means a missing value, in any case and with any blanks around it. `unknown` and `none` are levels."""

MAX_UNREADABLE = 0.01
"""The share of rows up to which text among numbers is a slip of the pen rather than a level."""

CURRENCIES = ("$", "€", "£", "¥", "₹", "USD", "EUR", "GBP", "CHF", "JPY", "CAD", "AUD")
UNITS = (
    "%",
    "‰",
    "°",
    "°C",
    "°F",
    "kg",
    "g",
    "mg",
    "km",
    "m",
    "cm",
    "mm",
    "mi",
    "ft",
    "lb",
    "l",
    "ml",
    "h",
    "min",
    "s",
)
"""Units that may stand right behind a number; others need a blank before them."""

_SIGNS = "-+\N{MINUS SIGN}"
_MONEY = "|".join(map(re.escape, CURRENCIES))
NUMBER = re.compile(
    rf"(?P<open>\()?(?P<sign>[{_SIGNS}]?)\s*(?:{_MONEY})?\s*(?P<inner>[{_SIGNS}]?)"
    r"(?P<number>\d(?:[\d.,'\u2019\u00a0\u202f ]*\d)?|\d*[.,]\d+)(?P<exponent>[eE][-+]?\d+)?[.,]?"
    r"(?P<blank>\s*)(?P<unit>[^\d()]*)(?(open)\))"
)
_CODE = re.compile(r"0\d")
_PLAIN = r"\d*[{d}]?\d+"
_GROUPED = r"(?!0)\d{{1,3}}(?:{t}\d{{3}})+(?:[{d}]\d+)?"
SPACES = {"\u00a0": " ", "\u202f": " ", "\u2019": "'"}
"""Blanks and apostrophes between digits, and how they count."""
STYLES: tuple[tuple[str, str], ...] = ((".", ""), (".", ","), (",", ""), (",", "."), (",", " "), (".", " "), (".", "'"))
"""Decimal and thousands separators, in the order in which they are tried: `1,234` has a thousands separator."""


@dataclass(frozen=True, slots=True)
class NumberText:
    """How the text of a column becomes numbers.

    Attributes
    ----------
    column
        The column.
    decimal, thousands
        The separators; `thousands` is empty where there are none.
    unit
        The unit or currency that stands beside the numbers, for people; empty where there is none.
    lenient
        Whether text that is no number counts as missing.

    Examples
    --------
    >>> import numpy as np
    >>> reading = NumberText("price", ".", ",", "$")
    >>> reading.plain(RawColumn("price", np.array(["$1,200.50", "?", "(300)"], dtype=object)))[0].source
    array([1200.5,    nan, -300. ])
    """

    column: str
    decimal: str = "."
    thousands: str = ""
    unit: str = ""
    lenient: bool = False
    kind: ClassVar[str] = "number"

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the columns that come out."""
        return (self.column,)

    def describe(self, name: str) -> str:
        """Return what the numbers are, in words."""
        thousands = f" and {self.thousands!r} between thousands" if self.thousands else ""
        unit = f", in {self.unit}" if self.unit else ""
        return f"the number that the text of {name!r} holds, with {self.decimal!r} before decimals{thousands}{unit}"

    def plain(self, raw: RawColumn) -> tuple[RawColumn, ...]:
        """Return the column as numbers; one that holds numbers already stays as it is."""
        if raw.holds_numbers():
            return (raw,)
        values = raw.objects().tolist()
        known = {value: self._number(value) for value in set(values)}
        found = np.fromiter(map(known.__getitem__, values), dtype=np.float64, count=len(values))
        return (RawColumn(self.column, found),)

    def _number(self, value: Any) -> float:
        if isinstance(value, (numbers.Real, Decimal)) or not isinstance(value, str):
            return math.nan if value is None or value != value else float(value)  # noqa: PLR0124 - NaN and NaT
        number = parse_number(value, self.decimal, self.thousands, self.unit)
        if number is None and not (self.lenient or is_missing_word(value)):
            raise ValueError(
                f"Column {self.column!r} is a column of numbers, but holds {short(value)}: could not convert it to a "
                "number."
            )
        return math.nan if number is None else number


def is_missing_word(text: str) -> bool:
    """Whether text means a missing value.

    >>> is_missing_word(" N/A "), is_missing_word("unknown")
    (True, False)
    """
    return text.strip().casefold() in MISSING_WORDS


def parse_number(text: str, decimal: str, thousands: str, unit: str = "") -> float | None:
    """Return the number that text holds in a given style, None where it holds none or has another unit.

    >>> parse_number("$1,234.50", ".", ","), parse_number("-12,5 %", ",", "", "%"), parse_number("7 m", ".", "", "%")
    (1234.5, -12.5, None)
    """
    found = NUMBER.fullmatch(text.strip())
    if found is None or found["unit"].strip() not in accepted_units(unit):
        return None
    digits = _unspaced(found["number"])
    if thousands:
        digits = digits.replace(thousands, "")
    try:
        number = float(digits.replace(decimal, ".") + (found["exponent"] or ""))
    except ValueError:
        return None
    negative = bool(found["open"]) != ((found["sign"] or found["inner"] or "+") != "+")
    return -number if negative else number


@lru_cache(maxsize=256)
def accepted_units(unit: str) -> frozenset[str]:
    """Return what may stand behind a number: the unit, with or without its plural, a currency or nothing.

    >>> sorted(accepted_units("months") - accepted_units(""))
    ['month', 'months']
    """
    stem = _stem(unit)
    return frozenset({"", *(each for each in (stem, f"{stem}s") if _stem(each) == stem), *CURRENCIES})


def learn_number_text(column: str, counts: Mapping[str, float]) -> tuple[NumberText, tuple[str, ...]] | None:
    """Return how the different texts of a column (with their weights) are read as numbers, None where they are not.

    Beside the reading come the texts that are no numbers, which count as missing.

    >>> learn_number_text("rate", {"12.74%": 3, "9.1%": 1})
    (NumberText(column='rate', decimal='.', thousands='', unit='%', lenient=False), ())
    >>> learn_number_text("zip", {"00731": 1, "10001": 1}) is None
    True
    """
    present = {text: weight for text, weight in counts.items() if not is_missing_word(text)}
    found = {text: NUMBER.fullmatch(text.strip()) for text in present}
    read = {text: match for text, match in found.items() if match is not None}
    if any(_CODE.match(_unspaced(match["number"])) for match in read.values()):
        return None  # a leading zero makes all of them codes
    weight_of: dict[str, float] = {}
    for text, match in read.items():
        stem = _stem(match["unit"])
        weight_of[stem] = weight_of.get(stem, 0.0) + present[text]
    common = max(weight_of, key=lambda stem: weight_of[stem], default=None)
    read = {text: match for text, match in read.items() if _stem(match["unit"]) == common}
    strange = [text for text in present if text not in read]
    if not read or sum(present[text] for text in strange) > MAX_UNREADABLE * sum(present.values()):
        return None
    unit = max((match["unit"].strip() for match in read.values()), key=len)
    known = unit in UNITS or unit in CURRENCIES or not unit
    worded = unit.replace(" ", "").replace(".", "").replace("/", "").isalpha()
    if not (known or (worded and all(match["blank"] for match in read.values()))):
        return None  # 860xx is a code, 860 m a number
    written = {_unspaced(match["number"]) for match in read.values()}
    style = next((style for style in STYLES if _all_match(written, style)), None)
    if style is None:
        return None
    if not unit:
        unit = next((money for money in CURRENCIES if any(money in text for text in read)), "")
    return NumberText(column, *style, unit, bool(strange)), tuple(strange[:3])


def _stem(unit: str) -> str:
    """Return a unit without its plural."""
    unit = unit.strip()
    return unit.removesuffix("s") if len(unit) > 2 else unit


def _all_match(written: Collection[str], style: tuple[str, str]) -> bool:
    decimal, thousands = style
    pattern = _PLAIN.format(d=decimal)
    if thousands:
        pattern += "|" + _GROUPED.format(t=re.escape(thousands), d=decimal)
    form = re.compile(pattern)
    return all(form.fullmatch(text) for text in written)


def _unspaced(text: str) -> str:
    for strange, usual in SPACES.items():
        text = text.replace(strange, usual)
    return text
