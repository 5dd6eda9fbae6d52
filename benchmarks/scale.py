"""Millions of rows: seconds, memory, Parquet, Dask and prediction, beside XGBoost and logistic regression.

Parts (``--parts``), each cell in a process of its own so that its memory is its own:

- ``race``: 6.36 million rows × 13 generated features (`benchmarks.transactions`), K = 2: seconds, and peak memory above
  the process that holds the input; ECSEL with several seeds, XGBoost (hist, 100 trees, depth 6) and scikit-learn's
  logistic regression;
- ``linear``: seconds of ECSEL from 10⁵ to 10⁷ rows, and the slope of log seconds over log rows;
- ``parquet``: a generated file of at least 10 GB of float64, deleted afterwards: seconds and peak memory;
- ``dask``: one and two workers: seconds, speed-up, bytes moved per round;
- ``predict``: rows a second of probabilities and of exact attributions beside XGBoost's predict and its TreeSHAP.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
import threading
import time
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from benchmarks import scale_report
from benchmarks.results import FOLDER, ResultFile, surroundings
from benchmarks.transactions import TARGET, transactions, write_parquet

if TYPE_CHECKING:
    from collections.abc import Callable

ROWS, L1 = 6_360_000, 1e-6
SEEDS = 5
LADDER = (101_000, 316_000, 1_000_000, 3_160_000, 10_000_000)
PARQUET_ROWS = 100_000_000
DASK_ROWS, DASK_PARTS = 4_000_000, 16
PREDICT_ROWS = 100_000
PARTS = ("race", "linear", "parquet", "dask", "predict")


def resident() -> float:
    """Return the memory of this process in MB."""
    for line in Path("/proc/self/status").read_text(encoding="utf-8").splitlines():
        if line.startswith("VmRSS"):
            return int(line.split()[1]) / 1000
    raise OSError("/proc/self/status does not tell the memory: this benchmark needs Linux.")


def peak() -> float:
    """Return the largest memory that this process ever had, in MB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1000


class Watched:
    """Seconds and peak memory of a block of code, the latter above what was resident before (sampled)."""

    def __enter__(self) -> Self:
        """Start the clock."""
        self.before, self._most, self._on = resident(), 0.0, True
        self._thread = threading.Thread(target=self._look, daemon=True)
        self._thread.start()
        self._started = time.perf_counter()
        return self

    def __exit__(self, *_: object) -> None:
        """Stop it."""
        self.seconds = time.perf_counter() - self._started
        self._on = False
        self._thread.join()
        self.memory = max(self._most, resident()) - self.before

    def _look(self) -> None:
        while self._on:
            self._most = max(self._most, resident())
            time.sleep(0.02)


def fit_cell(method: str, rows: int, seed: int) -> dict[str, Any]:
    """Fit one method to generated rows in memory."""
    X, y = transactions(rows)
    model = _rival(method, seed)
    with Watched() as watch:
        model.fit(X, y)
    cell = {"seconds": watch.seconds, "memory": watch.memory, "objective": "", "note": _size(rows)}
    if method == "ecsel":
        report = model.fit_report_
        cell |= {"objective": report.objective, "note": f"{_size(rows)}; {report.passes:.1f} passes"}
    return cell


def _size(rows: int) -> str:
    return f"float32 data {rows * 13 * 4 / 1e6:.0f} MB"


def _rival(method: str, seed: int) -> Any:
    if method == "ecsel":
        from ecsel import ECSELClassifier

        return ECSELClassifier(n_terms=2, l1=L1, random_state=seed)
    if method == "xgboost":
        from xgboost import XGBClassifier

        # Its plain defaults diverge on so rare a class; max_delta_step is its own advice for that.
        return XGBClassifier(n_estimators=100, max_depth=6, tree_method="hist", max_delta_step=1, random_state=seed)
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    return make_pipeline(StandardScaler(copy=False), LogisticRegression(max_iter=200))


def parquet_cell(method: str, rows: int, seed: int) -> dict[str, Any]:
    """Fit a Parquet file that was generated for it; the memory is that of the whole process."""
    from ecsel import ECSELClassifier

    del method
    with tempfile.TemporaryDirectory() as folder:
        path = f"{folder}/rows.parquet"
        subprocess.run([sys.executable, "-m", "benchmarks.scale", "--write", path, str(rows)], check=True)
        gigabytes = rows * 13 * 8 / 1e9
        on_disk = Path(path).stat().st_size / 1e9
        started = time.perf_counter()
        model = ECSELClassifier(n_terms=2, l1=L1, random_state=seed).fit(path, TARGET)
        seconds = time.perf_counter() - started
    note = f"{gigabytes:.1f} GB as float64, {on_disk:.1f} GB on disk; peak of the whole process"
    return {"seconds": seconds, "memory": peak(), "objective": model.fit_report_.objective, "note": note}


def dask_cell(method: str, rows: int, seed: int) -> dict[str, Any]:
    """Fit a Dask data frame on some workers; `method` ends with their number."""
    from ecsel import ECSELClassifier
    from ecsel.distributed import dask_rows

    # Untyped libraries.
    cloudpickle, dask, dd, distributed = map(_module, ("cloudpickle", "dask", "dask.dataframe", "distributed"))

    workers, sizes = int(method.rsplit(maxsplit=1)[-1]), []
    plain = dask_rows.DaskBlocks.map

    def counted(self: Any, function: Callable[..., Any]) -> list[Any]:
        results = plain(self, function)
        sent, back = len(cloudpickle.dumps(function)), len(cloudpickle.dumps(results))
        sizes.append(DASK_PARTS * sent + back * (1 + 1 / dask_rows.FAN_IN) * DASK_PARTS)
        return results

    vars(dask_rows)["DaskBlocks"].map = counted
    options = {"n_workers": workers, "threads_per_worker": 1, "processes": True, "dashboard_address": None}
    with distributed.LocalCluster(**options) as cluster, distributed.Client(cluster):
        parts = [dask.delayed(_part)(rows // DASK_PARTS, i) for i in range(DASK_PARTS)]
        ddf = dd.from_delayed(parts, meta=_part(10, 0)).persist()
        distributed.wait(ddf)
        started = time.perf_counter()
        model = ECSELClassifier(n_terms=2, l1=L1, random_state=seed).fit(ddf, TARGET)
        seconds = time.perf_counter() - started
    note = f"{len(sizes)} rounds, median {np.median(sizes) / 1e3:.0f} kB, largest {max(sizes) / 1e6:.1f} MB a round"
    return {"seconds": seconds, "memory": resident(), "objective": model.fit_report_.objective, "note": note}


def _module(name: str) -> Any:
    return import_module(name)


def _part(rows: int, seed: int) -> Any:
    X, y = transactions(rows, seed=seed)
    return X.assign(**{TARGET: y})


def predict_cell(method: str, rows: int, seed: int) -> dict[str, Any]:
    """Rows a second of probabilities or of attributions."""
    del seed
    X, y = transactions(300_000)
    new, _ = transactions(rows, seed=7)
    name, what = method.split()
    model = _rival(name, 0).fit(X, y)
    if name == "xgboost":
        import xgboost

        matrix = xgboost.DMatrix(new)
        booster = model.get_booster()
        call: Callable[[], Any] = (
            (lambda: model.predict_proba(new))
            if what == "proba"
            else lambda: booster.predict(matrix, pred_contribs=True)
        )
    else:
        from ecsel import explain

        call = (lambda: model.predict_proba(new)) if what == "proba" else lambda: explain.attribution(model, new)
    seconds = min(_timed(call) for _ in range(3))
    return {"seconds": seconds, "memory": "", "objective": "", "note": f"{rows / seconds:.3g} rows a second"}


def _timed(call: Callable[[], Any]) -> float:
    started = time.perf_counter()
    call()
    return time.perf_counter() - started


CELLS: dict[str, Callable[[str, int, int], dict[str, Any]]] = {
    "race": fit_cell,
    "linear": fit_cell,
    "parquet": parquet_cell,
    "dask": dask_cell,
    "predict": predict_cell,
}


def plan(parts: list[str], scale: float) -> list[tuple[str, str, int, int]]:
    """Return part, method, rows and seed of every cell."""
    cells: list[tuple[str, str, int, int]] = []
    for part in parts:
        if part == "race":
            cells += [(part, "ecsel", int(ROWS * scale), seed) for seed in range(SEEDS)]
            cells += [(part, method, int(ROWS * scale), 0) for method in ("xgboost", "logistic")]
        elif part == "linear":
            cells += [(part, "ecsel", int(rows * scale), 0) for rows in LADDER]
        elif part == "parquet":
            cells.append((part, "ecsel", int(PARQUET_ROWS * scale), 0))
        elif part == "dask":
            cells += [(part, f"ecsel on {workers}", int(DASK_ROWS * scale), 0) for workers in (1, 2)]
        else:
            names = ("ecsel proba", "xgboost proba", "ecsel attribution", "xgboost attribution")
            cells += [(part, name, int(PREDICT_ROWS * scale), 0) for name in names]
    return cells


def run_cell(cell: tuple[str, str, int, int]) -> dict[str, Any]:
    """Measure a cell in a process of its own."""
    asked = json.dumps(cell)
    done = subprocess.run(
        [sys.executable, "-m", "benchmarks.scale", "--cell", asked], check=True, capture_output=True, text=True
    )
    found: dict[str, Any] = json.loads(done.stdout.strip().splitlines()[-1])
    return found


def main(argv: list[str]) -> int:
    """Run the parts and write ``scale.csv`` and ``scale.md``."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks scale", description=__doc__.partition("\n")[0])
    parser.add_argument("--parts", default=",".join(PARTS), help="of " + ", ".join(PARTS))
    parser.add_argument("--scale", type=float, default=1.0, help="share of the rows, for a trial run")
    parser.add_argument("--output", type=Path, default=FOLDER)
    options = parser.parse_args(argv)
    parts = options.parts.split(",")
    if unknown := [part for part in parts if part not in PARTS]:
        parser.error(f"no part is named {unknown[0]!r}; there are {', '.join(PARTS)}.")
    results = ResultFile(options.output / "scale.csv", ["part", "method", "rows", "seed"])
    for cell in plan(parts, options.scale):
        part, method, rows, seed = cell
        row = results.put({"part": part, "method": method, "rows": rows, "seed": seed, **run_cell(cell)})
        print(" ".join(f"{name}={value}" for name, value in row.items()), flush=True)
    page = scale_report.page(results.rows, surroundings(["numpy", "scikit-learn", "xgboost-cpu", "dask"]))
    (options.output / "scale.md").write_text(page, encoding="utf-8")
    print("\n".join(scale_report.findings(results.rows)))
    return 0


if __name__ == "__main__":
    os.environ.setdefault("OMP_NUM_THREADS", str(os.cpu_count() or 1))
    if sys.argv[1] == "--write":
        write_parquet(sys.argv[2], int(sys.argv[3]))
    else:
        asked = json.loads(sys.argv[2])
        print(json.dumps(CELLS[asked[0]](*asked[1:])))
