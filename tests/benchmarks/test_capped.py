"""Children are killed by their processor time, their errors are told, and they do not outlive their parent."""

import multiprocessing
import os
import signal
import subprocess
import sys

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


def test_results_limits_errors_and_crashes_are_distinguished():
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
import signal
from benchmarks.capped import run_capped
def work(item):
    signal.signal(signal.SIGALRM, lambda *_: print("outlived its parent", flush=True))
    signal.alarm(60)
    print(item, flush=True)
    signal.pause()
list(run_capped(["begun"], work, 60.0))
"""


def test_a_child_ends_with_its_parent():
    with subprocess.Popen([sys.executable, "-c", SCRIPT], stdout=subprocess.PIPE, text=True) as parent:
        assert parent.stdout.readline() == "begun\n"
        parent.send_signal(signal.SIGKILL)
        parent.wait()
        # the pipe ends when nobody is left that could write: the child is gone, or its alarm has told on it
        assert parent.stdout.read() == ""
