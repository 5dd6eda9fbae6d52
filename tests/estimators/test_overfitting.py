"""The paper's model says where a wide table with a small strength is predicted worse than by the classes alone."""

import warnings

import numpy as np
import pytest

from ecsel import ECSELClassifier

rng = np.random.default_rng(0)


def test_noise_in_a_wide_table_is_reported():
    X, y = rng.lognormal(size=(150, 80)), rng.integers(0, 2, 150)
    with pytest.warns(
        UserWarning, match="With n_terms=1 and l1=0.0001 rows that the fit has not seen are predicted worse"
    ):
        ECSELClassifier(n_terms=1, l1=1e-4).fit(X, y)


def test_a_strong_penalty_or_a_narrow_table_is_not():
    X, y = rng.lognormal(size=(150, 80)), rng.integers(0, 2, 150)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        ECSELClassifier(n_terms=1, l1=0.5).fit(X, y)
        ECSELClassifier(n_terms=1, l1=0.01).fit(X[:, :5], y)


def test_the_look_changes_no_bit_of_the_model():
    X, y = rng.lognormal(size=(150, 80)), rng.integers(0, 2, 150)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        watched = ECSELClassifier(n_terms=1, l1=1e-3).fit(X, y)
        folds = [(np.arange(75), np.arange(75, 150))]  # explicit splits are not looked at
        plain = ECSELClassifier(n_terms=1, l1=1e-3, cv=folds).fit(X, y)
    assert watched.equations_ == plain.equations_
