"""The quick figures: each part measures what its row says, on tables that are drawn here."""

import numpy as np
import pytest

from benchmarks import quick, sealed_tables

pytest.importorskip("xgboost")


@pytest.fixture
def keel(tmp_path, monkeypatch):
    """A folder with one small table that a straight line tells apart, under the name of a table of the tuning list."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(160, 2))
    y = X[:, 0] - X[:, 1] + 0.7 * rng.normal(size=160) > 0
    rows = [f"{a:.3f}, {b:.3f}, {'yes' if c else 'no'}" for (a, b), c in zip(X, y, strict=True)]
    (tmp_path / "wine.dat").write_text("\n".join(rows) + "\n", encoding="utf-8")
    for module in (quick, sealed_tables):
        monkeypatch.setattr(module, "keel_folder", lambda: tmp_path)


@pytest.mark.usefixtures("keel")
def test_the_printed_equation_is_the_model():
    factors, gap, ratio = quick.readable_rows(("wine",))
    assert factors["measure"] == "factors a score: wine"
    assert float(factors["here"]) >= 1
    assert float(gap["here"]) < 1e-12
    assert float(ratio["here"]) > 0


@pytest.mark.usefixtures("keel")
def test_the_comparison_ranks_its_methods():
    rows = quick.rank_rows(("wine",), ("ECSEL", "l1 logistic regression"), folds=1)
    assert {row["measure"] for row in rows} == {"log-loss of ECSEL: wine", "log-loss of l1 logistic regression: wine"}
    assert all("numbers to read" in row["here"] for row in rows)
    assert "rank 1" in rows[0]["here"]


def test_a_law_is_found():
    found, _ = quick.law_rows(("I.12.1",))
    assert (found["here"], found["file"]) == ("1 of 1", "1 of 1")


@pytest.mark.usefixtures("keel")
def test_a_ratio_of_seconds_is_shown_for_each_table():
    (row,) = quick.speed_rows(("wine",))
    assert float(row["here"]) > 0
