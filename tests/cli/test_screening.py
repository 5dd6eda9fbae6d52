"""What is told of a table follows from its columns alone."""

import numpy as np
import pandas as pd
import pytest

from ecsel.cli.screening import (
    column_kind,
    detect_task,
    following_columns,
    identifier,
    separating_columns,
    tiny_classes,
)
from ecsel.cli.training import hold_out

rng = np.random.default_rng(0)


@pytest.mark.parametrize(
    ("values", "kind"),
    [
        (["a", "b", "a"], "classification"),
        ([True, False, True], "classification"),
        ([0.5, 1.5, 0.5], "classification"),
        ([1, 2, 3, 1], "classification"),
        ([1.0, 2.0, np.nan, 3.0], "classification"),
        (list(range(50)), "regression"),
        ([1.5, 2.0, 3.0, 1.5], "regression"),
    ],
)
def test_the_task_follows_from_the_target(values, kind):
    assert detect_task(pd.Series(values)).kind == kind


@pytest.mark.parametrize(
    ("values", "kind"),
    [
        ([1, 2, 3], "numbers"),
        ([True, False, None], "yes/no"),
        (["a", "b", None], "levels"),
        (pd.to_datetime(["2020-01-01", "2021-01-01"]), "dates"),
        ([None, None], "empty"),
        ([7, 7, None], "constant"),
    ],
)
def test_kinds_of_columns(values, kind):
    assert column_kind(pd.Series(values)) == kind


@pytest.mark.parametrize(
    ("name", "values", "is_one"),
    [
        ("customer", [f"c{i}" for i in range(40)], True),
        ("name", [f"c{i // 2}" for i in range(100)], False),
        ("note", [f"c{i % 60}" for i in range(100)], True),
        ("row", list(range(7, 47)), True),
        ("loan_id", [i * i for i in range(40)], True),
        ("amount", [i * i for i in range(40)], False),
        ("weight", rng.normal(size=40), False),
        ("colour", ["red", "blue"] * 20, False),
        ("short", list("abcdef"), False),
    ],
)
def test_identifiers_are_told_from_descriptions(name, values, is_one):
    assert (identifier(pd.Series(values, name=name)) is not None) == is_one


def test_a_column_that_knows_the_answer_is_suspected_whatever_its_type():
    codes = np.repeat([0, 1, 2], 40)
    frame = pd.DataFrame({
        "number": codes * 10.0 + rng.normal(size=120),
        "level": np.array(["low", "mid", "high"])[codes],
        "noise": rng.normal(size=120),
        "missing": np.where(codes == 1, np.nan, rng.normal(size=120)),
    })  # fmt: skip
    assert set(separating_columns(frame, codes)) == {"number", "level"}
    assert set(separating_columns(frame, (codes == 1).astype(int))) >= {"missing"}


def test_a_column_in_the_order_of_the_target_is_suspected():
    y = rng.uniform(1, 2, 50)
    frame = pd.DataFrame({"copy": np.exp(y), "other": rng.uniform(size=50)})
    assert list(following_columns(frame, y)) == ["copy"]


def test_held_out_rows_keep_the_shares_of_the_classes():
    codes = np.repeat([0, 1, 2], [80, 20, 1])
    kept, held = hold_out(codes, 101, 0.25, 0)
    assert np.bincount(codes[held]).tolist() == [20, 5]
    assert sorted([*kept, *held]) == list(range(101))
    assert hold_out(None, 10, 0.0, 0)[1].size == 0


def test_tiny_classes():
    assert tiny_classes({"a": 100, "b": 9, "c": 10}) == {"b": 9}
