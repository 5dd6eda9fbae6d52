"""What a test needs, and what it leaves behind: nothing."""

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


@pytest.fixture(autouse=True)
def no_figures_left():
    """Close the figures of a test: another one, in whatever order, would draw into them."""
    yield
    if "matplotlib.pyplot" in sys.modules:
        sys.modules["matplotlib.pyplot"].close("all")
