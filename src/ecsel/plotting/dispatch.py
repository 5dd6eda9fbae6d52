"""What `Explanation.plot` draws: the figure that suits the axes of the values."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ecsel.plotting.bars import plot_importance, plot_scenarios, plot_waterfall
from ecsel.plotting.swarm import plot_beeswarm

if TYPE_CHECKING:
    from collections.abc import Callable

    from ecsel.explain import Explanation

KINDS: dict[str, Callable[..., Any]] = {
    "importance": plot_importance,
    "scenarios": plot_scenarios,
    "waterfall": plot_waterfall,
    "beeswarm": plot_beeswarm,
}


def plot_explanation(explanation: Explanation, kind: str | None = None, **options: Any) -> Any:
    """Draw an explanation.

    Parameters
    ----------
    explanation : Explanation
        What to draw.
    kind : {"importance", "scenarios", "waterfall", "beeswarm"}, optional
        By default bars for averages; for values by row a waterfall if there is one row with a base value, groups of
        bars up to six rows, and a beeswarm beyond.
    **options
        Options of `plot_importance`, `plot_scenarios`, `plot_waterfall` or `plot_beeswarm`.

    Examples
    --------
    >>> from ecsel import Signomial, explain
    >>> equation, rows = Signomial.parse("x*y**2"), [[1.0, 2.0]]
    >>> plot_explanation(explain.importance(equation, rows)).get_title()
    'Importance'
    """
    if kind is None:
        kind = _suited(explanation)
    if kind not in KINDS:
        raise ValueError(f"kind must be one of {', '.join(map(repr, KINDS))}, not {kind!r}")
    if kind == "importance" and "row" in explanation.axes:
        explanation = explanation.importance()
    return KINDS[kind](explanation, **options)


def _suited(explanation: Explanation) -> str:
    if "row" not in explanation.axes:
        return "importance"
    if "feature" not in explanation.axes:
        raise ValueError(f"{explanation.name} has no values by feature; use plot_curves or plot_margin")
    n_rows = explanation.values.shape[0]
    if "term" in explanation.axes or (n_rows == 1 and explanation.base_values is not None):
        return "waterfall"
    return "scenarios" if n_rows <= 6 else "beeswarm"
