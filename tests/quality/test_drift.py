"""The population stability index against its definition, in every kind of table."""

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ecsel.quality import psi, score_psi


def tables(seed=0, n=500, m=300):
    rng = np.random.default_rng(seed)

    def table(rows, shift):
        frame = pd.DataFrame(
            {
                "income": np.exp(rng.normal(shift, 1, rows)),
                "home": rng.choice(["own", "rent", "other"], rows, p=[0.5 - shift / 4, 0.3, 0.2 + shift / 4]),
                "owner": rng.random(rows) < 0.5,
            }
        )
        frame.loc[rng.random(rows) < 0.1, "income"] = np.nan
        frame.loc[rng.random(rows) < 0.1, "home"] = None
        return frame

    return table(n, 0.0), table(m, 0.5)


def by_hand(before, after):
    return float(((after - before) * np.log(after / before)).sum())


def test_numbers_are_binned_at_the_training_quantiles():
    before, after = tables()
    edges = before["income"].quantile(np.arange(1, 10) / 10).to_numpy()
    shares = [
        pd.cut(t["income"], [-np.inf, *edges, np.inf]).value_counts(sort=False, dropna=False).to_numpy() / len(t)
        for t in (before, after)
    ]
    drift = psi(before, after)
    assert [d.name for d in drift] == ["income", "home", "owner"]
    assert drift[0].psi == pytest.approx(by_hand(*shares), rel=1e-12)
    assert len(drift[0].bins) == 11
    assert drift[0].bins[-1] == "missing"


def test_levels_are_compared_level_by_level():
    before, after = tables()
    home = psi(before, after)[1]
    for label, e, a in zip(home.bins, home.expected, home.actual, strict=True):
        found = [t["home"].isna() if label == "missing" else t["home"] == label for t in (before, after)]
        assert [e, a] == pytest.approx([f.mean() for f in found])
    assert home.psi == pytest.approx(by_hand(np.array(home.expected), np.array(home.actual)))
    assert home.to_frame()["psi"].sum() == pytest.approx(home.psi)


@pytest.mark.parametrize(
    "convert",
    [pl.from_pandas, lambda f: pa.Table.from_pandas(f, preserve_index=False), lambda f: f.convert_dtypes()],
    ids=["polars", "pyarrow", "nullable"],
)
def test_every_kind_of_frame_gives_the_same(convert):
    before, after = tables()
    expected = {d.name: d.psi for d in psi(before, after)}
    assert {d.name: d.psi for d in psi(convert(before), convert(after))} == pytest.approx(expected)


def test_arrays_and_scores():
    rng = np.random.default_rng(0)
    before, after = rng.normal(size=(400, 2)), rng.normal(0.3, 1, size=(200, 2))
    drift = psi(before, after)
    assert [d.name for d in drift] == ["x0", "x1"]
    assert score_psi(before[:, 1], after[:, 1]).psi == drift[1].psi
    assert drift.to_frame()["psi"].is_monotonic_decreasing


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 2**32 - 1), st.integers(2, 20))
def test_no_drift_is_zero_and_drift_is_positive_and_symmetric_in_order(seed, n_bins):
    rng = np.random.default_rng(seed)
    before, after = rng.normal(size=200), rng.normal(rng.normal(), 1, size=150)
    assert score_psi(before, before, n_bins=n_bins).psi == 0
    assert score_psi(before, rng.permutation(before), n_bins=n_bins).psi == pytest.approx(0, abs=1e-12)
    assert score_psi(before, after, n_bins=n_bins).psi > 0
    assert score_psi(-before, -after, n_bins=2).psi == pytest.approx(score_psi(before, after, n_bins=2).psi, abs=0.05)


def test_numbers_with_few_values_are_levels_and_new_ones_are_reported():
    drift = psi(pd.DataFrame({"n": [1, 1, 2, 2]}), pd.DataFrame({"n": [1, 2, 3, 3]}))[0]
    assert drift.bins == ("1.0", "2.0", "not in training")
    assert drift.expected == (0.5, 0.5, 0.125)  # half a row where training had none
    assert drift.actual == (0.25, 0.25, 0.5)
    many = pd.DataFrame({"code": np.arange(50)})
    assert len(psi(many, many, categorical=["code"])[0].bins) == 50


@pytest.mark.parametrize(
    ("before", "after", "options", "message"),
    [
        ({"a": [1.0]}, {"b": [1.0]}, {}, "only one of them has 'a'"),
        ({"a": [1], "b": [1]}, {"b": [1], "a": [1]}, {}, "their order differs"),
        ({"a": [1.0]}, {"a": ["x"]}, {}, "'a' holds numbers in one"),
        ({"a": [1.0]}, {"a": []}, {}, "without rows"),
        ({"a": [1.0]}, {"a": [1.0]}, {"n_bins": 1}, "n_bins=1"),
        ({"a": [1.0]}, {"a": [1.0]}, {"categorical": ["z"]}, "'z', which is no column"),
    ],
)
def test_tables_that_do_not_match_are_named(before, after, options, message):
    with pytest.raises(ValueError, match=message):
        psi(pd.DataFrame(before), pd.DataFrame(after, dtype=float if after.get("a") == [] else None), **options)


def test_a_table_has_two_dimensions():
    with pytest.raises(ValueError, match="rows and columns"):
        psi(np.arange(3.0), np.arange(3.0))
