"""The mean of the logs of many rows, by products or in single precision, is the mean of the logs."""

import numpy as np
import pytest

from ecsel import _compiled
from ecsel.tables.describing import log_mean
from ecsel.tables.features import Feature


@pytest.mark.parametrize("scale", [1.0, 1e30, 1e-33, 1e60])
@pytest.mark.parametrize("n", [10, 65_537, 150_003])
@pytest.mark.parametrize("compiled", [False, True])
def test_many_rows_have_the_mean_of_the_logs(monkeypatch, n, scale, compiled):
    values = np.random.default_rng(0).lognormal(0, 1, n)
    feature = Feature("x", "x", "numeric", scale, 0.0, values.min(), values.max(), 0.0)
    if not compiled:
        monkeypatch.setattr(_compiled, "compiled", None)
    near = 1e-8 if compiled else 1e-12
    assert log_mean(feature, values, None) == pytest.approx(np.log(scale * values).mean(), rel=near, abs=near)


def test_weights_count():
    feature = Feature("x", "x", "numeric", 1.0, 0.0, 1.0, 8.0, 0.0)
    assert log_mean(feature, np.array([1.0, 8.0]), np.array([2.0, 1.0])) == pytest.approx(np.log(2))
