"""What the NumPy twins of the compiled kernel cost: processor seconds of the same work with and without it.

Each row is measured in processes of its own, as often with the kernel as without it and in turn; the least seconds of
each count. ``ECSEL_NO_KERNEL=1`` turns the kernel off.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
from pathlib import Path

from benchmarks.results import FOLDER, ResultFile, markdown_table, surroundings

MAKE = """
import time
import numpy as np
from ecsel import ECSELClassifier
from ecsel.fitting import Adam
rng = np.random.default_rng(0)
def table(n, m=10):
    X = rng.lognormal(size=(n, m))
    z = np.log(X[:, 0] * X[:, 1]) + 0.5 * X[:, 2] - 0.8
    return X, (z + rng.logistic(size=n) > 0).astype(int)
"""
WORK = {
    "search, 2 000 × 10": ("table(2_000)", "ECSELClassifier(n_jobs=1)"),
    "search, 20 000 × 10": ("table(20_000)", "ECSELClassifier(n_jobs=1)"),
    "paper's model, 2 000 × 10": ("table(2_000)", "ECSELClassifier(n_terms=3, l1=0.01, n_jobs=1)"),
    "paper's model, 300 000 × 10": ("table(300_000)", "ECSELClassifier(n_terms=3, l1=0.01, n_jobs=1)"),
    "paper's trainer, 2 000 × 10": ("table(2_000)", "ECSELClassifier(n_terms=3, l1=0.01, n_jobs=1, solver=Adam())"),
}
"""The work, its table and its model. Search: `glm.c`, `pieces.c`; the paper's model: `forward.c`, `derivatives.c`,
`active_set.c`, `newton.c`, and of large tables `columns.c`, `sweep.c`; its trainer: `adam.c`."""


def cpu_seconds(what: str, *, kernel: bool) -> float:
    """Return the processor seconds of one fit in a new process, without its imports."""
    data, model = WORK[what]
    code = f"{MAKE}\nX, y = {data}\nmodel = {model}\nstart = time.process_time()\nmodel.fit(X, y)\n"
    code += "print(time.process_time() - start)"
    environment = os.environ | {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
    environment |= {"ECSEL_NO_KERNEL": "0" if kernel else "1"}
    command = [sys.executable, "-W", "ignore", "-c", code]
    return float(subprocess.run(command, env=environment, capture_output=True, text=True, check=True).stdout)


def main(argv: list[str]) -> int:
    """Measure, and write the page."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks twins", description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--only", default="", help="work whose name begins so")
    parser.add_argument("--output", type=Path, default=FOLDER)
    options = parser.parse_args(argv)
    results = ResultFile(options.output / "twins.csv", ["work"])
    for what in WORK:
        if not what.startswith(options.only):
            continue
        pairs = [(cpu_seconds(what, kernel=True), cpu_seconds(what, kernel=False)) for _ in range(options.repeats)]
        fast, slow = (min(each) for each in zip(*pairs, strict=True))
        results.put({"work": what, "kernel": f"{fast:.3f}", "numpy": f"{slow:.3f}", "ratio": f"{slow / fast:.1f}"})
        print(f"{what}: {fast:.3f} s, {slow:.3f} s without the kernel", flush=True)
    heads = {"work": "fit of", "kernel": "CPU s, kernel", "numpy": "CPU s, NumPy", "ratio": "times"}
    parts = ["# The twins of the kernel", __doc__ or "", markdown_table(results.rows, heads), surroundings(["numpy"])]
    page = "\n\n".join(part.strip() for part in parts) + "\n"
    (options.output / "twins.md").write_text(page, encoding="utf-8")
    return 0
