"""Files appear under their name when they are complete: written beside it first, then renamed."""

from __future__ import annotations

import os
import secrets
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator


@contextmanager
def drafted(path: str | os.PathLike[str]) -> Iterator[Path]:
    """Yield the name of a draft beside a file; it takes the file's place when all went well, and is gone otherwise.

    A link is followed, so that the file that it names is replaced and not the link.
    """
    target = Path(path).resolve()
    draft = target.with_name(f".{target.name}.{secrets.token_hex(8)}.tmp")
    try:
        yield draft
        draft.replace(target)
    finally:
        draft.unlink(missing_ok=True)


def write_whole(path: str | os.PathLike[str], content: bytes) -> None:
    """Write a file whole or not at all, and have it on disk before it takes its place.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write_whole(f"{folder}/a.txt", b"all of it")
    ...     Path(f"{folder}/a.txt").read_bytes(), os.listdir(folder)
    (b'all of it', ['a.txt'])
    """
    with drafted(path) as draft, draft.open("xb") as stream:
        stream.write(content)
        stream.flush()
        os.fsync(stream.fileno())
