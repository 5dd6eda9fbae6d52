"""What is told of a table follows from its columns alone."""

import numpy as np
import pandas as pd
import pytest

from ecsel.study.screening import detect_task, tiny_classes
from ecsel.study.study import hold_out


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


def test_held_out_rows_keep_the_shares_of_the_classes():
    codes = np.repeat([0, 1, 2], [80, 20, 1])
    kept, held_out_rows = hold_out(codes, 101, 0.25, 0)
    assert np.bincount(codes[held_out_rows]).tolist() == [20, 5]
    assert sorted([*kept, *held_out_rows]) == list(range(101))
    assert hold_out(None, 10, 0.0, 0)[1].size == 0


def test_tiny_classes():
    assert tiny_classes({"a": 100, "b": 9, "c": 10}) == {"b": 9}
