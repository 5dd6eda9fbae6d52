"""Samples stand for all rows: shares, totals, and the fit that they lead to."""

import numpy as np
import pytest

from ecsel.fitting import L1, Sigmoid, Softmax, fit, fit_scores
from ecsel.fitting.fit import FitOptions
from ecsel.fitting.sampling import SampledCurvature, error_probabilities, importance, pilot


@pytest.fixture
def posed(make_table, make_problem):
    return make_problem(make_table(n=3000, n_classes=3), "softmax", n_terms=2)[0]


def shares(blocks):
    return np.bincount(blocks.codes, weights=blocks.w, minlength=3)


def test_a_pilot_is_balanced_and_weighted_back_to_the_shares(posed):
    found = np.array(
        [
            shares(pilot(posed, posed.blocks.codes, posed.blocks.w, 300, np.random.default_rng(s)).blocks)
            for s in range(60)
        ]
    )
    counts = np.bincount(pilot(posed, posed.blocks.codes, posed.blocks.w, 300, np.random.default_rng(0)).blocks.codes)
    np.testing.assert_array_equal(counts, 100)
    error = found.std(axis=0) / np.sqrt(len(found))
    assert (np.abs(found.mean(axis=0) - shares(posed.blocks)) <= 5 * error + 1e-4).all()


def test_a_pilot_takes_every_row_of_a_rare_class_and_none_of_weight_zero(make_table, make_problem):
    u, codes, w = make_table(n=500)
    codes = (np.arange(500) < 7).astype(int)
    w[:2] = 0.0
    problem = make_problem((u, codes, w))[0]
    small = pilot(problem, codes, problem.blocks.w, 100, np.random.default_rng(0)).blocks
    assert np.bincount(small.codes).tolist() == [50, 5]
    np.testing.assert_allclose(small.w[small.codes == 1].sum(), problem.blocks.w[codes == 1].sum(), rtol=0.05)


def test_importance_weights_sum_to_the_total_in_the_mean(posed):
    theta = np.random.default_rng(1).normal(0, 0.4, posed.size)
    error = error_probabilities(posed, theta)
    w = posed.blocks.w
    wish = (0.9 * np.sqrt(error) + 0.1) * np.sqrt(w / w.mean())
    chance = np.minimum(wish * 600 / wish.sum(), 1)
    totals, losses = [], []
    for s in range(40):
        rows = np.flatnonzero(np.random.default_rng(s).random(len(chance)) < chance)
        totals.append((w[rows] / chance[rows]).sum())
        sample = importance(posed, theta, w, 600, np.random.default_rng(s))
        np.testing.assert_allclose(sample.blocks.w, w[rows] / chance[rows] / totals[-1], rtol=1e-10)
        losses.append(sample.evaluate(theta).loss)
    assert np.mean(totals) == pytest.approx(1, abs=5 * np.std(totals) / np.sqrt(40))
    assert np.mean(losses) == pytest.approx(posed.evaluate(theta).loss, abs=5 * np.std(losses) / np.sqrt(40) + 2e-3)


@pytest.mark.parametrize("link", ["sigmoid", "softmax"])
def test_error_probabilities_are_those_of_the_model(make_table, make_problem, link):
    data = make_table(n=50, n_classes=3 if link == "softmax" else 2)
    problem = make_problem(data, link)[0]
    theta = np.random.default_rng(1).normal(0, 0.4, problem.size)
    # ∂ℓ/∂weight of a row is its loss −log(1 − error).
    error = error_probabilities(problem, theta)
    assert problem.blocks.w @ -np.log1p(-error) == pytest.approx(problem.evaluate(theta).loss, rel=1e-12)


def test_sampled_curvature_has_the_exact_objective_and_gradient(posed):
    theta = np.random.default_rng(1).normal(0, 0.4, posed.size)
    sample = importance(posed, theta, posed.blocks.w, 600, np.random.default_rng(0))
    joined = SampledCurvature.of(posed, sample)
    point, own = joined.evaluate(theta), posed.evaluate(theta)
    assert point.objective == pytest.approx(own.objective, rel=1e-13)
    local, exact = joined.derivatives(point), posed.derivatives(own)
    np.testing.assert_allclose(local.gradient, exact.gradient, atol=1e-13)
    np.testing.assert_array_equal(local.exact, sample.derivatives(sample.evaluate(theta)).exact)
    assert np.abs(local.exact - exact.exact).max() < 0.5 * np.abs(exact.exact).max()


@pytest.mark.parametrize(("link", "n_classes"), [(Sigmoid(), 2), (Softmax(3), 3)])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_the_way_through_samples_ends_at_the_objective_of_all_rows(monkeypatch, make_table, link, n_classes, dtype):
    u, codes, w = make_table(n=6000, n_classes=n_classes)
    data = u.astype(dtype), codes, w
    options = FitOptions(seed=0)
    everything = fit_scores(u, codes, w, link, L1(1e-2), 2, options=options).report
    monkeypatch.setattr(fit, "PILOT_ROWS", (300, 400))
    by_pilot = fit_scores(*data, link, L1(1e-2), 2, options=options).report
    monkeypatch.setattr(fit, "SAMPLE_ROWS", 2000)
    large = fit_scores(*data, link, L1(1e-2), 2, options=options).report
    assert by_pilot.objective == pytest.approx(everything.objective, rel=1e-3)
    assert large.objective == pytest.approx(everything.objective, rel=1e-3)
    assert large.n_rows == 6000
