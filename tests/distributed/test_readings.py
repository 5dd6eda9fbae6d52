"""Rows that come in batches are read by the same rules as a table in memory."""

import numpy as np
import pandas as pd

from ecsel import ECSELClassifier


def test_a_parquet_file_is_read_as_the_table_in_it(tmp_path):
    rng = np.random.default_rng(0)
    n = 3000
    rate = rng.uniform(1, 20, n).round(2)
    frame = pd.DataFrame({
        "rate": [f"{value:.2f}%" for value in rate],
        "sold": pd.date_range("2015-03-01", periods=n, freq="D"),
        "use": rng.choice(["car", "Car ", "house"], n),
        "town": rng.choice(["big"] * 60 + [f"v{i}" for i in range(400)], n),
        "y": np.where(rng.random(n) < 1 / (1 + np.exp(-(rate - 10) / 3)), "b", "a"),
    })  # fmt: skip
    frame.to_parquet(tmp_path / "rows.parquet")
    streamed = ECSELClassifier(max_terms=2).fit(tmp_path / "rows.parquet", "y")
    X = frame.drop(columns="y")
    whole = ECSELClassifier(max_terms=2).fit(X, frame["y"])
    assert streamed.path_encoder_.readings == whole.path_encoder_.readings
    assert streamed.equations_ == whole.equations_
    np.testing.assert_array_equal(streamed.predict_proba(X), whole.predict_proba(X))
