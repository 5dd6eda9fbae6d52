"""Which scaling of numeric columns predicts best: cross-validated log-loss of each rule, table by table.

Rules: min-max; spread; the ratio scale where a column is strictly positive, min-max or spread elsewhere; the same
where its largest value is also less than 30 times its smallest; and min-max unless a column's upper quartile lies in
the lowest share of its range ("skewed", several shares). Each rule is judged at its own best strength of a short grid,
two terms, five shuffled stratified folds, at most 6000 rows.
"""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.stats import rankdata
from sklearn.metrics import log_loss
from sklearn.model_selection import StratifiedKFold

from benchmarks.results import FOLDER, ResultFile, markdown_table, surroundings
from benchmarks.tables import Table, add_table_options, check_files, load
from ecsel import ECSELClassifier
from ecsel.tables.scaling import summarise

if TYPE_CHECKING:
    import pandas as pd

STRENGTHS = (1e-1, 3e-2, 1e-2, 3e-3, 1e-3)
MAX_ROWS = 6000
TAME = 30.0
SHARES = (0.05, 0.1, 0.2, 0.3)
DEFAULT = ["iris", "seeds", "hearts", "ilpd", "transfusion", "contraceptive", "compas", "mammography", "osi", "default"]


def rules(X: pd.DataFrame) -> dict[str, Any]:
    """Return each rule as the option that makes it."""
    numeric = [name for name in X.columns if X[name].dtype.kind in "iuf"]
    summaries = {name: summarise(X[name].dropna().to_numpy(np.float64)) for name in numeric}
    share = {
        name: (s.upper_quartile - s.low) / (s.high - s.low) if s.high > s.low else 1.0 for name, s in summaries.items()
    }
    found: dict[str, Any] = {
        "minmax": "minmax",
        "spread": "spread",
        "ratio": {name: "ratio" if s.low > 0 else "minmax" for name, s in summaries.items()},
        "ratio or spread": {name: "ratio" if s.low > 0 else "spread" for name, s in summaries.items()},
        "tame ratio or spread": {
            name: "ratio" if s.low > 0 and s.high < TAME * s.low else "spread" for name, s in summaries.items()
        },
    }
    for limit in SHARES:
        found[f"skewed {limit:g}"] = {name: "spread" if value < limit else "minmax" for name, value in share.items()}
    return found


def evaluate(table: Table, option: Any) -> tuple[float, float]:
    """Return the best mean log-loss over the strengths, and that strength."""
    keep = np.random.default_rng(0).permutation(len(table.y))[:MAX_ROWS]
    X, y = table.X.iloc[keep], table.y[keep]
    folds = list(StratifiedKFold(5, shuffle=True, random_state=0).split(X, y))
    losses = []
    for strength in STRENGTHS:
        model = ECSELClassifier(n_terms=2, l1=strength, scaling=option)
        total = 0.0
        for train, test in folds:
            p = model.fit(X.iloc[train], y[train]).predict_proba(X.iloc[test])
            total += log_loss(y[test], p, labels=np.unique(y)) / len(folds)
        losses.append(total)
    best = int(np.argmin(losses))
    return losses[best], STRENGTHS[best]


def main(argv: list[str]) -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks scaling", description=__doc__)
    add_table_options(parser, DEFAULT)
    parser.add_argument("--resume", action="store_true", help="keep the cells that are already measured")
    options = parser.parse_args(argv)
    check_files(options, parser)
    results = ResultFile(FOLDER / "scaling.csv", ["table", "rule"])
    for name in options.tables:
        table = load(options.data, name)
        for rule, option in rules(table.X).items():
            if {"table": name, "rule": rule} in results and options.resume:
                continue
            loss, strength = evaluate(table, option)
            results.put({"table": name, "rule": rule, "log_loss": loss, "l1": strength})
            print(f"{name:14s} {rule:10s} {loss:.5f} (l1 {strength:g})", flush=True)
    summary = summarise_rules(results.rows)
    page = "\n\n".join(
        [
            "# Scaling of numeric columns",
            (__doc__ or "").partition("\n")[2].strip(),
            markdown_table(summary, {"rule": "rule", "rank": "mean rank", "change": "log-loss against min-max"}),
            markdown_table(results.rows, {"table": "table", "rule": "rule", "log_loss": "log-loss", "l1": "l1"}),
            surroundings(["numpy", "scikit-learn"]),
        ]
    )
    (FOLDER / "scaling.md").write_text(page + "\n", encoding="utf-8")
    print(markdown_table(summary, {"rule": "rule", "rank": "mean rank", "change": "log-loss against min-max"}))
    return 0


def summarise_rules(rows: list[dict[str, str]]) -> list[dict[str, str]]:
    """Return mean rank and mean relative loss of each rule over the tables that have all of them."""
    names = list(dict.fromkeys(row["rule"] for row in rows))
    tables = list(dict.fromkeys(row["table"] for row in rows))
    found = {(row["table"], row["rule"]): float(row["log_loss"]) for row in rows}
    whole = [t for t in tables if all((t, n) in found for n in names)]
    grid = np.array([[found[t, n] for t in whole] for n in names])
    ranks = rankdata(grid, axis=0).mean(axis=1)
    change = (grid / grid[names.index("minmax")]).mean(axis=1) - 1
    return [
        {"rule": n, "rank": f"{rank:.2f}", "change": f"{100 * c:+.2f} %"}
        for n, rank, c in zip(names, ranks, change, strict=True)
    ]
