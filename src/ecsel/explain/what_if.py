"""Exact answers to "what if" (property G2): scores and probabilities after any change of raw columns.

A factor of 1.2 is +20 % of the user's own value; amounts may be added, values and levels set. The changed row goes the
way of every other row, through clips, indicators, steps and missing values to the equations: nothing is approximated.
With plain powers of features that are multiplied by q the scores are z_c(x∘q) = Σ_k (Π_j q_j^β_ckj)·z_ck(x).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from ecsel.explain.changes import changed_table
from ecsel.explain.explanation import Explanation
from ecsel.explain.frames import frame_like, repeat_row, row_labels, table_values
from ecsel.explain.view import ModelView

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from ecsel._typing import Floats


@dataclass(frozen=True, eq=False, kw_only=True, repr=False)
class WhatIf(Explanation):
    """Outcomes after a change: ``values`` are probabilities (or predictions) after it, ``base_values`` before.

    Examples
    --------
    >>> from ecsel import Signomial, explain
    >>> result = explain.what_if(Signomial.parse("x*y**2"), [[1.0, 2.0]], {"y": 3.0})
    >>> result.base_values.tolist(), result.values.tolist()
    ([[4.0]], [[36.0]])
    """

    scores: Floats
    """(rows, scores) after the change."""
    base_scores: Floats
    """(rows, scores) before."""
    changed: Any = field(repr=False)
    """The changed table."""

    @property
    def probabilities(self) -> Floats:
        """The probabilities (rows, classes) after the change; a regression has none."""
        return self.values if self.view.has_classes else self.view.refuse_regression()

    @property
    def base_outputs(self) -> Floats:
        """The probabilities or predictions before the change."""
        return self.view.outputs_of(self.base_scores)

    @property
    def delta(self) -> Floats:
        """The change of the scores, (rows, scores)."""
        return self.scores - self.base_scores

    @property
    def probability_delta(self) -> Floats:
        """The change of the probabilities, (rows, classes)."""
        return self.probabilities - self.base_outputs

    def to_frame(self) -> Any:
        """Return a frame with the outcome of each row and class before and after the change."""
        n_rows, n_classes = self.values.shape
        labels = np.empty(n_classes, dtype=object)
        labels[:] = self.classes
        columns = {
            "row": np.repeat(row_labels(self.table, n_rows), n_classes),
            "class": np.tile(labels, n_rows),
            "before": self.base_outputs.ravel(),
            "after": self.values.ravel(),
            "change": (self.values - self.base_outputs).ravel(),
        }
        return frame_like(self.table, columns)


def what_if(
    model: Any,
    X: Any,
    factors: Mapping[Any, Any] | None = None,
    *,
    set: Mapping[Any, Any] | None = None,  # noqa: A002  # the word that users look for
    add: Mapping[Any, Any] | None = None,
) -> WhatIf:
    """Return the exact outcome of changing columns, all at once (property G2).

    Parameters
    ----------
    model, X : ECSELClassifier, ECSELRegressor, Signomial or ModelView, and table
        The model, and the rows as they are.
    factors : dict of column to factor, optional
        Multiply columns: 1.2 is +20 %. A categorical column takes a level.
    set : dict of column to value, optional
        Set columns to a value or a level.
    add : dict of column to amount, optional
        Add to columns. Every number may also be given per row.

    Returns
    -------
    WhatIf
        ``scores``, ``probabilities`` (of a classifier), ``delta`` and ``probability_delta``.

    Examples
    --------
    >>> from ecsel import Signomial
    >>> result = what_if(Signomial.parse("x**2*y"), [[1.0, 3.0]], {"x": 2}, add={"y": -1})
    >>> result.scores, result.delta
    (array([[8.]]), array([[5.]]))
    """
    view = ModelView.of(model)
    X = view.plain(X)
    after, names = changed_table(view, X, factors, set, add)
    # rows as they are lie outside the training range or not; only what the change leads to is warned of
    base_scores = view.scores_of(view.rows(X, warn=False))
    scores = view.scores_of(view.rows(after))
    return WhatIf(
        name="what if",
        values=view.outputs_of(scores),
        axes=("row", "class"),
        feature_names=names,
        classes=view.classes,
        units="raw",
        base_values=view.outputs_of(base_scores),
        view=view,
        table=X,
        scores=scores,
        base_scores=base_scores,
        changed=after,
    )


@dataclass(frozen=True, eq=False)
class Curves:
    """Outcomes along a range of factors, one column at a time, for one row.

    Examples
    --------
    >>> from ecsel import Signomial, explain
    >>> curves = explain.what_if_curves(Signomial.parse("x*y**2"), [[1.0, 2.0]], factors=[0.5, 1.0, 2.0])
    >>> curves.outputs[:, :, 0]
    array([[ 2.,  4.,  8.],
           [ 1.,  4., 16.]])
    """

    factors: Floats
    """(steps,)."""
    feature_names: tuple[str, ...]
    values: Floats
    """The values that the column takes, (features, steps)."""
    scores: Floats
    """(features, steps, scores)."""
    outputs: Floats
    """Probabilities (features, steps, classes), or predictions (features, steps, 1)."""
    view: ModelView = field(repr=False)

    def to_frame(self) -> Any:
        """Return a pandas frame with one line per column, step and class."""
        shape = self.outputs.shape
        names, labels = np.empty(shape[0], dtype=object), np.empty(shape[2], dtype=object)
        names[:], labels[:] = self.feature_names, self.view.classes
        columns = {
            "feature": np.broadcast_to(names[:, None, None], shape).ravel(),
            "factor": np.broadcast_to(self.factors[None, :, None], shape).ravel(),
            "value": np.broadcast_to(self.values[:, :, None], shape).ravel(),
            "class": np.broadcast_to(labels, shape).ravel(),
            "output": self.outputs.ravel(),
        }
        return frame_like(None, columns)


def what_if_curves(
    model: Any,
    x: Any,
    features: Sequence[Any] | None = None,
    factors: npt.ArrayLike | None = None,
) -> Curves:
    """Return exact outcomes (property G2) while one column at a time is multiplied by a range of factors.

    Parameters
    ----------
    model : ECSELClassifier, ECSELRegressor, Signomial or ModelView
        The model.
    x : table of one row
        The row.
    features : list of columns, optional
        By default all columns of numbers that the equations use.
    factors : array, optional
        Positive factors, by default 121 steps from 1/4 to 4.

    Examples
    --------
    >>> from ecsel import Signomial
    >>> what_if_curves(Signomial.parse("x**2*y"), [[1.0, 3.0]], factors=[1, 2]).scores[:, :, 0]
    array([[ 3., 12.],
           [ 3.,  6.]])
    """
    view = ModelView.of(model)
    x = view.plain(x)
    q = np.geomspace(0.25, 4.0, 121) if factors is None else np.asarray(factors, dtype=np.float64)
    names = _numeric_in_use(view) if features is None else tuple(features)
    if not names:
        raise ValueError("the equations use no column of numbers; name columns with features=")
    repeated = repeat_row(x, q.size)
    values, scores = [], []
    for name in names:
        if view.levels(view.column_position(name)) is not None:
            raise ValueError(f"column {name!r} is a category, which has no factors; use what_if with set=")
        after, _ = changed_table(view, repeated, {name: q}, None, None)
        values.append(table_values(after)[:, view.column_position(name)].astype(np.float64))
        scores.append(view.scores_of(view.rows(after, warn=False)))  # to leave the training range is the point
    return Curves(q, names, np.array(values), np.array(scores), np.array([view.outputs_of(z) for z in scores]), view)


def _numeric_in_use(view: ModelView) -> tuple[str, ...]:
    used = view.feature_groups[view.terms.uses.any(axis=0)]
    return tuple(name for j, name in enumerate(view.raw_names) if j in used and view.levels(j) is None)
