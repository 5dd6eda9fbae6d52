"""What the cells of the scale benchmark say: ratios against the aims, and a model of cost that they calibrate.

In one process the seconds of a fit are T(N) = s + a·N: samples cost the same whatever the table, passes and packing go
with the rows. With W Dask workers they are T(N, W) = f + b·N/W, where f is what one worker and two have in common (the
rounds of the scheduler, the samples, the fit on them) and b what two share.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from benchmarks.results import markdown_table

if TYPE_CHECKING:
    from collections.abc import Sequence

    Row = dict[str, str]

COLUMNS = {
    "part": "part",
    "method": "method",
    "rows": "rows",
    "seed": "seed",
    "seconds": "seconds",
    "memory": "peak MB above input",
    "objective": "objective",
    "note": "note",
}
FEATURES, FLOAT32 = 13, 4
FORECAST_ROWS, FORECAST_WORKERS = (10**8, 10**9, 10**10), (1, 10, 100, 1000)


def page(rows: Sequence[Row], surroundings: str) -> str:
    """Return the page."""
    lines = ["# Scale", "", *(f"- {line}" for line in findings(rows)), "", *cost_model(rows)]
    return "\n".join([*lines, markdown_table(rows, COLUMNS), "", surroundings]) + "\n"


def findings(rows: Sequence[Row]) -> list[str]:
    """Return the ratios and the slope in words."""
    page = []
    by = {(row["part"], row["method"], row["seed"]): row for row in rows}
    timed = [row for row in rows if row["part"] == "race" and row["method"] == "ecsel"]
    rival = by.get(("race", "xgboost", "0"))
    if timed and rival:
        seconds = np.array([float(row["seconds"]) for row in timed])
        page.append(f"ECSEL takes {np.median(seconds) / float(rival['seconds']):.3f} of XGBoost's time (aim 0.1).")
        objectives = np.array([float(row["objective"]) for row in timed])
        page.append(
            f"Objectives of {len(timed)} seeds: {objectives.min():.6g} to {objectives.max():.6g}, the worst "
            f"{objectives.max() / objectives.min() - 1:.2%} above the best."
        )
        memory = max(float(row["memory"]) for row in timed)
        size = int(timed[0]["rows"]) * FEATURES * FLOAT32 / 1e6
        page.append(
            f"Peak memory above the input {memory:.0f} MB, {memory / size:.2f} of the float32 data (aim below 1)."
        )
    ladder = [row for row in rows if row["part"] == "linear"]
    if len(ladder) > 1:
        logs = np.log([[float(row["rows"]), float(row["seconds"])] for row in ladder])
        slope = np.polyfit(logs[:, 0], logs[:, 1], 1)[0]
        page.append(f"Slope of log seconds over log rows: {slope:.2f} (aim at most 1.05).")
    one, two = by.get(("dask", "ecsel on 1", "0")), by.get(("dask", "ecsel on 2", "0"))
    if one and two:
        page.append(f"Dask: two workers are {float(one['seconds']) / float(two['seconds']):.2f} times as fast as one.")
    for what in ("proba", "attribution"):
        own, other = by.get(("predict", f"ecsel {what}", "0")), by.get(("predict", f"xgboost {what}", "0"))
        if own and other:
            page.append(f"{what}: {float(other['seconds']) / float(own['seconds']):.1f} times as fast as XGBoost.")
    return page


def line_of(ladder: Sequence[Row]) -> tuple[float, float]:
    """Return s and a of T = s + a·N, relative errors weighing alike."""
    n, seconds = (np.array([float(row[name]) for row in ladder]) for name in ("rows", "seconds"))
    design = np.stack([np.ones_like(n), n], axis=1) / seconds[:, None]
    (fixed, each), *_ = np.linalg.lstsq(design, np.ones_like(n))
    return float(fixed), float(each)


def shared_part(one: Row, two: Row) -> tuple[float, float]:
    """Return f and b of T = f + b·N/W from the seconds on one worker and on two."""
    n, t1, t2 = float(one["rows"]), float(one["seconds"]), float(two["seconds"])
    return 2 * t2 - t1, 2 * (t1 - t2) / n


def cost_model(rows: Sequence[Row]) -> list[str]:
    """Return the calibrated model of cost as Markdown, as far as the cells go."""
    page = []
    ladder = [row for row in rows if row["part"] == "linear"]
    if len(ladder) > 1:
        fixed, each = line_of(ladder)
        span = f"{int(ladder[0]['rows']):,} to {int(ladder[-1]['rows']):,} rows"
        line = f"T(N) = s + a·N with s = {fixed:.2f} s and a = {1e9 * each:.0f} ns a row"
        page += ["## What a fit costs", "", f"In one process on two cores {line}, by least squares over {span}.", ""]
    by = {row["method"]: row for row in rows if row["part"] == "dask"}
    one, two = by.get("ecsel on 1"), by.get("ecsel on 2")
    if one is None or two is None:
        return page
    fixed, each = shared_part(one, two)
    if each <= 0:
        return [*page, "Two Dask workers were no faster than one here: nothing can be told of more.", ""]
    line = f"T(N, W) = f + b·N/W with f = {fixed:.1f} s and b = {1e9 * each:.0f} ns a row"
    source = f"from one and two workers of one machine ({one['note']})"
    limits = "for workers that do not share memory; that the scheduler's rounds grow with the partitions is left out"
    page += [f"With W Dask workers {line}, {source}. Forecast in seconds, {limits}:", ""]
    lines = [
        {"rows": f"{n:.0e}".replace("e+", "e")} | {str(w): f"{fixed + each * n / w:,.0f}" for w in FORECAST_WORKERS}
        for n in FORECAST_ROWS
    ]
    names = {"rows": "rows"} | {str(w): f"{w:,} worker" + ("s" if w > 1 else "") for w in FORECAST_WORKERS}
    return [*page, markdown_table(lines, names), ""]
