"""What a search must not do: find a law in noise, or depend on chance."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from ecsel.discovery.discover import discover


@settings(max_examples=8, deadline=None)
@given(st.integers(0, 2**16))
def test_pure_noise_has_no_law(seed):
    rng = np.random.default_rng(seed)
    found = discover(rng.uniform(1, 5, (60, 3)), rng.normal(size=60)).law
    assert len(found) <= 2
    assert found.rss > 0.6 * 60 * 0.7


def test_the_same_seed_gives_the_same_law_bit_for_bit():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 3))
    y = X[:, 0] * X[:, 1] + X[:, 2] ** 2 + rng.normal(0, 0.01, 60)
    one, two = discover(X, y).law, discover(X, y).law
    np.testing.assert_array_equal(one.coefficients, two.coefficients)
    np.testing.assert_array_equal(one.structure.exponents, two.structure.exponents)
