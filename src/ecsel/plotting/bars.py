"""Bars: importance per feature, values per scenario, waterfalls that add up."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ecsel.plotting.style import (
    BEHIND_TEXT,
    COLOURS,
    HATCHES,
    NEGATIVE,
    NEUTRAL,
    POSITIVE,
    drawing_on,
    short,
    value_beside,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ecsel._typing import Floats
    from ecsel.explain import Explanation


def plot_importance(importance: Explanation, *, max_features: int = 15, ax: Any = None) -> Any:
    """Draw mean sizes per feature as horizontal bars, largest on top; classes side by side.

    Parameters
    ----------
    importance : Explanation
        With axes class and feature (or feature alone), as `ecsel.explain.importance` returns.
    max_features : int, default=15
        The features drawn; the title says how many are left out.
    ax : matplotlib axes, optional
        Where to draw.

    Examples
    --------
    >>> from ecsel import Signomial, explain
    >>> equation, rows = Signomial.parse("x*y**2"), [[1.0, 2.0]]
    >>> plot_importance(explain.importance(equation, rows)).get_title()
    'Importance'
    """
    values = np.atleast_2d(importance.values)
    labels = importance.classes if "class" in importance.axes else ("",)
    size = np.nansum(values, axis=0)
    order = np.argsort(-size, kind="stable")[:max_features]
    order = order[(size[order] > 0) | ~np.isfinite(values[:, order]).all(axis=0)]
    height = 0.8 / len(values)
    with drawing_on(ax, (6.4, 1.4 + 0.32 * len(order) * max(1, 0.5 * len(values)))) as axes:
        for c, (row, label) in enumerate(zip(values, labels, strict=True)):
            at = np.arange(len(order)) + (c - (len(values) - 1) / 2) * height
            axes.barh(
                at,
                np.nan_to_num(row[order]),
                height=height,
                color=COLOURS[c % len(COLOURS)],
                hatch=HATCHES[c % len(HATCHES)] if len(values) > 1 else None,
                edgecolor="white",
                label=str(label),
            )
            for y, j in zip(at, order, strict=True):
                if not np.isfinite(row[j]):
                    axes.text(0, y, " — not defined", va="center", color=NEUTRAL)
        axes.set_yticks(np.arange(len(order)), [short(importance.feature_names[j]) for j in order])
        axes.invert_yaxis()
        axes.set_xlabel(f"{importance.name} ({importance.units} units)")
        hidden = values.shape[1] - len(order)
        axes.set_title("Importance" + (f" ({hidden} smaller or zero not shown)" if hidden else ""))
        if len(values) > 1:
            axes.legend(title="class")
    return axes


def one_class(explanation: Explanation, label: Any) -> tuple[Explanation, Floats]:
    """Return the values by row and feature of one class, and the mean size of each feature."""
    chosen = explanation.select(label=label)
    if chosen.axes != ("row", "feature"):
        raise ValueError(f"choose one of the classes {list(explanation.classes)} with label=")
    return chosen, np.nan_to_num(chosen.importance().values)


def plot_scenarios(
    explanation: Explanation,
    *,
    label: Any = None,
    scenarios: Sequence[str] | None = None,
    max_features: int = 8,
    title: str | None = None,
    ax: Any = None,
) -> Any:
    """Draw the values of every feature for a few rows as groups of bars, such as the elasticities of scenarios (G1).

    Parameters
    ----------
    explanation : Explanation
        With the axes row, class and feature.
    label
        The class, where there are several.
    scenarios : list of str, optional
        The names of the rows.
    max_features : int, default=8
        The features drawn, those with the largest mean size.
    title, ax : str and matplotlib axes, optional
        The title of the axes, and the axes to draw on.

    Examples
    --------
    >>> from ecsel import Signomial, explain
    >>> equation, rows = Signomial.parse("x*y**2"), [[1.0, 2.0]]
    >>> plot_scenarios(explain.elasticity(equation, rows)).get_ylabel()
    'elasticity'
    """
    chosen, sizes = one_class(explanation, label)
    drawn = np.argsort(-sizes, kind="stable")[:max_features]
    drawn = np.sort(drawn[(sizes[drawn] > 0) | ~np.isfinite(chosen.values[:, drawn]).all(axis=0)])
    values, features = chosen.values[:, drawn], [chosen.feature_names[j] for j in drawn]
    names = [f"row {i}" for i in range(len(values))] if scenarios is None else list(scenarios)
    width = 0.8 / values.shape[1]
    with drawing_on(ax, (max(5.5, 1.6 * len(values)), 3.6)) as axes:
        for j, feature in enumerate(features):
            at = np.arange(len(values)) + (j - (values.shape[1] - 1) / 2) * width
            axes.bar(
                at,
                np.nan_to_num(values[:, j]),
                width,
                color=COLOURS[j % len(COLOURS)],
                hatch=HATCHES[j % len(HATCHES)],
                edgecolor="white",
                label=short(feature),
            )
            for x, value in zip(at, values[:, j], strict=True):
                if not np.isfinite(value):
                    axes.text(x, 0, "—", ha="center", va="bottom", color=NEUTRAL)
        axes.axhline(0, color="black", linewidth=0.8)
        axes.set_xticks(np.arange(len(values)), [short(name, 18) for name in names])
        axes.set_ylabel(chosen.name)
        few = len(features) <= 3
        axes.set_title(title or f"{chosen.name.capitalize()}, {chosen.classes[0]}", pad=26 if few else 8)
        if few:
            axes.legend(ncols=3, fontsize="small", loc="lower center", bbox_to_anchor=(0.5, 1.0))
        else:
            axes.legend(fontsize="small", loc="upper left", bbox_to_anchor=(1.0, 1.0))
    return axes


def plot_waterfall(
    explanation: Explanation,
    row: int = 0,
    *,
    label: Any = None,
    term: int | None = None,
    threshold: float | None = None,
    max_features: int = 9,
    title: str | None = None,
    ax: Any = None,
) -> Any:
    """Draw how contributions lead from the base value to the value of one row.

    Parameters
    ----------
    explanation : Explanation
        Contributions with base values: `shapley`, `attribution`, `log_additive` or `reasons`.
    row : int, default=0
        The position of the row.
    label, term
        The class and, for `log_additive`, the term, where there are several.
    threshold : float, optional
        A dashed line on the same axis.
    max_features : int, default=9
        Smaller contributions are drawn together.
    title, ax : str and matplotlib axes, optional
        The title of the axes, and the axes to draw on.

    Examples
    --------
    >>> from ecsel import Signomial, explain
    >>> equation, rows = Signomial.parse("x*y**2"), [[1.0, 2.0]]
    >>> plot_waterfall(explain.shapley(equation, rows, [[1.0, 1.0]])).get_xlabel()
    'score of prediction'
    """
    chosen = explanation.select(label=label, term=term)
    if chosen.axes != ("row", "feature") or chosen.base_values is None:
        raise ValueError(f"a waterfall needs contributions and a base value of one class; {explanation.name} has none")
    values = chosen.values[row]
    if not np.isfinite(values).all():
        raise ValueError(f"{explanation.name} is not defined for row {row}")
    base = float(np.broadcast_to(chosen.base_values, (len(chosen.values),))[row])
    names, steps = _largest(chosen, row, max_features)
    with drawing_on(ax, (6.4, 1.6 + 0.36 * len(steps))) as axes:
        ends = base + np.cumsum(steps)
        total = ends[-1] if len(ends) else base
        _draw_steps(axes, ends - steps, steps)
        axes.set_yticks(np.arange(len(steps)), names)
        room = 0.1 if threshold is None else -1.0  # for the legend, below the total; rows of a panel are low
        axes.set_ylim(max(len(steps), 1) - room, -0.9)
        axes.use_sticky_edges = False
        axes.margins(x=0.26)
        _mark_ends(axes, base, total, len(steps))
        if threshold is not None:
            axes.axvline(threshold, color="black", linestyle="--", linewidth=1, label="decision threshold")
            axes.legend(fontsize="small", loc="lower right", bbox_to_anchor=(1.0, 0.0))
        axes.set_xlabel(_total_name(explanation, chosen, row))
        axes.set_title(title or f"{explanation.name.capitalize()}, row {row}")
    return axes


def _mark_ends(axes: Any, base: float, total: float, n_steps: int) -> None:
    """Name the base value above the first bar and the total below the last."""
    axes.plot([base, base], [-0.45, 0.33], color=NEUTRAL, linewidth=1)
    look = {"ha": "center", "fontsize": "small", "bbox": BEHIND_TEXT}
    axes.text(base, -0.5, f"base {base:.3g}", va="bottom", color="#444444", **look)
    axes.plot([total, total], [n_steps - 1.33, n_steps - 0.6], color=NEUTRAL, linewidth=1)
    axes.text(total, n_steps - 0.55, f"total {total:.4g}", va="top", weight="bold", **look)


def _draw_steps(axes: Any, starts: Floats, steps: Floats) -> None:
    axes.barh(
        np.arange(len(steps)), steps, left=starts, color=np.where(steps >= 0, POSITIVE, NEGATIVE).tolist(), height=0.66
    )
    for y, (start, step) in enumerate(zip(starts, steps, strict=True)):
        value_beside(axes, step, start + step, y)
        if y:
            axes.plot([start, start], [y - 1, y], color=NEUTRAL, linewidth=0.8)


def _largest(chosen: Explanation, row: int, max_features: int) -> tuple[list[str], Floats]:
    """Return labels and sizes of the largest contributions, the others in one."""
    values = chosen.values[row]
    order = np.argsort(-np.abs(values), kind="stable")
    order = order[values[order] != 0]
    drawn = order if len(order) <= max_features else order[: max_features - 1]
    data = chosen.data[row]
    names = [f"{short(chosen.feature_names[j], 24)} = {_cell(data[j])}" for j in drawn]
    steps = values[drawn]
    if len(drawn) < len(order):
        rest = order[len(drawn) :]
        names.append(f"{len(rest)} others")
        steps = np.append(steps, values[rest].sum())
    return names, steps


def _cell(value: Any) -> str:
    if isinstance(value, (int, float, np.floating)) and not isinstance(value, bool):
        return "missing" if value != value else f"{value:.4g}"  # noqa: PLR0124  # NaN is not itself
    return "missing" if value is None else short(value, 12)


def _total_name(explanation: Explanation, chosen: Explanation, row: int) -> str:
    if chosen.signs is not None:
        hint = "\n(the term is negative: a smaller size raises the score)" if chosen.signs[row] < 0 else ""
        return f"log |z| of a term of the score of {chosen.classes[0]}{hint}"
    if "probability" in explanation.name:
        return f"probability of {chosen.classes[0]}"
    return explanation.name if "class" not in explanation.axes else f"score of {chosen.classes[0]}"
