"""Model files on disk: written whole or not at all, read with bounds on everything."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

from ecsel.files.atomic_write import write_whole
from ecsel.files.errors import ModelFileError
from ecsel.files.node import MAX_DEPTH
from ecsel.files.schema import decode, encode

if TYPE_CHECKING:
    import os

    from ecsel.files.document import ModelDocument

MAX_BYTES = 32 * 1024 * 1024


def write(document: ModelDocument, path: str | os.PathLike[str]) -> None:
    """Write a model file.

    The file appears under its name when it is complete, and a document that `read` would refuse is not written at all.

    Raises
    ------
    ModelFileError
        If a field cannot be stored, naming it.
    """
    target = Path(path)
    try:
        content = _dump(encode(document))
        decode(_parse(content))
    except ModelFileError as error:
        raise error.in_file(target) from None
    write_whole(target, content)


def read(path: str | os.PathLike[str]) -> ModelDocument:
    """Read a model file.

    Raises
    ------
    ModelFileError
        If the file is not a valid model file, naming the file and the field.
    """
    source = Path(path)
    with source.open("rb") as stream:
        content = stream.read(MAX_BYTES + 1)
    try:
        return decode(_parse(content))
    except ModelFileError as error:
        raise error.in_file(source) from None


def _dump(value: dict[str, Any]) -> bytes:
    _check_storable(value, "", 0)
    return (json.dumps(value, allow_nan=False, ensure_ascii=False, indent=1) + "\n").encode()


def _check_storable(value: Any, path: str, depth: int) -> None:
    """Refuse, by name, what JSON cannot hold or would silently change, such as names that are numbers."""
    if depth > 2 * MAX_DEPTH:
        raise ModelFileError(path[:200], "nested too deeply to be stored")
    if isinstance(value, dict):
        for key, item in value.items():
            below = f"{path}.{key}" if path else str(key)
            if not isinstance(key, str):
                raise ModelFileError(below, f"the name {key!r} must be text to be stored")
            _check_storable(key, below, depth + 1)
            _check_storable(item, below, depth + 1)
    elif isinstance(value, (list, tuple)):
        for i, item in enumerate(value):
            _check_storable(item, f"{path}[{i}]", depth + 1)
    elif isinstance(value, str):
        if any("\ud800" <= character <= "\udfff" for character in value):
            raise ModelFileError(path, f"{value[:60]!r} holds half a character (a lone surrogate) and cannot be stored")
    elif not (value is None or isinstance(value, (bool, int)) or (isinstance(value, float) and math.isfinite(value))):
        line = repr(value)[:60]
        raise ModelFileError(path, f"{line} of type {type(value).__name__} cannot be stored; use plain finite values")


def _parse(content: bytes) -> Any:
    if len(content) > MAX_BYTES:
        raise ModelFileError("", f"a model file has at most {MAX_BYTES} bytes")
    try:
        return json.loads(content.decode(), parse_constant=_refuse_constant, object_pairs_hook=_object)
    except ModelFileError:
        raise
    except RecursionError:
        raise ModelFileError("", "the JSON is nested too deeply") from None
    except ValueError as error:
        raise ModelFileError("", f"this is not valid JSON ({error})") from None


def _refuse_constant(name: str) -> NoReturn:
    raise ModelFileError("", f"{name} is not a finite number")


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    members: dict[str, Any] = {}
    for name, value in pairs:
        if name in members:
            raise ModelFileError("", f"the field {name[:60]!r} occurs twice in one object")
        members[name] = value
    return members
