"""The mean of logs by products equals the mean of logs."""

import numpy as np
import pytest

from ecsel.tables.features import Feature
from ecsel.tables.log_mean import log_mean


@pytest.mark.parametrize("scale", [1.0, 1e30, 1e-33, 1e60])
@pytest.mark.parametrize("n", [10, 16_385, 50_003])
def test_products_have_the_mean_of_the_logs(n, scale):
    values = np.random.default_rng(0).lognormal(0, 1, n)
    feature = Feature("x", "x", "numeric", scale, 0.0, values.min(), values.max(), 0.0)
    assert log_mean(feature, values, None) == pytest.approx(np.log(scale * values).mean(), rel=1e-12, abs=1e-12)


def test_weights_count():
    feature = Feature("x", "x", "numeric", 1.0, 0.0, 1.0, 8.0, 0.0)
    assert log_mean(feature, np.array([1.0, 8.0]), np.array([2.0, 1.0])) == pytest.approx(np.log(2))
