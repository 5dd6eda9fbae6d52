"""Sealed tables: the default beside the strongest readable models and black boxes, on tables that nothing was tuned on.

The sealed list (`tables_sealed.csv`, see `sealed_list`) is run once for a release, and no setting is chosen on it;
`--open` says that you mean to, and the day is kept in `sealed_opened.csv`. `--list tuning` runs the same program on
tables that were opened before: develop there.

Five stratified folds, the same for every method. Every fit runs on one thread in a process of its own and may use
`--time-limit` seconds of processor time; by the clock it is killed after five times that. Tuning begins no trial
after half of the time, so that tuned methods finish on wide tables too. What meets the limit is `dnf` and counts
last, and so do the other folds of that table and method, which are not started; a method that stops with an error
counts last too. Every cell is on disk as soon as it is measured, and a run that was stopped goes on where it was.
`--task regression` runs the regression tables. `sealed_methods.py` and `sealed_regression.py` say what the methods
are, `sealed_sizes.py` what counts as a number to read.
"""

from __future__ import annotations

import argparse
import sys
from datetime import UTC, datetime
from functools import partial
from importlib import import_module
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING, Any

from benchmarks.capped import run_capped
from benchmarks.results import FOLDER, ResultFile
from benchmarks.sealed_cell import FIELD, KEY, N_FOLDS, Unit, measure, unfinished
from benchmarks.sealed_report import write_report
from benchmarks.sealed_tables import Numbers, names_in, needs_data, read_table
from ecsel import __version__

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from benchmarks.sealed_tables import ListName
    from benchmarks.tables import Table

    Tables = Mapping[str, Table | Numbers]

TIME_LIMIT = 300.0
PATIENCE = 5.0
"""By the clock a fit may take so many times its processor time."""


def opened_file(folder: Path) -> ResultFile:
    """Return the file that says when the sealed list was opened with which version."""
    return ResultFile(folder / "sealed_opened.csv", ("version",))


def result_file(folder: Path, listed: ListName, task: str) -> ResultFile:
    """Return the cells of a list and a task."""
    return ResultFile(folder / f"{listed}_{task}.csv", KEY)


def units_to_measure(options: argparse.Namespace, tables: Tables, methods: list[str]) -> list[Unit]:
    """Return the cells in order: fold by fold, so that a run that is stopped early has whole folds."""
    return [
        Unit(options.task, table, method, fold, options.trials, options.time_limit)
        for fold in range(options.folds)
        for table in tables
        for method in methods
    ]


def slow_pairs(results: ResultFile) -> set[tuple[str, str]]:
    """Return the (table, method) pairs of which a fold met the time limit."""
    return {(row["table"], row["method"]) for row in results.rows if row["status"] == "dnf"}


def run(
    units: list[Unit], tables: Tables, results: ResultFile, late: set[tuple[str, str]], limit: float, jobs: int
) -> None:
    """Measure the cells and store each as it comes; pairs of which a fold met the limit are not started again."""
    late = set(late)
    counter = count(1)

    def store(unit: Unit, row: dict[str, Any]) -> None:
        written = results.put(row)
        figures = " ".join(
            f"{name} {written[name]}" for name in ("log_loss", "r2", "size", "cpu_seconds") if name in row
        )
        about = figures if written["status"] == "ok" else f"{written['status']} {written['note']}"
        print(
            f"[{next(counter)}/{len(units)}] {unit.table} {unit.method} {unit.fold} {about}",
            file=sys.stderr,
            flush=True,
        )

    def started() -> Iterator[Unit]:
        for unit in units:
            if (unit.table, unit.method) in late:
                store(unit, unfinished(unit, tables[unit.table], status="dnf"))
            else:
                yield unit

    for done in run_capped(started(), partial(_measure, tables=tables), limit, jobs, PATIENCE):
        unit, table = done.item, tables[done.item.table]
        if done.result is not None:
            store(unit, done.result)
        elif done.late:
            late.add((unit.table, unit.method))
            store(unit, unfinished(unit, table, status="dnf"))
        else:
            store(unit, unfinished(unit, table, status="error", note=done.error.strip().splitlines()[-1]))


def _measure(unit: Unit, tables: Tables) -> dict[str, Any]:
    return measure(unit, tables[unit.table])


def installed(names: list[str], task: Any) -> list[str]:
    """Return the methods whose libraries are there, load these, and name the others."""
    found = []
    for name in names:
        method = FIELD[task][name]
        if method.missing:
            print(f"{name} is left out: it needs {method.missing}.", file=sys.stderr)
            continue
        for library in method.libraries:
            import_module(library)
        found.append(name)
    return found


def _parser() -> argparse.ArgumentParser:
    about = (__doc__ or "").partition("\n")[0]
    parser = argparse.ArgumentParser(prog="python -m benchmarks sealed", description=about)
    parser.add_argument("--list", choices=["sealed", "tuning"], default="sealed", help="which tables (sealed)")
    parser.add_argument("--open", action="store_true", help="open the sealed list: once for a release")
    parser.add_argument("--task", choices=["classification", "regression"], default="classification")
    parser.add_argument("--data", type=Path, metavar="DIR", help="folder of the .csv.gz files of the tuning list")
    parser.add_argument("--tables", metavar="A,B", help="some of the tables (all)")
    parser.add_argument("--methods", metavar="A;B", help="some of the methods, with semicolons between them (all)")
    parser.add_argument("--folds", type=int, choices=range(1, N_FOLDS + 1), default=N_FOLDS, help="the first N of 5")
    parser.add_argument("--trials", type=int, metavar="N", help="trials of tuning at most (30, large tables 10)")
    parser.add_argument(
        "--time-limit", type=float, default=TIME_LIMIT, metavar="S", help=f"CPU seconds of a fit ({TIME_LIMIT:g})"
    )
    parser.add_argument("--jobs", type=int, default=1, metavar="N", help="cells at once (1)")
    parser.add_argument("--again", action="store_true", help="measure cells anew that are on file")
    parser.add_argument("--report", action="store_true", help="measure nothing, write the pages alone")
    parser.add_argument("--output", type=Path, default=FOLDER, metavar="DIR", help="folder of the results")
    return parser


def _chosen(
    text: str | None, separator: str, known: list[str], what: str, parser: argparse.ArgumentParser
) -> list[str]:
    names = known if text is None else [name.strip() for name in text.split(separator)]
    strangers = [name for name in names if name not in known]
    if strangers:
        parser.error(f"no {what} is named {strangers[0]!r}; there are {separator.join(known)}.")
    return names


def parse(argv: list[str]) -> argparse.Namespace:
    """Return the options of the command line, tables and methods as lists of known names."""
    parser = _parser()
    options = parser.parse_args(argv)
    options.tables = _chosen(options.tables, ",", names_in(options.list, options.task), "table", parser)
    options.methods = _chosen(options.methods, ";", list(FIELD[options.task]), "method", parser)
    closed = options.list == "sealed" and {"version": __version__} not in opened_file(options.output)
    if closed and not options.open and not options.report:
        parser.error(f"the sealed list is closed for version {__version__}; --open opens it, once.")
    return options


def measure_cells(options: argparse.Namespace) -> None:
    """Measure the cells that the options name and that are not on file."""
    opened = opened_file(options.output)
    if options.list == "sealed" and {"version": __version__} not in opened:
        opened.put({"date": datetime.now(UTC).date().isoformat()})
    without = [] if options.data else [n for n in options.tables if needs_data(options.list, options.task, n)]
    if without:
        print(f"left out without --data: {', '.join(without)}", file=sys.stderr)
    tables = {n: read_table(options.list, options.task, n, options.data) for n in options.tables if n not in without}
    results = result_file(options.output, options.list, options.task)
    units = units_to_measure(options, tables, installed(options.methods, options.task))
    units = [unit for unit in units if options.again or unit.key not in results]
    late = set[tuple[str, str]]() if options.again else slow_pairs(results)
    run(units, tables, results, late, options.time_limit, options.jobs)


def main(argv: list[str]) -> int:
    options = parse(argv)
    if not options.report:
        measure_cells(options)
    print(write_report(options.output, options.list, about=__doc__ or ""))
    return 0
