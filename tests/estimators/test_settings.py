"""Penalties as an option: by name, as an object with its own numbers, or one's own; and what goes with what."""

from dataclasses import dataclass

import numpy as np
import pytest

from ecsel import ECSELClassifier, load
from ecsel.fitting import MCP, PENALTIES, ElasticNet

NAMES = tuple(PENALTIES)


@pytest.mark.parametrize("name", NAMES)
def test_a_name_means_the_default_numbers(make_numbers, name):
    X, y = make_numbers()
    by_name, by_object = (ECSELClassifier(n_terms=1, l1=1e-2, penalty=p).fit(X, y) for p in (name, PENALTIES[name]()))
    assert by_name.equations_ == by_object.equations_
    plain = ECSELClassifier(n_terms=1, l1=1e-2).fit(X, y)
    assert by_name.equations_ != plain.equations_
    assert f"penalty: {name!r}" in by_name.summary()
    assert "penalty:" not in plain.summary()


@pytest.mark.parametrize("penalty", ["scad", MCP(gamma=5.0), ElasticNet(ratio=0.25)], ids=str)
def test_a_model_file_keeps_it(make_numbers, tmp_path, penalty):
    X, y = make_numbers()
    model = ECSELClassifier(n_terms=1, l1=1e-2, penalty=penalty).fit(X, y)
    model.save(tmp_path / "model.json")
    again = load(tmp_path / "model.json")
    assert again.penalty == penalty
    np.testing.assert_array_equal(again.predict_proba(X), model.predict_proba(X))


@dataclass(frozen=True)
class Square:
    """λ (x + x²/2) of one's own."""

    def value(self, sizes, strength, columns):
        del columns
        return strength * sizes * (1 + sizes / 2), strength * (1 + sizes), np.full_like(sizes, strength)


def test_a_penalty_of_ones_own_will_do(make_numbers):
    X, y = make_numbers()
    own = ECSELClassifier(n_terms=1, l1=1e-2, penalty=Square()).fit(X, y)
    twin = ECSELClassifier(n_terms=1, l1=2e-2, penalty=ElasticNet(0.5)).fit(X, y)
    assert own.fit_report_.converged
    assert len(own.equations_[1].names) <= len(twin.equations_[1].names) + 1
    assert own.penalty == Square()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"penalty": "lasso"}, "penalty='lasso' is not known: use one of 'l1', 'paper', 'elastic_net'"),
        ({"penalty": 3}, "penalty=3 is not known"),
        ({"max_features": 0}, "max_features=0 must be a whole number of at least 1"),
        ({"max_features": 1.5}, "max_features=1.5"),
    ],
)
def test_wrong_options_are_named(make_numbers, options, message):
    X, y = make_numbers()
    with pytest.raises(ValueError, match=message):
        ECSELClassifier(n_terms=1, l1=0.1, **options).fit(X, y)
