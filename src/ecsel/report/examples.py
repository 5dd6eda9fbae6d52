"""A few telling rows, explained: why the model decides as it does, in words, and the nearest change of its mind."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from ecsel import explain
from ecsel.report.wording import exact, number, percent
from ecsel.signomial.text import format_name

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

    from ecsel.explain import Counterfactual
    from ecsel.report.evidence import Evidence

MAX_REASONS = 4
"""Reasons of one example."""
MAX_CHANGES = 2
"""Ways to another class that one example names."""


@dataclass(frozen=True, slots=True)
class Example:
    """One explained row."""

    position: int
    """Among the evaluated rows."""
    heading: str
    row: str
    outcome: str
    """The prediction, with its probability."""
    truth: str
    right: bool | None
    """None for a regression."""
    reasons: tuple[str, ...]
    changes: tuple[str, ...]


def examples(
    evidence: Evidence, immutable: Collection[Any], column_texts: Mapping[str, str] | None = None
) -> tuple[Example, ...]:
    """Choose rows and explain them; columns that nobody can change stay as they are in the nearest changes."""
    chosen = _telling_classes(evidence) if evidence.view.has_classes else _telling_values(evidence)
    rows = evidence.evaluated.take(np.array(list(chosen), dtype=np.intp))
    words = explain.reasons(
        evidence.view, rows, MAX_REASONS, baseline=evidence.baseline, column_texts=column_texts
    ).texts
    names = {repr(label): format_name(label) for label in evidence.view.classes}
    words = tuple(tuple(_named(text, names) for text in texts) for texts in words)
    return tuple(
        _example(evidence, position, why, texts, immutable)
        for (position, why), texts in zip(chosen.items(), words, strict=True)
    )


def _named(text: str, names: Mapping[str, str]) -> str:
    """Return a reason that calls classes by their names, as the rest of the page does, not as Python writes them."""
    for written, name in names.items():
        for before in ("log-odds of ", "against "):
            text = text.replace(before + written, before + name)
    return text


def _telling_classes(evidence: Evidence) -> dict[int, str]:
    """Return the closest call, the surest right decisions and the surest mistake, each with why it is shown."""
    view, rows = evidence.view, evidence.evaluated
    at = np.arange(len(rows))
    sure = rows.outputs[at, rows.decided]
    if view.threshold is not None:
        margin = np.abs(rows.outputs[:, 1] - view.threshold)
    else:
        ordered = np.sort(rows.outputs, axis=1)
        margin = ordered[:, -1] - ordered[:, -2]
    chosen = {int(margin.argmin()): "The closest call"}
    right = rows.decided == rows.truth
    for c, label in list(enumerate(view.classes))[:3]:
        if (hits := np.flatnonzero(right & (rows.decided == c))).size:
            chosen.setdefault(int(hits[sure[hits].argmax()]), f"The surest right decision for {format_name(label)}")
    if (misses := np.flatnonzero(~right)).size:
        chosen.setdefault(int(misses[sure[misses].argmax()]), "The surest mistake")
    return chosen


def _telling_values(evidence: Evidence) -> dict[int, str]:
    rows = evidence.evaluated
    predicted, residual = rows.outputs[:, 0], rows.truth - rows.outputs[:, 0]
    chosen = {int(np.abs(predicted - np.median(predicted)).argmin()): "A prediction in the middle"}
    chosen.setdefault(int(predicted.argmax()), "The highest prediction")
    chosen.setdefault(int(predicted.argmin()), "The lowest prediction")
    chosen.setdefault(int(np.abs(residual).argmax()), "The largest error")
    return chosen


def _example(
    evidence: Evidence, position: int, why: str, texts: tuple[str, ...], immutable: Collection[Any]
) -> Example:
    view, rows = evidence.view, evidence.evaluated
    output = rows.outputs[position]
    if view.has_classes:
        decided = int(rows.decided[position])
        outcome = f"{format_name(view.classes[decided])} with probability {percent(float(output[decided]))}"
        truth, right = format_name(view.classes[int(rows.truth[position])]), bool(rows.truth[position] == decided)
    else:
        outcome, truth, right = number(float(output[0])), number(float(rows.truth[position])), None
    return Example(
        position,
        why,
        f"Row {format_name(rows.labels[position])}",
        outcome,
        truth,
        right,
        texts,
        _changes(evidence, position, immutable) if view.has_classes else (),
    )


def _changes(evidence: Evidence, position: int, immutable: Collection[Any]) -> tuple[str, ...]:
    answers = explain.counterfactual(
        evidence.view,
        evidence.evaluated.take(np.array([position])),
        n=MAX_CHANGES,
        immutable=immutable,
        data=evidence.training.table if evidence.view.encoder is not None else None,
    )
    return tuple(_in_words(answer) for answer in answers if answer.changes)


def _in_words(answer: Counterfactual) -> str:
    verbs = [" were", *[""] * (len(answer.changes) - 1)]
    moves = [
        f"{format_name(name)}{verb} {exact(after)} instead of {exact(before)}"  # these very values were confirmed
        for verb, (name, (before, after)) in zip(verbs, answer.changes.items(), strict=True)
    ]
    *rest, last = moves
    what = f"{', '.join(rest)} and {last}" if rest else last
    chance = "" if answer.probability is None else f" (probability {percent(answer.probability)})"
    return f"If {what}: {format_name(answer.prediction)}{chance}."
