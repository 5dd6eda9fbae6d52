"""The four panels of a screening example: elasticities, what-if, margin and probability, attributions.

The default is a toy model of cancer screening with two terms per class in tumour size, biomarker level and imaging
irregularity, and four profiles. The margin of the mixed profile is +1.557 (p = 0.826): only the first profile has a
negative one.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ecsel.explain import ModelView, attribution, elasticity
from ecsel.explain.what_if import what_if_curves
from ecsel.plotting.bars import plot_scenarios, plot_waterfall
from ecsel.plotting.lines import draw_factor_curves, plot_margin
from ecsel.plotting.style import four_panels, house_style
from ecsel.signomial import Signomial

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

FEATURES = ("tumour size", "biomarker", "irregularity")
PROFILES: dict[str, tuple[float, float, float]] = {
    "no cancer": (0.7, 0.7, 0.8),
    "mixed": (1.4, 1.4, 1.2),
    "size-driven": (3.0, 1.0, 2.0),
    "biomarker-driven": (1.0, 3.0, 2.0),
}


def screening_model() -> ModelView:
    """Return the toy model, a softmax of the scores of "no cancer" and "cancer"."""
    names = {"s": FEATURES[0], "b": FEATURES[1], "i": FEATURES[2]}
    equations = {
        "no cancer": Signomial.parse("0.8*s**-1.2*i**-0.6 + 0.6*b**-1.5*i**-0.4").rename(names),
        "cancer": Signomial.parse("0.7*s**1.6*i**0.8 + 0.5*b**1.8*i**0.4").rename(names),
    }
    return ModelView.of_equations(equations, FEATURES)


def plot_screening(
    model: Any = None,
    profiles: Mapping[str, Sequence[float]] | None = None,
    *,
    scaled: str = FEATURES[0],
    explained: str = "mixed",
    baseline: Sequence[float] = (1.0, 1.0, 1.0),
    label: Any = None,
) -> Any:
    """Draw the four panels for a model of a few columns of numbers; returns the figure.

    Parameters
    ----------
    model : ECSELClassifier or ModelView, optional
        By default the toy model of cancer screening.
    profiles : dict of name to values, optional
        The scenarios, by default those of the toy model.
    scaled : str
        The column that panel (b) scales.
    explained : str
        The profile that panel (d) explains.
    baseline : list of values
        The reference point of panel (d).
    label
        The class, by default the last.

    Examples
    --------
    >>> figure = plot_screening()
    >>> figure.axes[0].get_title()
    '(a) Elasticity of the cancer score (G1)'
    """
    view = screening_model() if model is None else ModelView.of(model)
    named = PROFILES if profiles is None else dict(profiles)
    rows, names = np.array(list(named.values()), dtype=np.float64), list(named)
    label, _ = view.chosen_class(label)
    with house_style() as plt:
        figure, (a, b, c, d) = four_panels(plt, (12.5, 8.6))
        plot_scenarios(
            elasticity(view, rows),
            label=label,
            scenarios=names,
            title=f"(a) Elasticity of the {label} score (G1)",
            ax=a,
        )
        _scaled_panel(b, view, rows, names, scaled, label)
        plot_margin(view, rows, label=label, scenarios=names, title="(c) Margin (D1) and probability (D2)", ax=c)
        row = rows[names.index(explained)][None]
        plot_waterfall(
            attribution(view, row, baseline=list(baseline)),
            label=label,
            title=f"(d) First-order attributions for “{explained}” (L2)",
            ax=d,
        )
    return figure


def _scaled_panel(axes: Any, view: ModelView, rows: Any, names: list[str], scaled: str, label: Any) -> None:
    position = view.class_position(label)
    by_profile = [what_if_curves(view, row[None], [scaled]) for row in rows]
    curves = {name: each.outputs[0, :, position] for name, each in zip(names, by_profile, strict=True)}
    draw_factor_curves(axes, view, by_profile[0].factors, curves, label=label, of=scaled)
    axes.set_title(f"(b) {scaled.capitalize()} scaled by q (G2, exact)")
