"""One pass tells the objective and draws rows; what is drawn, alone or joined, stands for all rows."""

from dataclasses import replace

import numpy as np
import pytest

from ecsel.fitting import ArrayBlocks
from ecsel.fitting.rows import blocks
from ecsel.fitting.rows.importance_sampling import draw_sample, joined, mean_root


@pytest.fixture
def posed(make_table, make_problem):
    return make_problem(make_table(n=3000, n_classes=3), "softmax", n_terms=2)[0]


@pytest.fixture
def theta(posed):
    return np.random.default_rng(1).normal(0, 0.4, posed.size)


def test_a_profile_tells_the_objective_and_the_mean_root_of_all_rows(posed, theta):
    root = np.sqrt(posed.sums.loss_and_errors(theta, posed.blocks.map(lambda block: block)[0])[1])
    point = draw_sample(posed, theta, 600, 0, expected=1e-9)
    assert point.objective == pytest.approx(posed.objective(theta), rel=1e-12)
    assert point.mean_root == pytest.approx(mean_root(posed, theta), rel=1e-12)
    assert point.mean_root == pytest.approx(posed.blocks.w @ root, rel=1e-12)


@pytest.mark.parametrize("factor", [1e-3, 1.0])
def test_a_sample_tells_the_loss_of_all_rows_also_where_too_many_were_expected(posed, theta, factor):
    """A mean that was expected too small draws too many rows, which are thinned."""
    expected = factor * mean_root(posed, theta)
    samples = [joined(posed, [draw_sample(posed, theta, 600, seed, expected)]) for seed in range(40)]
    losses = [sample.evaluate(theta).loss for sample in samples]
    assert np.mean(losses) == pytest.approx(posed.evaluate(theta).loss, abs=5 * np.std(losses) / np.sqrt(40) + 2e-3)
    assert np.mean([sample.blocks.n_rows for sample in samples]) == pytest.approx(600, rel=0.1)


def test_thinning_leaves_the_rows_that_a_right_guess_would_have_drawn(posed, theta):
    right, small = (draw_sample(posed, theta, 600, 3, factor * mean_root(posed, theta)) for factor in (1.0, 0.01))
    np.testing.assert_array_equal(right.drawn.v, small.drawn.v)


def test_joined_importance_samples_tell_the_loss_at_either_point(posed, theta):
    """Also far from the point where most rows were drawn, and with the right total weight."""
    other = -3 * theta
    exact = [posed.evaluate(at).loss for at in (theta, other)]
    found = []
    for seed in range(40):
        points = [
            draw_sample(posed, at, 300, 2 * seed + i, mean_root(posed, at)) for i, at in enumerate((theta, other))
        ]
        sample = joined(posed, points)
        assert sample.blocks.w.sum() == pytest.approx(1)
        found.append([sample.evaluate(at).loss for at in (theta, other)])
    std = np.std(found, axis=0)
    assert (np.abs(np.mean(found, axis=0) - exact) <= 5 * std / np.sqrt(40) + 2e-3).all()


def test_the_same_rows_are_drawn_however_they_are_cut(monkeypatch, posed, theta):
    expected = mean_root(posed, theta)
    whole = joined(posed, [draw_sample(posed, theta, 600, 5, expected)]).blocks
    monkeypatch.setattr(blocks, "TILE_ROWS", 128)
    again = replace(posed, blocks=ArrayBlocks(posed.blocks.v, posed.blocks.codes, posed.blocks.w))
    cut = joined(again, [draw_sample(again, theta, 600, 5, expected)]).blocks
    np.testing.assert_array_equal(cut.v, whole.v)
    np.testing.assert_allclose(cut.w, whole.w, rtol=1e-12)
