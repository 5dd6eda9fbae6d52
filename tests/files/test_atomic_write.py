"""Files are replaced whole; devices and pipes are written to; modes stay; abandoned drafts go."""

import os
import stat
import threading
import time
from pathlib import Path

import pytest

from ecsel.files import write
from ecsel.files.atomic_write import atomic_path, write_whole
from ecsel.report import write_report


def is_pipe(path):
    return stat.S_ISFIFO(path.stat().st_mode)


@pytest.fixture
def pipe(tmp_path):
    """A named pipe, and a function that waits for what was written to it."""
    path, found = tmp_path / "pipe", []
    os.mkfifo(path)
    reader = threading.Thread(target=lambda: found.append(path.read_bytes()), daemon=True)
    reader.start()

    def received():
        reader.join(60)  # far longer than it takes; a pipe that was replaced would be waited for without end
        return found[0]

    return path, received


def test_a_pipe_stays_a_pipe_and_gets_the_content(pipe):
    path, received = pipe
    write_whole(path, b"all of it")
    assert received() == b"all of it"
    assert is_pipe(path)
    assert list(path.parent.iterdir()) == [path]


def test_a_model_saved_to_a_pipe_is_the_model_file(pipe, classifier, model_path):
    path, received = pipe
    write(classifier(), model_path)
    write(classifier(), path)
    assert received() == model_path.read_bytes()
    assert is_pipe(path)


def test_a_report_goes_through_a_pipe(pipe):
    from ecsel import ECSELClassifier

    path, received = pipe
    X, y = [[float(i)] for i in range(1, 41)], [i > 20 for i in range(40)]
    write_report(ECSELClassifier(n_terms=1, l1=0.01).fit(X, y), path, X, y)
    assert received().startswith(b"<!")
    assert is_pipe(path)


def test_a_write_to_a_pipe_that_fails_sends_nothing(pipe):
    path, received = pipe

    def broken():
        with atomic_path(path) as temporary:
            temporary.write_bytes(b"half")
            raise ValueError

    with pytest.raises(ValueError):  # noqa: PT011 - raised above
        broken()
    path.write_bytes(b"")
    assert received() == b""


def test_a_device_stays_a_device():
    """A terminal of our own: what is tried out here may be broken, and must not reach a device that others need."""
    master, terminal = os.openpty()
    try:
        device = Path(os.ttyname(terminal))
        before = device.stat()
        write_whole(device, b"all of it")
        after = device.stat()
        assert os.read(master, 100) == b"all of it"
    finally:
        os.close(terminal)
        os.close(master)
    assert stat.S_ISCHR(after.st_mode)
    assert (before.st_mode, before.st_ino) == (after.st_mode, after.st_ino)


@pytest.mark.parametrize("mode", [0o600, 0o640, 0o644])
def test_a_file_that_is_replaced_keeps_its_mode(tmp_path, mode):
    path = tmp_path / "model.json"
    path.write_bytes(b"old")
    path.chmod(mode)
    with atomic_path(path) as temporary:
        assert stat.S_IMODE(temporary.stat().st_mode) == mode  # and is no more open while it is written
        temporary.write_bytes(b"new")
    assert (path.read_bytes(), stat.S_IMODE(path.stat().st_mode)) == (b"new", mode)


def test_a_new_file_has_the_mode_that_the_user_wants_for_files(tmp_path):
    (tmp_path / "other").touch()
    write_whole(tmp_path / "model.json", b"")
    modes = {stat.S_IMODE(path.stat().st_mode) for path in tmp_path.iterdir()}
    assert len(modes) == 1


def test_only_old_temporary_files_of_the_same_file_are_removed(tmp_path):
    old, young = tmp_path / ".model.json.0123456789abcdef.tmp", tmp_path / ".model.json.fedcba9876543210.tmp"
    kept = [tmp_path / name for name in (".other.json.0123456789abcdef.tmp", ".model.json.0.tmp", "model.json.tmp")]
    for path in (old, young, *kept):
        path.touch()
    for path in (old, *kept):
        os.utime(path, (time.time() - 61, time.time() - 61))
    write_whole(tmp_path / "model.json", b"new")
    assert sorted(tmp_path.iterdir()) == sorted([young, *kept, tmp_path / "model.json"])


@pytest.mark.parametrize("exists", [False, True])
def test_a_link_is_as_old_as_itself(tmp_path, exists):
    link, target = tmp_path / ".model.json.0123456789abcdef.tmp", tmp_path / "target"
    link.symlink_to(target)
    if exists:
        target.touch()
    os.utime(link, (time.time() - 61, time.time() - 61), follow_symlinks=False)
    write_whole(tmp_path / "model.json", b"new")
    assert not link.is_symlink()
    assert target.exists() == exists


def test_a_loop_of_links_is_an_error_of_the_system(tmp_path):
    first, second = tmp_path / "first", tmp_path / "second"
    first.symlink_to(second)
    second.symlink_to(first)
    with pytest.raises(OSError, match="symbolic links"):
        write_whole(first, b"")
    assert first.is_symlink()
