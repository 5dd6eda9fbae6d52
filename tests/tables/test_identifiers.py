"""Columns that name rows are left out with a note, and `keep` and `drop` have the last word."""

import numpy as np
import pandas as pd
import pytest

from ecsel.tables import TableEncoder

rng = np.random.default_rng(0)


def left_out(values, name, **options):
    values = list(values)
    frame = pd.DataFrame({name: values, "x": rng.normal(size=len(values))})
    encoder = TableEncoder.fit(frame, scaling="raw", **options)
    return encoder.columns[0].kind == "empty"


@pytest.mark.parametrize(
    ("name", "values", "is_one"),
    [
        ("customer", [f"c{i}" for i in range(40)], True),
        ("name", [f"c{i // 2}" for i in range(100)], False),
        ("note", [f"c{i % 60}" for i in range(100)], True),
        ("row", range(7, 47), True),
        ("year", range(1980, 2020), False),
        ("loan_id", [i * i for i in range(40)], True),
        ("customerNo", [i * i for i in range(40)], True),
        ("amount", [i * i for i in range(40)], False),
        ("member", rng.permutation(900_000)[:300] + 100_000, True),
        ("weight", rng.normal(size=40), False),
        ("colour", ["red", "blue"] * 20, False),
        ("short", list("abcdef"), False),
    ],
)
def test_identifiers_are_distinguished_from_descriptions(name, values, is_one):
    assert left_out(values, name) == is_one
    assert not left_out(values, name, keep=[name])


def test_whole_numbers_that_are_related_to_something_are_no_identifier():
    salary = rng.permutation(90_000)[:300] + 10_000
    frame = pd.DataFrame({"salary": salary, "tax": salary * 0.3 + rng.normal(size=300)})
    assert TableEncoder.fit(frame, scaling="raw").columns[0].kind == "numeric"
    alone = pd.DataFrame({"salary": salary, "noise": rng.normal(size=300)})
    target = lambda: (salary > 50_000).astype(float)  # noqa: E731
    assert TableEncoder.fit(alone, scaling="raw", target=target).columns[0].kind == "numeric"


def test_arrays_have_no_identifiers_among_their_numbers():
    assert TableEncoder.fit(np.arange(60.0).reshape(-1, 1), scaling="raw").feature_names == ("x0",)


def test_notes_tell_what_was_left_out_and_why():
    frame = pd.DataFrame({"id": range(50), "x": np.arange(50) / 7, "y": 1.5, "z": np.arange(50) / 3, "e": [None] * 50})
    encoder = TableEncoder.fit(frame, scaling="raw", drop=["z"])
    assert encoder.changes == (
        "'id' was left out: looks like an identifier: whole numbers without a gap or a repetition; keep=[…] keeps it.",
        "'y' is constant (1.5) and was left out.",
        "'z' was left out: as asked.",
        "'e' has no values and was left out.",
    )
    assert encoder.feature_names == ("x",)
    rows = encoder.feature_rows(frame.assign(id="anything", z="else"))
    np.testing.assert_array_equal(rows[0], frame["x"])


def test_keep_and_drop_are_checked():
    frame = pd.DataFrame({"a": [1.0, 2.0], "b": [1.0, 3.0]})
    with pytest.raises(ValueError, match="drop names the column 'c', but X has 2 columns"):
        TableEncoder.fit(frame, drop=["c"])
    with pytest.raises(ValueError, match="'a' is listed in keep and in drop"):
        TableEncoder.fit(frame, keep=["a"], drop=["a"])
