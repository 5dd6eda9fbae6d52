"""The one error of this room."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import os

MAX_MESSAGE = 400
"""Characters of a field's path, and of what is wrong with it, that an error tells."""


class ModelFileError(ValueError):
    """A model file is not valid, or a model cannot be written as one.

    Attributes
    ----------
    field
        The path of the offending field, such as ``equations[1].terms[0].coefficient``; empty for the file as a whole.
    problem
        What is wrong with it.
    file
        The file, once it is known.

    Examples
    --------
    >>> print(ModelFileError("link", "expected text, got 3"))
    link: expected text, got 3
    """

    def __init__(self, field: str, problem: str, file: str | os.PathLike[str] | None = None) -> None:
        self.field = _short(field)
        self.problem = _short(problem)
        self.file = file
        super().__init__(": ".join(str(part) for part in (file, self.field, self.problem) if part))

    def in_file(self, file: str | os.PathLike[str]) -> ModelFileError:
        """Return the same error with the file's name."""
        return ModelFileError(self.field, self.problem, file)


def _short(text: str) -> str:
    """Return a text of bounded length: names in a file may be as long as the file."""
    return text if len(text) <= MAX_MESSAGE else f"{text[: MAX_MESSAGE // 2]}…{text[-MAX_MESSAGE // 2 :]}"
