"""Is the returned point optimal? KKT residual and objective against the best of 20 L-BFGS-B starts.

For every table up to 30 000 rows, K in {1, 2, 3} and λ in {0.1, 0.01, 0.001}, fitted twice: by the default, which grows
the terms from one start, and by `solver=Newton(starts=64)`, which looks for a lower minimum. The KKT residual (the
largest minimal subgradient; the larger of both fits) is recomputed from the fitted `equations_`, in units of the larger
of 1 and the largest gradient of the intercept-only model. The rival starts are random (slopes N(0, σ²) with σ
log-uniform in [0.03, 1], random shapes) and minimise the very same objective on the same standardised rows. On tables
of at most 2000 distinct rows every start has up to 1000 iterations; on larger ones every start has 60, and the best
three go on to 1000. A relative gap below zero is a minimum that no rival start found.
"""

from __future__ import annotations

import argparse
import os
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.results import FOLDER, ResultFile, Row, markdown_table, surroundings
from benchmarks.tables import SOURCES, Table, add_table_options, check_files, in_order, load
from ecsel import ECSELClassifier
from ecsel.estimators.equations import power_laws
from ecsel.fitting import L1, ArrayBlocks, Newton, PaperL1, Problem
from ecsel.fitting.fit import class_shares, to_theta
from ecsel.fitting.objective.losses import class_loss
from ecsel.fitting.rows.blocks import Coordinates, one_blas_thread
from ecsel.fitting.rows.merging import merge_equal_rows
from ecsel.fitting.solvers.base import Stop
from ecsel.fitting.solvers.initialization import scattered
from ecsel.fitting.solvers.lbfgs import minimise_lbfgs
from ecsel.signomial.links import LINKS

Array = NDArray[np.float64]

LARGEST_TABLE = 30_000
TERMS, STRENGTHS = (1, 2, 3), (1e-1, 1e-2, 1e-3)
N_STARTS = 20
THOROUGH = Newton(starts=64)
FULL_ROWS, FINISHED = 2000, 3
TOLERANCE = 1e-4
COLUMNS = {
    "table": "table",
    "rows": "distinct rows",
    "parameters": "parameters",
    "n_terms": "K",
    "l1": "λ",
    "kkt": "KKT / max(1, G₀)",
    "best_lbfgs": "best of 20",
    "objective": "objective",
    "gap": "relative gap",
    "seconds": "fit s",
    "thorough": "objective, 64 starts",
    "thorough_gap": "relative gap",
    "thorough_seconds": "fit s",
    "lbfgs_seconds": "20 starts s",
    "status": "status",
}


@dataclass(frozen=True, slots=True)
class Posed:
    """The problem that a fitted model solves, and the coordinates of its rows."""

    problem: Problem
    coordinates: Coordinates
    shares: Array

    @classmethod
    def of(cls, model: ECSELClassifier, table: Table) -> Posed:
        """Pose it anew from the raw rows."""
        logs = model.encoder_.log_features(table.X)
        rows, codes, weights = merge_equal_rows(logs, table.y, np.ones(len(table.y)))
        n_classes = len(model.classes_)
        loss = class_loss(LINKS[model.link_], n_classes)
        coordinates = Coordinates.of(rows, weights)
        blocks = ArrayBlocks.standardised(rows, codes, weights, coordinates, n_threads=os.cpu_count() or 1)
        penalty = (PaperL1 if model.penalty == "paper" else L1)(float(model.l1_ or 0.0))
        problem = Problem(blocks, loss, penalty, model.n_terms_, True, coordinates.std)
        return cls(problem, coordinates, class_shares(codes, weights, loss).astype(np.float64))

    def theta(self, model: ECSELClassifier) -> Array:
        """Return the parameters of the model's equations."""
        equations, names = list(model.equations_.values()), model.encoder_.feature_names
        return np.asarray(to_theta(self.problem, power_laws(equations, names), self.coordinates), dtype=np.float64)

    def evaluate(self, model: ECSELClassifier) -> tuple[float, float]:
        """Return the objective of the model's equations, and their KKT residual."""
        theta = self.theta(model)
        objective, gradient = self.problem.value_and_gradient(theta)
        return objective, self.problem.kkt_residual(theta, gradient)

    def random_start(self, rng: np.random.Generator) -> Array:
        """Draw a start."""
        return np.asarray(scattered(self.problem, self.shares, rng), dtype=np.float64)

    def best_lbfgs(self, rng: np.random.Generator) -> float:
        """Return the lowest objective of the random starts."""
        small = self.problem.blocks.n_rows <= FULL_ROWS
        # minimise_lbfgs allows ten iterations per unit of max_iter
        first, last = Stop(1e-9, 1e-7, 100 if small else 6), Stop(1e-9, 1e-7, 100)
        runs = [minimise_lbfgs(self.problem, self.random_start(rng), first) for _ in range(N_STARTS)]
        runs.sort(key=lambda run: run.objective)
        if not small:
            runs = [minimise_lbfgs(self.problem, run.theta, last) for run in runs[:FINISHED]]
        return min(run.objective for run in runs)


def measure(table: Table, n_terms: int, l1: float, known: Row | None) -> dict[str, Any]:
    """Fit one cell and judge it by the rival starts, new ones or those of an earlier run."""
    fits = [_fit(table, ECSELClassifier(n_terms=n_terms, l1=l1, solver=solver)) for solver in ("newton", THOROUGH)]
    (model, seconds), (thorough, more_seconds) = fits
    with one_blas_thread():
        posed = Posed.of(model, table)
        (objective, residual), (lower, other_residual) = (posed.evaluate(fitted) for fitted, _ in fits)
        solving = time.perf_counter()
        best = float(known["best_lbfgs"]) if known else posed.best_lbfgs(np.random.default_rng(0))
    spent = float(known["lbfgs_seconds"]) if known else time.perf_counter() - solving
    return {
        "table": table.name,
        "rows": posed.problem.blocks.n_rows,
        "parameters": posed.problem.size,
        "n_terms": n_terms,
        "l1": l1,
        "kkt": max(residual, other_residual) / model.fit_report_.kkt_scale,
        "best_lbfgs": best,
        "objective": objective,
        "gap": (objective - best) / best,
        "seconds": seconds,
        "thorough": lower,
        "thorough_gap": (lower - best) / best,
        "thorough_seconds": more_seconds,
        "lbfgs_seconds": spent,
        "status": " / ".join(dict.fromkeys(fitted.fit_report_.status.name.lower() for fitted in (model, thorough))),
    }


def _fit(table: Table, model: ECSELClassifier) -> tuple[ECSELClassifier, float]:
    started = time.perf_counter()
    model.fit(table.X, table.y)
    return model, time.perf_counter() - started


def summary(rows: list[Row]) -> str:
    """Return, for each size and strength, how many tables are as good as the best start, and the worst KKT residual."""
    lines = []
    for l1 in dict.fromkeys(row["l1"] for row in rows):
        for n_terms in dict.fromkeys(row["n_terms"] for row in rows):
            cells = [row for row in rows if row["l1"] == l1 and row["n_terms"] == n_terms]
            worst = max(cells, key=lambda row: float(row["kkt"]))
            counts = {
                name: f"{sum(float(row[name]) <= TOLERANCE for row in cells)} of {len(cells)}"
                for name in ("gap", "thorough_gap")
            }
            kkt = f"{float(worst['kkt']):.1e} ({worst['table']})"
            lines.append({"l1": l1, "n_terms": n_terms, **counts, "kkt": kkt})
    within = f"tables within {TOLERANCE:g} of the best rival start"
    heads = {"gap": f"{within}: by default", "thorough_gap": f"with {THOROUGH.starts} starts", "kkt": "largest KKT"}
    return markdown_table(lines, {"l1": "λ", "n_terms": "K", **heads})


def main(argv: list[str]) -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks kkt", description=(__doc__ or "").partition("\n")[0])
    add_table_options(parser, [name for name, source in SOURCES.items() if source.rows <= LARGEST_TABLE])
    parser.add_argument("--output", type=Path, default=FOLDER, metavar="DIR", help="folder of kkt.csv and kkt.md")
    parser.add_argument("--resume", action="store_true", help="skip cells that this version has already measured")
    parser.add_argument("--refit", action="store_true", help="fit again, but keep the rival starts already measured")
    options = parser.parse_args(argv)
    check_files(options, parser)
    results = ResultFile(options.output / "kkt.csv", ("table", "n_terms", "l1"))
    for name in options.tables:
        table = load(options.data, name)
        for n_terms in TERMS:
            for l1 in STRENGTHS:
                if options.resume and {"table": name, "n_terms": n_terms, "l1": l1} in results:
                    continue
                cell = {"table": name, "n_terms": n_terms, "l1": l1}
                row = results.put(measure(table, n_terms, l1, results.get(cell) if options.refit else None))
                print(
                    " ".join(
                        f"{field}={row[field]}" for field in ("table", "n_terms", "l1", "kkt", "gap", "thorough_gap")
                    )
                )
                sys.stdout.flush()
    rows = in_order(results.rows)
    text = summary(rows)
    where = surroundings(["numpy", "scipy", "scikit-learn"])
    parts = ["# Optimality of fits", __doc__ or "", text, markdown_table(rows, COLUMNS), where]
    (options.output / "kkt.md").write_text("\n\n".join(part.strip() for part in parts) + "\n", encoding="utf-8")
    print(text)
    return 0
