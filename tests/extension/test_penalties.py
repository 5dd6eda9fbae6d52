"""A penalty from outside the package: an object with the method `value` is all that the estimator needs."""

from dataclasses import dataclass

import numpy as np
import pytest

from ecsel import ECSELClassifier, load
from ecsel.fitting import Penalty


@dataclass(frozen=True)
class Lasso:
    """λx, which is the default written by hand."""

    def value(self, sizes, strength, columns):
        del columns
        return strength * sizes, np.full_like(sizes, strength), np.zeros_like(sizes)


@dataclass(frozen=True)
class Exponential:
    """λ (ε (1 − e^(−x/ε)) + x/20): concave, so that large exponents are shrunk less."""

    width: float = 1.0

    def value(self, sizes, strength, columns):
        del columns
        decay = np.exp(-sizes / self.width)
        value = self.width * (1 - decay) + sizes / 20
        return strength * value, strength * (decay + 1 / 20), -strength / self.width * decay


@pytest.fixture(scope="module")
def table():
    rng = np.random.default_rng(0)
    X = np.exp(rng.normal(size=(600, 4)))
    score = 1.5 * np.log(X[:, 0]) - np.log(X[:, 1])
    return X, (rng.random(600) < 1 / (1 + np.exp(-score))).astype(int)


def fit(table, penalty, l1=2e-2):
    return ECSELClassifier(n_terms=1, l1=l1, penalty=penalty).fit(*table)


def test_the_contract_is_the_one_method():
    assert isinstance(Exponential(), Penalty)
    assert not isinstance(object(), Penalty)


def test_the_default_written_by_hand_gives_the_default(table):
    own, default = fit(table, Lasso()), fit(table, "l1")
    assert own.fit_report_.converged
    assert own.fit_report_.objective == pytest.approx(default.fit_report_.objective, rel=1e-6)
    np.testing.assert_allclose(own.predict_proba(table[0]), default.predict_proba(table[0]), atol=1e-3)


def test_a_concave_one_shrinks_large_exponents_less_and_large_strength_empties(table):
    own, default = fit(table, Exponential()), fit(table, "l1")
    assert own.fit_report_.converged
    assert own.fit_report_.loss < default.fit_report_.loss
    assert not fit(table, Exponential(), l1=10.0).equations_[1].names


def test_the_model_is_saved_and_loaded(table, tmp_path):
    model = fit(table, Exponential())
    model.save(tmp_path / "model.json")
    np.testing.assert_array_equal(load(tmp_path / "model.json").predict_proba(table[0]), model.predict_proba(table[0]))
