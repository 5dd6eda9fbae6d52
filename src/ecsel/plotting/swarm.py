"""Beeswarm: every row a dot, its place the contribution, its colour the feature's own value."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ecsel.plotting.bars import one_class
from ecsel.plotting.style import NEUTRAL, drawing_on, short

if TYPE_CHECKING:
    from ecsel._typing import Floats
    from ecsel.explain import Explanation

BINS = 80


def plot_beeswarm(explanation: Explanation, *, label: Any = None, max_features: int = 12, ax: Any = None) -> Any:
    """Draw the contributions of all rows, feature by feature, largest mean size on top.

    Parameters
    ----------
    explanation : Explanation
        With the axes row, class and feature: `shapley`, `attribution`, `log_gradient` and others.
    label
        The class, where there are several.
    max_features : int, default=12
        The features drawn.
    ax : matplotlib axes, optional
        Where to draw.

    Examples
    --------
    >>> from ecsel import Signomial, explain
    >>> equation, rows = Signomial.parse("x*y**2"), [[1.0, 2.0]]
    >>> plot_beeswarm(explain.shapley(equation, rows, [[1.0, 1.0]])).get_title()
    'Shapley value of the score, 1 rows'
    """
    chosen, sizes = one_class(explanation, label)
    order = np.argsort(-sizes, kind="stable")[:max_features]
    order = order[sizes[order] > 0]
    data = chosen.data
    with drawing_on(ax, (6.8, 1.6 + 0.42 * len(order))) as axes:
        axes.axvline(0, color=NEUTRAL, linewidth=1)
        dots = None
        for place, j in enumerate(order):
            values = chosen.values[:, j]
            defined = np.isfinite(values)
            shade = _shade(data[:, j])[defined]
            at = place + _offsets(values[defined])
            dots = axes.scatter(values[defined], at, c=shade, cmap="cividis", vmin=0, vmax=1, s=12, linewidths=0)
        axes.set_yticks(np.arange(len(order)), [short(chosen.feature_names[j]) for j in order])
        axes.set_ylim(len(order) - 0.4, -0.6)
        axes.set_xlabel(f"{explanation.name} for {chosen.classes[0]}")
        axes.set_title(f"{explanation.name.capitalize()}, {len(chosen.values)} rows")
        if dots is not None:
            bar = axes.figure.colorbar(dots, ax=axes, ticks=[0, 1], fraction=0.04, pad=0.02)
            bar.ax.set_yticklabels(["low", "high"])
            bar.set_label("value of the feature (rank)", labelpad=-12)
            bar.outline.set_visible(False)
    return axes


def _shade(values: Any) -> Floats:
    """Return ranks between 0 and 1; categories are ranked by their text, which only tells them apart."""
    try:
        numbers = np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError):
        numbers = np.unique([str(value) for value in values], return_inverse=True)[1].astype(np.float64)
    _, rank = np.unique(numbers, return_inverse=True)
    result: Floats = rank / max(1, int(rank.max()))
    return result


def _offsets(values: Floats) -> Floats:
    """Return vertical offsets that keep dots of equal place apart, the same in every run."""
    span = np.ptp(values) if values.size else 0.0
    bins = (
        np.zeros(values.size, dtype=np.intp) if span == 0 else ((values - values.min()) / span * BINS).astype(np.intp)
    )
    offsets = np.zeros(values.size)
    for each in np.unique(bins):
        mine = np.flatnonzero(bins == each)
        order = np.arange(mine.size)
        offsets[mine] = np.where(order % 2, 1, -1) * ((order + 1) // 2)
    widest = np.abs(offsets).max(initial=0.0)
    return offsets * min(0.08, 0.38 / widest) if widest else offsets
