"""The progress bar: one rewritten line on a terminal, plain lines elsewhere."""

import io
import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ecsel.estimators import progress
from ecsel.estimators.progress import ProgressBar
from ecsel.estimators.regressor import ECSELRegressor


class Terminal(io.StringIO):
    def isatty(self):
        return True


def shares(lines):
    return [int(line.split("%")[0].split()[-1]) for line in lines]


@given(st.lists(st.tuples(st.floats(0, 1), st.text("ab \t", min_size=1, max_size=200)), max_size=20))
def test_a_terminal_shows_one_line_that_never_wraps_and_never_goes_back(steps):
    stream = Terminal()
    with ProgressBar(stream) as progress:
        for share, doing in steps:
            progress(share, doing)
    text = stream.getvalue()
    assert text.count("\n") == 1
    lines = text.removesuffix("\n").split("\r")[1:]
    assert len(lines) == len(steps) + 1
    assert all(len(line) < 80 for line in lines)  # the width where there is no real terminal
    reached = shares(lines)
    assert reached == sorted(reached)
    assert reached[-1] == 100
    # A shorter line must blank out what the one before had more.
    assert all(len(later) >= len(earlier.rstrip()) for earlier, later in itertools.pairwise(lines))


def test_work_that_fails_does_not_look_done():
    stream = Terminal()

    def fail():
        with ProgressBar(stream) as progress:
            progress(0.5, "half")
            _ = 1 / 0

    with pytest.raises(ZeroDivisionError):
        fail()
    assert shares([stream.getvalue().split("\r")[-1]]) == [50]


def test_a_fit_tells_its_stages_in_order(capsys):
    rng = np.random.default_rng(0)
    X = rng.uniform(1, 5, (40, 2))
    ECSELRegressor(verbose=1, max_terms=3).fit(X, np.sin(3 * X[:, 0]) * X[:, 1])
    reported = capsys.readouterr()
    lines = reported.err.splitlines()
    reached = shares(lines)
    assert reported.out == ""
    assert reached == sorted(reached)
    assert reached[0] == 0
    assert reached[-1] == 100
    assert ["polynomial" in " ".join(lines), "ranking" in " ".join(lines)] == [True, True]
    assert len(lines) == len(set(lines))


def test_a_quiet_fit_tells_nothing(capsys):
    X = np.linspace(1, 3, 30)[:, None]
    ECSELRegressor().fit(X, X[:, 0] ** 2)
    assert capsys.readouterr() == ("", "")


class Clock:
    def __init__(self):
        self.now = 0.0

    def monotonic(self):
        return self.now


def test_a_terminal_hears_of_long_work_after_three_seconds_alone(monkeypatch):
    clock, stream = Clock(), Terminal()
    monkeypatch.setattr(progress, "time", clock)
    monkeypatch.setattr("sys.stderr", stream)
    with progress.progress_for(verbose=False) as bar:
        bar(0.5, "soon done")
    assert stream.getvalue() == ""
    with progress.progress_for(verbose=False) as bar:
        bar(0.1, "first")
        clock.now += progress.PATIENCE
        bar(0.2, "second")
    assert "first" not in stream.getvalue()
    assert "second" in stream.getvalue()
    assert stream.getvalue().rstrip().endswith("done")


def test_no_progress_without_a_terminal_or_where_the_caller_shows_it(monkeypatch):
    monkeypatch.setattr(progress, "PATIENCE", 0.0)
    quiet, terminal = io.StringIO(), Terminal()
    monkeypatch.setattr("sys.stderr", quiet)
    with progress.progress_for(verbose=False) as bar:
        bar(0.5, "x")
    monkeypatch.setattr("sys.stderr", terminal)
    with progress.progress_elsewhere(), progress.progress_for(verbose=False) as bar:
        bar(0.5, "x")
    assert quiet.getvalue() == terminal.getvalue() == ""
    with progress.progress_for(verbose=False) as bar:
        bar(0.5, "x")
    assert "x" in terminal.getvalue()
