"""Figures are drawn without a screen, and closed after each test."""

import matplotlib as mpl
import pytest

mpl.use("Agg")


@pytest.fixture(autouse=True)
def _no_traces():
    """Check that a figure leaves matplotlib's settings as they were, and close it."""
    import matplotlib.pyplot as plt

    before = dict(mpl.rcParams)
    yield
    plt.close("all")
    assert dict(mpl.rcParams) == before


@pytest.fixture(scope="session")
def wine():
    """A fitted model of three classes and its table."""
    from sklearn.datasets import load_wine

    from ecsel import ECSELClassifier

    X, y = load_wine(return_X_y=True, as_frame=True)
    X = X.iloc[:, :4]
    return ECSELClassifier(n_terms=1, l1=0.01, random_state=0).fit(X, y), X, y


@pytest.fixture(scope="session")
def sessions():
    """A fitted model of two classes with a category, and its table."""
    import numpy as np
    import pandas as pd

    from ecsel import ECSELClassifier

    rng = np.random.default_rng(0)
    X = pd.DataFrame(
        {
            "page $value$": rng.lognormal(1, 1, 300),
            "exit rate": rng.uniform(0, 0.2, 300),
            "visits": rng.integers(1, 30, 300),
            "month": rng.choice(["May", "Nov"], 300),
        }
    )
    z = np.log(X["page $value$"]) - 10 * X["exit rate"] + (X["month"] == "Nov") - 0.5
    y = rng.random(300) < 1 / (1 + np.exp(-z))
    return ECSELClassifier(n_terms=1, l1=0.01, random_state=0).fit(X, y), X


@pytest.fixture(scope="session")
def readable(sessions):
    """The default model of the same table: a sum of pieces of raw columns."""
    import numpy as np

    from ecsel import ECSELClassifier

    _, X = sessions
    z = np.log(X["page $value$"]) - 10 * X["exit rate"] + (X["month"] == "Nov") - 0.5
    y = np.random.default_rng(1).random(len(X)) < 1 / (1 + np.exp(-z))
    return ECSELClassifier(max_factors=5, cv=3).fit(X, y), X
