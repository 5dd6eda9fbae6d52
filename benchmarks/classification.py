"""The paper's classification benchmark, and nested cross-validation, of ten tuned methods on eleven tables.

- Protocol (b), which comes first and decides defaults: 5-fold cross-validation, repeated five times on tables under
  2000 rows, with each method's own inner tuning (30 trials on 5 inner folds; over 10 000 rows 10 trials on 3).
- Protocol (a), the paper's: 80/20 with seed 42 and 5-fold tuning of 30 trials.

Every cell (protocol, table, method, fold) runs on one thread in a process of its own, which is killed after 15 minutes
of processor time and then counts as `dnf`; so do the other folds of that table and method that were not started yet.
Over 10 000 rows protocol (a) makes five times the fits of protocol (b): what met the limit in (b), or needed a quarter
of it in the mean, is `dnf` in (a) without a start. A cell is on disk as soon as it is measured; a run that was stopped
goes on where it was. `compas` and `loan` are not the paper's rows, but the nearest public ones. Tasks are defined in
`benchmarks/classification_task.py`, methods and search spaces in `benchmarks/classification_methods.py`.
"""

from __future__ import annotations

import argparse
import fcntl
import os
import sys
from contextlib import contextmanager
from functools import partial
from importlib import import_module
from itertools import count
from pathlib import Path
from statistics import fmean
from typing import TYPE_CHECKING, Any

from benchmarks.capped import run_capped
from benchmarks.classification_cell import measure, unfinished
from benchmarks.classification_methods import METHODS
from benchmarks.classification_report import write_report
from benchmarks.classification_task import KEY, LARGE, Cell, ProtocolName, folds_of
from benchmarks.results import FOLDER, ResultFile
from benchmarks.tables import SOURCES, Table, add_table_options, check_files, load

if TYPE_CHECKING:
    from collections.abc import Iterator

TABLES = [
    "iris",
    "seeds",
    "hearts",
    "ilpd",
    "transfusion",
    "contraceptive",
    "compas",
    "mammography",
    "default",
    "loan",
    "skinnonskin",
]
CAP = 15 * 60.0


def cells_to_measure(protocol: ProtocolName, tables: list[str], methods: list[str]) -> list[Cell]:
    """Return the cells in order: table by table and method by method."""
    return [
        Cell(protocol, table, method, repeat, fold)
        for table in tables
        for method in methods
        for repeat, fold in folds_of(protocol, SOURCES[table].rows)
    ]


def not_on_file(cells: list[Cell], results: ResultFile, *, again: bool) -> tuple[list[Cell], set[tuple[str, str]]]:
    """Return the cells that are not measured yet, or all of them `again`, and the pairs that are known to be slow."""
    if again:
        return cells, set()
    return [cell for cell in cells if cell.key not in results], slow_pairs(results)


def import_libraries(cells: list[Cell]) -> None:
    """Load what the methods of the cells import, so that no cell is charged for it."""
    for library in {name for cell in cells for name in METHODS[cell.method].libraries}:
        import_module(library)


@contextmanager
def locked(path: Path) -> Iterator[ResultFile]:
    """Open a result file for one change, so that several runs may write to it."""
    path.parent.mkdir(parents=True, exist_ok=True)
    folder = os.open(path.parent, os.O_RDONLY)
    try:
        fcntl.flock(folder, fcntl.LOCK_EX)
        yield ResultFile(path, KEY)
    finally:
        os.close(folder)


def slow_pairs(results: ResultFile) -> set[tuple[str, str]]:
    """Return the (table, method) pairs of which a fold met the time limit."""
    return {(row["table"], row["method"]) for row in results.rows if row["status"] == "dnf"}


def too_slow_for_a(nested: ResultFile, cap: float) -> set[tuple[str, str]]:
    """Return the pairs over 10 000 rows that cannot finish in (a), judged by their folds in (b).

    The search of (a) makes 30 · 5 fits for 10 · 3 in (b), each on more rows; a quarter of the limit leaves a margin.
    """
    spent: dict[tuple[str, str], list[float]] = {}
    for row in nested.rows:
        if row["status"] == "ok" and SOURCES[row["table"]].rows > LARGE:
            spent.setdefault((row["table"], row["method"]), []).append(float(row["cpu_seconds"]))
    late = {(table, method) for table, method in slow_pairs(nested) if SOURCES[table].rows > LARGE}
    return late | {pair for pair, seconds in spent.items() if fmean(seconds) > cap / 4}


def run(
    cells: list[Cell], tables: dict[str, Table], path: Path, too_slow: set[tuple[str, str]], cap: float, jobs: int
) -> int:
    """Measure the cells and store each as it comes; return how many failed. Pairs that are too slow are not started."""
    counter, failed = count(1), 0
    too_slow = set(too_slow)

    def say(cell: Cell, text: str) -> None:
        name = f"{cell.protocol} {cell.table} {cell.method} {cell.repeat}.{cell.fold}"
        print(f"[{next(counter)}/{len(cells)}] {name} {text}", file=sys.stderr, flush=True)

    def store(cell: Cell, row: dict[str, Any]) -> None:
        with locked(path) as results:
            results.put(row)
        say(cell, _line(row))

    def started() -> Iterator[Cell]:
        for cell in cells:
            if (cell.table, cell.method) in too_slow:
                store(cell, unfinished(cell))
            else:
                yield cell

    for done in run_capped(started(), partial(_measure, tables=tables), cap, jobs):
        if done.error:
            failed += 1
            say(done.item, f"FAILED\n{done.error}")
            continue
        if done.late:
            too_slow.add((done.item.table, done.item.method))
        store(done.item, unfinished(done.item) if done.result is None else done.result)
    return failed


def _measure(cell: Cell, tables: dict[str, Table]) -> dict[str, Any]:
    return measure(cell, tables[cell.table])


def _line(row: dict[str, Any]) -> str:
    if row["status"] != "ok":
        return str(row["status"])
    return f"F1 {row['f1']:.4f}  log-loss {row['log_loss']:.4f}  {row['seconds']:.1f} s ({row['cpu_seconds']:.1f} CPU)"


def known_methods(text: str) -> list[str]:
    """Return the methods of a command-line option, all of them known."""
    names = text.split(",")
    for name in names:
        if name not in METHODS:
            raise argparse.ArgumentTypeError(f"no method is named {name!r}; there are {', '.join(METHODS)}.")
    return names


def main(argv: list[str]) -> int:
    about = (__doc__ or "").partition("\n")[0]
    parser = argparse.ArgumentParser(prog="python -m benchmarks classification", description=about)
    add_table_options(parser, TABLES)
    parser.add_argument("--protocol", choices=["a", "b"], default="b", help="the paper's split, or nested folds (b)")
    parser.add_argument("--methods", type=known_methods, default=list(METHODS), metavar="A,B", help=", ".join(METHODS))
    parser.add_argument("--jobs", type=int, default=1, metavar="N", help="cells at once (1)")
    parser.add_argument(
        "--cap", type=float, default=CAP, metavar="S", help=f"CPU seconds until a cell is dnf ({CAP:g})"
    )
    parser.add_argument("--again", action="store_true", help="measure cells anew that are on file")
    parser.add_argument("--report", action="store_true", help="measure nothing, write the page alone")
    parser.add_argument("--output", type=Path, default=FOLDER, metavar="DIR", help="folder of the results")
    options = parser.parse_args(argv)
    strangers = [name for name in options.tables if name not in TABLES]
    if strangers:
        parser.error(f"{strangers[0]} is not part of this benchmark; its tables are {', '.join(TABLES)}.")
    path = options.output / f"classification_{options.protocol}.csv"
    failed = 0
    if not options.report:
        check_files(options, parser)
        cells = cells_to_measure(options.protocol, options.tables, options.methods)
        with locked(path) as results:
            cells, too_slow = not_on_file(cells, results, again=options.again)
        if options.protocol == "a":
            with locked(options.output / "classification_b.csv") as nested:
                too_slow |= too_slow_for_a(nested, options.cap)
        import_libraries(cells)
        tables = {name: load(options.data, name) for name in dict.fromkeys(cell.table for cell in cells)}
        failed = run(cells, tables, path, too_slow, options.cap, options.jobs)
    print(write_report(options.output, TABLES, list(METHODS), about=__doc__ or ""))
    return 1 if failed else 0
