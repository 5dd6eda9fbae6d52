"""Reading untrusted JSON: a value with its path in the file, and one method for each thing that it may have to be.

Every reading either returns a checked plain value or raises `ModelFileError` with the path, so that decoders are
written as if the file were sound. Lengths, depths and the size of numbers are bounded; nothing in a file is executed.
"""

from __future__ import annotations

import json
import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, NoReturn, TypeVar

from ecsel.files.errors import ModelFileError

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator, Sequence

MAX_ITEMS = 100_000
MAX_TEXT = 100_000
MAX_DEPTH = 16
LARGEST_INTEGER = 2**63
"""Labels and levels are at most NumPy's integers; longer ones are a sign of a broken or hostile file."""

Value = TypeVar("Value")


@dataclass(frozen=True, slots=True)
class Node:
    """A JSON value and where it stands.

    Examples
    --------
    >>> Node({"link": 3}, "").get("link").text()
    Traceback (most recent call last):
    ecsel.files.errors.ModelFileError: link: expected text, got 3
    """

    value: Any
    path: str

    def refuse(self, expected: str) -> NoReturn:
        """Raise the error that something else was expected here."""
        raise ModelFileError(self.path, f"expected {expected}, got {self._description()}")

    def _description(self) -> str:
        if isinstance(self.value, list):
            return f"a list of {len(self.value)} items"
        if isinstance(self.value, dict):
            return "an object"
        text = json.dumps(self.value, ensure_ascii=False)
        return text if len(text) <= 60 else text[:59] + "…"

    def fields(self, *names: str) -> list[Node]:
        """Return the values of an object that has exactly the given fields, in the given order."""
        if not isinstance(self.value, dict):
            self.refuse("an object")
        if surplus := [key for key in self.value if key not in names]:
            raise ModelFileError(self._below(surplus[0]), "unknown field")
        return [self.get(name) for name in names]

    def get(self, name: str) -> Node:
        """Return the value of one field."""
        if not isinstance(self.value, dict):
            self.refuse("an object")
        if name not in self.value:
            raise ModelFileError(self._below(name), "the field is not there")
        return Node(self.value[name], self._below(name))

    def members(self) -> Iterator[tuple[str, Node]]:
        """Yield the names and values of an object whose names are data."""
        if not isinstance(self.value, dict) or len(self.value) > MAX_ITEMS:
            self.refuse(f"an object of at most {MAX_ITEMS} members")
        for name, value in self.value.items():
            yield name, Node(value, f"{self.path}[{name!r}]")

    def items(self, at_most: int = MAX_ITEMS) -> list[Node]:
        """Return the items of a list."""
        if not isinstance(self.value, list) or len(self.value) > at_most:
            self.refuse(f"a list of at most {at_most} items")
        return [Node(value, f"{self.path}[{i}]") for i, value in enumerate(self.value)]

    def each(self, reader: Callable[[Node], Value]) -> tuple[Value, ...]:
        """Return the items of a list, each read in the same way."""
        return tuple(map(reader, self.items()))

    def optional(self, reader: Callable[[Node], Value]) -> Value | None:
        """Return None for null, and otherwise what the reader makes of the value."""
        return None if self.value is None else reader(self)

    def text(self) -> str:
        """Return a string."""
        if not isinstance(self.value, str) or len(self.value) > MAX_TEXT:
            self.refuse("text")
        return self.value

    def choice(self, allowed: Collection[str]) -> Any:
        """Return one of the given words."""
        if not isinstance(self.value, str) or self.value not in allowed:
            self.refuse(f"one of {', '.join(map(repr, allowed))}")
        return self.value

    def flag(self) -> bool:
        """Return true or false."""
        if not isinstance(self.value, bool):
            self.refuse("true or false")
        return self.value

    def number(self) -> float:
        """Return a finite number as a float."""
        if isinstance(self.value, bool) or not isinstance(self.value, (int, float)):
            self.refuse("a finite number")
        if abs(self.value) > 1.7976931348623157e308 or math.isnan(self.value):
            self.refuse("a finite number")
        return float(self.value)

    def whole(self) -> int:
        """Return a whole number of at most NumPy's size."""
        if isinstance(self.value, bool) or not isinstance(self.value, int) or abs(self.value) > LARGEST_INTEGER:
            self.refuse("a whole number")
        return self.value

    def positive(self) -> float:
        """Return a finite number above zero."""
        if self.number() <= 0:
            self.refuse("a positive number")
        return self.number()

    def label(self) -> str | bool | int | float:
        """Return text, a boolean, an integer or a finite float, exactly as it was written."""
        if isinstance(self.value, bool):
            return self.value
        if isinstance(self.value, str):
            return self.text()
        if isinstance(self.value, int) and abs(self.value) <= LARGEST_INTEGER:
            return self.value
        if isinstance(self.value, float) and math.isfinite(self.value):
            return self.value
        return self.refuse("text, a boolean or a finite number")

    def plain(self, depth: int = 0) -> Any:
        """Return any JSON value of bounded depth with finite numbers."""
        if depth > MAX_DEPTH:
            raise ModelFileError(self.path, f"nested more than {MAX_DEPTH} levels deep")
        if self.value is None:
            return None
        if isinstance(self.value, dict):
            return {name: node.plain(depth + 1) for name, node in self.members()}
        if isinstance(self.value, list):
            return [node.plain(depth + 1) for node in self.items()]
        return self.label()

    def record(self) -> dict[str, Any]:
        """Return an object of plain values."""
        if not isinstance(self.value, dict):
            self.refuse("an object")
        record: dict[str, Any] = self.plain()
        return record

    def unique(self, names: Sequence[Any], kind: Literal["names", "levels", "classes"]) -> None:
        """Refuse a list in which something occurs twice."""
        if len(set(names)) < len(names):
            raise ModelFileError(self.path, f"the {kind} are not unique")

    def _below(self, name: str) -> str:
        return f"{self.path}.{name}" if self.path else name
