"""Recovery of known equations: ours, the paper's figures beside it, noise levels, non-signomials, scale, rivals.

`python -m benchmarks recovery` runs all parts; `--part` names one. Every fit is one thread, the number of terms is
never given, and each cell is written as soon as it is measured. `--fresh` measures again what is already in the files.
"""

from __future__ import annotations

import argparse
import time
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from threadpoolctl import threadpool_limits

from benchmarks import recovery_rivals, recovery_scale
from benchmarks.recovery_data import LAST, LATER, NOISE, THIRD, TUNED, UNSEEN, Equation, equations, is_recovered
from benchmarks.recovery_report import write_report
from benchmarks.recovery_truth import truth_lengths
from benchmarks.results import FOLDER, ResultFile
from ecsel import ECSELRegressor

if TYPE_CHECKING:
    from collections.abc import Iterable

LEVELS = (0.0, 0.001, 0.01, 0.1)
FILES = {
    "paper": ResultFile(FOLDER / "recovery.csv", ("equation", "seed")),
    "noise": ResultFile(FOLDER / "recovery_noise.csv", ("equation", "seed", "level")),
    "non-signomial": ResultFile(FOLDER / "recovery_non_signomial.csv", ("equation", "seed")),
    "scale": ResultFile(FOLDER / "recovery_scale.csv", ("rows", "columns", "seed")),
    "rivals": ResultFile(FOLDER / "recovery_rivals.csv", ("method", "equation", "seed")),
}


def fit(equation: Equation, X: Any, y: Any, seed: int, **options: Any) -> tuple[ECSELRegressor, dict[str, float]]:
    """Fit one equation in one thread and return the model with its seconds."""
    frame = pd.DataFrame(X, columns=list(equation.columns))
    with threadpool_limits(1):
        wall, cpu = time.perf_counter(), time.process_time()
        model = ECSELRegressor(random_state=seed, **options).fit(frame, y)
        seconds = {"seconds": time.perf_counter() - wall, "cpu_seconds": time.process_time() - cpu}
    return model, seconds


def quality(model: ECSELRegressor, equation: Equation, X: Any, y: Any) -> dict[str, float]:
    """Return mean squared error, the same over the target's variance, and R² on the given rows."""
    residual = model.predict(pd.DataFrame(X, columns=list(equation.columns))) - y
    mse = float(np.mean(residual**2))
    nmse = mse / float(np.var(y))
    return {"mse": mse, "nmse": nmse, "r2": 1.0 - nmse}


def run_paper(cells: Iterable[tuple[Equation, int]], *, fresh: bool) -> None:
    """The paper's protocol: noise of absolute standard deviation 0.01."""
    file = FILES["paper"]
    for equation, seed in cells:
        if not fresh and {"equation": equation.name, "seed": seed} in file:
            continue
        X, y = equation.data(seed, NOISE, relative=False)
        model, seconds = fit(equation, X, y, seed)
        monomials, numbers = truth_lengths(equation, X, y)
        row = file.put(
            {
                "equation": equation.name,
                "seed": seed,
                "group": equation.group,
                "recovered": int(is_recovered(equation, model)),
                **seconds,
                **quality(model, equation, X, y),
                "n_terms": model.law_.n_terms,
                "code_length": model.law_.code_length,
                "truth_monomials_length": monomials,
                "truth_numbers_length": numbers,
                "expression": str(model.equation_),
            }
        )
        print(row["equation"], seed, row["recovered"], row["cpu_seconds"], flush=True)


def run_noise(cells: Iterable[tuple[Equation, int]], *, fresh: bool) -> None:
    """Noise as a share of the target's root mean square."""
    file = FILES["noise"]
    for equation, seed in cells:
        for level in LEVELS:
            if not fresh and {"equation": equation.name, "seed": seed, "level": level} in file:
                continue
            X, y = equation.data(seed, level, relative=True)
            model, seconds = fit(equation, X, y, seed)
            recovered = int(is_recovered(equation, model))
            cell = {"equation": equation.name, "seed": seed, "level": level, "recovered": recovered, **seconds}
            file.put({**cell, "expression": str(model.equation_)})
            print(equation.name, seed, level, recovered, flush=True)


def run_non_signomial(seeds: Iterable[int], *, fresh: bool) -> None:
    """R² on 2000 fresh noise-free points with the size that predicts best."""
    file = FILES["non-signomial"]
    for equation in equations("non-signomial"):
        for seed in seeds:
            if not fresh and {"equation": equation.name, "seed": seed} in file:
                continue
            X, y = equation.data(seed, NOISE, relative=False)
            model, seconds = fit(equation, X, y, seed, criterion="prediction")
            points = equation.sample(seed + 20_000, 2000)
            cell = {
                "equation": equation.name,
                "seed": seed,
                "n_terms": model.law_.n_terms,
                "n_real_exponents": len(model.law_.free),
                "training_r2": quality(model, equation, X, y)["r2"],
                **seconds,
            }
            row = file.put(
                {**cell, **quality(model, equation, points, equation.value(points)), "expression": str(model.equation_)}
            )
            print(equation.name, seed, row["n_terms"], row["r2"], flush=True)


def run_scale(seeds: Iterable[int], *, fresh: bool) -> None:
    """A long and a wide table."""
    file = FILES["scale"]
    for rows, columns in recovery_scale.SHAPES:
        for seed in seeds:
            cell = {"rows": rows, "columns": columns, "seed": seed}
            if fresh or cell not in file:
                row = file.put({**cell, **recovery_scale.measure(rows, columns, seed)})
                print(rows, columns, seed, row["recovered"], row["seconds"], flush=True)


def run_rivals(*, fresh: bool) -> None:
    """Twelve equations on the same rows: ours, and rivals with 60 s each."""
    file = FILES["rivals"]
    by_name = {e.name: e for e in equations()}
    seed = TUNED[0]
    for name in recovery_rivals.TWELVE:
        equation = by_name[name]
        X, y = equation.data(seed, NOISE, relative=False)
        if fresh or {"method": "ecsel", "equation": name, "seed": seed} not in file:
            model, seconds = fit(equation, X, y, seed)
            cell = {"method": "ecsel", "equation": name, "seed": seed, "recovered": int(is_recovered(equation, model))}
            file.put({**cell, "seconds": seconds["seconds"], "expression": str(model.equation_)})
        for label, rival in recovery_rivals.RIVALS.items():
            for restricted in (False, True):
                method = f"{label}, {'signomial operators' if restricted else 'free'}"
                if not fresh and {"method": method, "equation": name, "seed": seed} in file:
                    continue
                start = time.perf_counter()
                text = rival(X, y, seed, restricted=restricted)
                seconds_ = time.perf_counter() - start
                recovered = int(recovery_rivals.is_recovered(equation, text, X))
                cell = {"method": method, "equation": name, "seed": seed, "recovered": recovered}
                file.put({**cell, "seconds": seconds_, "expression": text})
                print(method, name, recovered, f"{seconds_:.1f} s", flush=True)


def main(argv: list[str]) -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks recovery", description=__doc__)
    parts = ["paper", "unseen", "noise", "non-signomial", "scale", "rivals", "report"]
    parser.add_argument("--part", choices=parts, action="append", help="run only this part (may be repeated)")
    parser.add_argument("--seeds", type=int, default=5, help="seeds per cell, from the first one on")
    parser.add_argument("--fresh", action="store_true", help="measure again what is already in the files")
    options = parser.parse_args(argv)
    chosen = options.part or parts
    targets = equations("signomial") + equations("nguyen")
    if "paper" in chosen:
        run_paper(((e, s) for e in targets for s in TUNED[: options.seeds]), fresh=options.fresh)
    if "unseen" in chosen:
        unseen = [seed for seeds in (LAST, THIRD, UNSEEN, LATER) for seed in seeds[: options.seeds]]
        run_paper(((e, s) for e in targets for s in unseen), fresh=options.fresh)
    if "noise" in chosen:
        run_noise(((e, s) for e in equations("signomial") for s in TUNED[: options.seeds]), fresh=options.fresh)
    if "non-signomial" in chosen:
        run_non_signomial(TUNED[: options.seeds], fresh=options.fresh)
    if "scale" in chosen:
        run_scale(TUNED[: options.seeds], fresh=options.fresh)
    if "rivals" in chosen:
        run_rivals(fresh=options.fresh)
    print(write_report({name: file.rows for name, file in FILES.items()}))
    return 0


if __name__ == "__main__":
    import sys

    sys.exit(main(sys.argv[1:]))
