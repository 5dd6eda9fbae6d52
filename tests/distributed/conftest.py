"""A table with numbers, levels, truth values and gaps, large enough for samples."""

import numpy as np
import pandas as pd
import pytest


def make_table(n=6000, seed=0):
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(
        {
            "size": rng.lognormal(1, 0.7, n),
            "age": rng.integers(18, 80, n),
            "colour": rng.choice(["red", "green", "blue"], n, p=[0.6, 0.3, 0.1]),
            "known": rng.random(n) < 0.3,
        }
    )
    frame.loc[rng.random(n) < 0.05, "size"] = np.nan
    size = frame["size"].fillna(2.0)
    z = 0.6 * size - 0.02 * frame["age"] + 1.2 * (frame["colour"] == "red") - 1.5
    frame["ill"] = np.where(rng.random(n) < 1 / (1 + np.exp(-z)), "yes", "no")
    return frame


@pytest.fixture(scope="session")
def frame():
    return make_table()


@pytest.fixture
def parquet(frame, tmp_path):
    path = tmp_path / "rows.parquet"
    frame.to_parquet(path, row_group_size=1000)
    return path
