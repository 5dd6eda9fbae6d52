"""Which rows and folds a choice is made on: scale-free, content-based or given, thinned without losing a class."""

import numpy as np
import pytest
from sklearn.model_selection import GroupKFold, KFold, StratifiedKFold

from ecsel.estimators import choosing
from ecsel.estimators.choosing import choose_again, explicit_folds, thin, usable_folds
from ecsel.fitting.second_look import PAYS


def test_folds_are_as_many_as_the_rarest_class_fills():
    codes = np.array([0] * 20 + [1] * 3)
    assert usable_folds(5, codes, np.ones(23)) == 3
    assert usable_folds(2, codes, np.ones(23)) == 2
    assert usable_folds(5, codes, np.ones(23) / 23) == 3
    assert usable_folds(5, codes[[0, 20]], np.array([20.0, 3.0])) == 3
    assert usable_folds(5, np.array([0, 1]), np.ones(2)) == 2


def test_thinning_keeps_the_weight_of_every_class():
    rng = np.random.default_rng(0)
    codes = np.repeat([0, 1, 2], [9000, 990, 10])
    logs, weights = rng.normal(size=(2, 10_000)), rng.uniform(0.5, 2, 10_000)
    (few, classes, w), kept = thin((logs, codes, weights), 1000, 0)
    assert np.bincount(classes).tolist() == [900, 99, 10]
    np.testing.assert_allclose(np.bincount(classes, weights=w), np.bincount(codes, weights=weights))
    np.testing.assert_array_equal(few, logs[:, kept])
    assert (np.diff(kept) > 0).all()
    assert thin((logs, codes, weights), 10_000, 0)[0][0] is logs


@pytest.mark.parametrize("n", [1001, 1002, 5000])
def test_thinning_copes_with_a_class_of_one_row(n):
    codes = np.zeros(n, dtype=int)
    codes[7] = 1
    (_, classes, _), kept = thin((np.zeros((1, n)), codes, np.ones(n)), 1000, 0)
    assert 7 in kept
    assert np.bincount(classes)[1] == 1


def test_given_folds_are_masks_of_the_kept_rows():
    y, kept = np.arange(10) % 2, np.array([0, 3, 4, 9])
    weights = np.array([1.0, 2.0, 3.0, 4.0])
    folds = explicit_folds([([0, 1, 2, 3], [4, 9]), ([4, 9, 9], [0])], y, kept, weights)
    assert [[a.tolist(), b.tolist()] for a, b in folds] == [
        [[1.0, 2.0, 0.0, 0.0], [0.0, 0.0, 3.0, 4.0]],
        [[0.0, 0.0, 3.0, 4.0], [1.0, 0.0, 0.0, 0.0]],
    ]


@pytest.mark.filterwarnings("ignore:.*rows lie:UserWarning")
@pytest.mark.parametrize("kind", ["splitter", "list", "groups"])
def test_every_way_to_give_folds(make_numbers, quick, kind):
    X, y = make_numbers()
    groups = np.arange(len(y)) // 10
    given = {
        "splitter": StratifiedKFold(3, shuffle=True, random_state=0),
        "list": list(KFold(3).split(X)),
        "groups": list(GroupKFold(3).split(X, y, groups)),
    }[kind]
    model = quick(l1="auto", cv=given).fit(X, y)
    assert np.isfinite([c.loss for c in model.path_]).all()
    assert model.score(X, y) > 0.7


@pytest.mark.filterwarnings("ignore:.*rows lie:UserWarning")
@pytest.mark.parametrize("cv", [3, StratifiedKFold(3)])
def test_large_tables_choose_on_a_sample(monkeypatch, make_numbers, quick, cv):
    X, y = make_numbers(n=400, n_classes=3)
    whole = quick(l1="auto", cv=cv).fit(X, y)
    monkeypatch.setattr(choosing, "SELECTION_ROWS", 150)
    model = quick(l1="auto", cv=cv).fit(X, y)
    assert model.fit_report_.n_rows == 400
    assert model.score(X, y) == pytest.approx(whole.score(X, y), abs=0.1)
    judged = [candidate.n_rows for candidate in model.path_]
    assert judged[0] <= 160
    assert judged[-1] == pytest.approx(400 / 3, abs=3)
    assert model.out_of_fold_.n_rows == 400
    seen = [candidate for candidate in model.path_ if candidate.n_rows == judged[-1]]
    assert (model.n_terms_, model.l1_) in {(candidate.n_terms, candidate.l1) for candidate in seen}
    best = min(candidate.loss for candidate in seen)
    (own,) = {candidate.loss for candidate in seen if candidate.l1 == model.l1_}
    assert own <= best / (1 - PAYS)


@pytest.mark.parametrize("two_sided", [False, "auto"])
def test_the_last_fit_goes_on_from_the_second_look(monkeypatch, make_numbers, quick, two_sided):
    X, y = make_numbers(n=400)
    monkeypatch.setattr(choosing, "SELECTION_ROWS", 150)
    found = []

    def seen(*args, **more):
        found.append(choose_again(*args, **more))
        return found[-1]

    monkeypatch.setattr("ecsel.estimators.classifier.choose_again", seen)
    model = quick(l1="auto", cv=3, two_sided=two_sided).fit(X, y)
    (size,) = found
    assert (model.n_terms_, model.l1_) == (size.n_terms, size.l1)
    assert size.laws.exponents.shape[2] == len(model.path_encoder_.feature_names)
    assert len(model.fit_report_.spread) == 1  # one start, no growth


def test_what_is_given_stays_at_a_second_look(monkeypatch, make_numbers, quick):
    X, y = make_numbers(n=400)
    monkeypatch.setattr(choosing, "SELECTION_ROWS", 150)
    model = quick(n_terms="auto", l1=0.05, max_terms=2, cv=3).fit(X, y)
    assert {candidate.l1 for candidate in model.path_} == {0.05}
    assert quick(n_terms=1, l1="auto", cv=3).fit(X, y).n_terms_ == 1


@pytest.mark.filterwarnings("ignore:.*rows lie:UserWarning")
def test_a_choice_depends_neither_on_the_order_nor_on_the_scale_of_weights(make_numbers, quick):
    X, y = make_numbers()
    order = np.random.default_rng(0).permutation(len(y))
    model = quick(l1="auto", cv=3).fit(X, y)
    shuffled = quick(l1="auto", cv=3).fit(X[order], y[order])
    assert shuffled.equations_ == model.equations_
    scaled = quick(l1="auto", cv=3).fit(X, y, sample_weight=np.full(len(y), 0.25))
    assert scaled.l1_ == pytest.approx(model.l1_)
