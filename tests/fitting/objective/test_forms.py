"""Term forms: values and derivatives against SymPy, the log-linear limit, and the way to power laws and back."""

import numpy as np
import pytest
import sympy
from hypothesis import given
from hypothesis import strategies as st

from ecsel.fitting.objective.forms import KNEE, LARGEST_EXPONENT, SMALLEST_SINE, AngleForm, PowerForm

FORMS = {"angle": AngleForm(), "power": PowerForm()}
shape, t = sympy.symbols("shape t", real=True)
FORMULAS = {
    "angle": KNEE * sympy.cot(shape) * (sympy.exp(sympy.sin(shape) * t) - 1),
    "power": shape * sympy.exp(t),
}
SHAPES = [1.4, 0.7, -0.7, 0.11, 2.9, -3.6]
INNER = np.array([-3.0, -0.4, 0.02, 0.9, 2.7])
NEAR_ZERO = [1e-2, 3e-3, 1.001e-3, 0.999e-3, -5e-4, 1e-5, 1e-9]


def column(value, dtype=np.float64):
    return np.full((1, 1, 1), value, dtype=dtype)


def derivatives(form, at, inner, dtype=np.float64):
    """All that a form gives: z, ∂φ, ∂t, ∂φφ, ∂φt, ∂tt, each over the rows."""
    a, rows = column(at, dtype), inner.astype(dtype)[None, None, :]
    e = form.expand(a, rows)
    return [x[0, 0].astype(float) for x in (e.value, e.by_shape, e.by_t, *form.second(a, e))]


def exact(name, at, inner):
    """The same by SymPy, in 60 digits."""
    f = FORMULAS[name]
    wanted = [f, f.diff(shape), f.diff(t), f.diff(shape, 2), f.diff(shape, t), f.diff(t, 2)]
    return [
        np.array([float(g.evalf(60, subs={shape: sympy.Float(at, 60), t: sympy.Float(x, 60)})) for x in inner])
        for g in wanted
    ]


@pytest.mark.parametrize("name", FORMS)
@pytest.mark.parametrize("at", SHAPES)
def test_derivatives_are_those_of_the_formula(name, at):
    for found, wanted in zip(derivatives(FORMS[name], at, INNER), exact(name, at, INNER), strict=True):
        np.testing.assert_allclose(found, wanted, rtol=1e-11, atol=1e-12)


@pytest.mark.parametrize(("dtype", "tolerance"), [(np.float64, 1e-6), (np.float32, 3e-3)])
@pytest.mark.parametrize("at", NEAR_ZERO)
def test_derivatives_near_the_log_linear_limit(at, dtype, tolerance):
    at = float(dtype(at))
    inner = INNER.astype(dtype).astype(float)
    for order, (found, wanted) in enumerate(
        zip(derivatives(AngleForm(), at, inner, dtype), exact("angle", at, inner), strict=True)
    ):
        # The value and the first derivatives steer the fit; the second ones only shape its steps.
        loosened = tolerance if order < 3 else 30 * tolerance
        np.testing.assert_allclose(found, wanted, rtol=loosened, atol=loosened * KNEE)


def test_the_limit_is_linear_in_the_logs():
    value, by_shape, by_t, _, _, by_tt = derivatives(AngleForm(), 0.0, INNER)
    np.testing.assert_allclose(value, KNEE * INNER)
    np.testing.assert_allclose(by_shape, KNEE * INNER**2 / 2)
    np.testing.assert_allclose(by_t, KNEE)
    np.testing.assert_array_equal(by_tt, 0)


@pytest.mark.parametrize(("dtype", "switch", "tolerance"), [(np.float64, 1e-3, 1e-8), (np.float32, 3e-2, 1e-3)])
def test_no_jump_where_the_series_takes_over(dtype, switch, tolerance):
    angle = float(np.arcsin(switch))
    step = 8 * float(np.finfo(dtype).eps)
    for below, above in zip(
        derivatives(AngleForm(), angle * (1 - step), INNER, dtype)[:3],
        derivatives(AngleForm(), angle * (1 + step), INNER, dtype)[:3],
        strict=True,
    ):
        np.testing.assert_allclose(below, above, rtol=tolerance, atol=tolerance * KNEE)


@pytest.mark.parametrize("name", FORMS)
@pytest.mark.parametrize("at", [*SHAPES, 1e-4])
def test_values_alone_are_the_values_of_the_expansion(name, at):
    rows = INNER[None, None, :]
    np.testing.assert_array_equal(FORMS[name].values(column(at), rows), FORMS[name].expand(column(at), rows).value)


@pytest.mark.parametrize("name", FORMS)
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_huge_exponents_are_a_slope_and_never_an_overflow(name, dtype):
    largest = LARGEST_EXPONENT[np.dtype(dtype)]
    inner = np.array([largest - 1, largest + 1, 1e3, 1e4])
    value, by_shape, by_t, *_ = derivatives(FORMS[name], np.pi / 4, inner * np.sqrt(2), dtype)
    assert np.isfinite(value).all()
    assert np.isfinite(by_shape).all()
    assert (np.diff(value) > 0).all()
    assert (by_t > 0).all()


@given(st.floats(-9, 9), st.floats(-2, 2), st.floats(-2, 2))
def test_angle_to_power_law_keeps_the_score(angle, s1, s2):
    form, slopes = AngleForm(), np.array([[[s1, s2]]])
    rows = np.array([[-1.0, 0.3, 1.2], [0.5, -0.8, 1.0]])
    alpha, beta, constant = form.to_power_law(np.array([[angle]]), slopes)
    law = alpha[0, 0] * np.exp(beta[0, 0] @ rows) + constant[0, 0]
    z = form.values(column(angle), (slopes[0] @ rows)[:, None, :])[0, 0]
    # |sin φ| is kept at or above SMALLEST_SINE: that close to the limit the score moves by less than κt²·sin φ.
    np.testing.assert_allclose(law, z, rtol=1e-9, atol=KNEE * 20 * SMALLEST_SINE if abs(np.sin(angle)) < 2e-5 else 1e-9)


@given(st.floats(-50, 50).filter(lambda a: abs(a) > 1e-3), st.floats(-3, 3))
def test_power_law_to_angle_and_back(alpha, beta):
    form = AngleForm()
    angle, slopes, added = form.from_power_law(np.array([[alpha]]), np.array([[[beta]]]))
    again, exponents, constant = form.to_power_law(angle, slopes)
    assert abs(angle[0, 0]) <= np.pi / 2
    np.testing.assert_allclose([again[0, 0], exponents[0, 0, 0]], [alpha, beta], rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(added + constant, 0, atol=1e-9 * abs(alpha))
    # The penalty λ√(1 + (α/κ)²)|β| is λ|s|.
    np.testing.assert_allclose(np.abs(slopes[0, 0, 0]), np.hypot(1, alpha / KNEE) * abs(beta), rtol=1e-9)


@given(st.floats(-3, 3), st.integers(-3, 3))
def test_half_a_turn_with_opposite_slopes_is_the_same_term(angle, turns):
    form, rows = AngleForm(), INNER[None, None, :]
    sign = -1.0 if turns % 2 else 1.0
    np.testing.assert_allclose(
        form.values(column(angle + turns * np.pi), sign * rows), form.values(column(angle), rows), rtol=1e-6, atol=1e-8
    )
    laws = [
        form.to_power_law(np.array([[a]]), np.array([[[s]]])) for a, s in ((angle, 1.0), (angle + turns * np.pi, sign))
    ]
    if abs(np.sin(angle)) > 1e-3:
        for one, other in zip(*laws, strict=True):
            np.testing.assert_allclose(one, other, rtol=1e-9, atol=1e-12)


def test_a_right_angle_is_a_term_that_has_faded_away():
    np.testing.assert_allclose(AngleForm().values(column(np.pi / 2), INNER[None, None, :]), 0, atol=1e-14)


def test_power_form_is_its_own_power_law():
    form, alpha, beta = PowerForm(), np.array([[2.0]]), np.array([[[0.5, -1.0]]])
    for there in (form.to_power_law(alpha, beta), form.from_power_law(alpha, beta)):
        np.testing.assert_array_equal(there[0], alpha)
        np.testing.assert_array_equal(there[1], beta)
        np.testing.assert_array_equal(there[2], 0)
