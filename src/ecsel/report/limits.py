"""What a reader must know before relying on the model: from the rows themselves, then from the author."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ecsel.report.wording import count, percent
from ecsel.signomial.text import format_name

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ecsel.report.evidence import Evidence

FEW_ROWS = 50
RARE = 0.1
SMALL_TABLE = 200

ALWAYS = (
    "The equation describes which values occurred together in the training rows, not what causes what. A change that "
    "moves the prediction need not change the outcome."
)


def limits(evidence: Evidence, own: Sequence[str]) -> tuple[str, ...]:
    """Return sentences; those of the author come first."""
    found = list(own)
    n = len(evidence.training)
    if evidence.held_out:
        found.append(
            f"The figures were measured on {count(len(evidence.evaluated))} held-out rows, which the model had not "
            "seen. "
            "Rows from another time or place may differ."
        )
    else:
        in_folds = evidence.view.has_classes and evidence.view.estimator.out_of_fold_ is not None
        what = "The charts, tables and groups" if in_folds else "The figures"
        found.append(
            f"{what} use the rows that the model was fitted on, so they look too good. Only held-out rows would judge "
            "it fairly."
        )
    if n < SMALL_TABLE:
        found.append(f"The model was fitted on only {count(n)} rows; other rows could give another equation.")
    found += _classes(evidence) if evidence.view.has_classes else []
    found += _range(evidence)
    unused = [name for j, name in enumerate(evidence.view.raw_names) if j not in set(evidence.used.tolist())]
    if unused:
        text = listed([format_name(name) for name in unused])
        found.append(f"The equation does not use these columns, so they change nothing: {text}.")
    return (*found, ALWAYS)


def _classes(evidence: Evidence) -> list[str]:
    counts = np.bincount(evidence.evaluated.truth, minlength=len(evidence.view.classes)).tolist()
    by_class = [(format_name(label), n) for label, n in zip(evidence.view.classes, counts, strict=True)]
    few = [f"{label} ({count(n)})" for label, n in by_class if n < FEW_ROWS]
    rare = [f"{label} ({percent(n / sum(counts))})" for label, n in by_class if FEW_ROWS <= n < RARE * sum(counts)]
    found = []
    if few:
        found.append(f"These classes have few judged rows, so their figures are rough: {listed(few)}.")
    if rare:
        found.append(f"Accuracy says little about classes that are rare among the judged rows: {listed(rare)}.")
    return found


def _range(evidence: Evidence) -> list[str]:
    """Tell what happens outside of the training range, and how often it does."""
    encoder = evidence.view.encoder
    if encoder is None:
        return ["Outside the ranges in the table above, the law extrapolates."]
    clip = "Values below a training minimum count as that minimum; above the maximum the equation extrapolates."
    if encoder.is_raw:
        clip = "A value outside its training range counts as the nearest end of that range."
    rule = {
        "clip": clip,
        "extrapolate": "Outside the training ranges the equation extrapolates.",
        "error": "Rows outside the training ranges are refused.",
    }[encoder.out_of_range]
    columns = encoder.transform_report(evidence.evaluated.table).columns
    outside = {format_name(c.column): n for c in columns if (n := c.n_below + c.n_above)}
    unknown = {format_name(c.column): c.n_unknown for c in columns if c.n_unknown}
    found = [rule]
    for counts, what in ((outside, "outside the training range"), (unknown, "with a level that training never saw")):
        if counts:
            text = listed([f"{name} ({count(n)})" for name, n in counts.items()])
            found.append(f"Judged rows {what}, by column: {text}.")
    return found


def listed(texts: Sequence[str], most: int = 12) -> str:
    """Return texts as a list in a sentence, cut where it would be long.

    >>> listed(["a", "b", "c"], most=2)
    'a, b and 1 more'
    """
    more = f" and {len(texts) - most} more" if len(texts) > most else ""
    return ", ".join(texts[:most]) + more
