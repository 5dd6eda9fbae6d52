"""Measures of predicted numbers agree with scikit-learn's, and weights count as rows."""

import numpy as np
import pytest
from sklearn.metrics import mean_absolute_error, mean_squared_error, r2_score

from ecsel.quality import RegressionQuality, measure_regression


def test_measures_agree_with_scikit_learn():
    rng = np.random.default_rng(0)
    y, w = rng.normal(3, 2, 50), rng.uniform(0.1, 2, 50)
    f = y + rng.normal(size=50)
    found = measure_regression(y, f, w)
    assert found.rmse**2 == pytest.approx(mean_squared_error(y, f, sample_weight=w), rel=1e-12)
    assert found.mae == pytest.approx(mean_absolute_error(y, f, sample_weight=w), rel=1e-12)
    assert found.r2 == pytest.approx(r2_score(y, f, sample_weight=w), rel=1e-12)
    assert RegressionQuality.from_dict(found.to_dict()) == found


def test_whole_weights_are_rows():
    rng = np.random.default_rng(1)
    y, f, w = rng.normal(size=20), rng.normal(size=20), rng.integers(1, 5, 20)
    weighted, repeated = (
        measure_regression(y, f, w),
        measure_regression(np.repeat(y, w), np.repeat(f, w), np.ones(w.sum())),
    )
    assert weighted.rmse == pytest.approx(repeated.rmse, rel=1e-12)
    assert weighted.r2 == pytest.approx(repeated.r2, rel=1e-12)


def test_a_constant_target_has_no_r2():
    assert measure_regression(np.ones(3), np.zeros(3), np.ones(3)).r2 is None
