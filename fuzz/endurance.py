"""Fits, explanations, exports and files in one process for a long time: memory, threads and open files stay flat.

One round does everything once, on tables drawn anew. The first rounds fill caches (of libraries, of the allocator) and
do not count. What may leak is told at the end: the second quarter of the rounds beside the last one, threads and open
files at the start and at the end. Neither what is in use (bytes of malloc, blocks of Python's own allocator) nor the
resident memory may grow. The measurements are of Linux (``/proc``) with the GNU C library.

    python -m fuzz.endurance --minutes 60
"""

from __future__ import annotations

import argparse
import ctypes
import gc
import os
import sys
import tempfile
import threading
import time
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

import ecsel
from ecsel import ECSELClassifier, ECSELRegressor, explain, export
from ecsel.report import write_report

WARM_UP = 10
"""Rounds that do not count."""
MAX_GROWTH = 0.01
"""Growth of what is in use from the second to the last quarter of the rounds that is no leak: caches still fill."""
MAX_RESIDENT_GROWTH = 0.02
"""Growth of resident memory that is none either: free memory lies scattered between what is used."""


class _Mallinfo(ctypes.Structure):
    """The numbers of mallinfo2(3); only those in use have names here."""

    _fields_ = [(name, ctypes.c_size_t) for name in (*"abcd", "hblkhd", *"ef", "uordblks", *"gh")]


def table(rng: np.random.Generator, n: int = 400) -> tuple[pd.DataFrame, Any]:
    """Return a table of numbers, text, dates and levels, and two or three classes."""
    x = rng.lognormal(size=(n, 3))
    X = pd.DataFrame(x, columns=["a", "b", "c"])
    X["price"] = [f"${value:,.2f}" for value in rng.lognormal(8, 1, n)]
    X["day"] = pd.Timestamp("2020-01-01") + pd.to_timedelta(rng.integers(0, 700, n), "D")
    X["level"] = rng.choice(["red", "green", "blue"], n)
    X.loc[rng.random(n) < 0.1, "b"] = np.nan
    z = np.log(x[:, 0]) - 0.5 * x[:, 2] + (X["level"] == "red") + rng.logistic(size=n)
    return X, np.digitize(z, [-0.5] if rng.random() < 0.7 else [-1.0, 0.5])


def one_round(rng: np.random.Generator, folder: Path) -> None:
    """Do everything once."""
    X, y = table(rng)
    models: list[Any] = [
        ECSELClassifier(max_factors=4, random_state=0).fit(X, y),
        ECSELClassifier(n_terms=2, l1=0.01, n_jobs=2).fit(X, y),
        ECSELRegressor(criterion="prediction", max_factors=3).fit(X, y + 0.0),
    ]
    path = folder / "model.json"
    for model in models:
        model.save(path)
        again = ecsel.load(path)
        again.predict(X)
        again.summary()
        explain.shapley(again, X[:5], X[:20])
        for write in (
            export.to_python,
            export.to_javascript,
            export.to_c,
            export.to_sql,
            export.to_text,
            export.to_latex,
        ):
            write(again)
    explain.counterfactual(models[0], X[:1], models[0].classes_[-1])
    explain.what_if(models[1], X[:50], {"a": 1.2})
    if rng.random() < 0.2:
        write_report(models[0], folder / "report.html", X, y)
        export.to_excel(models[0], folder / "model.xlsx")
    u = rng.uniform(1, 5, (100, 3))
    ECSELRegressor(random_state=0).fit(u, 2 * u[:, 0] ** 2 / u[:, 1])


def resident() -> int:
    """Return the memory of the process, in bytes."""
    pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE")


def in_use() -> tuple[int, int]:
    """Return the bytes of malloc and the blocks of Python's allocator that are in use, after a collection."""
    gc.collect()
    mallinfo = ctypes.CDLL(None).mallinfo2
    mallinfo.restype = _Mallinfo
    found = mallinfo()
    return found.uordblks + found.hblkhd, sys.getallocatedblocks()


def open_files() -> int:
    """Return the number of open files."""
    return len(list(Path("/proc/self/fd").iterdir()))


def main(argv: list[str]) -> int:
    """Run for the asked time and return 0 if nothing grew."""
    parser = argparse.ArgumentParser(prog="python -m fuzz.endurance", description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--minutes", type=float, default=60.0)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args(argv)
    rng = np.random.default_rng(options.seed)
    measured: list[tuple[int, int, int]] = []
    first = (0, 0)
    end = time.monotonic() + 60 * options.minutes
    rounds = 0
    with tempfile.TemporaryDirectory() as folder, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        while time.monotonic() < end or len(measured) < 8:
            one_round(rng, Path(folder))
            rounds += 1
            if rounds == WARM_UP:
                first = threading.active_count(), open_files()
            if rounds >= WARM_UP:
                measured.append((resident(), *in_use()))
            if rounds % 25 == 0 and measured:
                memory, used, blocks = measured[-1]
                reported = f"{memory / 2**20:.1f} MiB, {used / 2**20:.2f} MiB and {blocks} blocks in use"
                print(f"round {rounds}: {reported}", file=sys.stderr, flush=True)  # noqa: T201
    quarter = max(len(measured) // 4, 1)
    early, late = (np.median(part, axis=0) for part in (measured[quarter : 2 * quarter], measured[-quarter:]))
    growth = late / early - 1
    last = threading.active_count(), open_files()
    print(  # noqa: T201
        f"{rounds} rounds in {options.minutes:g} minutes, the second quarter beside the last: resident "
        f"{early[0] / 2**20:.1f} and {late[0] / 2**20:.1f} MiB ({growth[0]:+.2%}), in use {early[1] / 2**20:.2f} and "
        f"{late[1] / 2**20:.2f} MiB ({growth[1]:+.2%}) and {early[2]:.0f} and {late[2]:.0f} blocks ({growth[2]:+.2%}); "
        f"threads {first[0]} then {last[0]}, open files {first[1]} then {last[1]}"
    )
    grew = growth[0] > MAX_RESIDENT_GROWTH or max(growth[1:]) > MAX_GROWTH
    return int(grew or last[0] > first[0] or last[1] > first[1])


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
