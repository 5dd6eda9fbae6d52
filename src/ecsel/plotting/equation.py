"""The equation as a picture: what every piece does to the score, or the exponents of every term.

A readable equation is a sum of simple pieces of raw columns. A bar shows how far one piece can move the score, all
columns in their training range, from where a typical row is:  c·(min φ − φ(typical)) … c·(max φ − φ(typical)).
Other equations, the paper's model and laws, have a panel for each term with its exponents as bars.
"""

from __future__ import annotations

from itertools import product
from typing import TYPE_CHECKING, Any

import numpy as np

from ecsel.explain import ModelView
from ecsel.plotting.style import NEGATIVE, POSITIVE, house_style, short, value_beside
from ecsel.signomial import Term
from ecsel.signomial.factor_values import factor_values
from ecsel.signomial.text import counted, print_base, print_term

if TYPE_CHECKING:
    from ecsel.signomial import Factor
    from ecsel.tables import TableEncoder

GRID = 201
"""Points of a column's range at which a factor is looked at; every simple function is monotone in between."""


def plot_equation(model: Any, *, label: Any = None, max_features: int = 15) -> Any:
    """Draw one score, a sum of raw pieces as bars, other equations as the exponents of terms; returns the figure.

    Parameters
    ----------
    model : ECSELClassifier, ECSELRegressor, Signomial or ModelView
        The model.
    label
        The class, by default the last.
    max_features : int, default=15
        Pieces or features drawn, those with the largest reach or exponents.

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
    mine = np.flatnonzero(view.terms.classes == view.score_classes.index(label)).tolist()
    chosen = [k for k in mine if view.factors[k]]
    constant = sum(float(view.terms.coefficients[k]) for k in mine if k not in chosen)
    ending = f", constant {constant:+.4g}" if constant else ""
    terms = [Term.from_factors(float(view.terms.coefficients[k]), view.factors[k]) for k in chosen]
    if view.encoder is not None and view.encoder.is_raw:
        name = f"Log-odds of {label}" if view.link.has_reference else f"Score of {label}"
        title = f"{name}: {counted(len(terms), 'piece')}{ending}"
        return _piece_figure(terms, view.encoder, title, max_features)
    return _exponent_figure(terms, f"Score of {label}: sum of {counted(len(terms), 'term')}{ending}", max_features)


def piece_reach(term: Term, encoder: TableEncoder) -> tuple[float, float]:
    """Return by how much a term can fall and rise, over the training ranges, from its value in a typical row."""
    features = {feature.name: feature for feature in encoder.features}
    ends, typical = [], term.coefficient
    for name in term.names:
        feature = features[name]
        # levels of one column exclude each other; a product of two of them is left to the search, which has none
        grid = np.append(np.linspace(feature.low, feature.high, GRID), feature.baseline)
        values = np.prod([factor_values(f, grid) for f in term.factors if f.name == name], axis=0)
        ends.append((float(values.min()), float(values.max())))
        typical *= float(values[-1])
    corners = [term.coefficient * float(np.prod(corner)) for corner in product(*ends)]
    return min(corners) - typical, max(corners) - typical


def _piece_figure(terms: list[Term], encoder: TableEncoder, title: str, most: int) -> Any:
    reach = [piece_reach(term, encoder) for term in terms]
    order = sorted(range(len(terms)), key=lambda k: reach[k][0] - reach[k][1])[:most]
    with house_style() as plt:
        figure, axes = plt.subplots(figsize=(7.2, 1.6 + 0.42 * max(1, len(order))), layout="constrained")
        for y, k in enumerate(order):
            low, high = reach[k]
            axes.barh(y, high, color=POSITIVE, height=0.6)
            axes.barh(y, low, color=NEGATIVE, height=0.6)
            for end in (low, high):
                if end:
                    value_beside(axes, end, end, y)
        axes.axvline(0, color="black", linewidth=0.8)
        axes.use_sticky_edges = False
        axes.margins(x=0.16)
        axes.set_yticks(np.arange(len(order)), [short(print_term(terms[k], ".6g"), 44) for k in order])
        axes.invert_yaxis()
        axes.set_xlabel("effect over the training range; 0 is a typical row")
        hidden = len(terms) - len(order)
        axes.set_title(title + (f" ({hidden} smaller not shown)" if hidden else ""))
    return figure


def _exponent_figure(terms: list[Term], title: str, most: int) -> Any:
    bases = list(dict.fromkeys(factor.base for term in terms for factor in term.factors))
    labels = {factor.base: print_base(factor) for term in terms for factor in term.factors}
    beta = np.array([[_exponent(term, base) for base in bases] for term in terms]).reshape(len(terms), len(bases))
    size = np.abs(beta).max(axis=0, initial=0.0)
    order = np.argsort(-size, kind="stable")[:most]
    order = order[size[order] > 0]
    with house_style() as plt:
        figure, panels = plt.subplots(
            1,
            max(1, len(terms)),
            figsize=(2.6 + 2.6 * max(1, len(terms)), 1.8 + 0.3 * len(order)),
            sharey=True,
            squeeze=False,
            layout="constrained",
        )
        for axes, term, row in zip(panels[0], terms, beta, strict=False):
            mine = row[order]
            axes.barh(np.arange(len(order)), mine, color=np.where(mine >= 0, POSITIVE, NEGATIVE).tolist(), height=0.66)
            for y, b in enumerate(mine):
                if b != 0:
                    value_beside(axes, b, b, y)
            axes.axvline(0, color="black", linewidth=0.8)
            axes.use_sticky_edges = False
            axes.margins(x=0.4)
            axes.locator_params(axis="x", nbins=4)
            axes.set_title(f"{term.coefficient:+.4g} × Π x^exponent")
            axes.set_xlabel("exponent")
        panels[0][0].set_yticks(np.arange(len(order)), [short(labels[bases[j]].strip("`")) for j in order])
        panels[0][0].invert_yaxis()
        figure.suptitle(title)
    return figure


def _exponent(term: Term, base: tuple[Any, ...]) -> float:
    factors: list[Factor] = [factor for factor in term.factors if factor.base == base]
    return float(factors[0].exponent) if factors else 0.0
