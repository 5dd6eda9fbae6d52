"""The data in a table: what each column holds, how it is spread, what is missing, and whether the equation uses it."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from ecsel.report.svg import bar, spark
from ecsel.report.wording import DASH, count, number, percent
from ecsel.signomial.text import format_name
from ecsel.tables import EmptyColumn
from ecsel.tables.levels import MISSING, UNKNOWN, level_codes

if TYPE_CHECKING:
    from ecsel.report.evidence import Evidence, Rows
    from ecsel.report.html import Html
    from ecsel.tables import Level

BINS = 20
"""Bars of a histogram of numbers."""
MAX_BARS = 12
"""Bars of the most frequent levels."""


@dataclass(frozen=True, slots=True)
class ColumnLine:
    """One column of the training table."""

    name: str
    kind: str
    typical: str
    """The median, or the most frequent level."""
    span: str
    """The range, or how many levels there are."""
    missing: str
    picture: Html | None
    used: bool


@dataclass(frozen=True, slots=True)
class ClassShare:
    """How often a class occurs."""

    label: str
    training: str
    """How many rows of training it has, with their share."""
    evaluated: str
    """The same of the evaluated rows."""
    bar: Html


@dataclass(frozen=True, slots=True)
class DataSummary:
    """The section on the data."""

    n_training: str
    n_evaluated: str
    columns: tuple[ColumnLine, ...]
    classes: tuple[ClassShare, ...]
    target: tuple[str, str, Html] | None
    """Of a regression the median of the target, its range and its histogram."""
    notes: tuple[str, ...]


def data_summary(evidence: Evidence) -> DataSummary:
    """Describe the training rows, and how many rows the model is evaluated on."""
    view, training, evaluated = evidence.view, evidence.training, evidence.evaluated
    used = set(evidence.used.tolist())
    columns = tuple(_column(training, j, used=j in used) for j in range(len(view.raw_names)))
    classes: tuple[ClassShare, ...] = ()
    target = None
    if view.has_classes:
        shares = [np.bincount(rows.truth, minlength=len(view.classes)) for rows in (training, evaluated)]
        top = float(shares[0].max()) / len(training)
        classes = tuple(
            ClassShare(
                format_name(label),
                f"{count(a)} ({percent(a / len(training))})",
                f"{count(b)} ({percent(b / len(evaluated))})",
                bar(a / len(training) / top),
            )
            for label, a, b in zip(view.classes, *shares, strict=True)
        )
    else:
        y = training.truth
        low, middle, high = np.quantile(y, [0, 0.5, 1], method="lower").tolist()
        target = (number(middle), f"{number(low)} to {number(high)}", spark(np.histogram(y, bins=BINS)[0]))
    notes = () if view.encoder is None else view.encoder.notes
    return DataSummary(count(len(training)), count(len(evaluated)), columns, classes, target, notes)


def _column(rows: Rows, j: int, *, used: bool) -> ColumnLine:
    name = format_name(rows.view.raw_names[j])
    levels = rows.view.levels(j)
    if levels is not None:
        return _levels(rows, j, name, levels, used=used)
    encoder = rows.view.encoder
    column = None if encoder is None else encoder.columns[j]
    if isinstance(column, EmptyColumn):
        if column.reason:  # it has values, which the model does not read
            return ColumnLine(name, "left out", DASH, DASH, DASH, None, used=False)
        return ColumnLine(name, "empty", DASH, DASH, percent(1.0), None, used=False)
    values = rows.numbers(j)
    present = values[~np.isnan(values)]
    missing = 1 - len(present) / len(values)
    if not len(present):
        return ColumnLine(name, "numbers", DASH, DASH, percent(missing), None, used)
    low, middle, high = np.quantile(present, [0, 0.5, 1], method="lower").tolist()  # the median of all sections
    kind = "whole numbers" if np.equal(present, np.round(present)).all() else "numbers"
    picture = spark(np.histogram(present, bins=BINS)[0]) if low < high else None
    return ColumnLine(name, kind, number(middle), f"{number(low)} to {number(high)}", _missing(missing), picture, used)


def _levels(rows: Rows, j: int, name: str, levels: tuple[Level, ...], *, used: bool) -> ColumnLine:
    column = rows.view.encoder.columns[j] if rows.view.encoder is not None else None
    codes = getattr(column, "missing_codes", ())
    found = level_codes(rows.columns[j], levels, codes).codes
    counts = Counter(found.tolist())
    tally = [counts.get(c, 0) for c in range(len(levels))]
    most = levels[int(np.argmax(tally))]
    known = len(found) - counts.get(MISSING, 0) - counts.get(UNKNOWN, 0)
    typical = f"{format_name(most)} ({percent(max(tally) / len(found), 0)})" if known else DASH
    ordered = sorted(tally, reverse=True)[:MAX_BARS]
    return ColumnLine(
        name,
        "ordered levels" if column is not None and column.kind == "ordinal" else "levels",
        typical,
        f"{len(levels)} levels",
        _missing(counts.get(MISSING, 0) / len(found)),
        spark(ordered),
        used,
    )


def _missing(share: float) -> str:
    return DASH if share == 0 else percent(share)
