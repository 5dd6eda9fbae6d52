"""Why this decision: the strongest reasons of each row, in words.

The margin of the decision is M = z_c − z_r, with c the class in question and r its strongest rival (with a sigmoid one
of the two scores is 0; of a regression M is the prediction). Its exact Shapley values against one reference point, by
default a typical row, add up to M(x) − M(reference) whatever the number of terms. Those that push towards c are
the reasons for c.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from ecsel.explain.baseline import Baseline, resolve_baseline
from ecsel.explain.explanation import Explanation
from ecsel.explain.frames import frame_like, row_labels, table_values
from ecsel.explain.shapley import score_shapley
from ecsel.explain.view import ModelView
from ecsel.signomial.text import counted, for_people

if TYPE_CHECKING:
    from collections.abc import Mapping

    import numpy.typing as npt

    from ecsel._typing import Floats
    from ecsel.tables.features import Feature

HIGHER, LOWER = "a higher value", "a lower value"
"""What the reasons of a regression speak for."""


@dataclass(frozen=True, eq=False, kw_only=True, repr=False)
class Reasons(Explanation):
    """Contributions of the columns to the margin of the decision, (rows, columns), and the strongest in words.

    Examples
    --------
    >>> from ecsel import Signomial, explain
    >>> view = explain.ModelView.of_equations({"no": Signomial(), "yes": Signomial.parse("x - y")}, ["x", "y"])
    >>> found = explain.reasons(view, [[5.0, 1.0]], baseline=[[1.0, 1.0]])
    >>> found.toward, [found.feature_names[j] for j in found.ranked[0]]
    (('yes',), ['x'])
    """

    ranked: tuple[tuple[int, ...], ...]
    """For each row the positions of its reasons among the columns, strongest first."""
    texts: tuple[tuple[str, ...], ...]
    """For each row its reasons in words."""
    toward: tuple[Any, ...]
    """For each row the class that the reasons speak for."""
    against: tuple[Any, ...]
    """For each row the class that this one is weighed against: the likeliest of the others; None for a regression."""
    reference: str
    """What the rows are compared with, in words."""

    def to_frame(self) -> Any:
        """Return a frame with one line per row and reason."""
        labels = row_labels(self.table, len(self.ranked))
        lines = [
            (labels[i], rank, self.toward[i], self.feature_names[j], float(self.values[i, j]), self.texts[i][rank - 1])
            for i, reasons in enumerate(self.ranked)
            for rank, j in enumerate(reasons, start=1)
        ]
        columns: dict[str, npt.NDArray[Any]] = {}
        for position, name in enumerate(("row", "rank", "toward", "feature", "contribution", "reason")):
            column = np.empty(len(lines), dtype=object)
            column[:] = [line[position] for line in lines]
            columns[name] = column
        return frame_like(self.table, columns)

    def __repr__(self) -> str:
        rows, columns = counted(len(self.texts), "row"), counted(len(self.feature_names), "column")
        return f"Reasons({rows}, {columns}; print() tells them)"

    def __str__(self) -> str:
        return "\n".join(
            f"{label}: {'; '.join(texts) or 'nothing speaks for it'}"
            for label, texts in zip(row_labels(self.table, len(self.texts)), self.texts, strict=True)
        )


def reasons(
    model: Any,
    X: Any,
    n: int = 4,
    *,
    toward: Any = None,
    baseline: Any = None,
    column_texts: Mapping[str, str] | None = None,
) -> Reasons:
    """Return the strongest reasons of each row in words, as for a notice of adverse action.

    Parameters
    ----------
    model, X : ECSELClassifier, ECSELRegressor, Signomial or ModelView, and table
        The model, and the rows to explain.
    n : int, default=4
        Most reasons per row. Only columns that push towards the class are reasons for it.
    toward
        The class to give reasons for; by default the one that is predicted. For a regression, reasons are given for
        being above or below the reference.
    baseline : None, dict, row or Baseline, default=None
        What the rows are compared with: a typical row, given values, a row, or `class_mean`.
    column_texts : dict of column to str, optional
        Your own words, such as those of a notice of adverse action: a column that is a reason is described by its text
        alone, without a number. Columns without one are described as usual.

    Examples
    --------
    >>> from ecsel import Signomial
    >>> view = ModelView.of_equations({"no": Signomial.parse("4"), "yes": Signomial.parse("x*y")}, ["x", "y"])
    >>> print(reasons(view, [[1.0, 2.0]], baseline=[3.0, 2.0]))
    0: x = 1 (reference: 3) adds 4 to the log-odds of 'no' (100 %)
    >>> print(reasons(view, [[1.0, 2.0]], baseline=[3.0, 2.0], column_texts={"x": "Time at the address is short"}))
    0: Time at the address is short
    """
    if n < 1:
        raise ValueError(f"n must be at least 1, not {n}")
    view = ModelView.of(model)
    own_words = {view.column_position(name): str(text) for name, text in (column_texts or {}).items()}
    X = view.plain(X)
    rows = view.rows(X)
    start = resolve_baseline(view, X, baseline)
    parts = score_shapley(view, rows, start.point)
    at_x, at_start = view.scores_of(rows), view.scores_of(start.point)
    weights, labels, rivals = _direction(view, at_x, at_start, toward)
    values = np.einsum("ncp,nc->np", parts, weights)
    ranked = tuple(tuple(j for j in np.argsort(-row, kind="stable")[:n].tolist() if row[j] > 0) for row in values)
    return Reasons(
        name="contribution to the margin",
        values=values,
        axes=("row", "feature"),
        feature_names=view.raw_names,
        classes=view.classes,
        units="raw",
        base_values=(at_start * weights).sum(axis=1),
        view=view,
        table=X,
        ranked=ranked,
        texts=_in_words(view, X, start, values, ranked, _effects(view, labels, rivals), own_words),
        toward=labels,
        against=rivals,
        reference=start.description,
    )


def _direction(
    view: ModelView, scores: Floats, at_start: Floats, toward: Any
) -> tuple[Floats, tuple[Any, ...], tuple[Any, ...]]:
    """Return the weights (rows, scores) that make scores the margin, and the class and the rival of each row."""
    if not view.has_classes:
        up = scores[:, 0] >= at_start[0, 0]
        return np.where(up, 1.0, -1.0)[:, None], tuple(HIGHER if u else LOWER for u in up), (None,) * len(up)
    outputs = view.outputs_of(scores)
    chosen = view.decisions(outputs) if toward is None else np.full(len(scores), view.class_position(toward))
    labels = tuple(view.classes[c] for c in chosen)
    if view.link.has_reference:
        return np.where(chosen == 1, 1.0, -1.0)[:, None], labels, tuple(view.classes[1 - c] for c in chosen)
    others = outputs.copy()
    at = np.arange(len(scores))
    others[at, chosen] = -1.0
    rivals = others.argmax(axis=1)
    weights = np.zeros_like(scores)
    weights[at, rivals] = -1.0
    weights[at, chosen] = 1.0
    return weights, labels, tuple(view.classes[c] for c in rivals)


def _in_words(
    view: ModelView,
    X: Any,
    start: Baseline,
    values: Floats,
    ranked: tuple[tuple[int, ...], ...],
    effects: tuple[str, ...],
    own_words: Mapping[int, str],
) -> tuple[tuple[str, ...], ...]:
    cells = table_values(X)
    known = [reference_text(view, start, j) for j in range(len(view.raw_names))]
    compared = ["" if text is None else f" ({start.word}: {text})" for text in known]
    texts = []
    for i, columns in enumerate(ranked):
        total = values[i][values[i] > 0].sum()
        texts.append(
            tuple(
                own_words[j]
                if j in own_words
                else f"{view.raw_names[j]} {_state(cells[i, j])}{compared[j]} {effects[i].format(_size(values[i, j]))} "
                f"({100 * values[i, j] / total:.0f} %)"
                for j in columns
            )
        )
    return tuple(texts)


def _effects(view: ModelView, toward: tuple[Any, ...], against: tuple[Any, ...]) -> tuple[str, ...]:
    """Return for each row what its reasons do, with a place for the size."""
    if not view.has_classes:
        return tuple(f"{'raises' if each == HIGHER else 'lowers'} the prediction by {{}}" for each in toward)
    several = len(view.classes) > 2
    names = [f"{c!r} against {r!r}" if several else repr(c) for c, r in zip(toward, against, strict=True)]
    return tuple(f"adds {{}} to the log-odds of {name.replace('{', '{{').replace('}', '}}')}" for name in names)


def _size(value: float) -> str:
    """Return three digits of a contribution, without an exponent where a person would write none."""
    return for_people(float(f"{value:.3g}"))


def _state(value: Any) -> str:
    if value is None or value != value or type(value).__name__ == "NAType":  # noqa: PLR0124  # NaN is not itself
        return "is missing"
    is_number = isinstance(value, (int, float)) and not isinstance(value, bool)
    return f"= {value + 0.0:.6g}" if is_number else f"= {value}"  # not −0


def reference_text(view: ModelView, start: Baseline, j: int) -> str | None:
    """Return the value of a column at a reference point as text, if its features tell it."""
    for f in np.flatnonzero(view.feature_groups == j).tolist():
        value = float(start.point.values[0, f])
        text = for_people(value + 0.0) if view.encoder is None else _raw_text(view.encoder.features[f], value)
        if text is not None:
            return text
    return _other_level(view, j)


def _other_level(view: ModelView, j: int) -> str | None:
    """Return what is known of a column whose pieces are levels alone, none of which is that of the reference point."""
    if view.encoder is None:
        return None
    own = [view.encoder.features[f] for f in np.flatnonzero(view.feature_groups == j).tolist()]
    levels = [str(feature.level) for feature in own if feature.kind == "level" and feature.is_raw]
    if not levels or len(levels) < len(own):
        return None
    return f"not {levels[0]}" if len(levels) == 1 else f"none of {', '.join(levels)}"


def _raw_text(feature: Feature, value: float) -> str | None:
    """Return the raw value that a feature tells of: a number, or a level whose indicator is 1."""
    if feature.kind in ("numeric", "number"):
        return for_people(feature.raw_value(value) + 0.0)  # not −0
    if feature.kind == "level" and feature.is_raw and value == 1:
        return str(feature.level)
    if feature.cut is not None and feature.kind in ("above", "below") and value > 0:
        return for_people(feature.cut + value if feature.kind == "above" else feature.cut - value)
    return None
