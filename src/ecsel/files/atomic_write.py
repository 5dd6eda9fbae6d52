"""Files appear under their name when they are complete: written beside it first, then renamed.

What is no regular file, a device or a pipe, is never replaced: the complete content is written to it. A file that is
replaced keeps its mode. A process that is killed leaves its draft behind; the next write to the same name removes it
when it is older than a minute.
"""

from __future__ import annotations

import errno
import os
import re
import secrets
import shutil
import stat
import tempfile
import time
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

ABANDONED_AFTER = 60.0
"""Seconds after which a draft that nobody has written to belongs to a process that is gone."""


@contextmanager
def atomic_path(path: str | os.PathLike[str]) -> Iterator[Path]:
    """Yield an empty draft of a file; it takes the file's place when all went well, and is gone otherwise.

    A link is followed, so that the file that it names is replaced and not the link. Devices and pipes get the content
    of the draft.
    """
    given = Path(path)
    if given.exists() and not given.is_file():
        with tempfile.TemporaryDirectory() as folder:
            copy = Path(folder) / "draft"
            copy.touch()
            yield copy
            with copy.open("rb") as source, given.open("wb") as sink:
                shutil.copyfileobj(source, sink)
        return
    target = _followed(given)
    _remove_abandoned(target)
    temporary = target.with_name(f".{target.name}.{secrets.token_hex(8)}.tmp")
    try:
        _make(temporary, like=target)
        yield temporary
        temporary.replace(target)
    finally:
        temporary.unlink(missing_ok=True)


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
    with atomic_path(path) as temporary, temporary.open("wb") as stream:
        stream.write(content)
        stream.flush()
        os.fsync(stream.fileno())


def _followed(path: Path) -> Path:
    try:
        return path.resolve()
    except RuntimeError:  # what Python says of a loop of links before 3.13
        raise OSError(errno.ELOOP, os.strerror(errno.ELOOP), str(path)) from None


def _make(temporary: Path, like: Path) -> None:
    """Make an empty draft that only those can read who can read the file that it will replace."""
    os.close(os.open(temporary, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o666))
    with suppress(FileNotFoundError):
        temporary.chmod(stat.S_IMODE(like.stat().st_mode))


def _remove_abandoned(target: Path) -> None:
    """Remove drafts of a file that killed processes have left behind."""
    ours = re.compile(rf"\.{re.escape(target.name)}\.[0-9a-f]{{16}}\.tmp", re.DOTALL)
    before = time.time() - ABANDONED_AFTER
    with suppress(OSError):  # another process may be as tidy; and what cannot be listed cannot be tidied
        for found in os.scandir(target.parent):
            if ours.fullmatch(found.name) and found.stat(follow_symlinks=False).st_mtime < before:
                Path(found.path).unlink(missing_ok=True)
