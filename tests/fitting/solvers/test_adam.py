"""The paper's trainer: descent, seeds, early stopping, clipping, bounds, and options that are refused."""

from dataclasses import replace
from functools import partial

import numpy as np
import pytest
from sklearn.datasets import load_iris

from ecsel import ECSELClassifier
from ecsel.fitting import L1, MCP, Adam, Logistic, PaperL1, Status, fit_scores
from ecsel.fitting.fit import FitOptions
from ecsel.fitting.solvers.adam import _batch_step, _compiled_epoch, _epoch, _Moments, minimise_adam

QUICK = Adam(learning_rate=0.03, epochs=40, restarts=1)


def fit(data, options=QUICK, seed=0, penalty=None, **more):
    return fit_scores(*data, Logistic(), penalty or PaperL1(1e-3), 2, options=FitOptions(options, seed=seed), **more)


@pytest.mark.parametrize("intercept", [True, False])
def test_training_lowers_the_loss_far_below_the_null_model(make_table, intercept):
    data = make_table(n=400)
    shares = np.bincount(data[1], weights=data[2]) / data[2].sum()
    null = -(shares * np.log(shares)).sum()
    report = fit(data, intercept=intercept).report
    assert report.solver == "adam"
    assert report.loss < 0.8 * null


def test_the_same_seed_gives_the_same_bits_and_another_seed_another_fit(make_table):
    data = make_table()
    one, two, three = (fit(data, seed=s).terms.exponents for s in (1, 1, 2))
    assert one.tobytes() == two.tobytes()
    assert one.tobytes() != three.tobytes()


def test_patience_stops_a_run_and_keeps_its_best_epoch(make_table):
    data, seen = make_table(), []
    report = fit(
        data, Adam(learning_rate=0.3, epochs=400, patience=5, restarts=1), watch=lambda *s: seen.append(s)
    ).report
    assert report.status is Status.EARLY
    assert not report.converged
    epochs, losses, _ = zip(*seen, strict=True)
    assert report.iterations == epochs[-1] < 400
    assert int(np.argmin(losses)) + 1 == epochs[-1] - 5


def test_running_out_of_epochs_is_reported(make_table):
    report = fit(make_table(), replace(QUICK, epochs=3)).report
    assert report.status is Status.MAX_ITER
    assert report.iterations == 3


def test_an_interrupt_keeps_the_best_epoch_and_ends_the_restarts(make_table, make_problem):
    problem = make_problem(make_table(), penalty=PaperL1(1e-3))[0]
    seen = []

    def watch(epoch, loss, residual):
        del residual
        seen.append((epoch, loss))
        if len(seen) == 13:
            raise KeyboardInterrupt

    outcome, reached = minimise_adam(
        problem, problem.blocks, replace(QUICK, epochs=10, restarts=3), np.random.default_rng(0), watch
    )
    assert outcome.status is Status.INTERRUPTED
    assert len(reached) == 2
    assert len(seen) == 13


@pytest.mark.filterwarnings("ignore:.*stopped:sklearn.exceptions.ConvergenceWarning")
def test_one_term_a_class_learns_from_every_seed():
    X, y = load_iris(return_X_y=True)
    made = {"n_terms": 1, "l1": 1e-3, "penalty": "paper", "fit_intercept": False, "two_sided": False}
    trainer = Adam(learning_rate=0.01, batch_size=32, epochs=100, restarts=1)
    for seed in range(6):
        model = ECSELClassifier(**made, solver=trainer, random_state=seed).fit(X, y)
        assert model.fit_report_.loss < 0.2  # a term of the wrong sign stays above


def test_restarts_are_all_reported_and_the_best_by_validation_is_kept(make_table):
    report = fit(make_table(), replace(QUICK, epochs=5, restarts=4)).report
    assert len(report.objective_spread) == 4
    assert list(report.objective_spread) == sorted(report.objective_spread)
    assert min(report.objective_spread) <= report.objective <= max(report.objective_spread) * (1 + 1e-9)


@pytest.mark.parametrize("start", [1.5, 0.0])
@pytest.mark.parametrize("clip", [1e-3, 1.0])
def test_the_gradient_is_clipped_before_the_moments(make_table, make_problem, clip, start):
    problem = make_problem(make_table(), penalty=PaperL1(0.5))[0]
    theta = np.full(problem.size, start)
    raw = problem.value_and_gradient(theta)[1] + problem.l1 * np.sign(theta)
    moments = _Moments(np.zeros_like(theta), np.zeros_like(theta))
    options = replace(QUICK, clip_norm=clip)
    moved = _batch_step(problem, theta, moments, options)
    clipped = raw * min(1, clip / np.linalg.norm(raw))
    np.testing.assert_allclose(moments.first, 0.1 * clipped, rtol=1e-12)
    np.testing.assert_allclose(moments.second, 1e-3 * clipped**2, rtol=1e-10)
    # The first step of Adam has the length of the learning rate in every coordinate.
    np.testing.assert_allclose(moved, theta - QUICK.learning_rate * clipped / (np.abs(clipped) + 1e-8), rtol=1e-9)


def test_coefficients_stay_within_their_bound(make_table):
    result = fit(make_table(), replace(QUICK, learning_rate=0.5), penalty=PaperL1(1e-3, 0.7))
    assert np.abs(result.terms.to_powers()[1]).max() <= 0.7 * (1 + 1e-12)


def test_no_validation_rows_means_all_rows_serve_for_both(make_table):
    assert fit(make_table(n=12), replace(QUICK, validation_fraction=0.0)).report.loss < np.log(2)


@pytest.mark.parametrize(
    "option",
    [
        {"learning_rate": 0},
        {"learning_rate": float("nan")},
        {"batch_size": 0},
        {"batch_size": 2.5},
        {"epochs": -1},
        {"patience": 0},
        {"clip_norm": 0.0},
        {"restarts": 0},
        {"validation_fraction": 1.0},
        {"validation_fraction": -0.1},
        {"betas": (0.9, 1.0)},
        {"betas": (0.9,)},
    ],
    ids=str,
)
def test_senseless_options_are_refused_by_name(option):
    with pytest.raises(ValueError, match=next(iter(option))):
        Adam(**option)


@pytest.mark.needs_kernel
@pytest.mark.parametrize("batch_size", [1, 7, 64, 5000])
@pytest.mark.parametrize("penalty", [PaperL1(1e-2, 0.6), L1(1e-2)], ids=["paper", "l1"])
@pytest.mark.parametrize("loss", ["sigmoid", "softmax"])
def test_a_compiled_epoch_is_that_of_its_twin(make_table, make_problem, loss, penalty, batch_size):
    data = make_table(n=150, n_classes=3 if loss == "softmax" else 2)
    problem = make_problem(data, loss, penalty, 2)[0]
    options, rng = replace(QUICK, batch_size=batch_size), np.random.default_rng(0)
    start = problem.within(rng.normal(0, 0.5, problem.size))
    compiled = _compiled_epoch(problem, problem.blocks, options)
    ends = []
    for epoch in (compiled, partial(_epoch, problem, problem.blocks, options)):
        theta, moments, order = start, _Moments(np.zeros(problem.size), np.zeros(problem.size)), np.arange(150)[::-1]
        for _ in range(3):
            theta = epoch(theta, order.copy(), moments)
        assert moments.steps == 3 * -(-150 // batch_size)
        ends.append((theta, moments.first, moments.second))
    for found, wanted in zip(*ends, strict=True):
        np.testing.assert_allclose(found, wanted, rtol=1e-7, atol=1e-10)


@pytest.mark.needs_kernel
def test_an_order_that_names_no_rows_is_refused(make_table, make_problem):
    problem = make_problem(make_table(n=50), penalty=PaperL1(1e-2))[0]
    epoch = _compiled_epoch(problem, problem.blocks, QUICK)
    moments = _Moments(np.zeros(problem.size), np.zeros(problem.size))
    with pytest.raises(ValueError, match="the order names rows alone"):
        epoch(np.zeros(problem.size), np.arange(1, 51), moments)


def test_penalties_that_the_kernel_does_not_know_train_on_numpy(make_table, make_problem):
    problem = make_problem(make_table(n=50), penalty=L1(1e-2, MCP()))[0]
    assert _compiled_epoch(problem, problem.blocks, QUICK) is None
