"""Signomials as a ring: canonical form, arithmetic, derivatives."""

import copy
import itertools
import pickle
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ecsel.signomial import Signomial, Term

RNG = np.random.default_rng(3)
POSITIVE = {name: RNG.uniform(0.5, 2.0, 4) for name in ("x", "y", "page value", "[x > 4]")}
signomials = st.from_type(Signomial)
x, y = Signomial.variable("x"), Signomial.variable("y")


def scale_of(*parts):
    """The size of the largest term, against which rounding errors of a sum are to be seen."""
    return 1e-10 * (1 + max((np.abs(t.evaluate(POSITIVE)).max() for s in parts for t in s.terms), default=0.0))


def assert_same_function(left, right):
    np.testing.assert_allclose(left(POSITIVE), right(POSITIVE), rtol=0, atol=scale_of(left, right))


def test_canonical_form_merges_drops_and_sorts():
    terms = [Term(1), Term(2, {"x": 1}), Term(0, {"y": 1}), Term(3, {"x": 2}), Term(-2, {"x": 1}), Term(1, {"y": 5.0})]
    for order in itertools.permutations(terms):
        assert Signomial(order).terms == (Term(1, {"y": 5}), Term(3, {"x": 2}), Term(1))


def test_merging_keeps_the_exact_exponent():
    parts = [Term(1, {"x": 0.5, "y": 2.0}), Term(1, {"x": Fraction(1, 2), "y": 2.0}), Term(1, {"x": 0.5, "y": 2})]
    assert {str(Signomial(order)) for order in itertools.permutations(parts)} == {"3*sqrt(x)*y**2"}


def test_merging_is_free_of_rounding_order():
    parts = [Term(c, {"x": 1}) for c in (1e16, 1.0, -1e16, 1e-3)]
    assert {Signomial(order) for order in itertools.permutations(parts)} == {Signomial([Term(1.001, {"x": 1})])}


@given(signomials, signomials, signomials)
@settings(max_examples=40, deadline=None)
def test_ring_axioms_on_values(a, b, c):
    assert a + b == b + a
    assert a - a == Signomial()
    assert a + 0 == a == a * 1
    assert_same_function(a * b, b * a)
    assert_same_function((a + b) + c, a + (b + c))
    assert_same_function(a * (b + c), a * b + a * c)
    np.testing.assert_allclose((a + b)(POSITIVE), a(POSITIVE) + b(POSITIVE), rtol=0, atol=scale_of(a, b))
    size = 1 + np.prod([sum(np.abs(t.evaluate(POSITIVE)).max() for t in s.terms) for s in (a, b)])
    np.testing.assert_allclose((a * b)(POSITIVE), a(POSITIVE) * b(POSITIVE), rtol=0, atol=1e-10 * size)


@given(signomials)
@settings(max_examples=40, deadline=None)
def test_copies_are_equal(a):
    assert pickle.loads(pickle.dumps(a)) == a == copy.deepcopy(a)
    assert hash(a) == hash(Signomial(reversed(a.terms)))
    assert eval(repr(a), {"Signomial": Signomial}) == a
    assert a.rename({}) == a
    assert a.select(a.names) + Signomial(t for t in a.terms if t.is_constant) == a


@given(signomials, st.integers(0, 3))
@settings(max_examples=30, deadline=None)
def test_integer_power_is_the_repeated_product(a, power):
    product = Signomial.constant(1)
    for _ in range(power):
        product = product * a
    assert_same_function(a**power, product)


def test_binomial_theorem():
    assert str((x + y) ** 4) == "x**4 + 4*x**3*y + 6*x**2*y**2 + 4*x*y**3 + y**4"
    assert (x + y) * (x - y) == x**2 - y**2
    assert (x - x) ** 0 == Signomial.constant(1)


def test_numbers_and_terms_take_part_from_both_sides():
    assert 2 - x == -(x - 2)
    assert np.float64(2) * x == x * 2 == x + x == Term(2) * x
    assert Term(1, {"y": 1}) + x == x + y
    assert 1 / (2 * x) == Signomial([Term(0.5, {"x": -1})])
    assert (x**2 + x) / x == x + 1
    assert (4 * x) ** 0.5 == Signomial([Term(2, {"x": Fraction(1, 2)})])
    assert abs(-2 * x) == Signomial([Term(2, {"x": 1}, absolute={"x"})])


@pytest.mark.parametrize(
    ("operation", "error", "message"),
    [
        (lambda: (x + y) ** -1, ValueError, "2 terms has only non-negative integer powers, not -1"),
        (lambda: (x + y) ** 0.5, ValueError, "only non-negative integer powers"),
        (lambda: 1 / (x + y), ValueError, r"divided by a single term, not by x \+ y"),
        (lambda: x / 0, ZeroDivisionError, "by zero"),
        (lambda: abs(x + y), ValueError, "absolute value of a sum of 2 terms"),
        (lambda: Signomial([3.0]), TypeError, "made of Term objects, not float"),
        (lambda: Signomial([Term(1.7e308), Term(1.7e308)]), ValueError, "coefficient must be finite"),
        (lambda: x + "y", TypeError, "unsupported operand"),
        (lambda: "y" - x, TypeError, "unsupported operand"),
        (lambda: x * None, TypeError, "unsupported operand"),
        (lambda: x / None, TypeError, "unsupported operand"),
        (lambda: None / x, TypeError, "unsupported operand"),
        (lambda: x**None, TypeError, "unsupported operand"),
    ],
)
def test_what_is_not_a_signomial_is_refused(operation, error, message):
    with pytest.raises(error, match=message):
        operation()


def test_rename_merges_features_and_select_takes_the_part():
    z = 2 * x * y - abs(x) + 3
    assert z.rename({"y": "x"}) == Signomial.parse("2*x**2 - abs(x) + 3")
    assert z.rename({"x": "y", "y": "x"}) == 2 * x * y - abs(y) + 3
    assert z.select("y") == 2 * x * y
    logs = Signomial.parse("log(x + 1)*log(y + 1)/sqrt(y + 2)")
    assert logs.rename({"y": "x"}) == Signomial.parse("log(x + 1)**2/sqrt(x + 2)")
    assert z.select([]) == Signomial()


DERIVATIVES = (
    "2*x**2*y**(-1/2) - 3*x*abs(y)**1.5 + sign(x)*abs(x)**(2/3) + 4 + log(x)*sqrt(y + 3) - x*log(x)**2*log(x + 50)/y"
    " + 0.7/((y + 1)*(x - 7)**2)"
)


def test_log_derivatives_agree_with_sympy():
    import sympy

    z = Signomial.parse(DERIVATIVES)
    symbols = [sympy.Symbol(name, positive=True) for name in z.names]
    expression = z.to_sympy()
    expression = expression.subs({s: sympy.Symbol(s.name, positive=True) for s in expression.free_symbols})
    first = [s * sympy.diff(expression, s) for s in symbols]
    second = [[t * sympy.diff(f, t) for t in symbols] for f in first]
    points = [POSITIVE[name] for name in z.names]
    expected = np.stack([sympy.lambdify(symbols, f)(*points) for f in first], axis=1)
    np.testing.assert_allclose(z.log_gradient(POSITIVE), expected, rtol=1e-12)
    hessian = z.log_hessian(POSITIVE)
    for i, j in itertools.product(range(2), repeat=2):
        np.testing.assert_allclose(hessian[:, i, j], sympy.lambdify(symbols, second[i][j])(*points), rtol=1e-12)


@given(signomials.filter(lambda s: s.names))
@settings(max_examples=40, deadline=None)
def test_log_gradient_agrees_with_central_differences(z):
    step = 1e-5
    gradient = z.log_gradient(POSITIVE)
    assert gradient.shape == (4, len(z.names))
    for j, name in enumerate(z.names):
        up = z({**POSITIVE, name: POSITIVE[name] * np.exp(step)})
        down = z({**POSITIVE, name: POSITIVE[name] * np.exp(-step)})
        np.testing.assert_allclose(gradient[:, j], (up - down) / (2 * step), rtol=0, atol=1e4 * scale_of(z) + 1e-6)


def test_log_gradient_follows_the_sign_of_negative_values():
    z, step, data = Signomial.parse("x**3 + sign(x)*abs(x)**0.5 - abs(x)"), 1e-6, np.array([-2.0, -0.3, 1.5])
    numeric = (z({"x": data * (1 + step)}) - z({"x": data * (1 - step)})) / (2 * step)
    np.testing.assert_allclose(z.log_gradient({"x": data})[:, 0], numeric, rtol=1e-8)


@pytest.mark.parametrize(
    ("source", "x", "first", "second"),
    [("log(x)", 1.0, 1.0, 0.0), ("y*log(x)**2", 1.0, 0.0, 6.0), ("(x - 4)*log(x)", 1.0, -3.0, 2.0)],
)
def test_derivatives_are_right_where_a_factor_vanishes(source, x, first, second):
    z, data = Signomial.parse(source), {"x": [x], "y": [3.0]}
    assert z.log_gradient(data)[0, 0] == pytest.approx(first)
    assert z.log_hessian(data)[0, 0, 0] == pytest.approx(second)


def test_derivatives_at_zero_and_at_negative_values():
    z, step, data = Signomial.parse("(x + 3)**2*x + log(x + 3)*sqrt(x + 9)"), 1e-5, np.array([-2.0, 0.0, 1.5])
    up, down = (z({"x": data * np.exp(s)}) for s in (step, -step))
    np.testing.assert_allclose(z.log_gradient({"x": data})[:, 0], (up - down) / (2 * step), rtol=1e-8, atol=1e-8)
    curve = (up - 2 * z({"x": data}) + down) / step**2
    np.testing.assert_allclose(z.log_hessian({"x": data})[:, 0, 0], curve, rtol=1e-4, atol=1e-4)


@given(signomials.filter(lambda s: s.names))
@settings(max_examples=40, deadline=None)
def test_log_hessian_agrees_with_central_differences_of_the_gradient(z):
    step = 1e-5
    hessian = z.log_hessian(POSITIVE)
    np.testing.assert_allclose(hessian, hessian.transpose(0, 2, 1), rtol=1e-12, atol=scale_of(z))
    for j, name in enumerate(z.names):
        up = z.log_gradient({**POSITIVE, name: POSITIVE[name] * np.exp(step)})
        down = z.log_gradient({**POSITIVE, name: POSITIVE[name] * np.exp(-step)})
        np.testing.assert_allclose(hessian[:, j], (up - down) / (2 * step), rtol=0, atol=1e5 * scale_of(z) + 1e-5)


def test_factors_are_counted():
    assert Signomial.parse("2*log(x)*y - sqrt(x)/x + x**2*log(x + 1)/y + 4").n_factors == 6
    assert Signomial().n_factors == 0


def test_constants_have_no_derivatives():
    assert Signomial.constant(3).log_gradient({"x": [1, 2]}).shape == (2, 0)
    assert Signomial().log_hessian({"x": [1, 2]}).shape == (2, 0, 0)
