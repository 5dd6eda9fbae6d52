import numpy as np
import pytest
from scipy import stats

from ecsel import Signomial, explain
from ecsel.explain import agreement


def test_it_is_spearman_s_correlation_of_sizes():
    rng = np.random.default_rng(0)
    a, b = rng.normal(size=9), rng.normal(size=9)
    expected = stats.spearmanr(np.abs(a), np.abs(b))
    result = agreement(a, b)
    assert (result.rho, result.p_value, result.n_features) == (expected.statistic, expected.pvalue, 9)


def test_names_are_matched(make_model):
    model, X = make_model(0, "softmax3")
    importance = explain.importance(model, X)
    shuffled = dict(reversed(list(zip(importance.feature_names, importance.values.mean(axis=0), strict=True))))
    assert agreement(importance, shuffled).rho == pytest.approx(1)
    assert agreement(explain.log_gradient(model, X), importance).rho == pytest.approx(1)
    shuffled["other"] = shuffled.pop(importance.feature_names[0])
    with pytest.raises(ValueError, match="different features"):
        agreement(importance, shuffled)


def test_what_has_no_order_is_refused(make_model):
    model, X = make_model(0)
    with pytest.raises(ValueError, match="no order"):
        agreement([1, 1, 1], [1, 2, 3])
    with pytest.raises(ValueError, match="three or more"):
        agreement([1, 2], [1, 2])
    with pytest.raises(ValueError, match="'purpose' is not defined"):
        agreement(explain.importance(model, X, units="raw"), np.arange(5))
    with pytest.raises(ValueError, match="list of finite numbers"):
        agreement([[1, 2]], [[1, 2]])
    assert explain.importance(Signomial.parse("x"), [[1.0]]).values.shape == (1, 1)
