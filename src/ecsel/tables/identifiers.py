"""Columns that name rows instead of describing them: they take no part in an equation.

- Text of which no level has enough rows to learn from, and text with more different values than half of the rows.
- Whole numbers of a data frame that are all different, and that run without a gap, have the name of an identifier, or
  have the same number of digits throughout and are unrelated to the target and to every other column of numbers.

A column whose name speaks of time or of a quantity is never taken for one by its numbers, and `keep` keeps any column.
"""

from __future__ import annotations

import math
import re
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

IDENTIFIER_ROWS = 20
"""Fewer rows cannot tell an identifier from levels or numbers."""
IDENTIFIER_SHARE = 0.5
"""Text with more different values than this share of the rows tells rows apart, not kinds of rows."""
FREQUENT_ROWS = 5.0
"""A level of so many rows is more than a name."""
RELATED_ROWS = 100
"""Rows from which on the lack of a relation says something."""
RELATED = 4.0
"""Rank correlations below this many standard errors are none; about one in 15 000 of unrelated columns is above."""
GLANCE_ROWS = 5000

ID_NAME = re.compile(
    r"(^|[^a-zA-Z])(id|uuid|guid|no|nr|key|ref|index|idx|rownum|row|serial|unnamed)$|[a-z](ID|Id|No|Nr|Key)$"
    r"|^(unnamed: \d+|(customer|client|account|order|loan|member|user|case|record|row)_?(number|num|code))$",
    re.IGNORECASE,
)
TIME_NAME = re.compile(
    r"(^|[^a-z])(t|time|timestamp|year|month|week|day|date|hour|minute|second|step|age|period)s?([^a-z]|$)"
)


def text_identifier(n_rows: int, counts: Floats, least: float) -> str | None:
    """Return why a column of text is left out, None where it is not.

    `counts` are the rows of every level, `least` the rows that a level needs to be distinguished from the others.

    >>> text_identifier(30, np.ones(30), 1.0)
    'looks like an identifier: 30 different texts in 30 rows'
    >>> text_identifier(6000, np.full(300, 20.0), 30.0)
    'none of its 300 levels has 30 rows or more'
    """
    different = len(counts)
    if n_rows <= IDENTIFIER_ROWS:
        return None
    top = float(counts.max())
    crowded = different > IDENTIFIER_ROWS and different > IDENTIFIER_SHARE * n_rows
    if crowded and top < max(least, FREQUENT_ROWS):
        return f"looks like an identifier: {different} different texts in {n_rows} rows"
    if top < least:
        return f"none of its {different} levels has {math.ceil(least)} rows or more"
    return None


def number_identifier(name: str, values: Floats, others: Sequence[Floats]) -> str | None:
    """Return why a column of whole numbers is left out, None where it is not; `others` may be related to it.

    >>> number_identifier("row", np.arange(100.0, 130.0), ())
    'whole numbers without a gap or a repetition'
    >>> number_identifier("year", np.arange(1990.0, 2021.0), ()) is None
    True
    """
    n = values.size
    if n <= IDENTIFIER_ROWS or TIME_NAME.search(name.lower()):
        return None
    if not all_different(values):
        return None
    if values.max() - values.min() + 1 == n:
        return "whole numbers without a gap or a repetition"
    if ID_NAME.search(name):
        return "whole numbers, all different, under the name of an identifier"
    digits = np.floor(np.log10(np.maximum(np.abs(values[[values.argmin(), values.argmax()]]), 1.0)))
    if n < RELATED_ROWS or digits[0] != digits[1] or not others or _related(values, others):
        return None
    return "whole numbers, all different and unrelated to everything else"


def all_different(values: Floats) -> bool:
    """Whether a column holds whole numbers of which no two are equal.

    >>> all_different(np.array([3.0, 1.0, 2.0])), all_different(np.array([3.0, 1.0, 3.0]))
    (True, False)
    """
    few = values[:IDENTIFIER_ROWS]  # their first rows decide most columns
    if (few != np.floor(few)).any() or np.unique(few).size < few.size:
        return False
    return bool((values == np.floor(values)).all()) and np.unique(values).size == values.size


def _related(values: Floats, others: Sequence[Floats]) -> bool:
    """Whether a column has a rank correlation with any of the others."""
    from scipy.stats import rankdata  # noqa: PLC0415 - heavy, and seldom needed

    rows = slice(None, None, max(1, values.size // GLANCE_ROWS))
    own = rankdata(values[rows])
    for other in others:
        theirs = other[rows]
        known = np.isfinite(theirs)
        if known.sum() < RELATED_ROWS or np.ptp(theirs[known]) == 0:
            continue
        r = np.corrcoef(own[known], rankdata(theirs[known]))[0, 1]
        if abs(r) > RELATED / np.sqrt(known.sum()):
            return True
    return False
