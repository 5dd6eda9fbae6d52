"""What a careful analyst checks in a table before and after a fit, as pure functions of columns.

task          what the target is: classes or a quantity
identifiers   columns that name rows instead of describing them
separation    columns that tell the class all by themselves, which often means that they were filled in afterwards
tiny, rare    classes with few rows, or with a small share of them
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

import numpy as np

from ecsel.cli.wording import shown

if TYPE_CHECKING:
    from collections.abc import Mapping

    import pandas as pd

TaskKind: TypeAlias = Literal["classification", "regression"]
ColumnKind: TypeAlias = Literal["numbers", "levels", "yes/no", "dates", "empty", "constant"]

MOST_CLASSES = 10
"""A target of whole numbers with no more different ones is taken for classes."""

NOT_NUMBERS = "it holds no numbers"

IDENTIFIER_SHARE = 0.5
"""Text with more different values than this share of the rows tells rows apart, not kinds of rows."""

ID_NAME = re.compile(r"(^|[^a-zA-Z])(id|ID|Id|uuid|UUID|guid|GUID)$|[a-z]I[dD]$")

TINY_CLASS = 10
RARE_SHARE = 0.1
SEPARATES = 0.95
"""The balanced accuracy of one column alone from which on it is suspected to know the answer."""

FOLLOWS, FEW_ROWS = 0.999, 20
"""The rank correlation with a quantity from which on a column is suspected, and rows that are too few to tell."""

GLANCE_ROWS = 20_000
"""Rows that are looked at to see whether a column separates."""


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
    import pandas as pd

    present = target.dropna()
    n_different = present.nunique()
    if not pd.api.types.is_numeric_dtype(present.dtype) or pd.api.types.is_bool_dtype(present.dtype):
        return Task("classification", NOT_NUMBERS)
    if n_different == 2:
        return Task("classification", "two different values")
    if n_different <= MOST_CLASSES and bool((present == present.round()).all()):
        return Task("classification", f"only {n_different} different whole numbers")
    return Task("regression", f"{n_different} different numbers")


def column_kind(values: pd.Series[Any]) -> ColumnKind:
    """Return what a column holds."""
    import pandas as pd

    present = values.dropna()
    if present.empty:
        return "empty"
    if pd.api.types.is_datetime64_any_dtype(present.dtype) or pd.api.types.is_timedelta64_dtype(present.dtype):
        return "dates"
    if bool((present == present.iloc[0]).all()):
        return "constant"
    if pd.api.types.is_bool_dtype(present.dtype) or set(map(type, present.head(100))) <= {bool, np.bool_}:
        return "yes/no"
    return "numbers" if pd.api.types.is_numeric_dtype(present.dtype) else "levels"


def identifier(values: pd.Series[Any]) -> str | None:
    """Return why a column is taken for an identifier, None where it is not.

    >>> import pandas as pd
    >>> identifier(pd.Series([f"customer {i}" for i in range(30)]))
    '30 different texts in 30 rows'
    >>> identifier(pd.Series(range(100, 130)))
    'whole numbers without a gap or a repetition'
    """
    import pandas as pd

    from ecsel.tables.describing import IDENTIFIER_ROWS, MAX_LEVELS

    present = values.dropna()
    n, different = len(present), present.nunique()
    if n <= IDENTIFIER_ROWS:
        return None
    if not pd.api.types.is_numeric_dtype(present.dtype):
        crowded = different > IDENTIFIER_ROWS and different > IDENTIFIER_SHARE * n
        return f"{different} different texts in {n} rows" if crowded or different > MAX_LEVELS else None
    if different < n or not pd.api.types.is_integer_dtype(present.dtype):
        return None
    if int(present.max()) - int(present.min()) + 1 == n:
        return "whole numbers without a gap or a repetition"
    return "whole numbers, all different, under the name of an identifier" if ID_NAME.search(str(values.name)) else None


def coded_columns(X: pd.DataFrame) -> list[str]:
    """Return the columns of whole numbers with so few different ones that they may be codes of categories.

    >>> import pandas as pd
    >>> coded_columns(pd.DataFrame({"region": [1, 2, 3, 1, 2, 3], "yes": [0, 1, 0, 1, 0, 1], "age": range(6)}))
    ['region']
    """
    import pandas as pd

    whole = [name for name in X.columns if pd.api.types.is_integer_dtype(X[name].dtype)]
    return [str(name) for name in whole if 2 < X[name].nunique() <= min(MOST_CLASSES, len(X) // 2)]


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


def separating_columns(X: pd.DataFrame, codes: np.ndarray[Any, Any], seed: int = 0) -> dict[str, float]:
    """Return the columns that tell the class all by themselves, with the balanced accuracy of one alone.

    A tree of few leaves, none of fewer than five rows, is grown on each column alone; missing values and levels take
    part, since the absence of a value may tell the class too.
    """
    rows = np.arange(len(codes))
    if len(rows) > GLANCE_ROWS:
        rows = np.sort(np.random.default_rng(seed).choice(rows, GLANCE_ROWS, replace=False))
    found = {str(name): alone(X[name].iloc[rows], codes[rows]) for name in X.columns}
    return {name: accuracy for name, accuracy in found.items() if accuracy >= SEPARATES}


def alone(values: pd.Series[Any], codes: np.ndarray[Any, Any]) -> float:
    """Return the balanced accuracy with which a small tree tells the class from one column."""
    import pandas as pd
    from sklearn.metrics import balanced_accuracy_score
    from sklearn.tree import DecisionTreeClassifier

    if pd.api.types.is_numeric_dtype(values.dtype):
        x = values.to_numpy(dtype=np.float64, na_value=np.nan)
    else:
        # levels in the order of their commonest class, so that a split separates classes of levels
        text = values.astype("str").fillna("?")
        common = pd.Series(codes, index=text.index).groupby(text).agg(lambda part: part.mode().iloc[0])
        order = {level: i for i, level in enumerate(common.sort_values(kind="stable").index)}
        x = text.map(order).to_numpy(dtype=np.float64)
    n_classes = int(codes.max()) + 1
    tree = DecisionTreeClassifier(max_leaf_nodes=2 * n_classes, min_samples_leaf=5, class_weight="balanced")
    tree.fit(x[:, None], codes)
    return float(balanced_accuracy_score(codes, tree.predict(x[:, None])))


def following_columns(X: pd.DataFrame, y: np.ndarray[Any, Any]) -> dict[str, float]:
    """Return the columns of numbers whose order is that of the target, with the rank correlation."""
    import pandas as pd
    from scipy.stats import spearmanr

    found = {}
    for name in X.columns:
        known = X[name].notna().to_numpy()
        numeric = pd.api.types.is_numeric_dtype(X[name].dtype)
        if numeric and X[name].nunique() > 2 and known.sum() > FEW_ROWS:
            values = X[name].to_numpy(dtype=np.float64, na_value=np.nan)[known]
            found[str(name)] = float(spearmanr(values, y[known]).statistic)
    return {name: r for name, r in found.items() if abs(r) >= FOLLOWS}


def listed(names: list[str], most: int = 6) -> str:
    """Return names for people.

    >>> listed(["a", "b"]), listed(list("abcdefgh"), 3)
    ('a, b', 'a, b, c and 5 more')
    """
    told = ", ".join(map(shown, names[:most]))
    return told if len(names) <= most else f"{told} and {len(names) - most} more"
