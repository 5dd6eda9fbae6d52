"""What a test needs, and what it leaves behind: nothing."""

import re
import signal
import sys

import numpy as np
import pytest
from hypothesis import HealthCheck, settings

from ecsel import _compiled

# Nothing here may fail because the machine has other work: hypothesis gives an example 200 ms by default.
settings.register_profile("any machine", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("any machine")


def pytest_collection_modifyitems(items):
    """Skip what compares the compiled kernel with NumPy where there is none."""
    if _compiled.compiled is None:
        skip = pytest.mark.skip(reason="the kernel was not compiled, or is turned off")
        for item in items:
            if "needs_kernel" in item.keywords:
                item.add_marker(skip)


@pytest.fixture
def interruptible():
    """Let interrupts through, to this process and to those it starts, also where the tests run in the background.

    A shell without job control starts background commands with SIGINT ignored, as nohup and cron do. A handler of
    Python's is reset to the default in processes that are started.
    """
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.fixture(autouse=True)
def no_figures_left():
    """Close the figures of a test: another one, in whatever order, would draw into them."""
    yield
    if "matplotlib.pyplot" in sys.modules:
        sys.modules["matplotlib.pyplot"].close("all")


SENTENCE = re.compile(
    r"(?P<column>.+?) (= (?P<value>.+?)|is missing)( \((?P<word>[^()]+?): (?P<reference>.+?)\))? "
    r"(adds (?P<adds>\S+) to the log-odds of (?P<whom>.+?)( against (?P<rival>.+?))? \(\d+ %\)"
    r"|(?P<way>raises|lowers) the prediction by (?P<moves>\S+) \(\d+ %\)"
    r"|speaks for (?P<side>.+): the odds of (?P<of>.+) are (?P<verb>multiplied|divided) by (?P<factor>\S+?)\.?)"
)

OTHER_LEVEL = re.compile(r"(?:not|none of) (.+)")


@pytest.fixture(scope="session")
def assert_true_sentence():
    """Return a check of a sentence about a row: the comparison that it makes, made again with the model alone.

    Where the column shares no piece with another one, the margin must move by what the sentence says when the column is
    put at the value that the sentence names; `reference` are the exact values, of which a sentence shows four digits.
    """

    def check(text, row, reference, margin, *, word="typical", alone=True):
        found = SENTENCE.fullmatch(text)
        assert found, text
        column = found["column"]
        if found["reference"] is None:
            return False
        exact = reference[column]
        assert found["word"] == word, text
        if other := OTHER_LEVEL.fullmatch(found["reference"]):  # the pieces know no more of it
            typical = f"{exact:g}" if isinstance(exact, float) else str(exact)
            assert typical not in other[1].split(", "), text
        elif isinstance(exact, str):
            assert found["reference"] == exact, text
        else:
            assert float(found["reference"]) == pytest.approx(float(exact), rel=6e-4, abs=1e-12), text
        if not alone:
            return False
        ways = {"raises": "a higher value", "lowers": "a lower value"}
        side = ways[found["way"]] if found["way"] else found["side"] or found["whom"].strip("'")
        there = row.assign(**{column: np.array([exact], dtype=object if isinstance(exact, str) else None)})
        change = margin(row, side) - margin(there, side)
        if reported := found["adds"] or found["moves"]:
            assert change == pytest.approx(float(reported), rel=6e-3, abs=1e-9), text
        else:
            assert change == pytest.approx(abs(np.log(float(found["factor"]))), rel=6e-3, abs=6e-3), text
            assert (found["verb"] == "multiplied") == (found["of"] == side), text
        return True

    return check
