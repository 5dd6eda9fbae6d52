"""The code length of data."""

import numpy as np

from ecsel.discovery.criterion import Criterion, order_credit


def test_scaling_the_target_shifts_every_code_length_alike():
    one, two = Criterion(50, 10.0), Criterion(50, 40.0)
    shift = two.data(4.0, 3) - one.data(1.0, 3)
    np.testing.assert_allclose(two.data(2.0, 5) - one.data(0.5, 5), shift)
    np.testing.assert_allclose(shift, 25 * np.log(4))


def test_an_extra_parameter_costs_more_where_the_signal_is_stronger():
    weak, strong = Criterion(100, 10.0), Criterion(100, 1e6)
    assert strong.parameter_price(1.0, 2) > weak.parameter_price(1.0, 2)
    assert strong.data(1.0, 3) - strong.data(1.0, 2) > weak.data(1.0, 3) - weak.data(1.0, 2)


def test_too_many_parameters_are_refused():
    assert np.isinf(Criterion(5, 1.0).data(0.1, 4))
    assert np.isfinite(Criterion(5, 1.0).data(0.1, 3))


def test_known_noise_counts_residuals_in_its_units():
    known = Criterion(100, 1e4, noise_variance=4.0)
    np.testing.assert_allclose(known.data(800.0, 2) - known.data(400.0, 2), 50.0, rtol=0.02)


def test_a_perfect_fit_has_a_finite_length():
    assert np.isfinite(Criterion(20, 1.0).data(0.0, 2))


def test_order_credit_is_log_factorial():
    np.testing.assert_allclose(order_credit([0, 1, 2, 5]), np.log([1, 1, 2, 120]), atol=1e-12)
