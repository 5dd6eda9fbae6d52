"""Is the model as good for everyone? The same figures for each group of the evaluated rows.

Two classes: how often the second class occurs, how often it is decided, how many are found and how many are alarmed
wrongly, with Wilson's 95 % intervals. The ratio compares each group's rate of decisions with that of the largest group:
below 4/5 or above 5/4 it is marked, which is a sign to look closer and no verdict.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.stats import binomtest

from ecsel.report.wording import DASH, count, number, percent, value_text
from ecsel.signomial.text import format_name

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from ecsel.report.evidence import Evidence, Rows

    Mask = NDArray[np.bool_]

MAX_GROUPS = 12
QUARTERS = (0.25, 0.5, 0.75)
FEW_ROWS = 30
FOUR_FIFTHS = 0.8


@dataclass(frozen=True, slots=True)
class GroupLine:
    """The figures of one group."""

    name: str
    cells: tuple[str, ...]
    marked: bool
    """Whether the ratio is beyond four fifths."""
    few: bool


@dataclass(frozen=True, slots=True)
class Fairness:
    """The table by group."""

    by: str
    headings: tuple[str, ...]
    lines: tuple[GroupLine, ...]
    remarks: tuple[str, ...]


def fairness(evidence: Evidence, group: Any) -> Fairness | None:
    """Return the figures by a column or by one label per evaluated row; None without a group."""
    if group is None:
        return None
    by, masks = _groups(evidence, group)
    rows = evidence.evaluated
    few = any(mask.sum() < FEW_ROWS for mask in masks.values())
    remarks = [f"Groups of fewer than {FEW_ROWS} rows say little; they are set in grey."] if few else []
    if not evidence.view.has_classes:
        headings, line = _values(rows)
    elif len(evidence.view.classes) == 2:
        headings, line = _two_classes(rows, max(masks.values(), key=np.sum))
        remarks.append(
            "The ratio is a group's rate of decisions divided by that of the largest group. Below 0.80 or above 1.25 "
            "it is marked (the four-fifths rule): a sign to look closer, not a verdict. Rates carry 95 % intervals."
        )
    else:
        headings, line = _many_classes(rows)
    lines = tuple(line(name, mask) for name, mask in masks.items())
    return Fairness(by, headings, lines, tuple(remarks))


def _groups(evidence: Evidence, group: Any) -> tuple[str, dict[str, Mask]]:
    """Return what the groups are called, and the rows of each."""
    rows, view = evidence.evaluated, evidence.view
    if isinstance(group, str):
        j = view.column_position(group)
        by = format_name(group)
        if view.levels(j) is None:
            return by, _masks(rows.numbers(j))
        return by, _masks(np.array([value_text(cell) for cell in rows.cells(j)], dtype=object))
    values = np.asarray(group)
    if values.shape != (len(rows),):
        raise ValueError(
            f"group must be the name of a column or one label per row of the {evidence.evaluated_name}, shape "
            f"({len(rows)},), but its shape is {values.shape}."
        )
    name = getattr(group, "name", None)
    return format_name(name) if name else "the given groups", _masks(values)


def _masks(values: NDArray[Any]) -> dict[str, Mask]:
    if values.dtype.kind in "iuf" and len(np.unique(values[values == values])) > MAX_GROUPS:  # noqa: PLR0124  # NaN
        return _quarters(values.astype(np.float64))
    labels = np.array([value_text(value) for value in values.tolist()], dtype=object)
    names, sizes = np.unique(labels, return_counts=True)
    largest = [str(name) for name in names[np.argsort(-sizes, kind="stable")][:MAX_GROUPS]]
    masks = {name: labels == name for name in sorted(largest)}
    if len(names) > MAX_GROUPS:
        masks["all others"] = ~np.isin(labels, largest)
    return masks


def _quarters(values: NDArray[np.float64]) -> dict[str, Mask]:
    edges = np.unique(np.nanquantile(values, QUARTERS, method="lower"))
    ends = [-np.inf, *edges.tolist(), np.inf]
    masks = {}
    for low, high in pairwise(ends):
        mask = (values > low) & (values <= high)
        start = f"above {number(low)}" if np.isfinite(low) else ""
        stop = f"up to {number(high)}" if np.isfinite(high) else ""
        if mask.any():
            masks[f"{start}{', ' if start and stop else ''}{stop}"] = mask
    if np.isnan(values).any():
        masks["missing"] = np.isnan(values)
    return masks


_Line = tuple[tuple[str, ...], "Callable[[str, Mask], GroupLine]"]


def _two_classes(rows: Rows, reference: Mask) -> _Line:
    second = format_name(rows.view.classes[1])
    headings = (
        "rows",
        f"truly {second}",
        f"decided {second}",
        "ratio",
        f"recall: {second} found",
        "false alarms",
        f"precision: {second} right",
        "mean probability",
    )
    decided, truth, p = rows.decided == 1, rows.truth == 1, rows.outputs[:, 1]
    typical = float(decided[reference].mean())

    def line(name: str, mask: Mask) -> GroupLine:
        rate = float(decided[mask].mean())
        ratio = rate / typical if typical > 0 else None
        cells = (
            count(mask.sum()),
            _rate(truth, mask),
            _rate(decided, mask),
            DASH if ratio is None else f"{ratio:.2f}",
            _rate(decided, mask & truth),
            _rate(decided, mask & ~truth),
            _rate(truth, mask & decided),
            percent(float(p[mask].mean())),
        )
        marked = ratio is not None and not FOUR_FIFTHS <= ratio <= 1 / FOUR_FIFTHS
        return GroupLine(name, cells, marked, bool(mask.sum() < FEW_ROWS))

    return headings, line


def _many_classes(rows: Rows) -> _Line:
    labels = [format_name(label) for label in rows.view.classes]
    right = rows.decided == rows.truth

    def line(name: str, mask: Mask) -> GroupLine:
        decided = [percent(float((rows.decided[mask] == c).mean())) for c in range(len(labels))]
        cells = (count(mask.sum()), _rate(right, mask), *decided)
        return GroupLine(name, cells, marked=False, few=bool(mask.sum() < FEW_ROWS))

    return ("rows", "right decisions", *(f"decided {label}" for label in labels)), line


def _values(rows: Rows) -> _Line:
    residual = rows.truth - rows.outputs[:, 0]

    def line(name: str, mask: Mask) -> GroupLine:
        cells = (
            count(mask.sum()),
            number(float(rows.truth[mask].mean())),
            number(float(rows.outputs[mask, 0].mean())),
            number(float(residual[mask].mean())),
            number(float(np.abs(residual[mask]).mean())),
        )
        return GroupLine(name, cells, marked=False, few=bool(mask.sum() < FEW_ROWS))

    return ("rows", "mean truth", "mean prediction", "mean residual", "mean error"), line


def _rate(event: Mask, among: Mask) -> str:
    """Return a share with Wilson's interval; a dash where there are no rows."""
    n = int(among.sum())
    if n == 0:
        return DASH
    k = int((event & among).sum())
    interval = binomtest(k, n).proportion_ci(method="wilson")
    return f"{percent(k / n)} ({100 * interval.low:.0f}–{100 * interval.high:.0f})"
