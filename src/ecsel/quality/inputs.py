"""What the measures are functions of: labels as codes, scores, probabilities and row weights, each checked once."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from ecsel._typing import Floats

Codes = NDArray[np.intp]


def binary_codes(y: Any) -> Codes:
    """Return 0 and 1 for the two labels of `y` in sorted order: the second one is the positive class.

    >>> binary_codes(["good", "bad", "good"])
    array([1, 0, 1])
    """
    labels = np.asarray(y)
    if labels.ndim != 1:
        raise ValueError(f"y must be one label per row, but its shape is {labels.shape}.")
    found, codes = np.unique(labels, return_inverse=True)
    if len(found) != 2:
        raise ValueError(f"y must hold two classes, but it has {len(found)}: {found[:5].tolist()}.")
    return codes.reshape(-1).astype(np.intp)


def class_codes(y: Any, n_classes: int, classes: Any = None) -> Codes:
    """Return the column of each label: its position in `classes`, by default the sorted labels of `y`."""
    labels = np.asarray(y)
    known = np.unique(labels) if classes is None else np.asarray(classes)
    if len(known) != n_classes:
        raise ValueError(
            f"the probabilities have {n_classes} classes, but there are {len(known)} labels: name them by classes=."
        )
    position = {label: c for c, label in enumerate(known.tolist())}
    unknown = [label for label in labels.tolist() if label not in position]
    if unknown:
        raise ValueError(f"y has the label {unknown[0]!r}, which is none of the classes {known.tolist()}.")
    return np.array([position[label] for label in labels.tolist()], dtype=np.intp)


def score_column(values: Any, n_rows: int, name: str = "scores") -> Floats:
    """Return one finite number per row."""
    column = np.asarray(values, dtype=np.float64)
    if column.shape != (n_rows,):
        raise ValueError(f"{name} must be one number per row, shape ({n_rows},), but the shape is {column.shape}.")
    if not np.isfinite(column).all():
        raise ValueError(f"{name} must be finite: {int((~np.isfinite(column)).sum())} of {n_rows} rows are not.")
    return column


def probability_table(probabilities: Any) -> Floats:
    """Return probabilities (rows, classes); a single column is the probability of the second of two classes."""
    table = np.asarray(probabilities, dtype=np.float64)
    if table.ndim == 1:
        table = np.column_stack([1 - table, table])
    if table.ndim != 2 or table.shape[1] < 2:
        raise ValueError(f"probabilities must have a column per class, but their shape is {table.shape}.")
    if not ((table >= 0) & (table <= 1)).all():
        raise ValueError("probabilities must lie between 0 and 1.")
    return table


def row_weights(sample_weight: Any, n_rows: int) -> Floats:
    """Return row weights, ones where none are given; an integer weight counts as that many rows."""
    if sample_weight is None:
        return np.ones(n_rows)
    weights = score_column(sample_weight, n_rows, "sample_weight")
    if (weights < 0).any() or not weights.any():
        raise ValueError("sample_weight must not be negative, nor zero in every row.")
    return weights
