"""The fraud study: 6.36 million mobile payments, one in eight hundred a fraud; the paper's search and its rivals.

``--file`` is the log that the PaySim simulator writes, as Parquet or as Kaggle's CSV
(``PS_20174392719_1491204439457_log.csv``). Features are the eleven of the paper's text: ln(x + 1e-6) of the amount and
of the sender's balance before and after, the hour, the share of the balance that is taken, two indicators of external
accounts and four of the type; standardised, then mapped to [1, 10] where the paper's model is fitted. 85 % of the rows
train and 15 % test, stratified, seed 42; 15 % of the training rows choose thresholds (largest F1), and nothing else.

- ``search``: the paper's appendix: ten trials of (K, λ, multiplier of the balanced class weight) by the F1 of five
  folds on a stratified million of training rows, with the paper's penalty and scaling; the best with K = 1 and with
  K = 2 are tested.
- ``ecsel``: the library's own penalty and scaling, no class weights, K = 1, 2 and 3, λ = 1e-6.
- ``logistic``, ``forest``, ``xgboost``: the rivals on the same features; XGBoost is tuned on the validation rows, since
  its plain defaults fail on so rare a class.

Deep Symbolic Classification stands in the table with its published figures, which were measured on other rows.
"""

from __future__ import annotations

import argparse
import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from sklearn.metrics import precision_recall_curve, roc_auc_score
from sklearn.model_selection import StratifiedKFold, train_test_split

from benchmarks.results import FOLDER, ResultFile, markdown_table, surroundings
from ecsel import ECSELClassifier

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ecsel import Signomial

METHODS = ("search", "ecsel", "logistic", "forest", "xgboost")
TRIALS, FOLDS, SEARCH_ROWS, SEED = 10, 5, 1_000_000, 42
TYPES = ("CASH_OUT", "TRANSFER", "DEBIT", "PAYMENT")
PUBLISHED = (
    ("paper: logistic regression", 55.44, 51.06, 60.66, "0.9593", "1.000", "1642.8"),
    ("paper: random forest", 88.50, 84.01, 93.50, "0.9992", "0.417", "204.0"),
    ("paper: XGBoost", 89.90, 87.82, 92.09, "0.9998", "0.989", "8.5"),
    ("paper: ECSEL", 79.08, 68.10, 94.27, "0.9914", "0.904", "960.0"),
    ("published: DSC", 78.0, 67.0, 95.0, "", "0.7", ""),
)
COLUMNS = {
    "method": "method",
    "f1": "F1 %",
    "recall": "recall %",
    "precision": "precision %",
    "auc": "ROC-AUC",
    "threshold": "threshold",
    "seconds": "seconds",
    "note": "note",
}


def read_log(path: Path) -> pd.DataFrame:
    """Read the simulator's log."""
    columns = [
        "step",
        "type",
        "amount",
        "oldbalanceOrg",
        "newbalanceOrig",
        "oldbalanceDest",
        "newbalanceDest",
        "isFraud",
    ]
    if path.suffix == ".parquet":
        return pd.read_parquet(path, columns=columns)
    return pd.read_csv(path, usecols=columns)


def features(log: pd.DataFrame) -> pd.DataFrame:
    """Return the eleven features."""
    old, new, amount = log["oldbalanceOrg"], log["newbalanceOrig"], log["amount"]
    share = np.divide(amount, old, out=np.zeros(len(log)), where=old.to_numpy() > 0)
    columns = {
        "amount": np.log(amount + 1e-6),
        "oldbalanceOrg": np.log(old + 1e-6),
        "newbalanceOrig": np.log(new + 1e-6),
        "hour_of_day": log["step"] % 24.0,
        "pct_balance_taken": np.clip(share, 0, 1),
        "externalOrig": ((old == 0) & (new == 0)).astype(float),
        "externalDest": ((log["oldbalanceDest"] == 0) & (log["newbalanceDest"] == 0)).astype(float),
        **{f"type_{name}": (log["type"] == name).astype(float) for name in TYPES},
    }
    return pd.DataFrame(columns)


@dataclass(frozen=True)
class Split:
    """Rows for training, for choosing a threshold, and for the test."""

    train: tuple[pd.DataFrame, NDArray[Any]]
    validation: tuple[pd.DataFrame, NDArray[Any]]
    test: tuple[pd.DataFrame, NDArray[Any]]

    @classmethod
    def of(cls, X: pd.DataFrame, y: NDArray[Any]) -> Split:
        """Cut 15 % for the test, and 15 % of the rest for the threshold."""
        rest_X, test_X, rest_y, test_y = train_test_split(X, y, test_size=0.15, stratify=y, random_state=SEED)
        cut = train_test_split(rest_X, rest_y, test_size=0.15, stratify=rest_y, random_state=SEED)
        return cls((cut[0], cut[2]), (cut[1], cut[3]), (test_X, test_y))


def best_threshold(y: NDArray[Any], p: NDArray[np.float64]) -> tuple[float, float]:
    """Return the threshold with the largest F1, and that F1."""
    precision, recall, cuts = precision_recall_curve(y, p)
    f1 = 2 * precision * recall / np.maximum(precision + recall, 1e-12)
    at = int(np.argmax(f1[:-1]))
    return float(cuts[at]), float(f1[at])


def evaluate(model: Any, split: Split) -> dict[str, float]:
    """Return the measures on the test rows at the threshold that the validation rows choose."""
    threshold, _ = best_threshold(split.validation[1], model.predict_proba(split.validation[0])[:, 1])
    X, y = split.test
    p = model.predict_proba(X)[:, 1]
    flagged = p >= threshold
    hits = int((flagged & (y == 1)).sum())
    precision, recall = hits / max(int(flagged.sum()), 1), hits / max(int((y == 1).sum()), 1)
    f1 = 2 * precision * recall / max(precision + recall, 1e-12)
    shares = {"f1": 100 * f1, "recall": 100 * recall, "precision": 100 * precision}
    return {**shares, "auc": float(roc_auc_score(y, p)), "threshold": threshold}


def paper_model(n_terms: int, l1: float, multiplier: float) -> ECSELClassifier:
    """Return the paper's model with this library's solver."""
    return ECSELClassifier(
        n_terms=n_terms,
        l1=l1,
        class_weight=multiplier,
        penalty="paper",
        scaling="minmax",
        fit_intercept=False,
        two_sided=False,
        random_state=SEED,
    )


def search(split: Split) -> list[tuple[int, float, float, float]]:
    """Return (K, λ, multiplier, F1 of the folds) of the ten trials, best first."""
    X, y = split.train
    if len(y) > SEARCH_ROWS:
        X, _, y, _ = train_test_split(X, y, train_size=SEARCH_ROWS, stratify=y, random_state=SEED)
    rng, found = np.random.default_rng(SEED), []
    for trial in range(TRIALS):
        n_terms = 1 + trial % 2  # five trials each
        l1, multiplier = float(10 ** rng.uniform(-4, -2)), float(rng.integers(3, 11) / 10)
        scores = []
        for fitted, test in StratifiedKFold(FOLDS, shuffle=True, random_state=SEED).split(X, y):
            model = paper_model(n_terms, l1, multiplier).fit(X.iloc[fitted], y[fitted])
            scores.append(best_threshold(y[test], model.predict_proba(X.iloc[test])[:, 1])[1])
        found.append((n_terms, l1, multiplier, float(np.mean(scores))))
        print(f"trial {trial + 1}: K={n_terms} λ={l1:.2e} multiplier={multiplier} F1={found[-1][-1]:.4f}", flush=True)
    return sorted(found, key=lambda each: -each[-1])


def in_words(equation: Signomial) -> str:
    """Read an equation out: the constant, and what raises or lowers each term, strongest first."""
    said = []
    for term in equation.terms:
        if not term.exponents:
            said.append(f"a constant of {term.coefficient:.3g}")
            continue
        powers = sorted(term.exponents.items(), key=lambda item: -abs(float(item[1])))
        up = [f"{name} (to the {float(power):.2g})" for name, power in powers if power > 0.05]
        down = [f"{name} (to the {float(power):.2g})" for name, power in powers if power < -0.05]
        effect = "speaks for fraud" if term.coefficient > 0 else "speaks against fraud"
        parts = [f"grows with {', '.join(up)}"] * bool(up) + [f"falls with {', '.join(down)}"] * bool(down)
        said.append(f"a term of {term.coefficient:.3g} that {effect} and {' and '.join(parts) or 'hardly varies'}")
    return "The score is " + "; plus ".join(said) + "."


def rival(method: str, split: Split) -> tuple[Any, str]:
    """Return a fitted rival and what was chosen for it."""
    X, y = split.train
    if method == "logistic":
        from sklearn.linear_model import LogisticRegression
        from sklearn.pipeline import make_pipeline
        from sklearn.preprocessing import StandardScaler

        return make_pipeline(StandardScaler(), LogisticRegression(max_iter=300)).fit(X, y), "standardised"
    if method == "forest":
        from sklearn.ensemble import RandomForestClassifier

        return RandomForestClassifier(100, n_jobs=-1, random_state=SEED).fit(X, y), "100 trees"
    from xgboost import XGBClassifier

    best: tuple[float, Any, str] | None = None
    for depth, rate, trees in ((6, 0.3, 100), (6, 0.1, 300), (9, 0.1, 300)):
        model = XGBClassifier(
            n_estimators=trees, max_depth=depth, learning_rate=rate, max_delta_step=1, random_state=SEED
        ).fit(X, y)
        score = best_threshold(split.validation[1], model.predict_proba(split.validation[0])[:, 1])[1]
        if best is None or score > best[0]:
            best = (score, model, f"depth {depth}, rate {rate}, {trees} trees, of three settings")
    assert best is not None
    return best[1], best[2]


def cells(method: str, split: Split) -> list[tuple[str, Any, float, str]]:
    """Return name, fitted model, seconds of training and a note of each model that a method stands for."""
    X, y = split.train
    if method == "search":
        found, done = search(split), []
        for n_terms in (1, 2):
            _, l1, multiplier, score = next(each for each in found if each[0] == n_terms)
            started = time.perf_counter()
            model = paper_model(n_terms, l1, multiplier).fit(X, y)
            note = f"λ = {l1:.2e}, multiplier {multiplier}, F1 of the folds {score:.4f}"
            done.append((f"ECSEL, the paper's search, K = {n_terms}", model, time.perf_counter() - started, note))
        return done
    if method == "ecsel":
        done = []
        for n_terms in (1, 2, 3):
            started = time.perf_counter()
            model = ECSELClassifier(n_terms=n_terms, l1=1e-6, random_state=SEED).fit(X, y)
            note = f"objective {model.fit_report_.objective:.4g}"
            done.append((f"ECSEL, K = {n_terms}", model, time.perf_counter() - started, note))
        return done
    started = time.perf_counter()
    model, note = rival(method, split)
    return [(method, model, time.perf_counter() - started, note)]


def main(argv: list[str]) -> int:
    """Run the methods and write ``paysim.csv`` and ``paysim.md``."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks paysim", description=__doc__.partition("\n")[0])
    parser.add_argument("--file", type=Path, required=True, help="the simulator's log, .parquet or .csv")
    parser.add_argument("--methods", default=",".join(METHODS), help="of " + ", ".join(METHODS))
    parser.add_argument("--rows", type=int, default=0, help="use a stratified sample of this many rows")
    parser.add_argument("--output", type=Path, default=FOLDER)
    options = parser.parse_args(argv)
    methods = options.methods.split(",")
    if unknown := [name for name in methods if name not in METHODS]:
        parser.error(f"no method is named {unknown[0]!r}; there are {', '.join(METHODS)}.")
    if not options.file.is_file():
        parser.error(f"there is no file {options.file}.")
    log = read_log(options.file)
    X, y = features(log), log["isFraud"].to_numpy()
    if options.rows and options.rows < len(y):
        X, _, y, _ = train_test_split(X, y, train_size=options.rows, stratify=y, random_state=SEED)
    split = Split.of(X, y)
    results = ResultFile(options.output / "paysim.csv", ["method"])
    for method in methods:
        for name, model, seconds, note in cells(method, split):
            measures = evaluate(model, split)
            equation, text = "", note
            if isinstance(model, ECSELClassifier):
                equation = format(next(iter(model.equations_.values())), ".4g")
                text += ". " + in_words(next(iter(model.equations_.values())))
            row = {"method": name, **measures, "seconds": seconds, "note": text, "equation": equation}
            print(" ".join(f"{key}={value}" for key, value in results.put(row).items()), flush=True)
    write_page(results, options.output / "paysim.md", len(y), int(y.sum()))
    return 0


def write_page(results: ResultFile, path: Path, n_rows: int, n_frauds: int) -> None:
    """Write the table, the published figures and the equations."""
    published = [
        {**dict(zip(COLUMNS, map(str, each), strict=False)), "note": "other rows: Kaggle's log"} for each in PUBLISHED
    ]
    equations = [f"- {row['method']}: `{row['equation']}`" for row in results.rows if row["equation"]]
    page = [
        "# The fraud study",
        "",
        f"{n_rows} rows, {n_frauds} frauds; 85 % train, 15 % test. Published figures are from Kaggle's log.",
        "",
        markdown_table([*results.rows, *published], COLUMNS),
        "",
        "Equations, in the features that `to_model_features` returns:",
        "",
        *equations,
        "",
        surroundings(["numpy", "scikit-learn", "xgboost-cpu"]),
    ]
    path.write_text("\n".join(page) + "\n", encoding="utf-8")
