"""HTML, SVG and MathML as values: what is `Html` is markup, any other text is data and is escaped.

Templates know the difference too: Jinja leaves alone what has the method ``__html__``, and escapes everything else.
"""

from __future__ import annotations

from dataclasses import dataclass
from html import escape
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable


@dataclass(frozen=True, slots=True)
class Html:
    """Text that is markup."""

    text: str

    def __html__(self) -> str:
        return self.text

    def __str__(self) -> str:
        return self.text


def element(tag: str, *children: Html | str, **attributes: str | float | None) -> Html:
    """Return an element; an underscore in the name of an attribute is a hyphen, one at the end is dropped.

    Examples
    --------
    >>> print(element("text", "a < b", class_="tick", stroke_width=1.5))
    <text class="tick" stroke-width="1.5">a &lt; b</text>
    """
    attributes_text = "".join(
        f' {name.rstrip("_").replace("_", "-")}="{escape(_plain(value))}"'
        for name, value in attributes.items()
        if value is not None
    )
    return Html(f"<{tag}{attributes_text}>{join(children).text}</{tag}>")


def join(parts: Iterable[Html | str]) -> Html:
    """Return pieces one after the other."""
    return Html("".join(part.text if isinstance(part, Html) else escape(part) for part in parts))


def breakable(text: str) -> Html:
    """Return text whose lines may break after an underscore or a colon, where there is no room for a whole name.

    >>> print(breakable("page_value < 3"), breakable("Status:Paid"))
    page_<wbr>value &lt; 3 Status:<wbr>Paid
    """
    return Html(escape(text).replace("_", "_<wbr>").replace(":", ":<wbr>"))


def _plain(value: str | float) -> str:
    """Return an attribute's value; coordinates need no more than two decimals."""
    return value if isinstance(value, str) else f"{value:.2f}".rstrip("0").rstrip(".")
