"""The second look: which steps there are, when they are taken, and that it ends at the best of what it saw."""

import numpy as np
import pytest

from ecsel.fitting import L1, Sigmoid, fit_scores, second_look
from ecsel.fitting.fit import FitOptions
from ecsel.fitting.rows import content_folds
from ecsel.fitting.second_look import PAYS, WEAKER, Step, Steps, look_again
from ecsel.fitting.selection import score_laws

ALL, FEW = np.array([True, True, True]), np.array([True, True, False])


def test_the_steps_are_weaker_one_more_term_and_more_features():
    steps = Steps(3, 1e-4, ALL)
    weaker, term, wide = steps.after(Step(2, 0.1, FEW))
    assert (weaker.n_terms, weaker.strength) == (2, WEAKER * 0.1)
    assert (term.n_terms, term.strength) == (3, WEAKER * 0.1)
    assert wide.features is ALL
    assert [step.n_terms for step in steps.after(Step(3, 2e-4, ALL))] == [3]
    assert next(steps.after(Step(3, 2e-4, ALL))).strength == 1e-4
    assert list(steps.after(Step(3, 1e-4, ALL))) == []


def test_a_given_strength_stays():
    (term,) = Steps(2, 0.5, ALL).after(Step(1, 0.5, ALL))
    assert (term.n_terms, term.strength) == (2, 0.5)


@pytest.fixture
def rows(make_table):
    u, codes, _ = make_table(n=3000, n_classes=2)
    return u, codes, np.ones(3000)


def seen_from(rows, start, steps):
    fold = content_folds(*rows, 4)[0]
    options = FitOptions(seed=0)
    choices, at = look_again(rows, fold, Sigmoid(), L1, start, steps, intercept=True, options=options)
    return fold, choices, at


def test_every_choice_is_judged_on_rows_that_its_fit_has_not_seen(rows):
    features = np.ones(len(rows[0]), dtype=bool)
    fold, choices, _ = seen_from(rows, Step(1, 0.05, features), Steps(2, 1e-3, features))
    u, codes, _ = rows
    train, test = (np.flatnonzero(part) for part in fold)
    assert not set(train) & set(test)
    for choice in choices:
        laws = fit_scores(
            u[:, train],
            codes[train],
            fold[0][train],
            Sigmoid(),
            L1(choice.strength),
            choice.n_terms,
            options=FitOptions(seed=0),
        ).laws
        z = score_laws(laws, u[:, test])[0]
        expected = np.mean(np.log1p(np.exp(-np.where(codes[test] == 1, z, -z))))
        assert choice.loss == pytest.approx(expected, rel=1e-9)
        assert choice.size == np.count_nonzero(laws.exponents)


def test_it_goes_from_too_strong_a_penalty_to_one_that_pays(rows):
    features = np.ones(len(rows[0]), dtype=bool)
    _, choices, at = seen_from(rows, Step(1, 0.3, features), Steps(3, 1e-4, features))
    assert choices[at].strength < 0.3
    assert choices[at].loss < (1 - PAYS) * choices[0].loss
    assert choices[at].loss <= min(choice.loss for choice in choices) / (1 - PAYS)


def test_it_stays_where_no_step_pays(monkeypatch, rows):
    monkeypatch.setattr(second_look, "PAYS", 0.9)
    features = np.ones(len(rows[0]), dtype=bool)
    _, choices, at = seen_from(rows, Step(1, 0.05, features), Steps(2, 1e-4, features))
    assert at == 0
    assert len(choices) == 3


def test_features_that_took_no_part_have_exponents_of_zero(rows):
    features = np.ones(len(rows[0]), dtype=bool)
    narrow = features.copy()
    narrow[0] = False
    _, choices, _ = seen_from(rows, Step(1, 0.05, narrow), Steps(1, 0.05, features))
    assert (choices[0].laws.exponents[:, :, 0] == 0).all()
    assert (choices[1].laws.exponents[:, :, 0] != 0).any()
