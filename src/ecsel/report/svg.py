"""A small kit for charts as inline SVG: a frame with axes, lines, dots, and bars for the cells of tables.

Colours are classes of the style sheet, so that a chart follows light and dark; nothing depends on colour alone.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from ecsel.report.html import Html, element, join
from ecsel.report.wording import number

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

LEFT, RIGHT, TOP, BOTTOM = 52.0, 12.0, 10.0, 42.0
"""Room around the plot for ticks and labels."""
TICK_LETTER = 6.6
"""The width of a digit at the font size of ticks, 11 units, in a wide font."""


@dataclass(frozen=True, slots=True)
class Frame:
    """A plot with its ranges of x and y and its size, all of the chart included."""

    x: tuple[float, float]
    y: tuple[float, float]
    width: float = 360.0
    height: float = 280.0

    @property
    def left(self) -> float:
        """The room on the left: for the label that runs upwards, and for the longest tick."""
        return max(LEFT, 26.0 + TICK_LETTER * max(len(number(value)) for value in ticks(*self.y)))

    def across(self, value: Floats | float) -> Floats:
        """Return the horizontal place of values."""
        left = self.left
        return left + (np.asarray(value) - self.x[0]) / (self.x[1] - self.x[0]) * (self.width - left - RIGHT)

    def up(self, value: Floats | float) -> Floats:
        """Return the vertical place of values."""
        share = (np.asarray(value) - self.y[0]) / (self.y[1] - self.y[0])
        return self.height - BOTTOM - share * (self.height - TOP - BOTTOM)

    def axes(
        self,
        x_label: str,
        y_label: str,
        x_ticks: Sequence[float] | None = None,
        y_ticks: Sequence[float] | None = None,
    ) -> Html:
        """Return the grid, the ticks and what the axes mean; ticks are round numbers unless they are given."""
        bottom, left, right = self.height - BOTTOM, self.left, self.width - RIGHT
        parts = []
        for value in ticks(*self.x) if x_ticks is None else x_ticks:
            at = float(self.across(value))
            parts += [
                element("line", x1=at, x2=at, y1=TOP, y2=bottom, class_="grid"),
                element("text", number(value), x=at, y=bottom + 15, class_="tick middle"),
            ]
        for value in ticks(*self.y) if y_ticks is None else y_ticks:
            at = float(self.up(value))
            parts += [
                element("line", x1=left, x2=right, y1=at, y2=at, class_="grid"),
                element("text", number(value), x=left - 6, y=at + 3.5, class_="tick end"),
            ]
        middle_y = (TOP + bottom) / 2
        turn = f"rotate(-90 12 {middle_y:.1f})"
        parts += [
            element("text", x_label, x=(left + right) / 2, y=self.height - 7, class_="axis middle"),
            element("text", y_label, x=12.0, y=middle_y, transform=turn, class_="axis middle"),
        ]
        return join(parts)

    def line(self, x: Floats, y: Floats, class_: str) -> Html:
        """Return a line through points."""
        points = zip(self.across(x).tolist(), self.up(y).tolist(), strict=True)
        return element("polyline", points=" ".join(f"{a:.1f},{b:.1f}" for a, b in points), class_=f"line {class_}")

    def dots(self, x: Floats, y: Floats, class_: str, radius: float = 2.5) -> Html:
        """Return points as one path of round dots, which is short."""
        places = zip(self.across(x).tolist(), self.up(y).tolist(), strict=True)
        path = "".join(f"M{a:.1f} {b:.1f}h0" for a, b in places)
        return element("path", d=path, stroke_width=2 * radius, class_=f"dots {class_}")

    def figure(self, title: str, *children: Html) -> Html:
        """Return the whole chart; the title is what assistive tools read."""
        box = f"0 0 {self.width:g} {self.height:g}"
        return element("svg", element("title", title), *children, viewBox=box, role="img", class_="chart")


def ticks(low: float, high: float, most: int = 5) -> list[float]:
    """Return round numbers within a range.

    >>> ticks(0, 1), ticks(3, 42)
    ([0.0, 0.2, 0.4, 0.6, 0.8, 1.0], [10.0, 20.0, 30.0, 40.0])
    """
    rough = (high - low) / most
    if not rough > 0 or not math.isfinite(rough):
        return [low]
    power = 10.0 ** math.floor(math.log10(rough))
    step = next(size * power for size in (1, 2, 2.5, 5, 10) if size * power >= rough * (1 - 1e-9))
    first = math.ceil(low / step - 1e-9)
    last = math.floor(high / step + 1e-9)
    return [float(f"{k * step:.12g}") for k in range(first, last + 1)]


def padded(values: Floats, share: float = 0.04) -> tuple[float, float]:
    """Return the range of values with some room; one value alone gets a range around it."""
    low, high = float(np.min(values)), float(np.max(values))
    room = share * (high - low) or 0.5 * abs(low) or 0.5
    return low - room, high + room


def thinned(n: int, most: int = 240) -> NDArray[np.intp]:
    """Return at most so many positions of n, both ends among them."""
    return np.unique(np.linspace(0, n - 1, min(n, most)).round().astype(np.intp))


def bar(share: float, class_: str = "for") -> Html:
    """Return a bar that fills a share of its cell."""
    width = 100 * min(max(share, 0.0), 1.0)
    return _stretched(element("rect", x=0.0, y=0.0, width=width, height=10.0, class_=class_), 10)


def signed_bar(share: float) -> Html:
    """Return a bar from the middle of its cell: right for positive shares of the half, left for negative ones."""
    half = 50 * min(abs(share), 1.0)
    kind = "for" if share >= 0 else "against"
    middle = element("rect", x=49.8, y=0.0, width=0.4, height=10.0, class_="zero")
    return _stretched(
        join(
            [element("rect", x=50.0 if share >= 0 else 50 - half, y=0.0, width=half, height=10.0, class_=kind), middle]
        ),
        10,
    )


def spark(counts: Sequence[float] | Floats) -> Html:
    """Return a histogram that fits into a cell."""
    heights = 20 * np.asarray(counts, dtype=np.float64) / max(float(np.max(counts)), 1.0)
    step = 100 / len(heights)
    bars = [
        element("rect", x=i * step + 0.3, y=20 - h, width=step - 0.6, height=h, class_="plain")
        for i, h in enumerate(heights.tolist())
        if h > 0
    ]
    return _stretched(join(bars), 20)


def _stretched(content: Html, height: int) -> Html:
    box = f"0 0 100 {height}"
    return element(
        "svg", content, viewBox=box, preserveAspectRatio="none", class_="bar", aria_hidden="true", focusable="false"
    )
