"""Class labels and row weights: labels become codes, class weights multiply row weights."""

from __future__ import annotations

import math
import numbers
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import column_or_1d
from sklearn.utils.multiclass import check_classification_targets

from ecsel.estimators.options import is_number
from ecsel.tables.reading import refuse_other_arrays

Codes = NDArray[np.integer]

_COUNTED_FROM, _MAX_COUNTED = 10_000, 1000
_BLOCK_ROWS = 1 << 16


UNNAMED_TARGET = "y"
"""The left-hand side of an equation whose target has no name."""


def target_name(y: Any) -> str:
    """Return what a target is called: the name of a series, else `UNNAMED_TARGET`.

    >>> import pandas as pd
    >>> target_name(pd.Series([1.0, 2.0], name="period")), target_name([1.0, 2.0])
    ('period', 'y')
    """
    name = getattr(y, "name", None)
    return name if isinstance(name, str) and name else UNNAMED_TARGET


def encode_labels(
    y: NDArray[Any], weights: NDArray[np.float64] | None
) -> tuple[NDArray[Any], Codes, NDArray[np.float64]]:
    """Return the sorted classes, each row's code (a narrow integer where labels are), and the weights of the classes.

    Where `weights` are None, rows weigh one each. A class all of whose rows weigh nothing is refused.
    """
    classes, codes = _few_integers(y) or np.unique(y, return_inverse=True)
    codes = codes.reshape(-1)
    if len(classes) < 2:
        raise ValueError(
            f"ECSELClassifier needs samples of at least two classes, but the data contains only one class: "
            f"{classes[0]!r} ({len(y)} rows)."
        )
    total = _totals(codes, weights, len(classes))
    if (total <= 0).any():
        empty = classes[int(np.argmin(total))]
        raise ValueError(f"All rows of class {empty!r} have zero sample_weight: remove the class or weigh its rows.")
    return classes, codes, total


def _totals(codes: Codes, weights: NDArray[np.float64] | None, n_classes: int) -> NDArray[np.float64]:
    total = np.zeros(n_classes)
    for i in range(0, len(codes), _BLOCK_ROWS):
        block = slice(i, i + _BLOCK_ROWS)
        total += np.bincount(codes[block], weights=None if weights is None else weights[block], minlength=n_classes)
    return total


def _few_integers(y: NDArray[Any]) -> tuple[NDArray[Any], Codes] | None:
    """Return the classes and codes of whole numbers that lie close together, counted rather than sorted."""
    if y.dtype.kind not in "iub" or y.ndim != 1 or len(y) < _COUNTED_FROM:
        return None
    low, high = int(y.min()), int(y.max())
    if high - low >= _MAX_COUNTED:
        return None
    # narrow labels stay narrow: a wide copy of many is as large as a column, and counting makes one
    dtype, y = y.dtype, y.view(np.uint8) if y.dtype.kind == "b" else y
    places: Codes = y if low == 0 and np.can_cast(y.dtype, np.intp) else y.astype(np.intp) - low
    present = _totals(places, None, high - low + 1) > 0
    if not present.all():
        places = (np.cumsum(present) - 1)[places]
    return (np.flatnonzero(present) + low).astype(dtype), places


def known_codes(labels: NDArray[Any], classes: NDArray[Any]) -> NDArray[np.intp]:
    """Return the position of each label among the classes of a fitted model."""
    known = np.isin(labels, classes)
    if not known.all():
        unknown = labels[~known].tolist()[0]
        raise ValueError(f"y has the label {unknown!r}, which is none of the classes {classes.tolist()}.")
    return np.searchsorted(classes, labels).astype(np.intp)


def class_weights(rule: Any, classes: NDArray[Any], codes: Codes, weights: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the weight of each class.

    ``"balanced"`` gives n/(classes·n_c); a dict names the weight of each class (1 where it is silent); a number is a
    multiplier of the rarest class's balanced weight, the other classes keeping theirs.
    """
    n_classes = len(classes)
    if rule is None:
        return np.ones(n_classes)
    totals = np.bincount(codes, weights=weights, minlength=n_classes)
    balanced = totals.sum() / (n_classes * totals)
    if isinstance(rule, str):
        if rule != "balanced":
            raise ValueError(f"class_weight={rule!r} is not known: use None, 'balanced', a dict or a positive number.")
        return np.asarray(balanced)
    if isinstance(rule, Mapping):
        return _named_weights(rule, classes)
    if is_number(rule) and float(rule) > 0:
        balanced[int(np.argmin(totals))] *= float(rule)
        return np.asarray(balanced)
    raise ValueError(f"class_weight={rule!r} is not known: use None, 'balanced', a dict or a positive number.")


def _named_weights(rule: Mapping[Any, Any], classes: NDArray[Any]) -> NDArray[np.float64]:
    labels = classes.tolist()
    unknown = [label for label in rule if label not in labels]
    if unknown:
        raise ValueError(f"class_weight names {unknown[0]!r}, which is not a class: the classes are {labels}.")
    given = [rule.get(label, 1.0) for label in labels]
    if not all(is_number(weight) and weight >= 0 for weight in given) or not any(given):
        raise ValueError(f"class_weight={dict(rule)!r} must hold finite weights of at least 0, not all of them 0.")
    return np.array(given, dtype=np.float64)


def check_target(model: Any, n_rows: int, y: Any) -> NDArray[Any]:
    """Return the labels as a one-dimensional array as long as the table, none of them missing."""
    name = type(model).__name__
    if y is None:
        raise ValueError(f"This {name} estimator requires y to be passed, but the target y is None.")
    labels: NDArray[Any] = column_or_1d(_label_array(y), warn=True)
    if (
        np.isnan(labels).any()
        if labels.dtype.kind == "f"
        else labels.dtype.kind == "O" and any(map(_is_missing, _different(labels)))
    ):
        raise ValueError("y contains missing labels (NaN or None): drop or fill these rows.")
    if labels.dtype.kind == "f" and np.isinf(labels).any():
        raise ValueError("y contains infinite labels (inf): drop or replace these rows.")
    if labels.dtype.kind == "O" and len(kinds := {_kind(v) for v in _different(labels)}) > 1:
        raise ValueError(f"y mixes labels of different types ({', '.join(sorted(kinds))}): make them all text.")
    if len(labels) != n_rows:
        raise ValueError(
            f"Found input variables with inconsistent numbers of samples: X has {n_rows}, y {len(labels)}."
        )
    check_classification_targets(labels)
    return labels


def _label_array(y: Any) -> NDArray[Any]:
    """Return `y` as an array: numbers held as objects become numbers, a list of text and numbers stays what it is."""
    refuse_other_arrays(y=y)
    array = np.asarray(y)
    if array.dtype.kind == "O" and array.ndim == 1 and {_kind(v) for v in _different(array)} == {"number"}:
        plain = np.array(array.tolist())
        return plain if plain.dtype.kind in "biuf" else array
    if array.dtype.kind == "U" and isinstance(y, (list, tuple)) and len({_kind(v) for v in y}) > 1:
        return np.array(y, dtype=object)
    return array


def _different(labels: NDArray[Any]) -> list[Any]:
    """Return the different labels, or all where some have no hash."""
    every: list[Any] = labels.tolist()
    try:
        return [label for _, label in dict.fromkeys(zip(map(type, every), every, strict=True))]
    except TypeError:
        return every


def _kind(value: Any) -> str:
    """Return the kind of a label; numbers of every type, truth values included, are of one kind."""
    return "number" if isinstance(value, (bool, np.bool_, numbers.Number)) else type(value).__name__


def _is_missing(value: Any) -> bool:
    """Tell None, NaN and pandas' marks for missing, which are neither equal nor unequal to themselves."""
    if isinstance(value, float):
        return math.isnan(value)
    return value is None or type(value).__name__ in {"NAType", "NaTType"}


def check_weights(sample_weight: Any, n_rows: int) -> NDArray[np.float64]:
    """Return row weights; ones where none are given."""
    if sample_weight is None:
        return np.ones(n_rows)
    refuse_other_arrays(sample_weight=sample_weight)
    weights = np.asarray(sample_weight, dtype=np.float64)
    if weights.ndim != 1 or len(weights) != n_rows:
        raise ValueError(
            f"sample_weight must be one number per row: X has {n_rows} rows, its shape is {weights.shape}."
        )
    if not np.isfinite(weights).all() or (weights < 0).any():
        raise ValueError("sample_weight must be finite and not negative.")
    if not weights.any():
        raise ValueError("sample_weight is zero in every row: nothing can be fitted.")
    return weights


def target_numbers(y: Any, n_rows: int) -> NDArray[np.float64] | None:
    """Return a target as numbers, the codes of its classes or itself; None where it is none (reported later)."""
    try:
        values = np.asarray(y)
        if values.shape != (n_rows,):
            return None
        if values.dtype.kind in "fiu":
            return values.astype(np.float64)
        return np.unique(values.astype(str), return_inverse=True)[1].astype(np.float64)
    except (TypeError, ValueError):
        return None
