"""Curves over factors with the decision threshold, and margin beside probability."""

from __future__ import annotations

from textwrap import fill
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import special

from ecsel.explain import ModelView
from ecsel.plotting.style import BEHIND_TEXT, COLOURS, DASHES, NEUTRAL, drawing_on, short

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from ecsel._typing import Floats
    from ecsel.explain.what_if import Curves

P_RANGE = (-0.06, 1.06)


def plot_curves(
    curves: Curves,
    *,
    label: Any = None,
    names: Sequence[str] | None = None,
    max_features: int = 8,
    title: str | None = None,
    ax: Any = None,
) -> Any:
    """Draw the outcome while one column at a time is multiplied by a factor (property G2).

    Parameters
    ----------
    curves : Curves
        From `ecsel.explain.what_if_curves`.
    label
        The class whose probability is drawn, by default the last.
    names : list of str, optional
        The names of the curves, by default the columns.
    max_features : int, default=8
        The curves drawn, those along which the outcome changes most.
    title, ax : str and matplotlib axes, optional
        The title of the axes, and the axes to draw on.

    Examples
    --------
    >>> from ecsel import Signomial, explain
    >>> equation, rows = Signomial.parse("x*y**2"), [[1.0, 2.0]]
    >>> plot_curves(explain.what_if_curves(equation, rows)).get_ylabel()
    'prediction'
    """
    view = curves.view
    label, c = view.chosen_class(label)
    with drawing_on(ax, (6.0, 3.8)) as axes:
        outcomes, labels = curves.outputs[:, :, c], names or curves.feature_names
        drawn = np.sort(np.argsort(-np.ptp(outcomes, axis=1), kind="stable")[:max_features])
        named = {labels[i]: outcomes[i] for i in drawn}
        draw_factor_curves(axes, view, curves.factors, named, label=label, of="the column's own value")
        axes.set_title(title or "What if (exact)")
    return axes


def draw_factor_curves(
    axes: Any, view: ModelView, factors: Floats, curves: Mapping[str, Floats], *, label: Any, of: str
) -> None:
    """Draw named outcomes over factors, with where the row is and where the decision changes."""
    for i, (name, outcome) in enumerate(curves.items()):
        colour, dashes = COLOURS[i % len(COLOURS)], DASHES[i % len(DASHES)]
        axes.plot(factors, outcome, color=colour, linestyle=dashes, linewidth=2, label=short(name))
    axes.set_xscale("log", base=2)
    axes.xaxis.set_major_formatter(lambda q, _: f"{q:g}")
    axes.axvline(1, color=NEUTRAL, linewidth=1)
    mark_threshold(axes, view, label, horizontal=True)
    axes.set_xlabel(f"factor q on {of} (1 = as it is)")
    axes.set_ylabel(f"probability of {label}" if view.has_classes else "prediction")
    axes.legend(fontsize="small", frameon=True, framealpha=0.85, edgecolor="none")


def mark_threshold(axes: Any, view: ModelView, label: Any, *, horizontal: bool) -> None:
    """Draw the probability from which the decision changes, where there is one."""
    if view.threshold is None:
        return
    at = view.threshold if view.class_position(label) == 1 else 1 - view.threshold
    line = axes.axhline if horizontal else axes.axvline
    line(at, color="black", linestyle="--", linewidth=1, label=f"decision threshold {at:g}")


def plot_margin(
    model: Any,
    X: Any,
    *,
    label: Any = None,
    scenarios: Sequence[str] | None = None,
    title: str | None = None,
    ax: Any = None,
) -> Any:
    """Draw the margin of a class (bars) and its probability (dots, right axis) for a few rows (properties D1 and D2).

    Parameters
    ----------
    model : ECSELClassifier or ModelView
        The model.
    X : table
        A few rows.
    label
        The class, by default the last. Its margin is over the strongest other class.
    scenarios : list of str, optional
        The names of the rows.
    title, ax : str and matplotlib axes, optional
        The title of the axes, and the axes to draw on.

    Examples
    --------
    >>> from ecsel.plotting.screening import screening_model
    >>> plot_margin(screening_model(), [[1.4, 1.4, 1.2]]).get_title()
    'Margin and probability'
    """
    view = ModelView.of(model)
    label, c = view.chosen_class(label)
    scores = view.scores_of(view.rows(X))
    probability = view.outputs_of(scores)[:, c]
    full = view.link.class_scores(scores)
    margin = full[:, c] - np.delete(full, c, axis=1).max(axis=1)
    names = [f"row {i}" for i in range(len(margin))] if scenarios is None else list(scenarios)
    with drawing_on(ax, (max(5.5, 1.4 * len(margin)), 3.6)) as axes:
        axes.bar(np.arange(len(margin)), margin, 0.55, color=COLOURS[4], label=f"margin of {label} (left)")
        axes.axhline(0, color="black", linewidth=0.8)
        width = max(9, 46 // max(1, len(names)), *(len(word) for name in names for word in name.split()))
        width = min(14, width)  # what fits below one bar; no word is broken that does
        axes.set_xticks(np.arange(len(margin)), [fill(short(name, 30), width) for name in names])
        axes.set_ylabel("margin over the strongest other class")
        right = axes.twinx()
        at = np.arange(len(margin))
        right.plot(
            at, probability, "D", color=COLOURS[5], markeredgecolor="white", markersize=9, label="probability (right)"
        )
        for x, p in zip(at, probability, strict=True):
            right.annotate(
                f"{p:.3f}",
                (x, p),
                (9, 0),
                textcoords="offset points",
                va="center",
                fontsize="small",
                bbox=BEHIND_TEXT,
            )
        mark_threshold(right, view, label, horizontal=True)
        right.set_ylim(*P_RANGE)
        right.set_ylabel("probability")
        right.spines["right"].set_visible(True)
        if view.threshold is not None:
            _align(axes, margin, view.threshold if c == 1 else 1 - view.threshold)
        axes.set_title(title or "Margin and probability", pad=26)
        handles = [a.get_legend_handles_labels() for a in (axes, right)]
        axes.legend(
            [h for hs, _ in handles for h in hs],
            [t for _, ts in handles for t in ts],
            fontsize="small",
            ncols=3,
            loc="lower center",
            bbox_to_anchor=(0.5, 1.0),
        )
    return axes


def _align(axes: Any, margin: Floats, threshold: float) -> None:
    """Put the margin at which the decision changes, logit t, level with the probability t, so that one line is both."""
    at = float(special.logit(threshold))
    share = (threshold - P_RANGE[0]) / (P_RANGE[1] - P_RANGE[0])
    up = max(float(margin.max()) - at, 1e-9) * 1.08
    down = max(at - float(margin.min()), 1e-9) * 1.08
    span = max(up / (1 - share), down / share, abs(at) / min(share, 1 - share))
    axes.set_ylim(at - share * span, at + (1 - share) * span)
