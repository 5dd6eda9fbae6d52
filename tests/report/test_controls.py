"""The sample in the page is the table, to the last bit."""

import base64
import json

import numpy as np
import pytest

from ecsel.export.program.lowering import lower
from ecsel.report import controls as module
from ecsel.report.controls import controls, sample


def decoded(column):
    if "doubles" in column:
        values = np.frombuffer(base64.b64decode(column["doubles"]), "<f8")
        return [None if np.isnan(value) else value for value in values.tolist()]
    return column.get("numbers", column.get("levels"))


def test_numbers_and_levels_come_back(case):
    positions, document = sample(case.evidence, [], 5000)
    document = json.loads(json.dumps(document, allow_nan=False))
    assert positions.tolist() == list(range(len(case.X_test)))
    for column, stored in zip(lower(case.model).inputs, document["columns"], strict=True):
        values = case.X_test[column.name]
        if column.levels is None:
            expected = [None if np.isnan(value) else float(value) for value in values]
            assert decoded(stored) == expected
        else:
            assert [column.levels[code] for code in decoded(stored)] == values.tolist()


def test_long_numbers_are_stored_as_bytes(loan_case):
    names = [column.name for column in lower(loan_case.model).inputs]
    stored = dict(zip(names, sample(loan_case.evidence, [], 5000)[1]["columns"], strict=True))
    assert "doubles" in stored["debt share"]
    assert "numbers" in stored["age"]


def test_a_sample_has_a_size_and_the_rows_that_it_must_have(loan_case, monkeypatch):
    monkeypatch.setattr(module, "MAX_BYTES", 2000)
    positions, document = sample(loan_case.evidence, [3, 7], 5000)
    assert {3, 7} <= set(positions.tolist())
    assert sum(len(json.dumps(column)) for column in document["columns"]) <= 2000
    assert 5 < len(positions) < len(loan_case.X_test)


def test_controls_know_their_columns(loan_case):
    found = {control["name"]: control for control in controls(loan_case.evidence, {"age"})}
    assert "constant" not in found
    assert found["age"]["whole"]
    assert found["age"]["fixed"]
    assert not found["income"]["whole"]
    assert (found["age"]["unit"], found["income"]["unit"]) == (1.0, 0.01)
    assert found["years"]["missing"]
    assert not found["income"]["missing"]
    assert found["city"]["levels"] == ["Bonn", "Oslo", "Rome"]
    income = loan_case.X["income"]
    assert (found["income"]["low"], found["income"]["high"]) == (income.min(), income.max())
    assert found["income"]["deviation"] == pytest.approx((income - income.median()).abs().median())


def test_a_law_takes_ranges_from_its_rows_and_wide_ones_in_logs(law_case):
    found = {control["name"]: control for control in controls(law_case.evidence, ())}
    assert found["x"]["low"] == law_case.X["x"].min()
    assert (found["x"]["scale"], found["y"]["scale"]) == (0.0, 1.0)


def test_no_more_rows_than_requested_are_kept(loan_case):
    positions, document = sample(loan_case.evidence, [3, 7], 0)
    assert positions.tolist() == [3, 7]
    assert document["of"] == len(loan_case.X_test)
