"""The equation as a picture: the exponents of every term as bars, with the coefficient in the title."""

from __future__ import annotations

from typing import Any

import numpy as np

from ecsel.explain import ModelView
from ecsel.plotting.style import NEGATIVE, POSITIVE, house_style, short, value_beside


def plot_equation(model: Any, *, label: Any = None, max_features: int = 15) -> Any:
    """Draw the terms of one score: a panel per term with its exponents, and the coefficient above; returns the figure.

    Parameters
    ----------
    model : ECSELClassifier, ECSELRegressor, Signomial or ModelView
        The model.
    label
        The class, by default the last.
    max_features : int, default=15
        Features drawn, those with the largest exponents.

    Examples
    --------
    >>> from ecsel.plotting.screening import screening_model
    >>> [axes.get_xlabel() for axes in plot_equation(screening_model()).axes]
    ['exponent', 'exponent']
    """
    view = ModelView.of(model)
    label = view.score_classes[-1] if label is None else label
    if label not in view.score_classes:
        raise ValueError(f"there is no score of {label!r}; there are scores of {list(view.score_classes)}")
    mine = np.flatnonzero(view.terms.classes == view.score_classes.index(label))
    powers = [k for k in mine if (view.terms.exponents[k] != 0).any()]
    constant = sum(float(view.terms.coefficients[k]) for k in mine if k not in powers)
    size = np.abs(view.terms.exponents[powers]).max(axis=0, initial=0.0)
    order = np.argsort(-size, kind="stable")[:max_features]
    order = order[size[order] > 0]
    with house_style() as plt:
        figure, panels = plt.subplots(
            1,
            max(1, len(powers)),
            figsize=(2.6 + 2.6 * max(1, len(powers)), 1.8 + 0.3 * len(order)),
            sharey=True,
            squeeze=False,
            layout="constrained",
        )
        for axes, k in zip(panels[0], powers, strict=False):
            beta = view.terms.exponents[k, order]
            axes.barh(np.arange(len(order)), beta, color=np.where(beta >= 0, POSITIVE, NEGATIVE).tolist(), height=0.66)
            for y, b in enumerate(beta):
                if b != 0:
                    value_beside(axes, b, b, y)
            axes.axvline(0, color="black", linewidth=0.8)
            axes.use_sticky_edges = False
            axes.margins(x=0.4)
            axes.locator_params(axis="x", nbins=4)
            axes.set_title(f"{view.terms.coefficients[k]:+.4g} × Π x^exponent")
            axes.set_xlabel("exponent")
        panels[0][0].set_yticks(np.arange(len(order)), [short(view.feature_names[j]) for j in order])
        panels[0][0].invert_yaxis()
        ending = f", constant {constant:+.4g}" if constant else ""
        figure.suptitle(f"Score of {label}: sum of {len(powers)} term{'' if len(powers) == 1 else 's'}{ending}")
    return figure
