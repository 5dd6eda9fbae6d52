"""Rounded coefficients: few digits, hardly any loss."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import expit

from ecsel.search import glm
from ecsel.search.losses import Logistic, Softmax, Squared
from ecsel.search.rounding import NATS, SHARE, round_to, rounded_coefficients


def digits_of(value):
    return len(f"{value:.14e}".split("e")[0].replace(".", "").replace("-", "").rstrip("0"))


@given(st.floats(1e-12, 1e12).flatmap(lambda v: st.sampled_from([v, -v])), st.integers(1, 6))
def test_rounding_to_digits(value, digits):
    found = round_to(value, digits)
    assert digits_of(found) <= digits
    assert (
        abs(found - value) <= 0.5000001 * 10.0 ** (np.floor(np.log10(abs(value))) - digits + 1) if value else found == 0
    )


def fitted(loss, n=500, seed=0, level=0.0):
    rng = np.random.default_rng(seed)
    x = np.vstack([rng.uniform(1, 9, n), rng.lognormal(0, 1, n), level + rng.normal(size=n)])
    z = -0.4 * x[0] + 0.9 * np.log(x[1]) + 1.3 * (x[2] - level)
    if loss.name == "squared":
        y = z + rng.normal(size=n)
    elif loss.name == "softmax":
        y = np.digitize(z + rng.normal(size=n), [-2, 0]).astype(float)
    else:
        y = (rng.random(n) < expit(z)) * 1.0
    owners = np.array([0, 1, 2]) if loss.n_scores == 3 else np.zeros(3, np.intp)
    w, ridge = np.ones(n), np.zeros(3)
    mean, scale = x.mean(axis=1), x.std(axis=1)
    exact = glm.fit(loss, (x - mean[:, None]) / scale[:, None], owners, y, w, ridge)
    coefficients = exact.coefficients / scale
    intercepts = exact.intercepts - np.bincount(owners, coefficients * mean, minlength=loss.n_scores)
    return x, owners, y, w, intercepts, coefficients, ridge


def total(loss, x, owners, y, w, intercepts, coefficients):
    scores = np.repeat(intercepts[:, None], x.shape[1], axis=1)
    for k, c in enumerate(owners):
        scores[c] += coefficients[k] * x[k]
    return w @ loss.values(scores, y)


@pytest.mark.parametrize("loss", [Logistic(), Softmax(3), Squared()], ids=lambda loss: loss.name)
@pytest.mark.parametrize("digits", [2, 3])
def test_the_loss_rises_by_no_more_than_is_allowed(loss, digits):
    *data, intercepts, coefficients, ridge = fitted(loss)
    b, c = rounded_coefficients(loss, *data, intercepts, coefficients, ridge, digits)
    before, after = total(loss, *data, intercepts, coefficients), total(loss, *data, b, c)
    assert after <= before + max(NATS, SHARE * before)
    assert max(map(digits_of, c)) <= digits + 1
    assert max(map(digits_of, b)) <= digits + 2


def test_others_make_up_for_what_one_loses():
    """Rounding one by one is better than rounding all at once."""
    loss = Logistic()
    *data, intercepts, coefficients, ridge = fitted(loss, n=4000, seed=3)
    b, c = rounded_coefficients(loss, *data, intercepts, coefficients, ridge, 2)
    at_once = total(
        loss, *data, np.array([round_to(v, 3) for v in intercepts]), np.array([round_to(v, 2) for v in coefficients])
    )
    assert total(loss, *data, b, c) <= at_once + 1e-9


@pytest.mark.parametrize(("constant", "vanishes"), [(0.0, True), (3.0, False)])
def test_an_intercept_that_is_not_needed_vanishes(constant, vanishes):
    rng = np.random.default_rng(0)
    x = rng.uniform(1, 5, (2, 300))
    y = constant + 2 * x[0] - 0.7 * x[1] + 0.5 * rng.normal(size=300)
    owners, w = np.zeros(2, np.intp), np.full(300, 4.0)
    exact = glm.fit(Squared(), x, owners, y, w, np.zeros(2))
    numbers = (owners, y, w, exact.intercepts, exact.coefficients, np.zeros(2), 2)
    b, c = rounded_coefficients(Squared(), x, *numbers, may_vanish=True)
    assert (b[0] == 0) == vanishes
    total = w @ Squared().values((b[0] + c @ x)[None], y)
    assert total <= exact.loss + max(NATS, SHARE * exact.loss)
    assert rounded_coefficients(Squared(), x, *numbers)[0][0] != 0


def test_a_column_far_from_zero_gets_the_digits_that_it_needs():
    loss = Logistic()
    *data, intercepts, coefficients, ridge = fitted(loss, n=2000, level=2000.0)
    b, c = rounded_coefficients(loss, *data, intercepts, coefficients, ridge, 2)
    before = total(loss, *data, intercepts, coefficients)
    assert total(loss, *data, b, c) <= before + max(NATS, SHARE * before)
    assert digits_of(c[2]) > 2


def test_zero_stays_zero():
    loss = Softmax(3)
    *data, intercepts, coefficients, ridge = fitted(loss)
    intercepts = intercepts - intercepts[1]
    b, _ = rounded_coefficients(loss, *data, intercepts, coefficients, ridge, 2)
    assert b[1] == 0
