"""Every promise on the page names a test that exists."""

import re
from pathlib import Path

ROOT = Path(__file__).parents[2]


def test_every_promise_names_its_test():
    lines = (ROOT / "docs" / "trust.md").read_text(encoding="utf-8").splitlines()
    promises = [line for line in lines if line.startswith("| ") and not line.startswith("| promise")]
    assert len(promises) > 10
    for line in promises:
        _, test, measured = (cell.strip() for cell in line.strip("|").split("|"))
        named = re.findall(r"`([^`]+)`", test)
        assert named, line
        assert all((ROOT / path).is_file() for path in named), line
        assert measured, line
