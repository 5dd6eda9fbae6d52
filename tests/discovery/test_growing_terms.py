"""The example of growing K: every further term lowers the error."""

import runpy
from pathlib import Path

EXAMPLE = Path(__file__).parents[2] / "examples" / "growing_terms.py"


def test_the_error_falls_with_each_term():
    found = runpy.run_path(str(EXAMPLE))["errors"](3)
    worst = [error for _, error, _ in found]
    assert worst == sorted(worst, reverse=True)
    assert worst[-1] < worst[0] / 10
