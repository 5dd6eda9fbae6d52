"""The page and the figure of the shopping study, written from its result files."""

from __future__ import annotations

from typing import TYPE_CHECKING

from benchmarks.results import ResultFile, markdown_table

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from benchmarks.shopping_models import Study
    from ecsel import ECSELClassifier

INTRODUCTION = (
    "The paper's study of purchase intent, measured by `python -m benchmarks shopping`; its docstring says how. "
    "`examples/shopping_data.py` has the 14 features and the choices that the paper leaves open. The paper's figures "
    "are beside these in `docs/paper.md`."
)
HOW_MODELS = (
    "Test rows, in per cent; F1, recall and precision are of the buyers. Every model decides at the threshold that "
    "is best for F1 on held-out training rows, whose F1 is the column “folds”. Seconds are those of the last fit; "
    "for our own models they include the choice of terms, strength and threshold. The scores of the paper's trainer "
    "have one sign, which may differ between folds, so its threshold is that of its own training rows."
)
HOW_TERMS = (
    "The terms of our model of the 17 columns. A term is told by how much it moves the score between sessions (its "
    "standard deviation over the test rows) and by the features that move it most: each with its exponent and the mean "
    "size of its contribution to log\\|term\\|."
)


def draw(study: Study, model: ECSELClassifier, output: Path) -> None:
    """Draw the four panels of the sparse equation on the test rows."""
    import warnings

    import matplotlib as mpl

    mpl.use("Agg")
    from ecsel.plotting import plot_sessions

    _, test = study.features()
    high = test.quantile(0.95)
    scenarios = {
        "average": {},
        "high ExitRates": {"ExitRates": float(high["ExitRates"])},
        "high Administrative": {"Administrative": float(high["Administrative"])},
        "high PageValues": {
            name: float(high[name]) for name in ("PageValues", "PageValue_per_ExitRate", "ShopIntensity")
        },
    }
    features = ["ShopIntensity", "ExitRates", "Administrative"]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        figure = plot_sessions(model, test, curve_features=features, scenarios=scenarios)
    figure.savefig(output / "shopping.png", dpi=80)


def write(output: Path) -> None:
    """Write ``shopping.md``."""
    (output / "shopping.md").write_text("\n\n".join(page(output)) + "\n", encoding="utf-8")


def page(output: Path) -> list[str]:
    """Return the paragraphs of the page."""
    models = _rows(output, "shopping_models", ["model", "columns"])
    return [
        "# Online shopping",
        INTRODUCTION,
        "## Models",
        HOW_MODELS,
        models_table(models),
        "## Five splits",
        splits_text(output),
        "## Equations",
        "\n".join(f"- {row['model']} ({row['columns']}): `{row['equation']}`" for row in models if row["equation"]),
        "## What the three terms say",
        HOW_TERMS,
        terms_table(output),
        "## Importance",
        importance_table(output),
        "## G3 and D2 beside LIME",
        facts_table(output),
        local_table(output),
        "## The four panels",
        "![What-if curves, scenarios and two exact waterfalls of the sparse equation](shopping.png)",
    ]


def models_table(rows: Sequence[dict[str, str]]) -> str:
    """Return the table of models."""
    lines = []
    for row in rows:
        cells = {name: percent(row[name]) for name in ("accuracy", "f1", "recall", "precision", "cv_f1")}
        cells |= {"model": row["model"], "columns": row["columns"], "active": row["active"] or "–"}
        cells |= {"auc": f"{float(row['auc']):.3f}", "threshold": f"{float(row['threshold']):.3f}"}
        cells |= {"seconds": f"{float(row['seconds']):.2f}"}
        lines.append(cells)
    names = {"model": "model", "columns": "of", "active": "columns in use", "accuracy": "accuracy", "f1": "F1"}
    names |= {"recall": "recall", "precision": "precision", "auc": "AUC", "threshold": "threshold", "cv_f1": "folds"}
    return markdown_table(lines, names | {"seconds": "seconds"})


def splits_text(output: Path) -> str:
    """Return the table of splits with its means."""
    rows = _rows(output, "shopping_splits", ["seed", "model"])
    seeds = sorted({row["seed"] for row in rows})
    lines = []
    for name in dict.fromkeys(row["model"] for row in rows):
        mine = {row["seed"]: row for row in rows if row["model"] == name}
        scores = [float(mine[seed]["f1"]) for seed in seeds if seed in mine]
        losses = [float(mine[seed]["log_loss"]) for seed in seeds if seed in mine]
        line = {"model": name} | {seed: percent(mine[seed]["f1"]) if seed in mine else "–" for seed in seeds}
        line |= {"mean": percent(sum(scores) / len(scores)), "loss": f"{sum(losses) / len(losses):.4f}"}
        lines.append(line)
    names = {"model": "F1 by seed of the split, 17 columns"} | {seed: seed for seed in seeds}
    return markdown_table(lines, names | {"mean": "mean", "loss": "mean log-loss"})


def terms_table(output: Path) -> str:
    """Return the terms of our own model, largest first, each with its strongest features."""
    rows = _rows(output, "shopping_terms", ["term", "rank"])
    lines = []
    for term in dict.fromkeys(row["term"] for row in rows):
        mine = [row for row in rows if row["term"] == term]
        factors = ", ".join(f"{r['feature']} ^{float(r['exponent']):.2g} ({float(r['effect']):.2g})" for r in mine)
        sizes = {"coefficient": f"{float(mine[0]['coefficient']):.3g}", "spread": f"{float(mine[0]['spread']):.2f}"}
        lines.append({"term": term, "features": factors} | sizes)
    names = {"term": "term", "coefficient": "coefficient", "spread": "moves the score by"}
    return markdown_table(lines, names | {"features": "strongest features: exponent (effect)"})


def importance_table(output: Path) -> str:
    """Return the table of explainers."""
    lines = []
    for row in _rows(output, "shopping_importance", ["model", "explainer"]):
        rho = f"{float(row['rho']):.3f} ({float(row['p_value']):.2g})" if row["model"] != "ECSEL" else "–"
        seconds = float(row["seconds"])
        lines.append(row | {"rho": rho, "seconds": f"{seconds:.3f}" if seconds < 1 else f"{seconds:.1f}"})
    names = {"model": "model", "explainer": "explainer", "rows": "rows", "seconds": "seconds"}
    return markdown_table(lines, names | {"top": "three largest", "rho": "ρ with G1 of the equation (p)"})


def facts_table(output: Path) -> str:
    """Return the single figures."""
    rows = [
        {"fact": row["fact"], "value": f"{float(row['value']):.4g}"}
        for row in _rows(output, "shopping_facts", ["fact"])
    ]
    return markdown_table(rows, {"fact": "figure", "value": "value"})


def local_table(output: Path) -> str:
    """Return the two rows in full."""
    lines = []
    for row in _rows(output, "shopping_local", ["row", "feature"]):
        numbers = {name: f"{float(row[name]):+.4f}" for name in ("g3", "d2", "lime")}
        same = "yes" if float(row["d2"]) * float(row["lime"]) > 0 else "no"
        lines.append(row | numbers | {"p": f"{float(row['p']):.3f}", "same": same})
    names = {"row": "row of the table", "p": "p", "feature": "feature", "g3": "G3", "d2": "D2", "lime": "LIME"}
    return markdown_table(lines, names | {"same": "same sign"})


def percent(value: str | float) -> str:
    """Return a share in per cent, two decimals."""
    return f"{100 * float(value):.2f}"


def _rows(output: Path, name: str, key: list[str]) -> list[dict[str, str]]:
    return ResultFile(output / f"{name}.csv", key).rows
