import sys
from importlib import import_module

import numpy as np
import pytest

from ecsel import explain


@pytest.fixture
def table(make_model):
    model, X = make_model(3, "softmax3")
    return model, X.assign(gap=X["gap"].fillna(1.0)).iloc[:4]


@pytest.mark.usefixtures("shap")
def test_shap_of_the_same_model_is_its_exact_shapley_value(table):
    model, X = table
    result = explain.compare(model, X, "shap", label="b")
    exact = explain.shapley(model, X, X, output="probability").values[:, 1]
    assert np.abs(result.theirs_by_row - exact).max() < 0.05
    assert result.agreement.n_features == 5
    assert result.seconds_theirs > result.seconds_ours
    assert "shap: Spearman" in str(result)


@pytest.mark.usefixtures("shap")
@pytest.mark.filterwarnings("ignore:.*training")
def test_exact_shapley_values_agree_with_shap_of_a_readable_model(make_raw_model):
    model, X = make_raw_model(1)
    X = X.assign(gap=X["gap"].fillna(1.0))
    result = explain.compare(model, X.iloc[:3], by="shapley", background=X.iloc[5:15])
    assert np.abs(result.theirs_by_row - result.ours_by_row).max() < 1e-3
    assert result.agreement.rho == pytest.approx(1.0, abs=0.11)
    assert result.sign_agreement == 1.0


def test_sensitivities_of_readable_models_are_by_column(make_raw_model, monkeypatch):
    """A number moves all its features at once; a category has no proportional change, and its indicators stand in."""
    model, X = make_raw_model(2)
    X = X.assign(gap=X["gap"].fillna(1.0)).iloc[:6]
    monkeypatch.setattr(import_module("ecsel.explain.compare"), "_by_shap", lambda *given: given[1])
    ours = explain.compare(model, X, by="log_gradient", label="yes").ours_by_row
    raw = explain.log_gradient(model, X, units="raw").values[:, 0]
    numbers = [j for j, name in enumerate(X.columns) if name != "purpose"]
    np.testing.assert_array_equal(ours[:, numbers], raw[:, numbers])
    features = explain.log_gradient(model, X).values[:, 0]
    levels = [f for f, feature in enumerate(model.encoder_.features) if feature.column == "purpose"]
    np.testing.assert_allclose(ours[:, 3], features[:, levels].sum(axis=1))


@pytest.mark.usefixtures("shap")
@pytest.mark.filterwarnings("ignore:.*training")
def test_another_model_may_be_compared_with(table, make_model):
    """Then SHAP speaks of the other model, and the closed forms of the first."""
    model, X = table
    other, _ = make_model(5, "softmax3")
    crossed, own, others = (
        explain.compare(model, X, other=other),
        explain.compare(model, X),
        explain.compare(other, X),
    )
    np.testing.assert_array_equal(crossed.theirs_by_row, others.theirs_by_row)
    np.testing.assert_array_equal(crossed.ours_by_row, own.ours_by_row)


def test_a_library_that_is_absent_is_named(table, monkeypatch):
    """LIME is installed for the benchmarks alone, where `compare(…, "lime")` runs in earnest."""
    monkeypatch.setitem(sys.modules, "lime.lime_tabular", None)
    with pytest.raises(ImportError, match=r"compare\(method='lime'\) needs lime: pip install"):
        explain.compare(*table, "lime")


def test_wrong_options_are_named(table, make_model):
    model, X = table
    with pytest.raises(ValueError, match="method must be"):
        explain.compare(model, X, "anchors")
    with pytest.raises(ValueError, match="by must be"):
        explain.compare(model, X, by="gain")
    with pytest.raises(ValueError, match="'gap' has missing values"):
        explain.compare(*make_model(3))
    with pytest.raises(ValueError, match="use label='yes'"):
        explain.compare(*make_model(3), by="log_gradient", label="no")
