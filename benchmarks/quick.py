"""The main figures in a few minutes: readable equations, a race on three tables, laws found, seconds of a fit.

Everything needed comes with `make bench`; no `--data`. Beside each figure stands the one on file, where the same is
measured there. The race has two folds, ten trials of tuning and two processes; seconds are those of this machine.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
import warnings
from pathlib import Path
from statistics import fmean, median

import numpy as np

from benchmarks import fit_speed, readable, sealed
from benchmarks.ranks import mean_ranks
from benchmarks.recovery import fit as fit_law
from benchmarks.recovery_data import NOISE, TUNED, equations, is_recovered
from benchmarks.recovery_rivals import TWELVE
from benchmarks.results import FOLDER, ResultFile, Row, markdown_table, surroundings
from benchmarks.sealed_report import read_block
from benchmarks.unseen import keel_folder, read_keel

READABLE = ("wine", "pima", "german", "vehicle")
RACED = ("wine", "pima", "german")
METHODS = ("ECSEL", "l1 logistic regression", "EBM", "XGBoost")
TIMED = ("pima", "german", "phoneme")
TIME_LIMIT = 100.0


def readable_rows(tables: tuple[str, ...] = READABLE) -> list[Row]:
    """Return how short the equations are, whether they are the models, and what a fit costs."""
    found = [readable.measure(read_keel(keel_folder() / f"{name}.dat")) for name in tables]
    known = ResultFile(FOLDER / "readable.csv", ("table",))
    filed = [row for name in tables if (row := known.get({"table": name})) is not None]

    def ratio(rows: list[dict[str, str]] | list[Row]) -> str:
        return f"{median(float(r['cpu_seconds']) / float(r['xgboost_cpu_seconds']) for r in rows):.1f}"

    def factors(rows: list[Row]) -> str:
        return ", ".join(f"{float(row['factors']):.1f}" for row in rows)

    texts = [{name: str(value) for name, value in row.items()} for row in found]
    about = ", ".join(tables)
    return [
        _row(f"factors a score: {about}", factors(texts), factors(filed)),
        _row(
            "printed equation against model, largest gap in a probability",
            f"{max(float(row['gap']) for row in texts):.1e}",
            f"{max(float(row['gap']) for row in filed):.1e}" if filed else "",
        ),
        _row("CPU of a default fit over 150 trees of XGBoost, median", ratio(texts), ratio(filed) if filed else ""),
    ]


def rank_rows(tables: tuple[str, ...] = RACED, methods: tuple[str, ...] = METHODS, folds: int = 2) -> list[Row]:
    """Return log-losses, mean ranks and sizes of a few methods, measured as `sealed` does."""
    with tempfile.TemporaryDirectory() as folder:
        options = ["--list", "tuning", "--tables", ",".join(tables), "--methods", ";".join(methods)]
        options += ["--folds", str(folds), "--trials", "10", "--jobs", "2", "--time-limit", f"{TIME_LIMIT:g}"]
        sealed.measure_cells(sealed.parse([*options, "--output", folder]))
        block = read_block(Path(folder), "tuning", "classification")
    losses, sizes = block.means("log_loss"), block.means("size")
    ranks = mean_ranks(losses)
    rows = []
    for i in np.argsort(ranks):
        text = ", ".join("dnf" if np.isnan(loss) else f"{loss:.3f}" for loss in losses[i])
        known = sizes[i][~np.isnan(sizes[i])]
        numbers = f"{np.median(known):.0f} numbers to read" if len(known) else "not finished"
        rows.append(
            _row(
                f"log-loss of {block.methods[i]}: {', '.join(block.tables)}",
                f"{text} (rank {ranks[i]:.1f}, {numbers})",
            )
        )
    return rows


def law_rows(names: tuple[str, ...] = TWELVE) -> list[Row]:
    """Return how many laws are found, and how fast."""
    by_name = {equation.name: equation for equation in equations()}
    filed = ResultFile(FOLDER / "recovery.csv", ("equation", "seed"))
    seed = TUNED[0]
    hits, seconds, known = 0, [], []
    for name in names:
        X, y = by_name[name].data(seed, NOISE, relative=False)
        model, spent = fit_law(by_name[name], X, y, seed)
        hits += is_recovered(by_name[name], model)
        seconds.append(spent["cpu_seconds"])
        known += [row] if (row := filed.get({"equation": name, "seed": seed})) is not None else []
    on_file = f"{sum(int(row['recovered']) for row in known)} of {len(known)}"
    mean = f"{fmean(float(row['cpu_seconds']) for row in known):.2f}" if known else ""
    return [
        _row("laws found exactly, number of terms not given", f"{hits} of {len(names)}", on_file),
        _row("CPU seconds of a law, mean", f"{fmean(seconds):.2f}", mean),
    ]


def speed_rows(tables: tuple[str, ...] = TIMED) -> list[Row]:
    """Return what one fit of the paper's model takes beside XGBoost."""
    ratios = []
    for name in tables:
        methods = [m for m in fit_speed.contenders(ebm_rows=None) if m.name in {"ECSEL", "XGBoost"}]
        raced = fit_speed.compare(read_keel(keel_folder() / f"{name}.dat"), methods)
        seconds = {row["method"]: row["seconds"] for row in raced}
        ratios.append(seconds["ECSEL"] / seconds["XGBoost"])
    text = ", ".join(f"{ratio:.2f}" for ratio in ratios)
    return [_row(f"seconds of the paper's model (3 terms) over XGBoost's: {', '.join(tables)}", text)]


def _row(measure: str, here: str, on_file: str = "") -> Row:
    return {"measure": measure, "here": here, "file": on_file}


def main(argv: list[str]) -> int:
    about = (__doc__ or "").partition("\n")[0]
    parser = argparse.ArgumentParser(prog="python -m benchmarks quick", description=about)
    parser.parse_args(argv)
    started = time.monotonic()
    rows: list[Row] = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for part in (readable_rows, rank_rows, law_rows, speed_rows):
            print(f"{part.__name__.removesuffix('_rows')} …", file=sys.stderr, flush=True)
            rows += part()
    print(markdown_table(rows, {"measure": "measure", "here": "here", "file": "on file"}))
    libraries = ["numpy", "scikit-learn", "scipy", "xgboost-cpu", "interpret-core"]
    print(f"\n{surroundings(libraries)} {(time.monotonic() - started) / 60:.1f} minutes.")
    return 0
