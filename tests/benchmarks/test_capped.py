"""Children are killed by their processor time, their errors are told, and they do not outlive their parent."""

import multiprocessing
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

from benchmarks.capped import run_capped


def _work(item):
    if item == "spin":
        while True:
            pass
    if item == "raise":
        raise ValueError("no such thing")
    if item == "die":
        os._exit(7)
    return item * 2


def test_results_limits_errors_and_crashes_are_told_apart():
    outcomes = {done.item: done for done in run_capped([1, "spin", "raise", "die", 2], _work, 1.0, 2)}
    assert (outcomes[1].result, outcomes[2].result) == (2, 4)
    assert [item for item, done in outcomes.items() if done.late] == ["spin"]
    assert "ValueError: no such thing" in outcomes["raise"].error
    assert outcomes["die"].error == "the process ended with exit code 7"


def test_a_caller_that_stops_early_leaves_no_child():
    outcomes = run_capped([1, "spin"], _work, 60.0, 2)
    assert next(outcomes).result == 2
    outcomes.close()
    assert multiprocessing.active_children() == []


SCRIPT = """
import os, sys, time
from benchmarks.capped import run_capped
def work(path):
    with open(path, "w") as file:
        file.write(str(os.getpid()))
    time.sleep(60)
list(run_capped([sys.argv[1]], work, 60.0))
"""


def test_a_child_ends_with_its_parent(tmp_path):
    note = tmp_path / "pid"
    parent = subprocess.Popen([sys.executable, "-c", SCRIPT, str(note)])
    assert _until(lambda: note.is_file() and note.read_text())
    child = int(note.read_text())
    parent.send_signal(signal.SIGKILL)
    parent.wait()
    assert _until(lambda: not _alive(child))


def _alive(pid):
    try:
        return Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False


def _until(condition, seconds=30):
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if condition():
            return True
        time.sleep(0.05)
    return False
