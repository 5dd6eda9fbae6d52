"""Samples stand for all rows: shares, totals, and the fit that they lead to."""

import numpy as np
import pytest

from ecsel.fitting import L1, Logistic, Softmax, fit, fit_scores
from ecsel.fitting import large as large_fits
from ecsel.fitting.fit import FitOptions
from ecsel.fitting.rows.importance_sampling import draw_sample, joined, mean_root
from ecsel.fitting.rows.sampling import SampledCurvature, class_counts, pilot, row_uniforms


@pytest.fixture
def posed(make_table, make_problem):
    return make_problem(make_table(n=3000, n_classes=3), "softmax", n_terms=2)[0]


def shares(blocks):
    return np.bincount(blocks.codes, weights=blocks.w, minlength=3)


def test_the_numbers_of_rows_are_uniform_and_belong_to_positions():
    numbers = row_uniforms(0, 100_000, seed=3)
    assert numbers.min() >= 0
    assert numbers.max() < 1
    assert np.histogram(numbers, 10, (0, 1))[0] == pytest.approx(10_000, abs=500)
    assert abs(np.corrcoef(numbers[1:], numbers[:-1])[0, 1]) < 0.02
    assert abs(np.corrcoef(numbers, row_uniforms(0, 100_000, seed=4))[0, 1]) < 0.02
    np.testing.assert_array_equal(row_uniforms(70_000, 5, seed=3), numbers[70_000:70_005])


def test_a_pilot_is_balanced_and_weighted_back_to_the_shares(posed):
    counts = class_counts(posed.blocks, 3)
    pilots = [pilot(posed, counts, 300, seed).blocks for seed in range(60)]
    found = np.array([shares(small) for small in pilots])
    drawn = np.mean([np.bincount(small.codes, minlength=3) for small in pilots], axis=0)
    np.testing.assert_allclose(drawn, 100, atol=5)
    error = found.std(axis=0) / np.sqrt(len(found))
    assert (np.abs(found.mean(axis=0) - shares(posed.blocks)) <= 5 * error + 1e-4).all()


def test_a_pilot_takes_every_row_of_a_rare_class_and_none_of_weight_zero(make_table, make_problem):
    u, codes, w = make_table(n=500)
    codes = (np.arange(500) < 7).astype(int)
    w[:2] = 0.0
    problem = make_problem((u, codes, w))[0]
    counts = class_counts(problem.blocks, 2)
    assert counts.tolist() == [493, 5]
    small = pilot(problem, counts, 100, 0).blocks
    assert np.bincount(small.codes)[1] == 5
    assert small.w.sum() == pytest.approx(1)


def test_sampled_curvature_has_the_exact_objective_and_gradient(posed):
    theta = np.random.default_rng(1).normal(0, 0.4, posed.size)
    sample = joined(posed, [draw_sample(posed, theta, 600, 0, mean_root(posed, theta))])
    mixed = SampledCurvature.of(posed, sample)
    point, own = mixed.evaluate(theta), posed.evaluate(theta)
    assert point.objective == pytest.approx(own.objective, rel=1e-13)
    local, exact = mixed.derivatives(point), posed.derivatives(own)
    np.testing.assert_allclose(local.gradient, exact.gradient, atol=1e-13)
    np.testing.assert_array_equal(local.exact, sample.derivatives(sample.evaluate(theta)).exact)
    assert np.abs(local.exact - exact.exact).max() < 0.5 * np.abs(exact.exact).max()


@pytest.mark.parametrize(("loss", "n_classes"), [(Logistic(), 2), (Softmax(3), 3)])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_the_way_through_samples_ends_at_the_objective_of_all_rows(monkeypatch, make_table, loss, n_classes, dtype):
    u, codes, w = make_table(n=6000, n_classes=n_classes)
    data = u.astype(dtype), codes, w
    options = FitOptions(seed=0)
    everything = fit_scores(u, codes, w, loss, L1(1e-2), 2, options=options).report
    monkeypatch.setattr(fit, "PILOT_ROWS", (300, 400))
    by_pilot = fit_scores(*data, loss, L1(1e-2), 2, options=options).report
    monkeypatch.setattr(fit, "LARGE_FROM", 2000)
    monkeypatch.setattr(large_fits, "SAMPLE_ROWS", 2000)
    monkeypatch.setattr(large_fits, "SAMPLE_ROWS_PER_PARAMETER", 1)
    large = fit_scores(*data, loss, L1(1e-2), 2, options=options).report
    assert by_pilot.objective == pytest.approx(everything.objective, rel=1e-3)
    assert large.objective == pytest.approx(everything.objective, rel=1e-3)
    assert large.n_rows == 6000
