"""The command as a process: signals, pipes, terminals, shells."""

import os
import signal
import subprocess
import sys

import numpy as np
import pandas as pd
import pytest

from ecsel.cli import _interrupt
from ecsel.cli.errors import Interrupted

SCRIPT = [sys.executable, "-c", "import sys; from ecsel.cli import main; sys.exit(main())"]


def stopped_fit(folder, signal_number, n_columns):
    """Start a fit, send it a signal when it is at work, and return the table, the exit code and what was printed."""
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.lognormal(size=(3000, n_columns)), columns=[f"x{j}" for j in range(n_columns)])
    frame["y"] = np.where(frame["x0"] * frame["x1"] * rng.lognormal(size=3000) > 1, "a", "b")
    data, output = folder / "data.parquet", folder / "model.json"
    frame.to_parquet(data)
    command = [*SCRIPT, "fit", str(data), "-t", "y", "-o", str(output), "--verbose"]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    for line in process.stderr:
        if "fitting" in line:
            break
    process.send_signal(signal_number)
    out, err = process.communicate(timeout=60)
    return data, process.returncode, out, err


@pytest.mark.usefixtures("interruptible")
def test_an_interrupted_run_leaves_nothing_behind(tmp_path):
    data, code, out, err = stopped_fit(tmp_path, signal.SIGINT, 12)
    assert code == 130
    assert "Wrote" not in out
    assert err.splitlines()[-1] == "Interrupted."
    assert "Traceback" not in err
    assert list(tmp_path.iterdir()) == [data]


def test_signals_have_their_exit_codes():
    with pytest.raises(Interrupted) as stop:
        _interrupt(signal.SIGTERM, None)
    stop.value.late.cancel()
    assert stop.value.exit_code == 143


BUSY = """
import sys, threading
from concurrent.futures import ThreadPoolExecutor
import ecsel.cli.app
from ecsel.cli import main

def app():
    with ThreadPoolExecutor(1) as pool:  # leaving waits for a walk that does not end
        pool.submit(threading.Event().wait)
        print("at work", flush=True)
        threading.Event().wait()

ecsel.cli.app.app = app
sys.exit(main())
"""


@pytest.mark.usefixtures("interruptible")
def test_an_interrupt_does_not_wait_for_threads():
    process = subprocess.Popen([sys.executable, "-c", BUSY], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert process.stdout.readline() == "at work\n"
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=60)
    assert process.returncode == 130
    assert err == "\nInterrupted.\n"


def test_plain_ascii_terminals_and_no_colours_in_files():
    command = [*SCRIPT, "fit", "--help"]
    environment = {**os.environ, "PYTHONIOENCODING": "ascii", "PYTHONUTF8": "0"}
    done = subprocess.run(command, capture_output=True, env=environment, check=True)
    assert b"\x1b" not in done.stdout
    assert done.stdout.isascii()


def test_shells_get_completion():
    environment = {**os.environ, "_ECSEL_COMPLETE": "source_bash"}
    script = [sys.executable, "-c", "from ecsel.cli.app import app; app(prog_name='ecsel')"]
    done = subprocess.run(script, capture_output=True, text=True, env=environment, check=True)
    assert "complete" in done.stdout


def test_help_has_examples(run):
    for command in ("fit", "predict", "explain", "what-if", "counterfactual", "discover", "report", "info", "compare"):
        assert f"ecsel {command} " in run(command, "--help").stdout.replace("Usage: ecsel", "")


def test_help_is_quick_to_import():
    """Help must not wait for scikit-learn or pandas."""
    code = "import sys, ecsel.cli.app; print([m for m in ('pandas', 'sklearn', 'scipy') if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


@pytest.mark.skipif(sys.platform == "win32", reason="Windows cannot send SIGTERM to one process")
def test_a_terminated_run_ends_at_once_and_writes_nothing(tmp_path):
    data, code, _, err = stopped_fit(tmp_path, signal.SIGTERM, 30)
    assert code == 143
    assert err.splitlines()[-1] == "Terminated."
    assert list(tmp_path.iterdir()) == [data]
