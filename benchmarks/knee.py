"""Where a coefficient begins to cost: cross-validated log-loss for several values of κ in λ √(1 + (α/κ)²)|β|.

The value in force is `KNEE` in `src/ecsel/fitting/forms.py`. Each κ is judged as in `benchmarks/scaling.py`: at its own
best strength of a short grid, two terms, five shuffled stratified folds, at most 6000 rows.
"""

from __future__ import annotations

import argparse

import numpy as np
from scipy.stats import rankdata

from benchmarks.results import FOLDER, ResultFile, markdown_table, surroundings
from benchmarks.scaling import judge
from benchmarks.tables import add_table_options, check_files, load
from ecsel.fitting import forms

KNEES = (0.5, 1.0, 2.0, 4.0, 8.0)
DEFAULT = ["iris", "seeds", "hearts", "ilpd", "transfusion", "contraceptive", "compas", "mammography"]


def main(argv: list[str]) -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks knee", description=(__doc__ or "").partition("\n")[0])
    add_table_options(parser, DEFAULT)
    options = parser.parse_args(argv)
    check_files(options, parser)
    results = ResultFile(FOLDER / "knee.csv", ["table", "knee"])
    in_force = forms.KNEE
    try:
        for name in options.tables:
            table = load(options.data, name)
            for knee in KNEES:
                forms.KNEE = knee
                loss, strength = judge(table, "auto")
                results.put({"table": name, "knee": knee, "log_loss": loss, "l1": strength})
                print(f"{name:14s} κ = {knee:g}: {loss:.5f} (l1 {strength:g})", flush=True)
    finally:
        forms.KNEE = in_force
    losses = {(row["table"], float(row["knee"])): float(row["log_loss"]) for row in results.rows}
    tables = [name for name in DEFAULT if all((name, knee) in losses for knee in KNEES)]
    grid = np.array([[losses[name, knee] for name in tables] for knee in KNEES])
    ranks, change = rankdata(grid, axis=0).mean(axis=1), (grid / grid[KNEES.index(1.0)]).mean(axis=1) - 1
    summary = [
        {"knee": f"{knee:g}", "rank": f"{rank:.2f}", "change": f"{100 * c:+.2f} %"}
        for knee, rank, c in zip(KNEES, ranks, change, strict=True)
    ]
    heads = markdown_table(summary, {"knee": "κ", "rank": "mean rank", "change": "log-loss against κ = 1"})
    cells = markdown_table(results.rows, {"table": "table", "knee": "κ", "log_loss": "log-loss", "l1": "l1"})
    page = [
        "# Where a coefficient begins to cost",
        __doc__ or "",
        heads,
        cells,
        surroundings(["numpy", "scikit-learn"]),
    ]
    (FOLDER / "knee.md").write_text("\n\n".join(part.strip() for part in page) + "\n", encoding="utf-8")
    print(heads)
    return 0
