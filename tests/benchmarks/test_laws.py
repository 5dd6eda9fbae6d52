"""The benchmark of laws: its tables are fixed by their seeds, its criterion asks for exactly the true monomials."""

import numpy as np
import pytest

from benchmarks.laws_data import FIRST_REPORTED, GROUPS, ONE, coverage_draws, is_found, srsd, two_laws
from benchmarks.laws_limit import is_likeliest, n_lost
from ecsel import ECSELRegressor


def test_the_same_seed_gives_the_same_tables():
    for name in ("srsd, 1 % noise", "outliers in 5 %", "kepler", "both signs, 5-6 terms"):
        one, other = (next(iter(GROUPS[name](7))) for _ in range(2))
        np.testing.assert_array_equal(one.target, other.target)
        assert one.group == name


def test_srsd_has_46_signomials_of_which_two_hide_terms_beyond_double_precision():
    tasks = list(srsd("clean", 0.0, FIRST_REPORTED))
    assert len(tasks) == 46
    assert {t.name for t in tasks if not t.visible} == {"B17", "II.36.38"}
    assert {t.name: n_lost(t) for t in tasks if n_lost(t)} == {"B17": 2, "II.36.38": 1}
    for task in tasks:
        values = np.sum([t.evaluate(task.table) for t in task.terms], axis=0)
        np.testing.assert_array_equal(values, task.target)


@pytest.mark.parametrize(
    ("form", "found"), [("k*a**1.5*b**-0.5", True), ("k*a**1.5", False), ("k*a**1.5*b**-0.5 + l*c", False)]
)
def test_exactly_the_true_monomials_count(form, found):
    task = next(two_laws("any", lambda clean, _: clean, 0))
    assert is_found(task, ECSELRegressor(form=form).fit(task.table, task.target)) == found


def test_random_signomials_have_as_many_terms_as_asked_for():
    for task in GROUPS["positive, 5-6 terms"](0):
        assert len(task.terms) <= 6
        assert len({frozenset(t.powers.items()) for t in task.terms}) == len(task.terms)
        assert (task.table.to_numpy() > 0).all()


def test_the_form_of_the_coverage_is_that_of_its_tables():
    task, form, truth = next(coverage_draws(1))
    model = ECSELRegressor(form=form, noise="constant").fit(task.table, ONE[0].evaluate(task.table))
    assert {c.name: pytest.approx(c.value) for c in model.law_.constants} == truth


def test_the_true_law_is_the_likeliest_without_noise_and_not_always_with_it():
    for task in two_laws("any", lambda clean, _: clean, 0):
        assert is_likeliest(task)
    loud = list(two_laws("any", lambda clean, rng: clean * np.exp(2.0 * rng.standard_normal(len(clean))), 0))
    assert not all(map(is_likeliest, loud))
