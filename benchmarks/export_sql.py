"""Seconds to score ten million rows: the exported SQL in DuckDB beside `predict_proba` and XGBoost's prediction.

The rows are drawn from a real table with replacement; they lie in a DuckDB table in memory and in a data frame as well.

- SQL in DuckDB: `ecsel.export.to_sql` of `ECSELClassifier(n_terms=3, l1=1e-3)`; label and probabilities of every row
  are written to another table of the database. With contributions: also what each column adds to the score (L2).
- predict_proba: the same model on the data frame. The query's probabilities differ by `difference` at most.
- XGBoost: 150 trees of depth 3, learning rate 0.1, on single-precision numbers, text one-hot, all made beforehand;
  left out by `--no-xgboost`, where it is not installed.
- Fetching: the DuckDB table as a data frame, which the latter two need besides where the rows are in the database.

All of them use all cores. The methods take turns, `--repeats` times over in one process; seconds are those of the
fastest run by the clock, processor seconds those of all cores together, which other work on the machine changes less.
"""

from __future__ import annotations

import argparse
import os
import sys
import time
import warnings
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from benchmarks.results import FOLDER, ResultFile, Row, markdown_table, surroundings
from benchmarks.tables import Table, add_table_options, check_files, in_order, load
from ecsel import ECSELClassifier, export

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    import pandas as pd
    from numpy.typing import NDArray

KEY = "row number"
COLUMNS = {
    "table": "table",
    "rows": "rows",
    "columns": "columns",
    "method": "method",
    "seconds": "seconds",
    "processor": "processor seconds",
    "speed": "million rows/s",
    "difference": "difference",
    "load": "mean load",
}


@dataclass(frozen=True, slots=True)
class Comparison:
    """A table drawn large, the fitted models, and a database that holds the rows under the name ``t``.

    Without XGBoost the rival is None.
    """

    X: pd.DataFrame
    numbers: NDArray[np.float32]
    model: ECSELClassifier
    rival: Any
    database: Any

    @classmethod
    def of(cls, table: Table, n_rows: int, *, xgboost: bool) -> Comparison:
        """Fit the models to the table as it is, then draw the rows."""
        import duckdb

        model = ECSELClassifier(n_terms=3, l1=1e-3).fit(table.X, table.y)
        numbers = table.numbers.astype(np.float32)
        rival = None
        if xgboost:
            from xgboost import XGBClassifier

            rival = XGBClassifier(n_estimators=150, max_depth=3, learning_rate=0.1).fit(numbers, table.y)
        drawn = np.random.default_rng(0).integers(len(table.y), size=n_rows)
        X = table.X.iloc[drawn].reset_index(drop=True)
        database = duckdb.connect()
        database.register("drawn", X.assign(**{KEY: np.arange(n_rows)}))
        database.execute("CREATE TABLE t AS SELECT * FROM drawn")
        database.unregister("drawn")
        return cls(X, numbers[drawn], model, rival, database)

    def methods(self) -> Iterator[tuple[str, Callable[[], Any]]]:
        """Yield what is timed."""
        yield "SQL in DuckDB", self._scored_by(export.to_sql(self.model, "duckdb", "t", keep=[KEY]))
        with_reasons = export.to_sql(self.model, "duckdb", "t", keep=[KEY], contributions="attribution")
        yield "SQL in DuckDB, with contributions", self._scored_by(with_reasons)
        yield "predict_proba", lambda: self.model.predict_proba(self.X)
        if self.rival is not None:
            yield "XGBoost", lambda: self.rival.predict_proba(self.numbers)
        yield "fetching the rows", lambda: self.database.execute("SELECT * FROM t").df()

    def _scored_by(self, query: str) -> Callable[[], Any]:
        return lambda: self.database.execute(f"CREATE OR REPLACE TABLE scored AS {query}")

    def difference(self) -> float:
        """Return the largest difference between a probability of the last query and the model's."""
        scored = self.database.execute(f'SELECT * FROM scored ORDER BY "{KEY}"').fetchnumpy()
        p = self.model.predict_proba(self.X)
        return max(
            float(np.abs(scored[f"probability_{label}"] - p[:, c]).max()) for c, label in enumerate(self.model.classes_)
        )


def timed(run: Callable[[], Any]) -> tuple[float, float]:
    """Return the seconds and the processor seconds of a run."""
    started, started_processor = time.perf_counter(), time.process_time()
    run()
    return time.perf_counter() - started, time.process_time() - started_processor


def measured(table: Table, n_rows: int, repeats: int, *, xgboost: bool = True) -> Iterator[dict[str, Any]]:
    """Yield one result per method."""
    comparison = Comparison.of(table, n_rows, xgboost=xgboost)
    methods = dict(comparison.methods())
    times: dict[str, list[tuple[float, float]]] = {name: [] for name in methods}
    loads = []
    with warnings.catch_warnings(), comparison.database:
        warnings.simplefilter("ignore", UserWarning)  # levels that few rows have, and the like
        methods["SQL in DuckDB"]()
        difference = comparison.difference()
        for _ in range(repeats):
            for name, run in methods.items():
                loads.append(os.getloadavg()[0])
                times[name].append(timed(run))
                print(f"{table.name}: {name} {times[name][-1][0]:.2f} s", file=sys.stderr)
    for name, taken in times.items():
        seconds, processor = np.min(taken, axis=0).tolist()
        yield {
            "table": table.name,
            "rows": n_rows,
            "columns": table.X.shape[1],
            "method": name,
            "seconds": seconds,
            "processor": processor,
            "speed": n_rows / seconds / 1e6,
            "difference": difference if name == "SQL in DuckDB" else "",
            "load": float(np.mean(loads)),
        }


def rounded(row: Row) -> Row:
    """Return a result as it is shown."""
    difference = f"{float(row['difference']):.1g}" if row["difference"] else ""
    short = {name: f"{float(row[name]):.2f}" for name in ("seconds", "processor", "speed", "load")}
    return {**row, **short, "difference": difference}


def main(argv: list[str]) -> int:
    about = (__doc__ or "").partition("\n")[0]
    parser = argparse.ArgumentParser(prog="python -m benchmarks export_sql", description=about)
    add_table_options(parser, ["osi", "default"])
    parser.add_argument("--rows", type=int, default=10_000_000, metavar="N", help="rows to score (10000000)")
    parser.add_argument("--repeats", type=int, default=3, metavar="N", help="runs of each method (3)")
    parser.add_argument("--no-xgboost", dest="xgboost", action="store_false", help="leave XGBoost out")
    parser.add_argument("--output", type=Path, default=FOLDER, metavar="DIR", help="folder of the results")
    options = parser.parse_args(argv)
    check_files(options, parser)
    results = ResultFile(options.output / "export_sql.csv", ("table", "method"))
    for name in options.tables:
        for row in measured(load(options.data, name), options.rows, options.repeats, xgboost=options.xgboost):
            results.put(row)
    text = markdown_table([rounded(row) for row in in_order(results.rows)], COLUMNS)
    libraries = ["duckdb", "sqlglot", "scikit-learn", *(["xgboost-cpu"] if options.xgboost else [])]
    parts = ["# Scoring ten million rows", __doc__ or "", text, surroundings(libraries)]
    (options.output / "export_sql.md").write_text("\n\n".join(part.strip() for part in parts) + "\n", encoding="utf-8")
    print(text)
    return 0
