"""The look of all figures: colour-blind safe colours (Okabe and Ito), readable sizes, no change of global settings."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from ecsel.explain.optional import import_optional

if TYPE_CHECKING:
    from collections.abc import Iterator

COLOURS = ("#0072B2", "#E69F00", "#009E73", "#CC79A7", "#56B4E9", "#D55E00", "#F0E442", "#000000")
POSITIVE, NEGATIVE, NEUTRAL = "#0072B2", "#D55E00", "#8C8C8C"
"""Blue pushes up, vermilion pushes down; every kind of colour vision distinguishes the two, and by their side."""
DASHES: tuple[Any, ...] = ("-", (0, (5, 2)), (0, (1, 1.5)), (0, (6, 2, 1, 2)), (0, (3, 1)), (0, (8, 3)))
MARKERS = ("o", "s", "^", "D", "v", "P", "X", "*")
HATCHES = ("", "///", "...", "xxx", "\\\\\\", "++", "oo", "--")

BEHIND_TEXT = {"boxstyle": "round,pad=0.15", "facecolor": "white", "edgecolor": "none", "alpha": 0.8}
"""Keeps numbers readable where a line or a bar runs behind them."""

SETTINGS = {
    "figure.dpi": 120,
    "savefig.dpi": 150,
    "font.size": 10,
    "axes.titlesize": 11,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.axisbelow": True,
    "legend.frameon": False,
    "text.parse_math": False,  # names of columns are data: a dollar sign in one is a dollar sign
}


@contextmanager
def house_style() -> Iterator[Any]:
    """Give pyplot with our settings, which end with the block."""
    plt = import_optional("matplotlib.pyplot", "a figure")
    with plt.rc_context(SETTINGS):
        yield plt


def four_panels(plt: Any, size: tuple[float, float]) -> tuple[Any, tuple[Any, Any, Any, Any]]:
    """Return a figure of two rows of two panels; long labels in one row take no room from the other."""
    figure = plt.figure(figsize=size, layout="constrained")
    (a, b), (c, d) = (row.subplots(1, 2) for row in figure.subfigures(2, 1))
    return figure, (a, b, c, d)


@contextmanager
def drawing_on(ax: Any, size: tuple[float, float]) -> Iterator[Any]:
    """Give the axes to draw on: those of the caller, or new ones of the given size in inches."""
    with house_style() as plt:
        if ax is None:
            _, ax = plt.subplots(figsize=size, layout="constrained")
        yield ax


def value_beside(axes: Any, value: float, x: float, y: float) -> None:
    """Write a signed number beside the end of a horizontal bar, on the side to which it points."""
    right = value >= 0
    axes.annotate(
        f"{value:+.3g}",
        (x, y),
        (4 if right else -4, 0),
        textcoords="offset points",
        va="center",
        ha="left" if right else "right",
        fontsize="small",
        bbox=BEHIND_TEXT,
    )


def short(name: Any, width: int = 28) -> str:
    """Return a label cut to a width that fits beside an axis."""
    text = " ".join(str(name).split())
    return text if len(text) <= width else text[: width - 1] + "…"
