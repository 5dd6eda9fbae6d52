"""Finished laws: rounding, standard errors, leave-one-out, the front."""

import numpy as np
import pytest

from ecsel.discovery.criterion import STRONG_EVIDENCE, Criterion
from ecsel.discovery.discover import discover, independent_columns
from ecsel.discovery.front import leave_one_out
from ecsel.discovery.lattice import Lattice
from ecsel.discovery.law import LOUD, SAVED_WHERE_LOUD, finish
from ecsel.discovery.model import Problem, Structure
from ecsel.discovery.numbers import REAL, simple_numbers
from ecsel.discovery.options import Options
from ecsel.discovery.ranking import Ranking, simplest_of_the_best
from ecsel.discovery.rows import Rows


def problem_of(X, y):
    rows = Rows.from_table(X, y)
    return Problem(rows, Criterion(len(rows), rows.energy), Lattice.build(signed=rows.signed, has_zero=rows.has_zero))


@pytest.fixture
def line():
    rng = np.random.default_rng(0)
    X = rng.uniform(1, 5, (40, 1))
    return X, 0.5 * X[:, 0] + 1.2345 + rng.normal(0, 0.01, 40)


LINE = Structure(np.array([[1.0], [0.0]]), np.array([[1], [0]], dtype=np.int8))


def test_standard_errors_are_those_of_linear_regression(line):
    X, y = line
    law = finish(problem_of(X, y), LINE, round_coefficients=False)
    design = np.column_stack([X[:, 0], np.ones(40)])
    theta, rss = np.linalg.lstsq(design, y)[:2]
    np.testing.assert_allclose(law.coefficients, theta)
    np.testing.assert_allclose(law.covariance, np.linalg.inv(design.T @ design) * rss / 38, rtol=1e-9)


def test_a_coefficient_is_rounded_only_where_the_data_support_it(line):
    law = finish(problem_of(*line), LINE)
    assert law.rounded[0]
    assert law.coefficients[0] == 0.5
    assert abs(law.coefficients[1] - 1.2345) < 0.01


@pytest.mark.parametrize("noise", [0.01, 1.0])
def test_simple_coefficients_save_little_where_the_noise_is_loud(noise):
    """With an error of a fifth every number is near a simple one, so that a law gains nothing by having simple ones."""
    rng = np.random.default_rng(3)
    X = rng.uniform(1, 5, (40, 1))
    y = X[:, 0] + 1.0 + noise * rng.standard_normal(40)
    problem = problem_of(X, y)
    real, simple = finish(problem, LINE, round_coefficients=False), finish(problem, LINE)
    saved, is_loud = real.shortest - simple.shortest, real.rss > LOUD * problem.rows.energy
    assert is_loud == (noise == 1.0)
    assert simple.rounded.all()
    assert saved > 0
    degrees_of_freedom = 20 * np.log(40 / 38)  # what two numbers fewer to estimate save by themselves
    assert (saved <= 2 * SAVED_WHERE_LOUD + degrees_of_freedom) == is_loud


def test_rounding_conditions_the_other_coefficients(line):
    X, y = line
    law = finish(problem_of(X, y), LINE)
    if not law.rounded[1]:
        np.testing.assert_allclose(law.coefficients[1], np.mean(y - 0.5 * X[:, 0]), rtol=1e-9)


def test_leave_one_out_equals_refitting_without_each_row(line):
    X, y = line
    problem = problem_of(X, y)
    law = finish(problem, LINE, round_coefficients=False)
    design = np.column_stack([X[:, 0], np.ones(40)])
    errors = []
    for i in range(40):
        keep = np.arange(40) != i
        errors.append(y[i] - design[i] @ np.linalg.lstsq(design[keep], y[keep])[0])
    np.testing.assert_allclose(leave_one_out(problem, law), np.mean(np.square(errors)), rtol=1e-8)


def test_nine_ill_determined_coefficients_round_jointly():
    rng = np.random.default_rng(0)
    x = rng.uniform(-1, 1, (60, 1))
    degrees = np.arange(1, 7)[:, None]
    y = np.sum(x**degrees.T, axis=1) + rng.normal(0, 0.01, 60)
    law = finish(problem_of(x, y), Structure(degrees.astype(float), (degrees % 2).astype(np.int8)))
    np.testing.assert_array_equal(law.coefficients, np.ones(6))


def test_the_simplest_of_nearly_equal_laws_is_taken(line):
    problem = problem_of(*line)
    best = finish(problem, LINE)
    longer = finish(problem, LINE.join(Structure(np.array([[3.0]]), np.array([[1]], dtype=np.int8))))
    assert longer.code_length > best.code_length - STRONG_EVIDENCE
    assert simplest_of_the_best(sorted([best, longer], key=lambda law: law.code_length)) is best


def test_idle_terms_are_dropped_one_after_the_other(line):
    """A search may arrive at a law with more than one term too many."""
    ranking = Ranking(problem_of(*line))
    idle = Structure(np.array([[2.0], [3.0], [-1.0]]), np.array([[0], [1], [1]], dtype=np.int8))
    ranking.finish(LINE.join(idle))
    ranking.drop_terms(lambda law: len(law) > 0)
    assert ranking.laws()[0].structure.key() == LINE.key()
    given = Ranking(problem_of(*line))
    given.finish(LINE.join(idle))
    given.drop_terms(lambda law: len(law) == 5)
    assert len(given.laws()) == 1


@pytest.mark.parametrize("errors_away", np.linspace(0.0, 5.0, 21))
def test_a_further_digit_needs_strong_evidence(errors_away):
    """A constant lies so many standard errors from 0.23, beside a large term that makes real numbers expensive.

    The deviations are orthogonal to both, so that the residual of every way to write the constant is known.
    """
    x = np.linspace(1, 5, 100)
    basis = np.linalg.qr(np.column_stack([np.ones(100), x, np.random.default_rng(3).normal(size=100)]))[0]
    deviation = 0.1 * basis[:, 2]
    problem = problem_of(x[:, None], 1e4 * x + 0.23 + errors_away * 0.001 + deviation)
    law = finish(problem, LINE)
    assert law.coefficients[0] == 1e4
    mean = 0.23 + errors_away * 0.001
    values = np.array([float(f"{mean:.{digits}g}") for digits in (1, 2, 3, 4)])
    slope = min(c for v, c in zip(*(a[0] for a in simple_numbers(np.array([1e4]))), strict=True) if v == 1e4)
    costs = [1.8 + 2.3 * digits + 0.8 for digits in (1, 2, 3, 4)]
    lengths = problem.criterion.data(0.01 + 100 * (values - mean) ** 2, 0) + costs + slope + law.structure_cost
    real = float(problem.criterion.data(0.01, 1)) + REAL + slope + law.structure_cost
    assert law.shortest == pytest.approx(min(lengths.min(), real), abs=1e-3)
    if lengths.min() < real:
        expected = values[np.flatnonzero(lengths <= lengths.min() + STRONG_EVIDENCE)[0]]
        assert law.coefficients[1] == expected
        assert law.shortest <= law.code_length <= law.shortest + STRONG_EVIDENCE
    else:
        assert law.coefficients[1] == pytest.approx(mean)


def test_columns_that_cannot_have_an_exponent_are_left_out():
    x = np.array([1.0, 2.0, 4.0])
    assert independent_columns(np.column_stack([x, 3 * x, np.ones(3), x[::-1], np.zeros(3)])).tolist() == [0, 3]


def test_the_front_improves_with_size():
    rng = np.random.default_rng(5)
    X = rng.uniform(1, 5, (80, 2))
    found = discover(X, X[:, 0] * X[:, 1] + 2 * X[:, 1] ** 2 + rng.normal(0, 0.01, 80), options=Options(seed=1))
    sizes, errors = [law.complexity for law in found.front], [law.rss for law in found.front]
    assert sizes == sorted(set(sizes))
    assert errors == sorted(errors, reverse=True)
    assert found.law.structure.key() in {law.structure.key() for law in found.front}


def test_a_large_table_is_searched_on_a_sample_and_fitted_on_all_rows():
    rng = np.random.default_rng(2)
    X = rng.uniform(1, 5, (30_000, 4))
    y = 1.37 * X[:, 0] ** 2 / X[:, 1] + rng.normal(0, 0.1, 30_000)
    law = discover(X, y).law
    assert law.structure.exponents.tolist() == [[2.0, -1.0, 0.0, 0.0]]
    assert np.sqrt(law.covariance[0, 0]) < 2 * 0.1 / np.sqrt(np.sum((X[:, 0] ** 2 / X[:, 1]) ** 2))
