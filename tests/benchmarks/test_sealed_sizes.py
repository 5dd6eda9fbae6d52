"""Numbers to read: every count is that of a model whose numbers can be counted by hand."""

import numpy as np
import pandas as pd
import pytest
from sklearn.ensemble import RandomForestClassifier

from benchmarks import sealed_sizes as sizes
from ecsel import ECSELClassifier, Signomial


@pytest.fixture(scope="module")
def two_classes():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 3))
    return X, (X[:, 0] + 0.3 * rng.normal(size=200) > 0).astype(int)


@pytest.mark.parametrize(
    ("text", "numbers"),
    [
        ("2*x - 3", 2),
        ("2*x*y - 3", 3),  # the second column of a product is read too
        ("1.2*log(x) + 4*sqrt(y)", 4),
        ("5*log(x + 50)", 3),
        ("7", 1),
    ],
)
def test_an_equation(text, numbers):
    assert sizes.equation_size([Signomial.parse(text)], []) == numbers


def test_a_cut_is_a_number():
    rng = np.random.default_rng(1)
    X = pd.DataFrame({"a": rng.uniform(0, 10, 400)})
    y = ((X["a"] > 5) ^ (rng.random(400) < 0.2)).to_numpy()
    model = ECSELClassifier(thresholds=True, n_jobs=1).fit(X, y)
    (equation,) = model.equations_.values()
    n_cuts = str(equation).count("[a > ")
    assert n_cuts >= 1
    plain = sizes.equation_size([equation], [])
    assert sizes.equation_size([equation], model.encoder_.features) == plain + n_cuts


def test_linear_models_have_their_nonzero_coefficients_and_intercepts():
    assert sizes.linear_size(np.array([[0.0, 1.0, -2.0]]), np.array([0.5])) == 3


def test_boosted_stumps_have_one_cut_and_two_leaves_each(two_classes):
    xgboost, lightgbm = pytest.importorskip("xgboost"), pytest.importorskip("lightgbm")
    X, y = two_classes
    stumps = xgboost.XGBClassifier(n_estimators=7, max_depth=1).fit(X, y)
    assert sizes.xgboost_size(stumps) == 7 * 3
    leaves = lightgbm.LGBMClassifier(n_estimators=5, num_leaves=2, verbose=-1).fit(X, y)
    assert sizes.lightgbm_size(leaves) == 5 * 3


def test_a_forest_has_a_share_for_every_class_but_for_two(two_classes):
    X, y = two_classes
    two = RandomForestClassifier(3, max_depth=1, random_state=0).fit(X, y)
    assert sizes.forest_size(two) == 3 * (1 + 2)
    three = RandomForestClassifier(3, max_depth=1, random_state=0).fit(X, np.arange(len(y)) % 3)
    assert sizes.forest_size(three) == 3 * (1 + 2 * 3)


def test_an_ebm_without_pairs_has_its_bins_and_cuts(two_classes):
    glassbox = pytest.importorskip("interpret.glassbox")
    X, y = two_classes
    frame = pd.DataFrame(X[:, :1], columns=["a"]).assign(b=np.where(X[:, 1] > 0, "u", "v"))
    model = glassbox.ExplainableBoostingClassifier(interactions=0, max_bins=8, outer_bags=1, n_jobs=1).fit(frame, y)
    cuts = len(model.bins_[0][0])
    assert sizes.ebm_size(model) == (cuts + 1) + cuts + 2 + 1  # bins and cuts of a, levels of b, intercept


@pytest.mark.parametrize(
    ("text", "numbers"),
    [("2.5*x0 + 1", 2), ("(x0 + x5) + x0", 3), ("(-0.0045)*x11", 1), ("log(x0) + x1**2", 4), ("1e-05*X3", 1)],
)
def test_an_expression(text, numbers):
    assert sizes.expression_size(text) == numbers
