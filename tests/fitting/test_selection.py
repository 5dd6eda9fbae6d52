"""Choosing terms and strength: honest losses, the path of strengths, and the smallest equation near the best."""

from dataclasses import replace

import numpy as np
import pytest

from ecsel.fitting import L1, PaperL1, Sigmoid, Softmax, selection
from ecsel.fitting.newton import minimise
from ecsel.fitting.report import Status
from ecsel.fitting.rows import content_folds
from ecsel.fitting.selection import NEAR_BEST, Candidates, choose, score_laws


def chosen(data, candidates, penalty=None, link=None, **options):
    return choose(*data, link or Sigmoid(), penalty or L1(0.0), candidates, content_folds(*data, 3), **options)[:2]


def test_strengths_fall_from_the_one_that_empties_the_model(make_table):
    choices, _ = chosen(make_table(), Candidates([1], None))
    strengths = [c.strength for c in choices]
    assert strengths == sorted(strengths, reverse=True)
    assert choices[0].size == 0
    assert choices[1].size > 0
    assert choices[-1].size >= choices[1].size


def test_losses_are_those_of_the_held_out_rows(make_table):
    data = u, codes, w = make_table()
    (only,), best = chosen(data, Candidates([1], [1e6]))
    assert best == 0
    expected = []
    for train, test in content_folds(*data, 3):
        p = train[codes == 1].sum() / train.sum()
        expected.append(-(test * np.log(np.where(codes == 1, p, 1 - p))).sum() / test.sum())
    assert only.size == 0
    assert only.loss == pytest.approx(np.mean(expected), rel=2e-3)
    assert score_laws(only.laws, u).shape == (1, len(w))


@pytest.mark.parametrize(("link", "n_classes"), [(Sigmoid(), 2), (Softmax(3), 3)])
@pytest.mark.parametrize(("penalty", "intercept"), [(L1(0.0), True), (L1(0.0), False), (PaperL1(0.0), True)])
def test_the_smallest_near_the_best_is_chosen(make_table, link, n_classes, penalty, intercept):
    data = make_table(n=150, n_classes=n_classes)
    choices, at = chosen(data, Candidates([1, 2], [0.1, 0.01]), penalty, link, intercept=intercept)
    assert [(c.n_terms, c.strength) for c in choices] == [(1, 0.1), (2, 0.1), (1, 0.01), (2, 0.01)]
    best = min(choices, key=lambda c: c.loss)
    near = [c for c in choices if c.loss <= best.loss + min(best.loss_se, NEAR_BEST * best.loss)]
    assert choices[at] in near
    assert choices[at].size == min(c.size for c in near)
    assert best.loss < np.log(n_classes)


def test_given_numbers_of_terms_need_not_start_at_one(make_table):
    choices, _ = chosen(make_table(), Candidates([3], [1e-2]))
    assert [c.n_terms for c in choices] == [3]
    assert choices[0].laws.exponents.shape == (1, 3, 3)


def needs_two_terms(n=400):
    """Rows of one class in two opposite corners: one term of one side cannot hold both."""
    rng = np.random.default_rng(0)
    u = rng.normal(size=(2, n))
    codes = (np.abs(u[0] + u[1]) + 0.3 * rng.normal(size=n) > 1.2).astype(np.intp)
    return u, codes, np.ones(n)


def test_more_terms_are_measured_where_the_most_clearly_win_and_are_never_chosen():
    data = needs_two_terms()
    choices, at = chosen(data, Candidates([1], [0.02, 0.01], beyond=[2, 3]))
    assert choices[at].n_terms == 1
    more = [c for c in choices if c.n_terms > 1]
    assert {c.n_terms for c in more} == {2, 3}
    assert min(c.loss for c in more) < 0.9 * choices[at].loss
    enough, _ = chosen(data, Candidates([1, 2, 3], [0.02, 0.01], beyond=[4]))
    assert max(c.n_terms for c in enough) == 3  # the third term brings nothing


def paths_of(selection):
    return [(c.n_terms, c.strength, c.loss, c.loss_se, c.laws.exponents.tobytes()) for c in selection.choices]


def test_threads_change_no_bit_of_a_choice(make_table):
    data = make_table(n_classes=3)
    sets = [np.array([True, True, False]), np.ones(3, dtype=bool)]
    one, two = (
        choose(
            *data,
            Softmax(3),
            L1(0.0),
            Candidates([1, 2], None),
            content_folds(*data, 3),
            feature_sets=sets,
            n_threads=n_threads,
        )
        for n_threads in (1, 2)
    )
    assert paths_of(one) == paths_of(two)
    assert one.best == two.best
    assert not one.interrupted


@pytest.mark.parametrize("n_threads", [1, 2])
def test_an_interrupt_leaves_what_was_measured_on_all_folds(make_table, n_threads):
    data, told = make_table(), []

    def tell(line):
        told.append(line)
        if len(told) == 20:  # within the second walk, with more terms
            raise KeyboardInterrupt

    sets = [np.array([True, True, False]), np.ones(3, dtype=bool)]
    several = Candidates([1, 2], np.geomspace(0.1, 0.01, 8).tolist())
    arguments = (*data, Sigmoid(), L1(0.0), several, content_folds(*data, 3))
    whole = choose(*arguments, feature_sets=sets, n_threads=n_threads)
    part = choose(*arguments, feature_sets=sets, n_threads=n_threads, tell=tell)
    assert part.interrupted
    assert 0 < len(part.choices) < len(whole.choices)
    assert len(paths_of(part)) == len(set(paths_of(part)))
    assert set(paths_of(part)) <= set(paths_of(whole))
    assert part.choices[part.best].loss == pytest.approx(min(c.loss for c in part.choices), rel=2 * NEAR_BEST)


def test_an_interrupt_before_anything_was_measured_is_raised(make_table, monkeypatch):
    def interrupt(problem, theta, stop):
        found = minimise(problem, theta, stop)
        return replace(found, status=Status.INTERRUPTED)

    monkeypatch.setattr(selection, "minimise", interrupt)
    with pytest.raises(KeyboardInterrupt):
        chosen(make_table(), Candidates([1, 2], None))
