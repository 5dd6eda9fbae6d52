"""Docstrings write sizes as |x|, which reStructuredText would read as a substitution: here they stay what they are."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from sphinx.application import Sphinx

LITERAL = re.compile(r"(``.*?``|`.*?`)")


def escape_bars(lines: list[str]) -> list[str]:
    r"""Return the lines with bars escaped outside literals and doctests.

    >>> escape_bars(["mean |G| of ``a|b``", ">>> a | b"])
    ['mean \\|G\\| of ``a|b``', '>>> a | b']
    """
    escaped, in_doctest = [], False
    for line in lines:
        in_doctest = bool(line.strip()) and (in_doctest or line.lstrip().startswith(">>>"))
        parts = LITERAL.split(line)
        parts[::2] = [part.replace("|", r"\|") for part in parts[::2]]
        escaped.append(line if in_doctest else "".join(parts))
    return escaped


def _process(_: Sphinx, __: str, ___: str, ____: object, _____: object, lines: list[str]) -> None:
    lines[:] = escape_bars(lines)


def setup(app: Sphinx) -> dict[str, Any]:
    """Escape after numpydoc has arranged the sections."""
    app.connect("autodoc-process-docstring", _process, priority=900)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
