"""Levels of text columns: spellings that differ in case or outer blanks are one level, rare levels are `other`.

A level is rare with fewer rows than

    max(0.5 % of n, min(20, 2 % of n)),

so that a level needs 20 rows in tables of 1 000 to 4 000 rows, 0.5 % of the rows in larger ones, and fewer in smaller
ones: 3 of 150 rows. Levels that training has never seen are `other` too, where training had rare ones.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import repeat
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

import numpy as np

from ecsel.tables.features import canonical_level
from ecsel.tables.raw import RawColumn

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ecsel.tables.features import Level

OTHER = "other"
MAX_QUOTED = 60
"""Letters of spellings that a note shows."""
RARE_ROWS, RARE_SHARE, RARE_SHARE_OF_FEW = 20.0, 0.005, 0.02

TRUTH_WORDS = {"no": "yes", "n": "y", "false": "true", "f": "t", "off": "on"}
"""Pairs of words that are one answer: the indicator of the second tells all."""


@dataclass(frozen=True, slots=True)
class LevelReading:
    """How the text of a column becomes levels.

    Attributes
    ----------
    column
        The column.
    levels
        The levels that stay as they are, missing codes among them.
    spellings
        Other ways to write a level, each with the level.
    other
        The level of all other text; None where training had no rare levels, so that new text is unknown.

    Examples
    --------
    >>> reading = LevelReading("use", ("car", "house"), (("Car ", "car"),), "other")
    >>> reading.plain(RawColumn("use", np.array(["Car ", "boat", None, "house"], dtype=object)))[0].source.tolist()
    ['car', 'other', None, 'house']
    """

    column: str
    levels: tuple[Level, ...]
    spellings: tuple[tuple[Level, Level], ...] = ()
    other: Level | None = None
    kind: ClassVar[str] = "levels"

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the columns that come out."""
        return (self.column,)

    def describe(self, name: str) -> str:
        """Return what new levels are, in words."""
        return "" if self.other is None else f"a level of {name!r}; all that are not listed count as {self.other!r}"

    def level_of(self) -> dict[Any, Any]:
        """Return the level of every text that training knew."""
        own: dict[Any, Any] = {None: None, **dict(self.spellings)}
        own.update({level: level for level in self.levels})
        if self.other is not None:
            own[self.other] = self.other
        return own

    def plain(self, raw: RawColumn) -> tuple[RawColumn, ...]:
        """Return the column with levels in the place of their spellings."""
        known = self.level_of()
        values = raw.objects().tolist()
        new = values if self.other is None else repeat(self.other)
        return (RawColumn(self.column, np.fromiter(map(known.get, values, new), dtype=object, count=len(values))),)


def rare_below(n_rows: int, total: float) -> float:
    """Return the training weight below which a level is rare; weights that are no numbers of rows count in proportion.

    Examples
    --------
    >>> rare_below(150, 150.0), rare_below(2000, 2000.0), rare_below(10_000, 10_000.0)
    (3.0, 20.0, 50.0)
    """
    return max(min(RARE_ROWS * min(1.0, total / n_rows), RARE_SHARE_OF_FEW * total), RARE_SHARE * total)


class LearnedLevels(NamedTuple):
    """The levels of a column with their weights, how they are read (None: as written), and notes."""

    totals: dict[str, float]
    reading: LevelReading | None
    notes: tuple[str, ...]


def _listed(texts: list[str]) -> str:
    """Return texts in quotes, as many as a line has room for.

    >>> _listed(["Car ", "car"]), _listed(["a" * 40, "b" * 40, "c"])
    ("'Car ', 'car'", "'aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa' and 2 more")
    """
    quoted = [repr(text if len(text) <= MAX_QUOTED else f"{text[: MAX_QUOTED - 1]}…") for text in texts]
    room = 1
    while room < len(quoted) and len(", ".join(quoted[: room + 1])) <= MAX_QUOTED:
        room += 1
    more = len(quoted) - room
    return ", ".join(quoted[:room]) + (f" and {more} more" if more else "")


def learn_levels(
    column: str, counts: Mapping[Any, float], least: float, codes: tuple[Level, ...], *, merge: bool
) -> LearnedLevels:
    """Merge spellings (where asked for) and levels of less than some weight; `codes` for missing values stay.

    Examples
    --------
    >>> learn_levels("c", {"a": 9, "A": 1, "b": 1, "d": 1}, 5.0, (), merge=True).totals
    {'a': 10.0, 'b': 1.0, 'd': 1.0}
    """
    texts: dict[str, float] = {}
    for value, weight in counts.items():
        texts[as_text(value)] = texts.get(as_text(value), 0.0) + weight
    level_of = merged_spellings(texts) if merge else {text: text for text in texts}
    totals: dict[str, float] = dict.fromkeys(level_of.values(), 0.0)
    for text, weight in texts.items():
        totals[level_of[text]] += weight
    notes: list[str] = []
    if len(totals) < len(texts):
        merged = _listed([text for text in sorted(texts) if text != level_of[text]])
        notes.append(f"{column!r}: levels that differ only in case or outer blanks are one ({merged}).")
    rare = {level for level, weight in totals.items() if weight < least}
    other = None
    if len(rare) > 1:
        other = next((level for level in totals if _key(level) == OTHER), OTHER)
        few = f"{len(rare)} of fewer than {math.ceil(least)} rows"
        notes.append(f"{column!r} has {len(totals)} levels; {few} are {other!r}.")
    gone = rare if other is not None else set()
    changed = {value: level_of[as_text(value)] for value in counts if level_of[as_text(value)] != value}
    reading = None
    if changed or other is not None:
        levels = (*sorted(level for level in totals if level not in gone), *codes)
        spellings = sorted(((value, level) for value, level in changed.items() if level not in gone), key=str)
        reading = LevelReading(column, levels, tuple(spellings), other)
    return LearnedLevels(totals, reading, tuple(notes))


def as_text(value: Any) -> str:
    """Return a value as the text of a level.

    >>> as_text("a "), as_text(1997.0)
    ('a ', '1997')
    """
    return value if isinstance(value, str) else str(canonical_level(value))


def merged_spellings(counts: Mapping[str, float]) -> dict[str, str]:
    """Return the level of every text: of those that differ in case or outer blanks alone, the most frequent, stripped.

    Examples
    --------
    >>> merged_spellings({"Other": 2, "other ": 5, "car": 1})
    {'Other': 'other', 'other ': 'other', 'car': 'car'}
    """
    best: dict[str, str] = {}
    for text in sorted(counts, key=lambda text: (-counts[text], text)):
        best.setdefault(_key(text), text.strip() or text)
    return {text: best[_key(text)] for text in counts}


def is_negative_answer(level: Any, levels: tuple[Any, ...]) -> bool:
    """Whether a level is the no of a column of yes and no, of which one indicator tells all.

    >>> is_negative_answer("No", ("No", "Yes")), is_negative_answer("No", ("No", "Perhaps", "Yes"))
    (True, False)
    """
    words = {_key(each) for each in levels if isinstance(each, str)}
    return isinstance(level, str) and len(levels) == 2 and words == {_key(level), TRUTH_WORDS.get(_key(level), "")}


def _key(text: str) -> str:
    """Return what spellings of one level share; a level of blanks alone is a level of its own."""
    return text.strip().casefold() or text
