"""Bars in docstrings stay bars, in text, literals and doctests."""

import runpy
from pathlib import Path

escape = runpy.run_path(str(Path(__file__).parents[2] / "docs" / "_ext" / "plain_bars.py"))["escape_bars"]


def test_bars_outside_literals_are_escaped():
    assert escape(["mean |G|, ``a|b`` and `c|d`"]) == [r"mean \|G\|, ``a|b`` and `c|d`"]


def test_doctests_stay_as_they_are():
    lines = [">>> a | b", "c | d", "", "|x|"]
    assert escape(lines) == [*lines[:3], r"\|x\|"]
