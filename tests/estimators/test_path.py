"""The candidates of a selection: what is tried, what is chosen, and picking another."""

import numpy as np
import pytest

from ecsel import ECSELClassifier
from ecsel.estimators.path import Candidate, Path
from ecsel.signomial import Signomial

pytestmark = pytest.mark.filterwarnings("ignore:.*rows lie:UserWarning")


@pytest.fixture(scope="module")
def data():
    rng = np.random.default_rng(0)
    X = np.exp(rng.normal(size=(150, 3)))
    return X, (np.log(X[:, 0]) + rng.logistic(size=150) * 0.5 > 0).astype(int)


@pytest.fixture(scope="module")
def model(data):
    return ECSELClassifier(max_terms=2, cv=3, two_sided=False).fit(*data)  # one path; test_two_sided has both


def test_every_combination_is_a_candidate(model):
    assert {c.n_terms for c in model.path_} == {1, 2}
    strengths = sorted({c.l1 for c in model.path_}, reverse=True)
    assert len(model.path_) == 2 * len(strengths)
    np.testing.assert_allclose(np.diff(np.log(strengths)), np.log(strengths[1] / strengths[0]))
    for candidate in model.path_:
        assert candidate.size == sum(len(t.exponents) for e in candidate.equations for t in e.terms)
        assert candidate.loss_se > 0


def test_the_strongest_candidate_is_empty_and_has_the_loss_of_the_null_model(data, model):
    empty = next(c for c in model.path_ if c.n_terms == 1)
    share = data[1].mean()
    null = -(share * np.log(share) + (1 - share) * np.log(1 - share))
    assert empty.size <= 1
    assert empty.loss == pytest.approx(null, rel=0.03)


def test_the_smallest_candidate_near_the_best_is_chosen(model):
    best = min(model.path_, key=lambda c: c.loss)
    within = min(best.loss_se, 0.002 * best.loss)
    chosen = next(c for c in model.path_ if (c.n_terms, c.l1) == (model.n_terms_, model.l1_))
    assert chosen.loss <= best.loss + within
    assert chosen.size == min(c.size for c in model.path_ if c.loss <= best.loss + within)


def test_the_final_fit_is_that_of_the_chosen_options(data, model):
    X, y = data
    direct = ECSELClassifier(n_terms=model.n_terms_, l1=model.l1_, two_sided=False).fit(X, y)
    assert direct.equations_ == model.equations_


def test_another_candidate_is_a_model_of_its_own(data, model):
    X, _ = data
    before = model.predict_proba(X)
    for i in (0, len(model.path_) - 1, -1):
        other = model.select(i)
        assert tuple(other.equations_.values()) == model.path_[i].equations
        assert (other.n_terms_, other.l1_) == (model.path_[i].n_terms, model.path_[i].l1)
        z = np.broadcast_to(
            other.equations_[1](dict(zip(other.encoder_.feature_names, other.to_model_features(X).T, strict=True))),
            len(X),
        )
        np.testing.assert_allclose(other.decision_function(X), z, atol=1e-12)
        assert other.get_params() == model.get_params()
    np.testing.assert_array_equal(model.predict_proba(X), before)
    with pytest.raises(IndexError):
        model.select(len(model.path_))


def test_to_frame(model):
    frame = model.path_.to_frame()
    assert frame.columns.tolist() == ["n_terms", "l1", "size", "loss", "loss_se", "n_rows"]
    assert frame["loss"].tolist() == [c.loss for c in model.path_]


def test_plain_values_and_back():
    unvalidated = Candidate(1, 0.5, 2, np.nan, np.nan, (Signomial.parse("2*x**0.5 - 1"),))
    path = Path([unvalidated, Candidate(2, 0.1, 3, 0.4, 0.01, ())])
    assert path.to_plain()[0]["loss"] is None
    again = Path.from_plain(path.to_plain())
    assert again[1] == path[1]
    assert again[0].equations == path[0].equations
    assert np.isnan(again[0].loss)


def test_nothing_is_validated_where_both_are_given(data):
    model = ECSELClassifier(n_terms=1, l1=0.1).fit(*data)
    (only,) = model.path_
    assert np.isnan(only.loss)
    assert only.equations == tuple(model.equations_.values())
    assert model.select(0).equations_ == model.equations_
