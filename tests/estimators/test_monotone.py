"""Monotone promises: kept by the solver, proven by the signs of the terms, refused where they cannot be given."""

import numpy as np
import pandas as pd
import pytest

from ecsel import ECSELClassifier, Signomial, load
from ecsel.estimators.guarantees import proven, slope_signs
from ecsel.signomial import Term
from ecsel.tables import TableEncoder


def hump(n=400, n_classes=2, seed=0):
    """`income` helps up to a point and then harms, so that a free model breaks the promise."""
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(
        {"income": rng.uniform(1, 10, n), "debt": rng.uniform(1, 5, n), "kind": rng.choice(["a", "b"], n)}
    )
    z = 2 - 0.3 * (frame["income"] - 5) ** 2 - 0.5 * (frame["debt"] - 3) + (frame["kind"] == "a")
    score = z + rng.logistic(size=n)
    edges = np.quantile(score, np.linspace(0, 1, n_classes + 1)[1:-1])
    return frame, np.array(["bad", "fair", "good"])[np.searchsorted(edges, score)]


def curve(model, label):
    """Probabilities along `income` for a few values of the other columns."""
    frames = [
        pd.DataFrame({"income": np.linspace(1.1, 9.9, 60), "debt": debt, "kind": kind})
        for debt in (1.2, 3.0, 4.8)
        for kind in ("a", "b")
    ]
    column = model.classes_.tolist().index(label)
    return np.array([model.predict_proba(f)[:, column] for f in frames])


@pytest.mark.parametrize("direction", [1, -1])
@pytest.mark.parametrize("n_terms", [1, 2, 3])
@pytest.mark.parametrize("two_sided", [False, True])
def test_a_sigmoid_keeps_its_promise(n_terms, direction, two_sided):
    X, y = hump()
    options = {"n_terms": n_terms, "l1": 1e-2, "two_sided": two_sided}
    free = np.diff(curve(ECSELClassifier(**options).fit(X, y), "fair"), axis=1)
    model = ECSELClassifier(monotone={"income": direction}, **options).fit(X, y)
    steps = np.diff(curve(model, "fair"), axis=1) * direction
    assert steps.min() >= -1e-12
    if n_terms > 1 or two_sided:  # a single one-sided term is monotone by nature
        assert (free * direction).min() < -1e-3
    assert model.fit_report_.kkt_residual <= 1e-4 * model.fit_report_.kkt_scale
    assert "guaranteed: the probability of 'fair' never " in model.summary()


def test_a_softmax_keeps_its_promise_about_one_class(tmp_path):
    X, y = hump(n_classes=3)
    model = ECSELClassifier(n_terms=2, l1=1e-2, monotone={"income": {"good": 1}}).fit(X, y)
    assert np.diff(curve(model, "good"), axis=1).min() >= -1e-12
    assert "the probability of 'good' never falls as 'income' rises" in model.summary()
    model.save(tmp_path / "model.json")
    assert load(tmp_path / "model.json").summary() == model.summary()


def test_every_candidate_of_a_selection_keeps_it():
    X, y = hump(250)
    model = ECSELClassifier(max_terms=2, monotone={"income": 1, "debt": -1}).fit(X, y)
    signs = slope_signs(model.monotone, model.path_encoder_, model.classes_.tolist(), 1)
    for candidate in model.path_:
        assert proven(candidate.equations, model.path_encoder_, signs)
    assert any(c.size > 0 for c in model.path_)


def test_a_promise_that_holds_anyway_changes_nothing():
    rng = np.random.default_rng(3)
    X = pd.DataFrame({"a": rng.uniform(1, 9, 300), "b": rng.uniform(1, 9, 300)})
    y = (rng.random(300) < 1 / (1 + np.exp(-3 * np.log(X["a"] / X["b"])))).astype(int)
    free = ECSELClassifier(n_terms=1, l1=1e-2).fit(X, y)
    constrained = ECSELClassifier(n_terms=1, l1=1e-2, monotone={"a": 1, "b": -1}).fit(X, y)
    assert constrained.fit_report_.objective == pytest.approx(free.fit_report_.objective, rel=1e-7)


def test_a_broken_promise_is_not_proven():
    encoder = TableEncoder.fit(np.array([[1.0], [2.0], [4.0]]), two_sided=True)
    signs = slope_signs({"x0": 1}, encoder, [0, 1], 1)
    np.testing.assert_array_equal(signs, [[1, -1]])
    assert proven([Signomial([Term(-2.0, {"x0": -1.0, "x0~": 0.5}), Term(3.0)])], encoder, signs)
    assert not proven([Signomial([Term(2.0, {"x0": 1.0}), Term(-1.0, {"x0": 0.1})])], encoder, signs)


def test_columns_below_zero_are_proven_by_their_positive_features():
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"balance": rng.normal(size=300), "age": rng.uniform(20, 60, 300)})
    y = (rng.random(300) < 1 / (1 + np.exp(-2 * X["balance"]))).astype(int)
    model = ECSELClassifier(n_terms=2, l1=1e-2, monotone={"balance": 1}).fit(X, y)
    assert model.encoder_.features[0].low < 0
    assert "guaranteed: the probability of 1 never falls as 'balance' rises" in model.summary()
    assert "NOT guaranteed" not in model.summary()


def test_bootstrap_draws_keep_it_too():
    X, y = hump(200)
    model = ECSELClassifier(n_terms=1, l1=1e-2, two_sided=False, monotone={"income": 1}).fit(X, y)
    found = model.stability(X, y, n_bootstrap=5, random_state=0)
    assert found.effects[:, 0, model.encoder_.feature_names.index("income")].min() >= 0


@pytest.mark.parametrize(
    ("monotone", "message"),
    [
        ({"wage": 1}, "monotone names the column 'wage', which does not exist"),
        ({"kind": 1}, "monotone names the column 'kind', which has no order"),
        ({"income": 2}, r"monotone\['income'\] must be \+1 \(rising\) or -1 \(falling\), not 2"),
        ({"income": {"best": 1}}, "names the class 'best', which y does not have"),
        ({"income": {"bad": 1, "fair": 1}}, "must name one class, not 2"),
    ],
)
def test_promises_that_cannot_be_given_are_refused(monotone, message):
    X, y = hump(60)
    with pytest.raises(ValueError, match=message):
        ECSELClassifier(n_terms=1, l1=0.1, monotone=monotone).fit(X, y)


def test_a_score_per_class_needs_a_class():
    X, y = hump(90, n_classes=3)
    with pytest.raises(ValueError, match="must name a class"):
        ECSELClassifier(n_terms=1, l1=0.1, monotone={"income": 1}).fit(X, y)


@pytest.mark.parametrize("options", [{"penalty": "paper"}, {"fit_intercept": False}])
def test_forms_without_the_sign_are_refused(options):
    X, y = hump(60)
    with pytest.raises(ValueError, match="monotone needs penalty"):
        ECSELClassifier(n_terms=1, l1=0.1, monotone={"income": 1}, **options).fit(X, y)
