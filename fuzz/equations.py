"""Random texts to the parser: an equation that prints to itself, or one line that says where it cannot be read."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ecsel import Signomial
from fuzz.attack import SERVED, refused

if TYPE_CHECKING:
    import random
    from pathlib import Path

PIECES = (
    *(
        "x",
        "y",
        "`a b`",
        "[c = d]",
        "col('q')",
        "log(",
        "sqrt(",
        "abs(",
        "sign(",
        "(",
        ")",
        ")",
        "+",
        "-",
        "*",
        "/",
        "**",
    ),
    *(
        "1",
        "2",
        "0",
        "1/2",
        "0.5",
        "1e308",
        "1e-320",
        "9" * 50,
        "-3",
        ",",
        "e",
        "_",
        "é",
        "\n",
        " ",
        "\\",
        "'",
        '"',
        "`",
        "\0",
    ),
    *("x**2", "(x + 1)", "(x - 2.5)", "log(y)", "2*x*y", "/(x + 3)", "**(3/2)", "**-1", "+ 4", "- x"),
)


class Equations:
    """Strings of pieces of the language, in any order."""

    name = "equations"

    def prepare(self, folder: Path) -> None:
        """Nothing is needed."""

    def run(self, rng: random.Random) -> str:
        """Read one text, and what it prints."""
        text = "".join(rng.choice(PIECES) for _ in range(rng.randint(1, 14)))
        try:
            equation = Signomial.parse(text)
        except ValueError as error:
            return refused(str(error))
        if Signomial.parse(str(equation)) != equation:
            raise AssertionError(f"{text!r} prints as {equation}")
        return SERVED
