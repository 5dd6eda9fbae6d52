"""The look of all figures: colour-blind safe colours (Okabe and Ito), readable sizes, no change of global settings."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from ecsel.explain.optional import import_optional

if TYPE_CHECKING:
    from collections.abc import Iterator

COLOURS = ("#0072B2", "#E69F00", "#009E73", "#CC79A7", "#56B4E9", "#D55E00", "#F0E442", "#000000")
POSITIVE, NEGATIVE, NEUTRAL = "#0072B2", "#D55E00", "#8C8C8C"
"""Blue pushes up, vermilion pushes down; the two are told apart by every kind of colour vision, and by their side."""
DASHES: tuple[Any, ...] = ("-", (0, (5, 2)), (0, (1, 1.5)), (0, (6, 2, 1, 2)), (0, (3, 1)), (0, (8, 3)))
MARKERS = ("o", "s", "^", "D", "v", "P", "X", "*")
HATCHES = ("", "///", "...", "xxx", "\\\\\\", "++", "oo", "--")

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


@contextmanager
def drawing_on(ax: Any, size: tuple[float, float]) -> Iterator[Any]:
    """Give the axes to draw on: those of the caller, or new ones of the given size in inches."""
    with house_style() as plt:
        if ax is None:
            _, ax = plt.subplots(figsize=size, layout="constrained")
        yield ax


def short(name: Any, width: int = 28) -> str:
    """Return a label cut to a width that fits beside an axis."""
    text = " ".join(str(name).split())
    return text if len(text) <= width else text[: width - 1] + "…"
