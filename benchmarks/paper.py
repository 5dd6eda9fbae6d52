"""Every table of the paper beside ours, cell by cell: writes `docs/paper.md`, and the figures in the README.

`--run --data DIR` first measures what the tables need (hours): `recovery`, `classification --protocol a`, `shopping`
and `paper_fraud`, each of which can be run by itself. Without `--run` the page is written from what is on file; what
was not measured says so. The paper's figures are in `paper_figures.json`,
`classification_paper.csv` and `equations.json`, all beside this file.
"""

from __future__ import annotations

import argparse
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING

from benchmarks import paper_readme, paper_recovery, paper_studies
from benchmarks.results import FOLDER

if TYPE_CHECKING:
    from collections.abc import Sequence

ROOT = Path(__file__).parents[1]
PAGE, README = ROOT / "docs" / "paper.md", ROOT / "README.md"

HEAD = """\
# The paper's figures beside ours

Written by `python -m benchmarks paper` from the files in `benchmarks/results`; no figure of ours is typed by hand.
*ECSEL: Explainable Classification via Signomial Equation Learning* is “the paper”. Its code, splits and seeds are not
part of it, so a difference of a point on a small test set means nothing; where the rows, the encoding or the protocol
differ, the table says so. What was not measured here says that too. No figure was tuned to match."""

SLIPS = Path(__file__).parent / "paper_slips.md"
"""Where the paper contradicts itself, and what we do."""


def main(argv: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks paper", description=__doc__)
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.add_argument("--run", action="store_true", help="measure first; needs --data")
    parser.add_argument("--data", type=Path, metavar="DIR", help="folder of the .csv.gz files")
    parser.add_argument("--output", type=Path, default=PAGE, metavar="FILE", help="the page (default: docs/paper.md)")
    options = parser.parse_args(argv)
    if options.run:
        if options.data is None:
            parser.error("--run needs --data, the folder of the tables.")
        measure(options.data)
    options.output.write_text(page(FOLDER), encoding="utf-8")
    paper_readme.write(README, FOLDER)
    print(f"written: {options.output} and the figures in {README}")
    return 0


def measure(data: Path) -> None:
    """Run the benchmarks that the page is made from."""
    runs = {"recovery": [], "classification": ["--protocol", "a"], "shopping": [], "paper_fraud": []}
    for name, options in runs.items():
        given = options if name == "recovery" else ["--data", str(data), *options]
        import_module(f"benchmarks.{name}").main(given)


def page(results: Path) -> str:
    """Return the text of the page."""
    parts = [HEAD, *paper_recovery.parts(results), *paper_studies.parts(results), SLIPS.read_text(encoding="utf-8")]
    return "\n\n".join(part.strip() for part in parts) + "\n"
