"""The walk of a row names functions that exist, and they are called in its order, part by part."""

import re
import sys
import threading
import warnings
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "walk.md").read_text(encoding="utf-8")
STOP = re.compile(r"^(\d+)\. `([\w/]+\.py)`, `(\w+)`", re.MULTILINE)


def calls_of(code, namespace):
    """Run code; return (file, function) in the order of their first calls, in any thread."""
    seen = {}

    def profile(frame, event, _):
        if event == "call" and "ecsel" in frame.f_code.co_filename:
            path = Path(frame.f_code.co_filename).as_posix().rpartition("/ecsel/")[2]
            seen.setdefault((path, frame.f_code.co_name), len(seen))

    before = sys.getprofile()
    threading.setprofile(profile)
    sys.setprofile(profile)
    try:
        exec(compile(code, "walk.md", "exec"), namespace)
    finally:
        sys.setprofile(before)
        threading.setprofile(None)
    return seen


def test_there_are_at_most_twenty_stops_in_a_row():
    assert [int(number) for number, _, _ in STOP.findall(PAGE)] == list(range(1, 21))


@pytest.mark.filterwarnings("ignore::UserWarning")
def test_the_functions_are_called_in_this_order():
    begin, *parts = re.split(r"^## .*$", PAGE, flags=re.MULTILINE)
    namespace = {"__name__": "document"}
    calls_of("\n".join(re.findall(r"```python\n(.*?)```", begin, re.DOTALL)), namespace)
    assert len(parts) == 5
    for part in parts:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            seen = calls_of("\n".join(re.findall(r"```python\n(.*?)```", part, re.DOTALL)), namespace)
        stops = [(path, function) for _, path, function in STOP.findall(part)]
        missing = [stop for stop in stops if stop not in seen]
        assert not missing
        if stops[-1] != ("report/write.py", "render_report"):  # it is called first and ends last
            assert sorted(stops, key=seen.__getitem__) == stops
