import numpy as np
import pandas as pd
import pytest


@pytest.fixture(scope="session")
def table():
    """Eighty rows of two classes that overlap, a text column among the columns."""
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"a": rng.lognormal(0, 1, 80), "b": rng.uniform(0, 5, 80), "c": rng.choice(["u", "v"], 80)})
    score = np.log(X["a"]) + 0.5 * X["b"] + rng.normal(0, 1, 80)
    return X, np.where(score > 2, "yes", "no")
