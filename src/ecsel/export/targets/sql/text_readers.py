r"""Text and dates of a table as the numbers that the model makes of them, in dialects that have regular expressions.

The patterns are those of `ecsel.tables`, written in what DuckDB (RE2) and PostgreSQL share: no named groups, no
references back, one captured group a pattern. Text that the model would refuse stops the query, as it stops the model:
it is cast to a number or a moment in a form that no database takes. Columns that hold numbers or dates proper are read
as they are.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from sqlglot import exp

from ecsel.tables.dates import CENTURY, FORMS, MONTHS, TYPED, WEEKDAYS
from ecsel.tables.number_text import CURRENCIES, MISSING_WORDS, SPACES, NumberText, accepted_units

if TYPE_CHECKING:
    from collections.abc import Iterable

    from ecsel.export.program.program import InputColumn
    from ecsel.export.targets.sql.dialects import Dialect
    from ecsel.export.targets.sql.rules import Node
    from ecsel.tables.dates import DateReading, Part

_ISO = "year-month-day"
_BLANK = "[\\s\u00a0\u202f]"
_SIGN = "[-+\N{MINUS SIGN}]"
_DIGITS = "\\d(?:[\\d.,'\u2019\u00a0\u202f ]*\\d)?|\\d*[.,]\\d+"
_READABLE = "^\\d*\\.?\\d+$"
_MONTH_NAMES = "|".join("".join(f"[{letter.upper()}{letter}]" for letter in name) for name in MONTHS)
_CLOCK_PARTS = ("H", "M", "S")


class TextReaders:
    """What a query computes of the text and the dates of its table before the program's inputs, in two steps.

    Examples
    --------
    >>> from ecsel.export.program.program import InputColumn
    >>> from ecsel.export.targets.sql.dialects import DIALECTS
    >>> rate = InputColumn("rate", "number", None, (), True, NumberText("rate", unit="%"))
    >>> readers = TextReaders([rate], DIALECTS["duckdb"])
    >>> [name for name, _ in readers.texts("source")], [name for name, _ in readers.pieces()]
    (['raw0', 'text0'], ['raw0', 'text0', 'digits0', 'power0', 'sign0'])
    """

    def __init__(self, inputs: Iterable[InputColumn], dialect: Dialect) -> None:
        self.readers: dict[str, _Reader] = {}
        for each in inputs if dialect.reads_text else ():
            if (reading := each.prepared) is not None and reading.column not in self.readers:
                self.readers[reading.column] = _Reader(len(self.readers), reading, dialect)

    def texts(self, table: str) -> list[tuple[str, Node]]:
        """Return the first step: each column as it is, and its text without outer blanks."""
        return [named for name, reader in self.readers.items() for named in reader.texts(_column(name, table))]

    def pieces(self) -> list[tuple[str, Node]]:
        """Return the second step: digits, exponents and signs of numbers, and moments."""
        return [named for reader in self.readers.values() for named in reader.pieces()]

    def read(self, raw: InputColumn) -> Node | None:
        """Return an input in terms of the second step; None where it is simply a column of the table."""
        reading = raw.prepared
        if reading is None or reading.column not in self.readers:
            return None
        reader = self.readers[reading.column]
        if isinstance(reading, NumberText):
            return reader.number(reading)
        return reader.part(reading.parts[reading.names.index(raw.name)], reading)


class _Reader:
    """Expressions of one column of the table."""

    def __init__(self, j: int, reading: NumberText | DateReading, dialect: Dialect) -> None:
        self.j, self.reading, self.dialect = j, reading, dialect
        self.raw, self.text = _column(f"raw{j}"), _column(f"text{j}")

    def texts(self, source: Node) -> list[tuple[str, Node]]:
        outer = _text(f"^{_BLANK}+|{_BLANK}+$")
        stripped = _call("REGEXP_REPLACE", _cast(source.copy(), "TEXT"), outer, _text(""), _text("g"))
        return [(f"raw{self.j}", source), (f"text{self.j}", stripped)]

    def pieces(self) -> list[tuple[str, Node]]:
        if not isinstance(self.reading, NumberText):
            return [(f"moment{self.j}", self.moment(self.reading.form))]
        digits, power, sign = self.number_pieces(self.reading)
        own = [(f"raw{self.j}", self.raw), (f"text{self.j}", self.text)]
        return [*own, (f"digits{self.j}", digits), (f"power{self.j}", power), (f"sign{self.j}", sign)]

    def group(self, pattern: str) -> Node:
        """Return what the group of a pattern holds, nothing where the pattern does not match the text."""
        if self.dialect.name == "postgres":
            found = _call("SUBSTRING", self.text.copy(), _text(pattern))
            return _call("COALESCE", found, _text(""))
        return _call("REGEXP_EXTRACT", self.text.copy(), _text(pattern), _whole(1))

    def matches(self, pattern: str, text: Node) -> Node:
        """Return whether a pattern matches text."""
        if self.dialect.name == "postgres":
            return exp.Paren(this=exp.RegexpLike(this=text, expression=_text(pattern)))
        return _call("REGEXP_MATCHES", text, _text(pattern))

    @property
    def is_missing(self) -> Node:
        """Whether the column has no value, or a word that says so."""
        words = [_text(word) for word in sorted(MISSING_WORDS)]
        is_word = exp.In(this=_call("LOWER", self.text.copy()), expressions=words)
        return exp.Or(this=exp.Is(this=self.text.copy(), expression=exp.Null()), expression=is_word)

    @property
    def is_number(self) -> Node:
        """Whether the column is one of numbers by its type."""
        types = ["VARCHAR"] if self.dialect.name == "duckdb" else ["text", "character varying", "character", "name"]
        function = "TYPEOF" if self.dialect.name == "duckdb" else "PG_TYPEOF"
        own = _cast(_call(function, self.raw.copy()), "TEXT")
        return exp.Not(this=exp.In(this=own, expressions=[_text(each) for each in types]))

    def number_pieces(self, reading: NumberText) -> tuple[Node, Node, Node]:
        """Return the digits of a number with a point before decimals, its power of ten and its signs, as text."""
        units = "|".join(_escaped(unit) for unit in sorted(accepted_units(reading.unit), reverse=True) if unit)
        money = "|".join(map(_escaped, CURRENCIES))
        head = f"{_SIGN}?{_BLANK}*(?:{money})?{_BLANK}*{_SIGN}?"
        exponent, tail = "(?:[eE][-+]?\\d+)?", f"[.,]?{_BLANK}*(?:{units})?{_BLANK}*\\)?$"
        usual = [_text("".join(SPACES)), _text("".join(SPACES.values()))]
        digits = _call("TRANSLATE", self.group(f"^\\(?{head}({_DIGITS}){exponent}{tail}"), *usual)
        if reading.thousands:
            digits = _call("REPLACE", digits, _text(reading.thousands), _text(""))
        if reading.decimal != ".":
            digits = _call("REPLACE", digits, _text(reading.decimal), _text("."))
        power = self.group(f"^\\(?{head}(?:{_DIGITS})({exponent}){tail}")
        no_sign = _text(f"[^{_SIGN[1:]}")
        sign = _call("REGEXP_REPLACE", self.group(f"^\\(?({head})[\\d.,]"), no_sign, _text(""), _text("g"))
        return digits, power, sign

    def number(self, reading: NumberText) -> Node:
        """Return the number that the pieces make."""
        digits, power, sign = (_column(f"{piece}{self.j}") for piece in ("digits", "power", "sign"))
        minus = [_text("-"), _text("\N{MINUS SIGN}")]
        is_minus = exp.In(this=_call("SUBSTR", sign, _whole(1), _whole(1)), expressions=minus)
        opened = exp.Paren(this=exp.EQ(this=_call("LEFT", self.text.copy(), _whole(1)), expression=_text("(")))
        closed = exp.Paren(this=exp.EQ(this=_call("RIGHT", self.text.copy(), _whole(1)), expression=_text(")")))
        balanced = exp.EQ(this=opened, expression=closed)
        is_readable = exp.And(this=self.matches(_READABLE, digits), expression=balanced)
        is_negative = exp.NEQ(this=opened.copy(), expression=exp.Paren(this=is_minus))
        size = _cast(exp.DPipe(this=digits.copy(), expression=power), "DOUBLE")
        cases = [
            (self.is_number, _cast(self.raw.copy(), "DOUBLE")),
            (self.is_missing, exp.Null()),
            (is_readable, _case([(is_negative, exp.Neg(this=size))], size.copy())),
        ]
        return _case(cases, exp.Null() if reading.lenient else self._stop("no number: ", "DOUBLE"))

    def part(self, part: Part, reading: DateReading) -> Node:
        """Return a part of the moment."""
        moment = _column(f"moment{self.j}")
        reference = _text(reading.reference)
        if part == "weekday":
            days = [
                (exp.EQ(this=_extract("ISODOW", moment.copy()), expression=_whole(i)), _text(day))
                for i, day in enumerate(WEEKDAYS, start=1)
            ]
            return _case(days, exp.Null())
        if part != "days":
            return _cast(_extract(part.upper(), moment), "DOUBLE")
        if reading.whole:
            return _cast(exp.Sub(this=_cast(moment, "DATE"), expression=_cast(reference, "DATE")), "DOUBLE")
        since = exp.Paren(this=exp.Sub(this=moment, expression=_cast(reference, "TIMESTAMP")))
        return exp.Div(this=_cast(_extract("EPOCH", since), "DOUBLE"), expression=_cast(_whole(86_400), "DOUBLE"))

    def moment(self, form: str) -> Node:
        """Return the moment that text tells, in the form of training or as year-month-day."""
        forms = dict.fromkeys([form, _ISO]) if form != TYPED else [_ISO]
        cases: list[tuple[Node, Node]] = [(self.is_missing, exp.Null())]
        for each in forms:
            strict = "|".join(f"(?:{_pattern(each, separator=sign)})" for sign in ("-", "/", "[.]"))
            cases.append(
                (self.matches(f"^(?:{strict})$", self.text.copy()), self._moment_of(each, fractions=form == TYPED))
            )
        return _case(cases, self._stop("no date: ", "TIMESTAMP"))

    def _moment_of(self, form: str, *, fractions: bool) -> Node:
        def found(group: str) -> Node:
            return self.group(f"^{_pattern(form, group, fractions=fractions)}$")

        def whole(group: str) -> Node:
            return _cast(found(group), "INT")

        year = whole("y")
        if "\\d{2})" in FORMS[form].pattern.split("(?P<y>")[1].partition("(?:[T")[0]:
            short = exp.EQ(this=_call("LENGTH", found("y")), expression=_whole(2))
            century = _case([(exp.GTE(this=whole("y"), expression=_whole(CENTURY)), _whole(1900))], _whole(2000))
            year = exp.Add(this=year, expression=_case([(short, century)], _whole(0)))
        if "(?P<b>" in FORMS[form].pattern:
            name = _call("LOWER", _call("LEFT", found("b"), _whole(3)))
            month = _case(
                [(exp.EQ(this=name.copy(), expression=_text(each)), _whole(i)) for each, i in MONTHS.items()],
                exp.Null(),
            )
        else:
            month = whole("m")
        day = whole("d") if "(?P<d>" in FORMS[form].pattern else _whole(1)
        clock = [_call("COALESCE", _call("NULLIF", found(each), _text("")), _text("0")) for each in _CLOCK_PARTS]
        hour, minute, second = _cast(clock[0], "INT"), _cast(clock[1], "INT"), _cast(clock[2], "DOUBLE")
        half = _call("LOWER", found("half"))
        noon = exp.Add(this=exp.Mod(this=hour.copy(), expression=_whole(12)), expression=_whole(12))
        morning = exp.Mod(this=hour.copy(), expression=_whole(12))
        hour = _case(
            [
                (exp.EQ(this=half, expression=_text("pm")), noon),
                (exp.EQ(this=half.copy(), expression=_text("am")), morning),
            ],
            hour,
        )
        return _call("MAKE_TIMESTAMP", year, month, day, hour, minute, second)

    def _stop(self, why: str, kind: str) -> Node:
        return _cast(exp.DPipe(this=_text(why), expression=self.text.copy()), kind)


def _pattern(form: str, wanted: str = "", separator: str = "[-/.]", *, fractions: bool = False) -> str:
    """Return the pattern of a form with one group that is captured, and one way to separate its parts."""
    pattern = FORMS[form].pattern.replace("(?P<s>[-/.])", separator).replace("(?P=s)", separator)
    pattern = pattern.replace("[A-Za-z]{3,9}", f"(?:{_MONTH_NAMES})[A-Za-z]{{0,6}}")
    pattern = pattern.replace("[-+]\\d{2}:?\\d{2}", "[-+]\\d{2}(?::?\\d{2})?")  # databases write +00
    if fractions:
        pattern = pattern.replace("(?P<S>\\d{2})(?:[.,]\\d+)?", "(?P<S>\\d{2}(?:[.]\\d+)?)")
    pattern = pattern.replace("\\s", _BLANK)
    return re.sub(r"\(\?P<(\w+)>", lambda found: "(" if found[1] == wanted else "(?:", pattern)


def _escaped(text: str) -> str:
    """Return text as a pattern that matches it, in every kind of regular expression."""
    return "".join(f"[{each}]" if each in ".$|()[{}*+?/" else f"\\{each}" if each in "\\^]" else each for each in text)


def _column(text: str, table: str | None = None) -> Node:
    quoted = exp.Identifier(this=text, quoted=True)
    return exp.Column(this=quoted, table=None if table is None else exp.Identifier(this=table, quoted=True))


def _call(function: str, *operands: Node) -> Node:
    return exp.Anonymous(this=function, expressions=list(operands))


def _text(value: str) -> Node:
    return exp.Literal.string(value)


def _whole(value: int) -> Node:
    return exp.Literal.number(value)


def _cast(node: Node, kind: str) -> Node:
    return exp.Cast(this=node, to=exp.DataType.build(kind))


def _extract(field: str, moment: Node) -> Node:
    return exp.Extract(this=exp.Var(this=field), expression=moment)


def _case(cases: Iterable[tuple[Node, Node]], otherwise: Node) -> Node:
    return exp.Case(ifs=[exp.If(this=condition, true=value) for condition, value in cases], default=otherwise)
