"""The tokens of the signomial language: numbers, names, string literals and operators, each with its position."""

from __future__ import annotations

import ast
import enum
import re
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator

# Only the escapes that repr() writes and people use: each is valid in every Python, none gives a warning.
_ESCAPE = r"\\(?:[\\'\"abfnrtv]|x[0-9a-fA-F]{2}|u[0-9a-fA-F]{4}|U[0-9a-fA-F]{8})"
# A name is taken generously, because re knows no class for identifiers; the parser then asks str.isidentifier().
_TOKEN = re.compile(
    rf"""(?P<space>\s+)
    |(?P<number>(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?)
    |(?P<string>'(?:[^'\\\n]|{_ESCAPE})*'|"(?:[^"\\\n]|{_ESCAPE})*")
    |(?P<feature>`[^`]*`|\[[^\[\]`]*\])
    |(?P<name>(?:[A-Za-z_]|[^\x00-\x7f\s])(?:[A-Za-z0-9_]|[^\x00-\x7f\s])*)
    |(?P<operator>\*\*|[-+*/()])""",
    re.VERBOSE,
)
_HINTS = {
    "^": "write a power as **",
    "'": "a string literal must end on its line and use Python's escapes",
    '"': "a string literal must end on its line and use Python's escapes",
    "=": "give only the right-hand side of the equation",
    ",": "write decimals with a point",
    "`": "a name in backticks must end with one",
    "[": "a name in square brackets must end with one, without brackets inside",
}


class Kind(enum.Enum):
    """What a token is."""

    NUMBER = "a number"
    NAME = "a name"
    FEATURE = "a name in backticks or brackets"
    STRING = "a string"
    OPERATOR = "an operator"
    END = "the end"


class Token(NamedTuple):
    """A piece of the source; ``text`` of a string literal is its value, that of a quoted name the name."""

    kind: Kind
    text: str
    position: int

    def describe(self) -> str:
        """Return the token as it is named in an error."""
        return "the end of the text" if self.kind is Kind.END else repr(self.text)


def unreadable(problem: str, position: int) -> ValueError:
    """Return the one kind of error that reading a text gives."""
    return ValueError(f"cannot read the equation at character {position + 1}: {problem}")


def tokenize(source: str) -> Iterator[Token]:
    """Yield the tokens of a text, the last one of kind END.

    >>> [token.text for token in tokenize("2*x**3")]
    ['2', '*', 'x', '**', '3', '']
    """
    position = 0
    while position < len(source):
        match = _TOKEN.match(source, position)
        if match is None:
            character = source[position]
            hint = _HINTS.get(character, "names that are not identifiers are written in backticks")
            raise unreadable(f"unexpected {character!r}; {hint}", position)
        if match.lastgroup == "string":
            yield Token(Kind.STRING, _read_string(match.group(), position), position)
        elif match.lastgroup == "feature":
            yield Token(Kind.FEATURE, _read_feature(match.group(), position), position)
        elif match.lastgroup != "space":
            yield Token(Kind[str(match.lastgroup).upper()], match.group(), position)
        position = match.end()
    yield Token(Kind.END, "", len(source))


def _read_string(literal: str, position: int) -> str:
    try:
        return str(ast.literal_eval(literal))
    except (SyntaxError, ValueError) as error:
        raise unreadable("this string literal is not valid in Python", position) from error


def _read_feature(quoted: str, position: int) -> str:
    if not quoted.isprintable():
        raise unreadable("a name with control characters is written col('...')", position)
    if len(quoted) == 2:  # nothing between the quotes
        raise unreadable("a name is empty; the feature without a name is written col('')", position)
    return quoted if quoted.startswith("[") else quoted[1:-1]
