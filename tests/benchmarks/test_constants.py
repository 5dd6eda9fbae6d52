"""What a constant is worth: settings are taken back, and a variant is compared on the tables that both have."""

import pytest

from benchmarks import constants
from benchmarks.results import ResultFile
from ecsel.search import selection
from ecsel.search.search import SearchOptions


def test_settings_are_taken_back_and_options_are_left_alone():
    before = selection.MAX_COST, SearchOptions.factor_price
    settings = ["search.selection.MAX_COST=0.25", "search.search.SearchOptions.factor_price=0.125"]
    back = constants.set_constants([*settings, "thresholds=True"])
    try:
        assert (selection.MAX_COST, SearchOptions.factor_price) == (0.25, 0.125)
    finally:
        assert constants.set_constants(back) == settings
    assert before == (selection.MAX_COST, SearchOptions.factor_price)
    assert constants.options_of(["search.x.Y=1", "thresholds=True"]) == {"thresholds": True}


def test_a_constant_that_is_not_there_is_refused():
    with pytest.raises(AttributeError, match="NOT_THERE"):
        constants.set_constants(["search.selection.NOT_THERE=1"])


def test_a_variant_is_compared_with_the_code_and_with_logistic_regression(tmp_path):
    file = ResultFile(tmp_path / "cells.csv", ("table", "variant"))
    cells = {
        ("a", ""): 0.5,
        ("a", "X=1"): 0.25,
        ("a", constants.LOGISTIC): 1.0,
        ("b:0", ""): 0.1,
        ("b:0", "X=1"): 0.2,
        ("b:0", constants.LOGISTIC): 0.1,
        ("c", ""): 0.001,  # nothing is left to gain
        ("c", "X=1"): 0.004,
    }
    for (table, variant), loss in cells.items():
        file.put({"table": table, "variant": variant, "log_loss": loss, "factors": 3.0, "cpu_seconds": 1.0})
    lines = constants.report(file, ["a", "b:0", "c"], "X=1").splitlines()
    cells_of = {line.split("|")[1].strip(): [c.strip() for c in line.split("|")[2:4]] for line in lines if "(" in line}
    assert cells_of["whole tables (2)"] == ["0.5000", "0.2500"]
    assert cells_of["draws (1)"] == ["2.0000", "2.0000"]
    assert cells_of["all (3)"] == ["1.0000", "0.7071"]
    assert lines[-1].endswith("b:0 2.000, a 0.250")
