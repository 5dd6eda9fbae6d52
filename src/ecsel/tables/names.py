"""Names of features: `column`, and text in brackets for what is computed from a column, `[contract = two year]`.

Equations print and parse a name in brackets as it is, so that its content holds no brackets, backticks or characters
that do not print. Column names and levels are data and may hold anything: such characters are replaced, and where two
features would then have one name, the later gets a number.
"""

from __future__ import annotations

import unicodedata
from collections import Counter
from dataclasses import replace
from typing import TYPE_CHECKING

from ecsel.tables.features import CutKind, Feature, Level, canonical_level

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

_REPLACED = str.maketrans({"[": "(", "]": ")", "`": "'"})
_CUT_WORDS: dict[CutKind, str] = {"step": ">", "above": "above", "below": "below"}


def level_name(column: str, level: Level) -> str:
    r"""Return the name of the indicator of a level.

    Examples
    --------
    >>> level_name("contract", "two year"), level_name("cp", 0), level_name("a[0]", "line\nbreak")
    ('[contract = two year]', '[cp = 0]', '[a(0) = line\\nbreak]')
    """
    return f"[{_printable(f'{column} = {level}')}]"


def missing_name(column: str) -> str:
    """Return the name of the indicator of a missing value.

    Examples
    --------
    >>> missing_name("age")
    '[age missing]'
    """
    return f"[{_printable(column)} missing]"


def cut_name(column: str, kind: CutKind, cut: float) -> str:
    """Return the name of a step or a hinge.

    Examples
    --------
    >>> cut_name("x", "step", 4.0), cut_name("x", "above", 0.35)
    ('[x > 4]', '[x above 0.35]')
    """
    number = canonical_level(cut) if abs(cut) < 1e16 else cut
    return f"[{_printable(column)} {_CUT_WORDS[kind]} {number}]"


def with_distinct_names(features: Sequence[Feature], taken: Iterable[str]) -> tuple[Feature, ...]:
    """Return raw features of which no two have one name; the names of columns are `taken`.

    Examples
    --------
    >>> twins = [Feature(level_name("c", level), "c", "level", 1.0, 0.0, 0.0, 1.0, 0.0, level) for level in (1, "1")]
    >>> [feature.name for feature in with_distinct_names(twins, ["c"])]
    ['[c = 1]', '[c = 1 #2]']
    """
    seen = set(taken)
    renamed = []
    for feature in features:
        name, n = feature.name, 1
        while name in seen and feature.kind not in {"number", "ordinal"}:  # these have the names of their columns
            n += 1
            name = f"{feature.name[:-1]} #{n}]"
        seen.add(name)
        renamed.append(feature if n == 1 else replace(feature, name=name))
    return tuple(renamed)


def refuse_equal_names(features: Sequence[Feature]) -> None:
    """Refuse positive features of which two have one name."""
    for name, count in Counter(feature.name for feature in features).items():
        if count > 1:
            columns = sorted({feature.column for feature in features if feature.name == name})
            raise ValueError(
                f"Two features would be named {name!r} (from {', '.join(map(repr, columns))}): rename a column or a "
                "level, or declare the level missing with missing_codes."
            )


def _printable(text: str) -> str:
    text = text.translate(_REPLACED)
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() else _escaped(c) for c in text)


def _escaped(character: str) -> str:
    is_space = unicodedata.category(character) == "Zs"
    return " " if is_space else character.encode("unicode_escape").decode("ascii")
