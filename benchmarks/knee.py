"""The default penalty: where a coefficient begins to cost (κ in λ √(1 + (α/κ)²)|β|), and whether bending should.

The values in force are `KNEE` in `src/ecsel/fitting/objective/forms.py` and `BENDING` in
`src/ecsel/fitting/penalties/l1.py`.
Each pair is judged as in `benchmarks/scaling.py`: cross-validated log-loss at its own best strength of a grid, two
terms, five shuffled stratified folds, at most 6000 rows.
"""

from __future__ import annotations

import argparse

import numpy as np
from scipy.stats import rankdata

from benchmarks.results import FOLDER, ResultFile, markdown_table, surroundings
from benchmarks.scaling import evaluate
from benchmarks.tables import add_table_options, check_files, load
from ecsel.fitting.objective import forms
from ecsel.fitting.penalties import l1

PAIRS = ((1.0, 1.0), (2.0, 1.0), (4.0, 1.0), (8.0, 1.0), (16.0, 1.0), (8.0, 0.0))
"""κ and the price of bending."""
DEFAULT = ["iris", "seeds", "hearts", "ilpd", "transfusion", "contraceptive", "compas", "mammography"]


def main(argv: list[str]) -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks knee", description=(__doc__ or "").partition("\n")[0])
    add_table_options(parser, DEFAULT)
    options = parser.parse_args(argv)
    check_files(options, parser)
    results = ResultFile(FOLDER / "knee.csv", ["table", "knee", "bending"])
    in_force = forms.KNEE, l1.BENDING
    try:
        for name in options.tables:
            table = load(options.data, name)
            for knee, bending in PAIRS:
                forms.KNEE, l1.BENDING = knee, bending
                loss, strength = evaluate(table, "auto")
                results.put({"table": name, "knee": knee, "bending": bending, "log_loss": loss, "l1": strength})
                print(f"{name:14s} κ = {knee:g}, bending {bending:g}: {loss:.5f} (l1 {strength:g})", flush=True)
    finally:
        forms.KNEE, l1.BENDING = in_force
    losses = {(row["table"], float(row["knee"]), float(row["bending"])): float(row["log_loss"]) for row in results.rows}
    tables = [name for name in DEFAULT if all((name, *pair) in losses for pair in PAIRS)]
    grid = np.array([[losses[(name, *pair)] for name in tables] for pair in PAIRS])
    ranks, change = rankdata(grid, axis=0).mean(axis=1), (grid / grid[0]).mean(axis=1) - 1
    summary = [
        {"knee": f"{knee:g}", "bending": f"{bending:g}", "rank": f"{rank:.2f}", "change": f"{100 * c:+.2f} %"}
        for (knee, bending), rank, c in zip(PAIRS, ranks, change, strict=True)
    ]
    columns = {"knee": "κ", "bending": "price of bending"}
    heads = markdown_table(summary, columns | {"rank": "mean rank", "change": "log-loss against the first"})
    cells = markdown_table(results.rows, {"table": "table"} | columns | {"log_loss": "log-loss", "l1": "l1"})
    page = [
        "# The default penalty",
        __doc__ or "",
        heads,
        cells,
        surroundings(["numpy", "scikit-learn"]),
    ]
    (FOLDER / "knee.md").write_text("\n\n".join(part.strip() for part in page) + "\n", encoding="utf-8")
    print(heads)
    return 0
