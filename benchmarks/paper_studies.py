"""The tables of the paper's two case studies, beside our result files."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from benchmarks import shopping_report
from benchmarks.paper_recovery import FIGURES
from benchmarks.results import ResultFile, markdown_table

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    Row = dict[str, str]

SHOPPING = """\
## Online shopping

Same table, 12 330 sessions, 70/30. Differences: the paper does not tell its split, its normalisation of
ShopIntensity, its codes of IsMobile and its groups; ours are in `examples/shopping_data.py`. Baselines are tuned in
other (wider) spaces, each decides at the threshold that is best for F1 on held-out training rows. Accuracy and F1
carry a standard error of about half a point and 1.3 points on these 3699 test rows."""

SEARCH = """\
### The paper's search space, searched again

Thirty trials of its space with its trainer (`ecsel.tune.search(space="shopping")`), on five folds. The score is the
mean of the folds' F1, each at the threshold that is best for it: the sign of a score without a constant may differ
between folds, so they cannot share one."""

IMPORTANCE = """\
### Explainers, their three largest features and seconds, and ranks beside the equation's

ρ is Spearman's, with the ranking of our sparse equation by G1. LIME and KernelSHAP explain the number of rows that is
given; the paper does not tell its numbers of samples. Abbreviations are the paper's: PVER PageValue_per_ExitRate, SI
ShopIntensity, PV PageValues, Mo Month, IR IsReturning, Ad Administrative, PR ProductRelated, ER ExitRates."""

LIME = """\
### G3 and D2 beside LIME

LIME estimates a slope of the probability per standard deviation of a feature; G3 is the slope of the score, D2 that
of the probability, per relative change. The paper's column “G3” holds D2. Rows are ours: one just below the
threshold, one whose probability is nearest to the paper's second row."""

FRAUD = """\
## Fraud

The paper's log of 6.36 million payments is not at hand. There are 29 967 genuine rows of it, in which frauds are
over-represented (4.3 % against 0.13 %; `python -m benchmarks paper_fraud`), and a log of the same size that the public
simulator wrote with its own parameter files (`python -m benchmarks paysim`). **Figures of different rows cannot be
compared with each other**; only models on the same rows can."""

SHORT = {
    "PageValue_per_ExitRate": "PVER",
    "ShopIntensity": "SI",
    "PageValues": "PV",
    "Month": "Mo",
    "IsReturning": "IR",
    "Administrative": "Ad",
    "ProductRelated": "PR",
    "ExitRates": "ER",
}


def parts(results: Path) -> list[str]:
    """Return the sections."""
    models = ResultFile(results / "shopping_models.csv", ["model", "columns"]).rows
    if not models:
        return [SHOPPING, "Not measured yet: `python -m benchmarks shopping --data DIR`.", *fraud(results)]
    named = {row["model"]: row for row in models if row["columns"] == "14 features"}
    return [
        SHOPPING,
        shopping_models(models),
        "### Sparse and dense equation",
        trade_off(named),
        SEARCH,
        search(named.get("ECSEL (paper's trainer and search)")),
        "### Our own model of at most three terms, on five splits",
        shopping_report.splits_text(results),
        IMPORTANCE,
        importance(results),
        LIME,
        facts(results),
        local(results),
        *fraud(results),
    ]


def shopping_models(rows: Sequence[Row]) -> str:
    """Return the table of models."""
    lines = []
    for row in rows:
        is_sparse = row["model"] == "ECSEL (paper's trainer, sparse)"
        theirs = FIGURES["shopping_models"].get("ECSEL" if is_sparse else row["model"], {})
        line = {"model": f"{row['model']}, {row['columns']}", "threshold": f"{float(row['threshold']):.3f}"}
        for name in ("accuracy", "f1", "recall"):
            line[name] = shopping_report.percent(row[name])
            line[f"paper_{name}"] = f"{theirs[name]:.2f}" if theirs and row["columns"] == "14 features" else "–"
        line["seconds"] = f"{float(row['seconds']):.2f}"
        line["paper_seconds"] = f"{theirs['seconds']:g}" if theirs and row["columns"] == "14 features" else "–"
        lines.append(line)
    names = {"model": "model"}
    for name, title in (("accuracy", "accuracy"), ("f1", "F1"), ("recall", "recall"), ("seconds", "seconds")):
        names |= {name: title, f"paper_{name}": "paper"}
    return markdown_table(lines, names | {"threshold": "threshold"})


def trade_off(named: Mapping[str, Row]) -> str:
    """Return the paper's sparse and dense equations beside ours."""
    measures = {"active": "active features", "accuracy": "accuracy", "f1": "F1", "recall": "recall"}
    measures |= {"precision": "precision", "auc": "ROC-AUC", "cv_f1": "CV F1", "seconds": "seconds"}
    lines = []
    for name, title in measures.items():
        line = {"measure": title}
        for kind in ("sparse", "dense"):
            row = named.get(f"ECSEL (paper's trainer, {kind})")
            line[f"paper_{kind}"] = f"{FIGURES['shopping_trade_off'][kind][name]:g}"
            line[kind] = "not measured" if row is None else f"{float(row[name]):.3g}"
        lines.append(line)
    names = {"measure": "measure", "paper_sparse": "sparse, paper", "sparse": "sparse, ours"}
    equations = [
        f"- {kind}: `z = {named[label]['equation']}`"
        for kind, label in ((k, f"ECSEL (paper's trainer, {k})") for k in ("sparse", "dense"))
        if label in named
    ]
    table = markdown_table(lines, names | {"paper_dense": "dense, paper", "dense": "dense, ours"})
    return table + "\n\nOurs, at the paper's two strengths and its other hyperparameters:\n\n" + "\n".join(equations)


def search(row: Row | None) -> str:
    """Return the winner of the search beside the paper's."""
    if row is None:
        return "Not measured yet."
    found = json.loads(row["options"]) | {"cv_f1": float(row["cv_f1"])}
    lines = [
        {"name": name, "paper": f"{value:g}", "ours": f"{found[name]:.4g}"}
        for name, value in FIGURES["shopping_search"].items()
    ]
    return markdown_table(lines, {"name": "hyperparameter", "paper": "paper", "ours": "ours"})


def importance(results: Path) -> str:
    """Return the explainers."""
    lines = []
    for row in ResultFile(results / "shopping_importance.csv", ["model", "explainer"]).rows:
        theirs = FIGURES["shopping_importance"][row["model"]][row["explainer"]]
        line = {"model": row["model"], "explainer": row["explainer"], "rows": row["rows"]}
        line["top"] = ", ".join(SHORT.get(name, name) for name in row["top"].split(", "))
        line |= {"seconds": f"{float(row['seconds']):.3g}", "paper_seconds": f"{theirs['seconds']:g}"}
        line["rho"] = "–" if row["model"] == "ECSEL" else f"{float(row['rho']):.3f} ({float(row['p_value']):.2g})"
        line["paper_rho"] = f"{theirs['rho']:.3f} ({theirs['p_value']:g})" if "rho" in theirs else "–"
        lines.append(line | {"paper_top": theirs["top"]})
    if not lines:
        return "Not measured yet."
    names = {"model": "model", "explainer": "explainer", "rows": "rows (ours)", "seconds": "seconds"}
    names |= {"paper_seconds": "paper", "top": "three largest", "paper_top": "paper"}
    return markdown_table(lines, names | {"rho": "ρ (p)", "paper_rho": "paper"})


def facts(results: Path) -> str:
    """Return the single figures beside the paper's."""
    lines = [
        {
            "fact": row["fact"],
            "paper": f"{FIGURES['shopping_facts'][row['fact']]:g}" if row["fact"] in FIGURES["shopping_facts"] else "–",
            "ours": f"{float(row['value']):.4g}",
        }
        for row in ResultFile(results / "shopping_facts.csv", ["fact"]).rows
    ]
    return markdown_table(lines, {"fact": "figure", "paper": "paper", "ours": "ours"}) if lines else "Not measured yet."


def local(results: Path) -> str:
    """Return the two rows in full, the paper's two rows beside them."""
    rows = ResultFile(results / "shopping_local.csv", ["row", "feature"]).rows
    if not rows:
        return "Not measured yet."
    first = rows[0]["row"]
    lines = []
    for row in rows:
        pair = FIGURES["shopping_local"].get(row["feature"], {}).get("no" if row["row"] == first else "yes")
        line = {"row": f"{row['row']} (p = {float(row['p']):.3f})", "feature": row["feature"]}
        line |= {name: f"{float(row[name]):+.4f}" for name in ("g3", "d2", "lime")}
        theirs = {"paper_d2": f"{pair[0]:+.3f}", "paper_lime": f"{pair[1]:+.3f}"} if pair else {}
        lines.append({"paper_d2": "–", "paper_lime": "–"} | line | theirs)
    names = {"row": "row", "feature": "feature", "g3": "G3", "d2": "D2", "paper_d2": "“G3” (paper's row)"}
    return markdown_table(lines, names | {"lime": "LIME", "paper_lime": "LIME (paper's row)"})


def fraud(results: Path) -> list[str]:
    """Return the section on fraud."""
    sample = ResultFile(results / "fraud_sample.csv", ["model", "columns"]).rows
    if not sample:
        return [FRAUD, "Not measured yet: `python -m benchmarks paper_fraud --data DIR`."]
    lines = []
    for name, theirs in FIGURES["fraud_models"].items():
        line = {"model": f"{name} (paper)", "of": "the paper's 6.36 million rows"}
        line |= {measure: f"{theirs[measure]:.2f}" for measure in ("f1", "recall", "precision")}
        lines.append(line | {measure: f"{theirs[measure]:g}" for measure in ("auc", "threshold", "seconds")})
    for row in ResultFile(results / "paysim.csv", ["method"]).rows:
        line = {"model": row["method"], "of": "simulated 6.36 million rows"}
        line |= {measure: f"{float(row[measure]):.2f}" for measure in ("f1", "recall", "precision")}
        lines.append(line | {measure: row[measure] for measure in ("auc", "threshold", "seconds")})
    for row in sample:
        line = {"model": row["model"], "of": f"29 967 genuine rows, {row['columns']}"}
        line |= {measure: shopping_report.percent(row[measure]) for measure in ("f1", "recall", "precision")}
        line |= {measure: f"{float(row[measure]):.4f}" for measure in ("auc", "threshold")}
        lines.append(line | {"seconds": f"{float(row['seconds']):.2f}"})
    names = {"model": "model", "of": "rows and features", "f1": "F1", "recall": "recall", "precision": "precision"}
    names |= {"auc": "AUC", "threshold": "threshold", "seconds": "seconds"}
    equations = [f"- {row['model']}, {row['columns']}: `z = {row['equation']}`" for row in sample if row["equation"]]
    return [FRAUD, markdown_table(lines, names), "Equations of the genuine rows:", "\n".join(equations)]
