"""The candidates of a selection: what is tried, what is chosen, and picking another."""

import numpy as np
import pytest

from ecsel import ECSELClassifier
from ecsel.estimators.path import Candidate, Path
from ecsel.estimators.stored import as_node, read_path
from ecsel.signomial import Signomial

pytestmark = pytest.mark.filterwarnings("ignore:.*rows lie:UserWarning")


@pytest.fixture(scope="module")
def data():
    rng = np.random.default_rng(0)
    X = np.exp(rng.normal(size=(150, 3)))
    return X, (np.log(X[:, 0]) + X[:, 1] - 1.2 + rng.logistic(size=150) * 0.5 > 0).astype(int)


@pytest.fixture(scope="module")
def model(data):
    return ECSELClassifier(cv=3).fit(*data)


def test_candidates_are_a_front_from_none_to_many(model):
    sizes = [c.size for c in model.path_]
    assert sizes == sorted(set(sizes))
    assert len(sizes) > 2
    for candidate in model.path_:
        assert candidate.size == sum(equation.n_factors for equation in candidate.equations)
        assert candidate.n_terms == max(sum(not t.is_constant for t in e.terms) for e in candidate.equations)
        assert candidate.loss_se >= 0
        assert candidate.l1 is None
        assert candidate.n_rows == 150


def test_the_smallest_candidate_has_no_column_and_the_loss_of_the_null_model(data, model):
    empty = model.path_[0]
    share = data[1].mean()
    null = -(share * np.log(share) + (1 - share) * np.log(1 - share))
    assert empty.size == 0
    assert empty.loss == pytest.approx(null, rel=0.03)
    np.testing.assert_allclose(model.select(0).predict_proba(data[0])[:, 1], share, atol=0.01)


def test_the_model_is_a_candidate_that_the_folds_cannot_tell_from_the_best(model):
    own = next(i for i, c in enumerate(model.path_) if c.equations == tuple(model.equations_.values()))
    best = min(model.path_, key=lambda c: c.loss)
    assert own in model.near_ties_
    assert model.path_[own].loss <= best.loss + best.loss_se
    assert model.select(own).equations_ == model.equations_


def test_the_best_rule_spends_more_factors(data, model):
    best = ECSELClassifier(cv=3, rule="best").fit(*data)
    own = next(c for c in best.path_ if c.equations == tuple(best.equations_.values()))
    lowest = min(best.path_, key=lambda c: c.loss)
    assert own.loss <= lowest.loss + lowest.loss_se  # neighbouring sizes are smoothed before the choice
    assert own.size >= sum(e.n_factors for e in model.equations_.values())


def test_another_candidate_is_a_model_of_its_own(data, model):
    X, _ = data
    before = model.predict_proba(X)
    for i in (0, 1, len(model.path_) - 1, -1):
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
    assert frame.columns.tolist() == ["n_terms", "l1", "size", "loss", "loss_se", "n_rows", "smoothed_loss"]
    assert frame["smoothed_loss"].tolist() == [c.smoothed_loss for c in model.path_]
    assert frame["loss"].tolist() == [c.loss for c in model.path_]


def test_plain_values_and_back():
    unvalidated = Candidate(1, 0.5, 2, np.nan, np.nan, (Signomial.parse("2*x**0.5 - 1"),))
    path = Path([unvalidated, Candidate(2, 0.1, 3, 0.4, 0.01, (Signomial.parse("x - 2/x"),))])
    assert path.to_plain()[0]["loss"] is None
    again = read_path(as_node(path.to_plain(), "path"), ["x"], 1)
    assert again[1] == path[1]
    assert again[0].equations == path[0].equations
    assert np.isnan(again[0].loss)


def test_nothing_is_validated_where_both_are_given(data):
    model = ECSELClassifier(n_terms=1, l1=0.1).fit(*data)
    (only,) = model.path_
    assert np.isnan(only.loss)
    assert only.equations == tuple(model.equations_.values())
    assert model.select(0).equations_ == model.equations_
