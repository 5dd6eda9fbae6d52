"""Quality against size in one picture: what each method leaves uncertain, and how many numbers a person must read."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from benchmarks.sealed_methods import METHODS, OURS, OURS_CUTS
from benchmarks.sealed_report import left, median_sizes

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from numpy.typing import NDArray

    from benchmarks.sealed_report import Block

COLORS = {"ours": "#0b6e4f", "interpretable": "#2b6cb0", "black box": "#8a8a8a"}
LABELS = {"ours": "ecsel", "interpretable": "other readable models", "black box": "black boxes"}


def front(sizes: NDArray[np.float64], values: NDArray[np.float64]) -> list[int]:
    """Return the points that no other point beats in both size and value, by size."""
    order = np.lexsort((values, sizes))
    best, found = np.inf, list[int]()
    for i in order:
        if values[i] < best:
            best = float(values[i])
            found.append(int(i))
    return found


def points(block: Block) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return for every method the median size and the mean uncertainty left."""
    return median_sizes(block), left(block).mean(axis=1)


def draw(block: Block, path: Path) -> None:
    """Write the picture as SVG."""
    import matplotlib as mpl
    from matplotlib.figure import Figure

    sizes, values = points(block)
    # text as text and no date: the file is small, can be searched, and is the same for the same figures
    with mpl.rc_context({"svg.fonttype": "none", "svg.hashsalt": "ecsel", "font.size": 10}):
        figure = Figure(figsize=(8, 4.6))
        axes = figure.add_axes((0.08, 0.11, 0.9, 0.86))
        at = front(sizes, values)
        axes.plot(sizes[at], values[at], color="#cccccc", linewidth=1, zorder=1, drawstyle="steps-post")
        groups = ["ours" if name in {OURS, OURS_CUTS} else METHODS[name].kind for name in block.methods]
        for group, color in COLORS.items():
            chosen = [i for i, each in enumerate(groups) if each == group]
            axes.scatter(sizes[chosen], values[chosen], color=color, s=36, label=LABELS[group], zorder=2)
        axes.set_xscale("log")
        axes.margins(x=0.12, y=0.15)
        edge = axes.get_position().x0 * figure.get_figwidth() * 72
        at_pixels = axes.transData.transform(np.column_stack([sizes, values]))
        for i, (across, up, side) in enumerate(label_places(at_pixels / figure.dpi * 72, block.methods, edge)):
            axes.annotate(
                block.methods[i],
                (sizes[i], values[i]),
                xytext=(across, up),
                textcoords="offset points",
                ha=side,
                va="center",
                color=COLORS[groups[i]],
            )
        axes.set_xlabel("numbers a person must read, median over the tables")
        axes.set_ylabel("uncertainty left, mean over the tables")
        axes.spines[["top", "right"]].set_visible(False)
        axes.legend(frameon=False)
        figure.savefig(path, metadata={"Date": None})


def label_places(at: NDArray[np.float64], names: Sequence[str], edge: float) -> list[tuple[float, float, str]]:
    """Return for every point, in points of 1/72 inch, where its label stands: offsets, and the side that is tied.

    A label stands to the right of its point, else to the left, above or below, where it covers no point, no label
    and not the axis at `edge`.
    """
    taken = [(x - 4, y - 4, x + 4, y + 4) for x, y in at] + [(-np.inf, -np.inf, edge, np.inf)]
    found = []
    for (x, y), name in zip(at, names, strict=True):
        width = 5.6 * len(name)
        boxes = {
            (7.0, 0.0, "left"): (x + 6, y - 6, x + 7 + width, y + 6),
            (-7.0, 0.0, "right"): (x - 7 - width, y - 6, x - 6, y + 6),
            (0.0, 12.0, "center"): (x - width / 2, y + 5, x + width / 2, y + 17),
            (0.0, -12.0, "center"): (x - width / 2, y - 17, x + width / 2, y - 5),
        }
        place = next((p for p, box in boxes.items() if not any(_overlap(box, o) for o in taken)), (7.0, 0.0, "left"))
        taken.append(boxes[place])
        found.append(place)
    return found


def _overlap(one: tuple[float, float, float, float], other: tuple[float, float, float, float]) -> bool:
    return one[0] < other[2] and other[0] < one[2] and one[1] < other[3] and other[1] < one[3]
