"""The figures in the README, written from the result files between two marks."""

from __future__ import annotations

from statistics import fmean, median
from typing import TYPE_CHECKING

from benchmarks.paper_recovery import FIGURES
from benchmarks.recovery_data import LATER, TUNED
from benchmarks.results import ResultFile, markdown_table
from benchmarks.tables import SOURCES

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    Row = dict[str, str]

BEGIN, END = "<!-- figures: python -m benchmarks paper -->", "<!-- end of figures -->"
RIVALS = ("logistic regression", "XGBoost")
OURS = "ECSEL (auto)"


def write(readme: Path, results: Path) -> None:
    """Put the figures between the marks."""
    before, _, rest = readme.read_text(encoding="utf-8").partition(BEGIN)
    _, found, after = rest.partition(END)
    if not found:
        raise ValueError(f"{readme} has no marks {BEGIN!r} and {END!r}")
    readme.write_text(f"{before}{BEGIN}\n{figures(results)}\n{END}{after}", encoding="utf-8")


def figures(results: Path) -> str:
    """Return the figures as Markdown."""
    parts = [unseen(results), recovery(results), speed(results), shopping(results), attributions(results)]
    bullets = "\n".join(f"- {part}" for part in parts if part)
    return f"{nested(results)}\n\n{bullets}"


def nested(results: Path) -> str:
    """Return the weighted F1 of nested folds, for the tables on which all of these methods are measured."""
    rows = ResultFile(results / "classification_b.csv", ("protocol", "table", "method", "repeat", "fold")).rows
    lines = []
    for table in SOURCES:
        means = {method: _mean(rows, table, method) for method in (OURS, *RIVALS)}
        if all(mean is not None for mean in means.values()):
            best = max(mean for mean in means.values() if mean is not None)
            lines.append({"table": table} | {m: _marked(mean, best) for m, mean in means.items() if mean is not None})
    versions = sorted({row["version"] for row in rows if row["method"] == OURS})
    ours = f"ecsel {', '.join(versions)}"  # which version's default was measured
    names = {"table": "weighted F1 on outer folds", OURS: ours} | {name: name for name in RIVALS}
    return markdown_table(lines, names)


def _marked(mean: float, best: float) -> str:
    return f"**{100 * mean:.1f}**" if mean == best else f"{100 * mean:.1f}"


def _mean(rows: Sequence[Row], table: str, method: str) -> float | None:
    found = [float(r["f1"]) for r in rows if (r["table"], r["method"], r["status"]) == (table, method, "ok")]
    return fmean(found) if found else None


def unseen(results: Path) -> str:
    """Return the sentence on tables that took no part in a choice."""
    rows = ResultFile(results / "unseen.csv", ("protocol", "table", "method", "repeat", "fold")).rows
    means = {t: [_mean(rows, t, m) for m in (OURS, *RIVALS)] for t in dict.fromkeys(row["table"] for row in rows)}
    full = [(ours, others) for ours, *others in means.values() if ours is not None and None not in others]
    if not full:
        return ""
    ahead = [sum(ours > float(others[i] or 0) for ours, others in full) for i in range(len(RIVALS))]
    than = " and ".join(f"{rival} on {count}" for rival, count in zip(RIVALS, ahead, strict=True))
    return (
        f"{len(full)} further tables on which nothing was tuned: higher weighted F1 than {than} of them "
        "(`benchmarks/results/unseen.md`)."
    )


def recovery(results: Path) -> str:
    """Return the sentence on recovery."""
    rows = ResultFile(results / "recovery.csv", ("equation", "seed")).rows
    rates = []
    for seeds in (TUNED, LATER):
        found = [int(r["recovered"]) for r in rows if r["group"] == "signomial" and int(r["seed"]) in seeds]
        rates.append(f"{100 * fmean(found):.1f} % of {len(found)} runs")
    seconds = fmean(float(r["cpu_seconds"]) for r in rows if r["group"] == "signomial" and int(r["seed"]) in TUNED)
    rate, theirs = FIGURES["recovery"]["ECSEL"]
    return (
        f"The paper's 58 equations, number of terms not given: {rates[0]} recovered exactly ({rates[1]} with seeds "
        f"drawn after the design), {seconds:.2f} s each; the paper, with the number given: {rate:g} %, {theirs:g} s."
    )


def speed(results: Path) -> str:
    """Return the sentence on the seconds of a fit."""
    rows = ResultFile(results / "fit_speed.csv", ("table", "method")).rows
    seconds = {(r["table"], r["method"]): float(r["seconds"]) for r in rows}
    tables = [t for t, method in seconds if method == "ECSEL" and (t, "XGBoost") in seconds]
    ratio = median(seconds[t, "ECSEL"] / seconds[t, "XGBoost"] for t in tables)
    slow = [seconds[t, "EBM"] / seconds[t, "ECSEL"] for t in tables if (t, "EBM") in seconds]
    beside = f"; an EBM takes {median(slow):.0f} times as long as `ecsel` (of {len(slow)})" if slow else ""
    return (
        f"One fit of the paper's model with three terms takes {ratio:.1f} times the seconds of 150 trees of XGBoost "
        f"(median of {len(tables)} tables of up to {max(SOURCES[t].rows for t in tables)} rows){beside}."
    )


def shopping(results: Path) -> str:
    """Return the sentence on the shopping study."""
    rows = ResultFile(results / "shopping_splits.csv", ("seed", "model")).rows
    if not rows:
        return ""
    mean = {
        name: 100 * fmean(float(r["f1"]) for r in rows if r["model"] == name)
        for name in dict.fromkeys(r["model"] for r in rows)
    }
    ours = next(name for name in mean if name.startswith("ECSEL"))
    return (
        f"Purchases in an online shop, F1 of the buyers, mean of {len({r['seed'] for r in rows})} splits: "
        f"{mean[ours]:.1f} with at most three terms, {mean['XGBoost']:.1f} with tuned XGBoost."
    )


def attributions(results: Path) -> str:
    """Return the sentence on the seconds of exact Shapley values."""
    rows = ResultFile(results / "explain.csv", ("case", "method", "rows")).rows
    micro = {(r["case"], r["method"]): float(r["microseconds"]) for r in rows}
    case = "10 columns"
    ours, theirs = micro[case, "ecsel shapley"], micro[case, "KernelSHAP"]
    return (
        f"Exact Shapley values of {case}: {ours:.0f} µs a row, {theirs / ours:.0f} times as fast as KernelSHAP, which "
        "is exact there too."
    )
