"""What a test needs, and what it leaves behind: nothing."""

import signal
import sys

import pytest

from ecsel import _compiled


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
