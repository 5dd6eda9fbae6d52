"""Parquet files that are not read at once: a sample is looked at, all rows are fitted."""

import numpy as np
import pandas as pd
import pytest

import ecsel
from ecsel.cli import large


@pytest.fixture
def payments(tmp_path):
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"amount": rng.lognormal(3, 1, 3000), "hours": rng.uniform(1, 24, 3000)})
    odds = np.log(X["amount"]) - 0.2 * X["hours"]
    X["fraud"] = np.where(rng.random(3000) < 1 / (1 + np.exp(-odds)), "yes", "no")
    (tmp_path / "payments").mkdir()
    X.iloc[:1700].to_parquet(tmp_path / "payments" / "a.parquet")
    X.iloc[1700:].to_parquet(tmp_path / "payments" / "b.parquet")
    X.to_parquet(tmp_path / "payments.parquet")
    return tmp_path, X


QUICK = ["--target", "fraud", "--terms", "1", "--l1", "0.001", "--holdout", "0"]


def test_a_folder_and_a_large_file_are_fitted_whole(payments, run, monkeypatch):
    folder, X = payments
    monkeypatch.setattr(large, "LARGE_FROM", 1000)
    monkeypatch.setattr(large, "LOOKED_AT", 500)
    direct = ecsel.ECSELClassifier(n_terms=1, l1=1e-3, random_state=0).fit(X[["amount", "hours"]], X["fraud"])
    for source in ("payments", "payments.parquet"):
        reported = run("fit", folder / source, *QUICK, "-o", folder / "model.json")
        assert "has 3000 rows: 500 of them are looked at" in reported.output + reported.stderr
        assert "The equation, fitted to all 3000 rows" in reported.output
        model = ecsel.load(folder / "model.json")
        usual = X[["amount", "hours"]].clip(*X[["amount", "hours"]].quantile([0.05, 0.95]).to_numpy(), axis=1)
        np.testing.assert_allclose(model.predict_proba(usual), direct.predict_proba(usual), atol=0.02)


def test_the_sample_is_spread_over_all_batches(payments, monkeypatch):
    folder, X = payments
    monkeypatch.setattr(large, "LOOKED_AT", 300)
    table = large.large_table(str(folder / "payments"))
    pd.testing.assert_frame_equal(large.looked_at(table).frame, X.iloc[::10].reset_index(drop=True))


def test_small_files_and_other_files_are_read_at_once(payments):
    folder, _ = payments
    assert large.large_table(str(folder / "payments.parquet")) is None
    assert large.large_table(str(folder / "nothing.parquet")) is None
    assert large.large_table("-") is None


def test_what_cannot_be_fitted_in_batches_is_reported(payments, refused, tmp_path):
    folder, _ = payments
    (tmp_path / "empty").mkdir()
    assert "folder" in refused("fit", tmp_path / "empty", "--target", "fraud")
    message = refused("fit", folder / "payments", "--target", "amount", "--task", "regression")
    assert "too large for a law" in message
