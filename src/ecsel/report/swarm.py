"""The beeswarm: every row a dot, its place what a column adds to the margin, its shade the value of the column.

Dots of nearly one place are stacked away from the middle of their lane, the same way in every run. Shades are ranks,
faint for low and strong for high values: hues are kept for classes and for adding and taking away. Levels and missing
values have no rank and are the faintest.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from scipy.stats import rankdata

from ecsel.report.html import Html, element
from ecsel.report.svg import padded, ticks
from ecsel.report.wording import number
from ecsel.signomial.text import format_name

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ecsel.report.evidence import Evidence

    Floats = NDArray[np.float64]

MAX_LANES = 12
MAX_DOTS = 400
"""Dots of a lane; more would only hide each other and fill the file."""
SHADES = 5
WIDTH, LANE, LEFT, RIGHT, TOP, BOTTOM = 520.0, 32.0, 126.0, 12.0, 6.0, 40.0
"""Narrow enough for the screen of a telephone, where everything shrinks by a third."""
RADIUS = 2.0
MAX_LINE = 14
"""Letters of a line of a name, which may have two lines."""


def beeswarm(evidence: Evidence, contributions: Floats, ranking: tuple[int, ...], unit: str) -> Html | None:
    """Return the chart of the contributions (rows, columns) of the most important columns; None of a lone row."""
    chosen = ranking[:MAX_LANES]
    if len(contributions) < 2 or not chosen:
        return None
    at = np.linspace(0, len(contributions) - 1, min(len(contributions), MAX_DOTS)).round().astype(np.intp)
    drawn = contributions[at]
    low, high = padded(np.append(drawn[:, list(chosen)].ravel(), 0.0), 0.03)
    height = TOP + LANE * len(chosen) + BOTTOM

    def across(values: Floats | float) -> Floats:
        return LEFT + (np.asarray(values) - low) / (high - low) * (WIDTH - LEFT - RIGHT)

    parts = []
    for value in ticks(low, high):
        x = float(across(value))
        parts += [
            element("line", x1=x, x2=x, y1=TOP, y2=height - BOTTOM, class_="grid"),
            element("text", number(value), x=x, y=height - BOTTOM + 15, class_="tick middle"),
        ]
    zero = float(across(0.0))
    parts.append(element("line", x1=zero, x2=zero, y1=TOP, y2=height - BOTTOM, class_="line reference"))
    for lane, j in enumerate(chosen):
        middle = TOP + LANE * (lane + 0.5)
        name = format_name(evidence.view.raw_names[j])
        lines = name_lines(name)
        top = middle + 4 - 6.5 * (len(lines) - 1)
        tspans = [element("tspan", text, x=LEFT - 10, y=top + 13 * k) for k, text in enumerate(lines)]
        parts.append(element("text", element("title", name), *tspans, class_="axis end"))
        places, shade = across(drawn[:, j]), _shades(evidence, j)[at]
        y = middle + _stacked(places)
        for k in range(-1, SHADES):
            mine = shade == k
            if mine.any():
                path = "".join(
                    f"M{a:.1f} {b:.1f}h0" for a, b in zip(places[mine].tolist(), y[mine].tolist(), strict=True)
                )
                kind = "none" if k < 0 else str(k)
                parts.append(element("path", d=path, stroke_width=2 * RADIUS, class_=f"dots shade-{kind}"))
    parts.append(element("text", unit, x=(LEFT + WIDTH - RIGHT) / 2, y=height - 6, class_="axis middle"))
    title = f"What each column adds in {len(drawn)} rows: one dot for a row"
    box = f"0 0 {WIDTH:g} {height:g}"
    return element("svg", element("title", title), *parts, viewBox=box, role="img", class_="chart")


def name_lines(name: str) -> list[str]:
    """Return a name on one line or two, broken after a blank or an underscore where there is one, cut where it is long.

    >>> name_lines("petal_length"), name_lines("collection_recovery_fee"), name_lines("x" * 40)
    (['petal_length'], ['collection_', 'recovery_fee'], ['xxxxxxxxxxxxxx', 'xxxxxxxxxxxxx…'])
    """
    if len(name) <= MAX_LINE:
        return [name]
    at = max(name.rfind(mark, 0, MAX_LINE) for mark in " _") + 1
    at = at if at > MAX_LINE // 3 else MAX_LINE
    rest = name[at:]
    return [name[:at].rstrip(), rest if len(rest) <= MAX_LINE else rest[: MAX_LINE - 1] + "…"]


def _shades(evidence: Evidence, j: int) -> NDArray[np.intp]:
    """Return the shade of each explained row: fifths of the ranks of a number, −1 where there is no number."""
    rows = evidence.explained
    if evidence.view.levels(j) is not None:
        return np.full(len(rows), -1)
    values = rows.numbers(j)
    known = ~np.isnan(values)
    result = np.full(len(rows), -1)
    if known.any():
        # the middle of ties, from 0 to 1, so that a column of two values has a light and a dark one
        ranks = (rankdata(values[known], method="dense") - 1) / max(1, len(np.unique(values[known])) - 1)
        result[known] = np.minimum((ranks * SHADES).astype(np.intp), SHADES - 1)
    return result


def _stacked(x: Floats) -> Floats:
    """Return how far above or below the middle each dot stands, so that few hide each other."""
    bins = np.round(x / (2 * RADIUS)).astype(np.intp)
    offsets = np.zeros(len(x))
    for each in np.unique(bins):
        mine = np.flatnonzero(bins == each)
        order = np.arange(mine.size)
        offsets[mine] = np.where(order % 2, 1, -1) * ((order + 1) // 2)
    widest = float(np.abs(offsets).max(initial=0.0))
    room = LANE / 2 - RADIUS - 1
    return offsets * min(2 * RADIUS * 0.8, room / widest) if widest else offsets
