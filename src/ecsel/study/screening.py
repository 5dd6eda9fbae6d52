"""What a careful analyst checks in a table before a fit, as pure functions of columns.

task          what the target is: classes or a quantity
codes         whole numbers that may be names of categories
tiny, rare    classes with few rows, or with a small share of them

How columns are read, what names rows, and what may leak is the matter of `ecsel.tables`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from ecsel.signomial.text import format_name

if TYPE_CHECKING:
    from collections.abc import Mapping

    import pandas as pd

TaskKind: TypeAlias = Literal["classification", "regression"]

MAX_CLASSES = 10
"""A target of whole numbers with no more different ones is taken for classes."""

NOT_NUMBERS = "it holds no numbers"

TINY_CLASS = 10
"""Rows below which a class is too small to be learned or measured."""
RARE_SHARE = 0.1
"""The share of the rows below which a class is called rare."""


@dataclass(frozen=True, slots=True)
class Task:
    """What the target asks for, and why it was taken so."""

    kind: TaskKind
    why: str


def detect_task(target: pd.Series[Any]) -> Task:
    """Return whether a target is classes or a quantity.

    >>> import pandas as pd
    >>> detect_task(pd.Series([0, 1, 1, 0]))
    Task(kind='classification', why='two different values')
    >>> detect_task(pd.Series([0.5, 1.5, 2.5])).kind
    'regression'
    """
    import pandas as pd  # noqa: PLC0415 - optional

    present = target.dropna()
    n_different = present.nunique()
    if not pd.api.types.is_numeric_dtype(present.dtype) or pd.api.types.is_bool_dtype(present.dtype):
        return Task("classification", NOT_NUMBERS)
    if n_different == 2:
        return Task("classification", "two different values")
    if n_different <= MAX_CLASSES and bool((present == present.round()).all()):
        return Task("classification", f"only {n_different} different whole numbers")
    return Task("regression", f"{n_different} different numbers")


def coded_columns(X: pd.DataFrame) -> list[str]:
    """Return the columns of whole numbers with so few different ones that they may be codes of categories.

    >>> import pandas as pd
    >>> coded_columns(pd.DataFrame({"region": [1, 2, 3, 1, 2, 3], "yes": [0, 1, 0, 1, 0, 1], "age": range(6)}))
    ['region']
    """
    import pandas as pd  # noqa: PLC0415 - optional

    whole = [name for name in X.columns if pd.api.types.is_integer_dtype(X[name].dtype)]
    return [str(name) for name in whole if 2 < X[name].nunique() <= min(MAX_CLASSES, len(X) // 2)]


def rare_class(counts: Mapping[Any, int]) -> tuple[Any, float] | None:
    """Return the rarest class and its share where that is small.

    >>> rare_class({"good": 95, "bad": 5})
    ('bad', 0.05)
    """
    label = min(counts, key=lambda each: counts[each])
    share = counts[label] / sum(counts.values())
    return (label, share) if share < RARE_SHARE else None


def tiny_classes(counts: Mapping[Any, int]) -> dict[Any, int]:
    """Return the classes that have too few rows to learn from.

    >>> tiny_classes({"a": 50, "b": 3})
    {'b': 3}
    """
    return {label: n for label, n in counts.items() if n < TINY_CLASS}


def listed(names: list[str], most: int = 6) -> str:
    """Return names for people.

    >>> listed(["a", "b"]), listed(list("abcdefgh"), 3)
    ('a, b', 'a, b, c and 5 more')
    """
    text = ", ".join(map(format_name, names[:most]))
    return text if len(names) <= most else f"{text} and {len(names) - most} more"
