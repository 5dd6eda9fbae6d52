"""Columns that ask for a second look before a fit: leaks, what is known only afterwards, protected attributes.

leakage      one column alone nearly tells the target: a small tree on it reaches a balanced accuracy of `SEPARATES`, or
             its order is that of a quantity (rank correlation `FOLLOWS`)
afterwards   the name says that the value is known only after the outcome (`recoveries`, `last_payment`), or it shares
             a word with the target and tells much about it (`is_recid` and `two_year_recid`)
protected    the name is that of an attribute that laws on discrimination protect: sex, race, religion, age, …

Everything is looked up in at most `GLANCE_ROWS` rows, evenly spread. Fewer than `MIN_ROWS` rows cannot tell a leak from
a good column. A tree is grown only where the purity of `BINS` bins of the column promises that it would separate.
"""

from __future__ import annotations

import re
import warnings
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

import numpy as np

from ecsel.tables.columns import EmptyColumn, NumericColumn
from ecsel.tables.quantities import is_missing
from ecsel.tables.reading import read_table

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ecsel.tables.encoder import TableEncoder

    Floats = NDArray[np.float64]

CautionKind: TypeAlias = Literal["leakage", "afterwards", "protected"]

GLANCE_ROWS, MIN_ROWS, BINS = 20_000, 200, 64
SEPARATES = 0.95
"""The balanced accuracy of one column alone from which on it is suspected to know the answer."""
TELLS_MUCH = 0.75
"""The same for a column whose name shares a word with the target."""
MIN_WORD = 3
"""Letters of a word that two names can share by more than chance: an `a` or an `x1` says nothing."""
FOLLOWS = 0.999
"""The rank correlation with a quantity from which on a column is suspected."""

AFTERWARDS = re.compile(
    r"recover(y|ies|ed)|charge_?d?_?off|settlement|collection|last_(pa?yme?nt|pymnt)|total_(pa?yme?nt|pymnt|rec)(_|$)"
    r"|(^|_)(outcome|resolution|refund(ed)?|closed|closing|cancell?(ed|ation)|churn|discharge|death|died|final)(_|$)"
)
PROTECTED = frozenset(
    [
        "sex",
        "gender",
        "race",
        "ethnicity",
        "ethnic",
        "religion",
        "age",
        "nationality",
        "citizenship",
        "disability",
        "birth",
        "birthdate",
        "birthplace",
        "dob",
        "black",
        "hispanic",
        "latino",
        "marital",
        "married",
    ]
)
COMMON_WORDS = frozenset(
    [
        "class",
        "target",
        "label",
        "outcome",
        "status",
        "flag",
        "type",
        "value",
        "score",
        "result",
        "next",
        "month",
        "year",
        "loan",
        "is",
        "has",
        "the",
        "of",
        "in",
        "no",
        "yes",
    ]
)


class ColumnWarning(UserWarning):
    """A column asks for a second look: it may leak the target, be known too late, or be a protected attribute.

    ``warnings.filterwarnings("ignore", category=ecsel.ColumnWarning)`` silences it.

    Examples
    --------
    >>> import warnings, ecsel
    >>> with warnings.catch_warnings(record=True) as caught:
    ...     warnings.filterwarnings("ignore", category=ecsel.ColumnWarning)
    ...     warnings.warn("it may leak the target", ecsel.ColumnWarning)
    >>> len(caught)
    0
    """


@dataclass(frozen=True, slots=True)
class Caution:
    """One column that asks for a second look; `kind` is a fixed word that scripts may rely on."""

    kind: CautionKind
    column: str
    text: str


def find_cautions(
    encoder: TableEncoder, X: Any, target: Floats, target_name: str = "", *, classes: bool
) -> list[Caution]:
    """Return the columns that ask for a second look; `target` are class codes, or measurements.

    Examples
    --------
    >>> import pandas as pd
    >>> from ecsel.tables import TableEncoder
    >>> X = pd.DataFrame({"gender": ["f", "m"] * 150, "paid_back": [0.0] * 100 + [1.0] * 200})
    >>> encoder = TableEncoder.fit(X, scaling="raw")
    >>> [(c.kind, c.column) for c in find_cautions(encoder, X, np.array([0.0] * 100 + [1.0] * 200), classes=True)]
    [('leakage', 'paid_back'), ('protected', 'gender')]
    """
    table = read_table(X)
    if (stride := -(-table.n_rows // GLANCE_ROWS)) > 1:
        rows = slice(None, None, stride)
        table, target = table.slice(rows), target[rows]
    plain = encoder.read(table)
    words = {word for word in _words(target_name) - COMMON_WORDS if len(word) >= MIN_WORD}
    source = {name: reading.column for reading in encoder.readings for name in reading.names}
    found: dict[CautionKind, dict[str, Caution]] = {"leakage": {}, "afterwards": {}, "protected": {}}
    for j, column in enumerate(encoder.columns):
        if isinstance(column, EmptyColumn):
            continue
        name = source.get(column.name, column.name)
        if AFTERWARDS.search(_snake(name)):
            line = f"{name!r} sounds like something that is known only afterwards"
            found["afterwards"].setdefault(name, Caution("afterwards", name, line))
        if is_protected(name):
            line = f"{name!r} may be a protected attribute"
            found["protected"].setdefault(name, Caution("protected", name, line))
        if len(target) >= MIN_ROWS:
            values = _values(column, plain.columns[j], target, classes=classes)
            caution = _suspected(name, values, target, classes=classes, related=bool(_words(name) & words))
            if caution is not None:
                found[caution.kind].setdefault(name, caution)
    late = [each for name, each in found["afterwards"].items() if name not in found["leakage"]]
    return [*found["leakage"].values(), *late, *found["protected"].values()]


def _suspected(name: str, values: Floats | None, target: Floats, *, classes: bool, related: bool) -> Caution | None:
    """Return what the values of a column say of the target; `related` tells that the names share a word."""
    if values is None:
        return None
    if not classes:
        r = _following(values, target)
        line = f"{name!r} alone nearly tells the target (rank correlation {r:.4f})"
        return Caution("leakage", name, line) if r >= FOLLOWS else None
    accuracy = _alone(values, target.astype(np.intp), TELLS_MUCH if related else SEPARATES)
    how = f"balanced accuracy {accuracy:.3f}"
    if accuracy >= SEPARATES:
        return Caution("leakage", name, f"{name!r} alone nearly tells the target ({how})")
    if related and accuracy >= TELLS_MUCH:
        return Caution("afterwards", name, f"{name!r} shares a word with the target and tells much about it ({how})")
    return None


ADVICE: dict[CautionKind, str] = {
    "leakage": "is it known before the outcome? If not, leave it out",
    "afterwards": "is it known when the model is used? If not, leave it out",
    "protected": "may it be used? If not, leave it out",
}


def warn_cautions(cautions: list[Caution], *, stacklevel: int = 3) -> None:
    """Warn of every kind of caution once, with the columns."""
    for kind, advice in ADVICE.items():
        own = [each for each in cautions if each.kind == kind]
        if own:
            line = "; ".join(each.text for each in own[:6]) + (f" and {len(own) - 6} more" if len(own) > 6 else "")
            names = ", ".join(repr(each.column) for each in own)
            warnings.warn(f"{line}: {advice} with drop=[{names}].", ColumnWarning, stacklevel=stacklevel)


def is_protected(name: str) -> bool:
    """Whether a column has the name of a protected attribute.

    >>> [is_protected(name) for name in ("SEX", "wife_age", "ageGroup", "city of birth", "mileage", "average_income")]
    [True, True, True, True, False, False]
    """
    return bool(_words(name) & PROTECTED)


def _snake(name: str) -> str:
    return re.sub(r"[^a-z0-9]+", "_", re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name).lower())


def _words(name: str) -> frozenset[str]:
    return frozenset(word for word in _snake(name).split("_") if word)


def _values(column: Any, raw: Any, target: Floats, *, classes: bool) -> Floats | None:
    """Return a column as numbers: levels in the order of their mean target, missing values below everything."""
    if isinstance(column, NumericColumn):
        values = np.asarray(raw.numbers(), dtype=np.float64)
        missing = is_missing(values, column.missing_codes)
        if not missing.any():
            return values
        return np.where(missing, values[~missing].min() - 1.0 if not missing.all() else 0.0, values)
    if not classes:
        return None
    values = raw.objects().tolist()
    place = {level: code for code, level in enumerate(dict.fromkeys(values))}
    codes = np.fromiter((place[value] for value in values), dtype=np.intp, count=len(values))
    n_classes = int(target.max()) + 1
    counts = np.bincount(codes * n_classes + target.astype(np.intp), minlength=len(place) * n_classes)
    table = counts.reshape(len(place), n_classes) / np.bincount(target.astype(np.intp), minlength=n_classes)
    likeliest = table.argmax(axis=1)
    order = np.lexsort((table.max(axis=1) / table.sum(axis=1), likeliest))
    rank = np.empty(len(place))
    rank[order] = np.arange(len(place))
    return rank[codes]


def _alone(values: Floats, codes: NDArray[np.intp], wanted: float) -> float:
    """Return the balanced accuracy of a small tree on one column; 0 where it cannot reach what is wanted."""
    n_classes = int(codes.max()) + 1
    edges = np.unique(np.quantile(values, np.linspace(0, 1, BINS + 1)[1:-1]))
    bins = np.searchsorted(edges, values) + (len(edges) + 1) * np.isin(values, edges)  # a frequent value is its own bin
    sizes = np.bincount(codes, minlength=n_classes)
    purity = np.bincount(bins * n_classes + codes, minlength=(2 * len(edges) + 2) * n_classes)
    best = (purity.reshape(-1, n_classes) / np.maximum(sizes, 1)).max(axis=1).sum() / np.count_nonzero(sizes)
    if best < wanted:
        return 0.0
    from sklearn.metrics import balanced_accuracy_score  # noqa: PLC0415 - heavy, and seldom needed
    from sklearn.tree import DecisionTreeClassifier  # noqa: PLC0415

    tree = DecisionTreeClassifier(
        max_leaf_nodes=2 * n_classes, min_samples_leaf=5, class_weight="balanced", random_state=0
    )
    tree.fit(values[:, None], codes)
    return float(balanced_accuracy_score(codes, tree.predict(values[:, None])))


def _following(values: Floats, target: Floats) -> float:
    """Return the size of the rank correlation with a quantity."""
    from scipy.stats import spearmanr  # noqa: PLC0415 - heavy

    if np.unique(values).size <= 2 or np.ptp(target) == 0:
        return 0.0
    return abs(float(spearmanr(values, target).statistic))
