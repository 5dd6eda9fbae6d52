"""Bounds on exponents and on columns: held, told with their proof, refused where they have no meaning."""

import numpy as np
import pandas as pd
import pytest

from ecsel import ECSELClassifier, Signomial, load
from ecsel.estimators.bounds import bound_lines, column_lines, exponent_bounds, within_bounds
from ecsel.signomial import Term
from ecsel.tables import TableEncoder


def credit(n=300, n_classes=2, seed=0):
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(
        {
            "income": rng.uniform(1, 10, n),
            "debt": rng.uniform(1, 5, n),
            "age": rng.uniform(20, 60, n),
            "kind": rng.choice(["a", "b"], n),
        }
    )
    z = (frame["income"] / 4) ** 2 - 1.5 * frame["debt"] + 2 * (frame["kind"] == "a") + rng.logistic(size=n)
    edges = np.quantile(z, np.linspace(0, 1, n_classes + 1)[1:-1])
    return frame, np.searchsorted(edges, z)


def exponents(model, column):
    features = [f.name for f in model.encoder_.features if f.column == column]
    return [
        float(term.exponents.get(name, 0))
        for equation in model.equations_.values()
        for term in equation.terms
        for name in features
    ]


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("fit_intercept", [True, False])
def test_one_pair_holds_for_every_exponent(n_classes, fit_intercept):
    X, y = credit(n_classes=n_classes)
    options = {"n_terms": 2, "l1": 2e-3, "fit_intercept": fit_intercept}
    model = ECSELClassifier(exponent_bounds=(-0.2, 0.4), **options).fit(X, y)
    found = [e for column in X for e in exponents(model, column)]
    assert -0.2 <= min(found) <= max(found) <= 0.4
    assert "guaranteed: every exponent is in [-0.2, 0.4]" in model.summary()
    free = ECSELClassifier(**options).fit(X, y)
    found = [e for column in X for e in exponents(free, column)]
    assert min(found) < -0.2 or max(found) > 0.4


def test_columns_and_features_have_their_own(tmp_path):
    X, y = credit()
    bounds = {"income": (0, 0.5), "debt": (None, 0), "kind=a": (0, None), "income~": (-0.1, 0.1)}
    model = ECSELClassifier(n_terms=2, l1=1e-3, two_sided=True, exponent_bounds=bounds).fit(X, y)
    assert min(exponents(model, "debt~") or [0.0]) >= 0
    assert max(exponents(model, "debt")) <= 0
    for equation in model.equations_.values():
        for term in equation.terms:
            assert 0 <= term.exponents.get("income", 0) <= 0.5
            assert -0.1 <= term.exponents.get("income~", 0) <= 0.1
            assert term.exponents.get("kind=a", 0) >= 0
    for reported in ("of 'income' is in [0, 0.5]", "of 'debt' is at most 0", "of 'kind=a' is at least 0"):
        assert f"guaranteed: every exponent {reported}" in model.summary()
    model.save(tmp_path / "model.json")
    assert load(tmp_path / "model.json").summary() == model.summary()


def test_every_candidate_and_every_draw_keeps_them():
    X, y = credit(200)
    model = ECSELClassifier(max_terms=2, cv=3, exponent_bounds={"income": (-0.3, 0.3)}).fit(X, y)
    exponent_range = exponent_bounds(model.exponent_bounds, model.path_encoder_)
    assert all(within_bounds(c.equations, model.path_encoder_, exponent_range) for c in model.path_)
    assert any(c.size > 0 for c in model.path_)
    assert "every exponent of 'income'" in model.select(len(model.path_) - 1).summary()
    assert model.stability(X, y, n_bootstrap=2).frequency.max() == 1.0


def test_a_bound_that_holds_anyway_changes_nothing():
    X, y = credit()
    free = ECSELClassifier(n_terms=1, l1=1e-2).fit(X, y)
    constrained = ECSELClassifier(n_terms=1, l1=1e-2, exponent_bounds=(-30, 30)).fit(X, y)
    assert constrained.fit_report_.objective == pytest.approx(free.fit_report_.objective, rel=1e-7)


def test_monotone_and_bounds_hold_together():
    X, y = credit()
    model = ECSELClassifier(n_terms=2, l1=1e-3, monotone={"income": 1}, exponent_bounds=(0, 0.5)).fit(X, y)
    assert min(exponents(model, "income")) >= 0
    assert model.summary().count("guaranteed: ") == 2
    assert "NOT" not in model.summary()


def test_a_broken_bound_is_not_proven():
    encoder = TableEncoder.fit(pd.DataFrame({"a": [1.0, 2.0, 4.0], "b": [1.0, 5.0, 2.0]}))
    equations = [Signomial([Term(2.0, {"a": 0.5, "b": -1.0}), Term(3.0)])]
    assert bound_lines({"a": (0, 1)}, equations, encoder)[0].startswith("guaranteed")
    assert bound_lines((0, 1), equations, encoder) == ["NOT guaranteed: an exponent lies outside exponent_bounds"]
    assert bound_lines({"a": (None, None)}, equations, encoder) == []
    assert column_lines(1, equations, encoder)[0].startswith("NOT guaranteed: the equations speak of 2 columns")
    assert column_lines(None, equations, encoder) == []


def test_a_feature_goes_before_its_column():
    encoder = TableEncoder.fit(credit()[0], two_sided=["income"])
    low, high = exponent_bounds({"kind=b": (-1, 1), "income~": (0, 0), "kind": (0, 2), "income": (-3, None)}, encoder)
    found = dict(zip(encoder.feature_names, zip(low, high, strict=True), strict=True))
    assert found["kind=a"] == (0, 2)
    assert found["kind=b"] == (-1, 1)
    assert found["income"] == (-3, np.inf)
    assert found["income~"] == (0, 0)
    assert found["age"] == (-np.inf, np.inf)


PAIR = r"must be a pair \(low, high\) with low <= 0 <= high, None for no bound"


@pytest.mark.parametrize(
    ("bounds", "message"),
    [
        ({"wage": (0, 1)}, "exponent_bounds names the column 'wage', which does not exist"),
        ({"income": (0.5, 1)}, rf"exponent_bounds\['income'\]=\(0.5, 1\) {PAIR}"),
        ({"income": 2}, rf"exponent_bounds\['income'\]=2 {PAIR}"),
        ((0, 1, 2), PAIR),
        ((0, np.inf), PAIR),
        ("tight", PAIR),
    ],
)
def test_bounds_without_a_meaning_are_refused(bounds, message):
    X, y = credit(60)
    with pytest.raises(ValueError, match=message):
        ECSELClassifier(n_terms=1, l1=0.1, exponent_bounds=bounds).fit(X, y)


def test_the_solver_that_knows_no_exponent_bounds_is_refused():
    X, y = credit(60)
    with pytest.raises(
        ValueError, match="solver='lbfgs' does not support exponent_bounds: use solver='newton' or 'adam'"
    ):
        ECSELClassifier(n_terms=1, l1=0.1, solver="lbfgs", exponent_bounds=(-1, 1)).fit(X, y)
    model = ECSELClassifier(n_terms=1, l1=0.01, solver="lbfgs", fit_intercept=False, exponent_bounds=(-0.1, 0.1))
    assert max(map(abs, exponents(model.fit(X, y), "income"))) <= 0.1


@pytest.mark.parametrize("most", [1, 2, 3])
@pytest.mark.parametrize("options", [{"n_terms": 2, "l1": 1e-3}, {"max_terms": 2, "cv": 3}])
def test_no_more_columns_than_allowed(most, options, tmp_path):
    X, y = credit()
    model = ECSELClassifier(max_features=most, **options).fit(X, y)
    place = {feature.name: feature.column for feature in model.path_encoder_.features}
    for candidate in model.path_:
        used = {place[name] for equation in candidate.equations for name in equation.names}
        assert used <= {"income", "debt", "kind"}
        assert len(used) <= most
    assert (
        f"guaranteed: at most {most} column{'' if most == 1 else 's'}; the equations speak of 'income'"
        in model.summary()
    )
    model.save(tmp_path / "model.json")
    assert load(tmp_path / "model.json").summary() == model.summary()


def test_draws_choose_their_own_columns():
    X, y = credit(200)
    model = ECSELClassifier(n_terms=1, l1=1e-3, max_features=1).fit(X, y)
    found = model.stability(X, y, n_bootstrap=4)
    names = model.encoder_.feature_names
    assert all(
        len({n.split("=")[0] for n, used in zip(names, draw[0], strict=True) if used}) <= 1 for draw in found.used
    )
