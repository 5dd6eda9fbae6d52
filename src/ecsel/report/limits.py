"""What a reader must know before relying on the model: told by the rows themselves, then by the author."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ecsel.report.wording import count, percent, shown

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ecsel.report.evidence import Evidence

FEW_ROWS = 50
RARE = 0.1
SMALL_TABLE = 200

ALWAYS = (
    "The equation describes what went together in the training rows. It does not say that one causes the other, and a "
    "change that flips the model's decision need not change the world."
)


def limits(evidence: Evidence, own: Sequence[str]) -> tuple[str, ...]:
    """Return sentences; those of the author come first."""
    found = list(own)
    n = len(evidence.training)
    if evidence.held_out:
        found.append(
            f"The figures are of {count(len(evidence.judged))} held-out rows, which the model had not seen. Rows from "
            "another time or place may differ."
        )
    else:
        found.append(
            "The figures are of the very rows on which the model was fitted, so they are too good. Only held-out rows "
            "would judge it fairly."
        )
    if n < SMALL_TABLE:
        found.append(f"The model was fitted on {count(n)} rows only; other rows could give another equation.")
    found += _classes(evidence) if evidence.view.has_classes else []
    found += _range(evidence)
    unused = [name for j, name in enumerate(evidence.view.raw_names) if j not in set(evidence.used.tolist())]
    if unused:
        some = ", ".join(shown(name) for name in unused[:8])
        more = f" and {len(unused) - 8} more" if len(unused) > 8 else ""
        found.append(f"The equation does not use {some}{more}: their values change nothing.")
    return (*found, ALWAYS)


def _classes(evidence: Evidence) -> list[str]:
    counts = np.bincount(evidence.judged.truth, minlength=len(evidence.view.classes))
    found = []
    for label, n in zip(evidence.view.classes, counts.tolist(), strict=True):
        if n < FEW_ROWS:
            found.append(f"Only {count(n)} of the judged rows are {shown(label)}: figures about this class are rough.")
        elif n / counts.sum() < RARE:
            told = percent(n / counts.sum())
            found.append(f"Only {told} of the judged rows are {shown(label)}: accuracy alone says little.")
    return found


def _range(evidence: Evidence) -> list[str]:
    """Tell what happens outside of the training range, and how often it does."""
    encoder = evidence.view.encoder
    if encoder is None:
        return ["Outside of the ranges in the table above the law is an extrapolation."]
    rule = {
        "clip": "Values below a training minimum count as that minimum; above the maximum the equation extrapolates.",
        "extrapolate": "Outside of the training ranges the equation extrapolates.",
        "error": "Rows outside of the training ranges are refused.",
    }[encoder.out_of_range]
    found = [rule]
    n = len(evidence.judged)
    for column in encoder.transform_report(evidence.judged.table).columns:
        if outside := column.n_below + column.n_above:
            found.append(
                f"{count(outside)} of {count(n)} judged rows lie outside of the range of {shown(column.column)}."
            )
        if column.n_unknown:
            told = f"{count(column.n_unknown)} of {count(n)} judged rows have a level of {shown(column.column)} that"
            found.append(f"{told} training never saw; it contributes nothing.")
    return found
