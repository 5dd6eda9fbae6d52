"""What every test leaves behind: nothing."""

import sys

import pytest


@pytest.fixture(autouse=True)
def no_figures_left():
    """Close the figures of a test: another one, in whatever order, would draw into them."""
    yield
    if "matplotlib.pyplot" in sys.modules:
        sys.modules["matplotlib.pyplot"].close("all")
