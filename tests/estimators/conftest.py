"""Small tables with classes, and a quick classifier."""

from contextlib import contextmanager

import numpy as np
import pandas as pd
import pytest

import ecsel
from ecsel import ECSELClassifier


def numbers(n=120, n_classes=2, seed=0, m=3):
    """Positive columns, and classes that depend on the first two."""
    rng = np.random.default_rng(seed)
    X = np.exp(rng.normal(size=(n, m)))
    z = np.stack([np.zeros(n), 2 * np.log(X[:, 0]), 1.5 - X[:, 1], np.log(X[:, 1])][:n_classes])
    return X, (z + rng.gumbel(size=z.shape)).argmax(axis=0)


def mixed(n=80, seed=0):
    """A frame with numbers, missing values, text and truth values, with text labels."""
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(
        {
            "income": np.exp(rng.normal(3, 1, n)).round(2),
            "page value": np.where(rng.random(n) < 0.2, np.nan, rng.normal(size=n).round(3)),
            "purpose": rng.choice(["car", "boat", "home"], n),
            "owner": rng.random(n) < 0.5,
        }
    )
    score = np.log(frame["income"]) - 3 + (frame["purpose"] == "car") - frame["owner"]
    return frame, np.where(score + rng.logistic(size=n) > 0, "good", "bad")


def customers(n=400, seed=0):
    """A frame of counts, amounts, text and missing values, and classes drawn from a known sum of pieces."""
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(
        {
            "tenure": rng.integers(0, 73, n),
            "monthly charge": rng.gamma(5, 15, n).round(2),
            "contract": rng.choice(["month", "one year", "two year"], n, p=[0.5, 0.3, 0.2]),
            "age": np.where(rng.random(n) < 0.1, np.nan, rng.integers(18, 80, n)),
            "calls": rng.poisson(2, n),
        }
    )
    frame.loc[rng.random(n) < 0.05, "contract"] = None
    z = (
        8.5
        + 0.05 * frame["tenure"]
        - 2.5 * np.log(frame["monthly charge"])
        + 2 * (frame["contract"] == "two year")
        - 0.6 * frame["calls"] * (frame["contract"] == "month")
        + 3 * (frame["age"] > 50)
        + 3 * frame["age"].isna()
    )
    return frame, np.where(rng.random(n) < 1 / (1 + np.exp(-z)), "stays", "leaves")


@pytest.fixture(scope="session")
def make_numbers():
    return numbers


@pytest.fixture(scope="session")
def make_mixed():
    return mixed


@pytest.fixture(scope="session")
def make_customers():
    return customers


@pytest.fixture(scope="session")
def quick():
    """A classifier that chooses nothing."""

    def build(**options):
        return ECSELClassifier(**{"n_terms": 1, "l1": 1e-2, **options})

    return build


@pytest.fixture
def interrupt_draw(monkeypatch):
    """Return a context: one draw of a module is interrupted, on whichever thread and whenever it comes."""

    @contextmanager
    def during(module, draw):
        resample = module.resample

        def interrupted(codes, weights, rng):
            if rng.bit_generator.seed_seq.entropy[1] == draw:
                raise KeyboardInterrupt
            return resample(codes, weights, rng)

        with monkeypatch.context() as patched:
            patched.setattr(module, "resample", interrupted)
            yield

    return during


@pytest.fixture
def reloaded_with_errors(tmp_path):
    """Return the function that saves and loads a model, whose summary and standard errors must come back."""

    def reloaded(model, errors):
        assert str(errors) in model.summary()
        model.save(tmp_path / "model.json")
        other = ecsel.load(tmp_path / "model.json")
        assert other.standard_errors_ == errors
        assert other.summary() == model.summary()
        return other

    return reloaded
