"""Terms as values: canonical form, order, algebra, evaluation."""

import copy
import pickle
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from ecsel.signomial import Factor, Parity, Term

POSITIVE = {"x": [0.5, 1.7], "y": [2.0, 0.3], "page value": [1.5, 4.0], "[x > 4]": [3.0, 0.8]}
MIXED = {"x": [-0.5, 1.7, -3.0], "y": [2.0, -0.3, -1.5]}
terms = st.from_type(Term)


def test_default_reads_powers_as_python_does():
    term = Term(2, {"a": 3, "b": 2, "c": 0.5, "d": -1})
    assert term.odd == {"a", "d"}
    assert term.absolute == frozenset()
    assert dict(term.exponents) == {"a": 3, "b": 2, "c": 0.5, "d": -1}
    assert all(isinstance(term.exponents[name], Fraction) for name in "abd")
    assert type(term.exponents["c"]) is float


def test_odd_is_the_complete_list_when_given():
    assert Term(1, {"x": 3}, odd=()) == Term(1, {"x": 3}, absolute={"x"})
    assert Term(1, {"x": 3}, odd=()).absolute == {"x"}
    assert Term(1, {"x": 2}, absolute={"x"}) == Term(1, {"x": 2})
    assert Term(1, {"x": 0.5}, odd=()) == Term(1, {"x": 0.5})


@given(terms)
@settings(max_examples=50, deadline=None)
def test_parts_rebuild_the_term(term):
    powers = Term(term.coefficient, term.exponents, odd=term.odd, absolute=term.absolute)
    others = Term.from_factors(1.0, [factor for factor in term.factors if not factor.is_power])
    rebuilt = powers * others
    assert rebuilt == term
    assert hash(rebuilt) == hash(term)
    assert (powers == term) == term.is_power_law
    assert Term.from_factors(term.coefficient, reversed(term.factors)) == term
    assert not term.odd & term.absolute
    assert eval(repr(term), {"Term": Term, "Factor": Factor, "Parity": Parity, "Fraction": Fraction}) == term
    assert pickle.loads(pickle.dumps(term)) == term == copy.deepcopy(term)


def test_floats_that_are_whole_equal_the_fractions():
    exact, inexact = Term(1, {"x": 2, "y": 1}), Term(1, {"x": 2.0, "y": 1.0})
    assert exact == inexact
    assert hash(exact) == hash(inexact)
    assert inexact.odd == {"y"}
    assert Term(1, {"x": 0.5}) == Term(1, {"x": Fraction(1, 2)})


def test_zero_exponents_are_dropped_and_negative_zero_is_zero():
    assert Term(1, {"x": 0, "y": 0.0}).exponents == {}
    assert Term(1, {"x": 0}).is_constant
    assert str(Term(-0.0).coefficient) == "0.0"


def test_sign_alone_is_a_term():
    sign = Term(1, {"x": 1}) / Term(1, {"x": 1}, absolute={"x"})
    assert sign == Term(1, {"x": 0}, odd={"x"})
    assert sign.evaluate({"x": [-3.0, 0.0, 2.0]}).tolist() == [-1.0, 0.0, 1.0]


def test_exponents_are_read_only():
    with pytest.raises(TypeError):
        Term(1, {"x": 1}).exponents["x"] = 2
    with pytest.raises(AttributeError):
        Term(1).coefficient = 2


def test_degree_is_exact_when_exponents_are():
    assert Term(1, {"x": Fraction(1, 3), "y": Fraction(2, 3)}).degree == Fraction(1)
    assert Term(1, {"x": 0.5, "y": 1}).degree == 1.5
    assert isinstance(Term(1, {"x": 0.5, "y": 1}).degree, float)


def test_factors_of_one_base_merge_and_others_stay_apart():
    log, shifted = Factor("x", 1, Parity.ODD, log=True), Factor("x", 1, Parity.ODD, shift=1)
    term = Term.from_factors(2, [log, shifted, Factor("x", 2, Parity.PLAIN), log, shifted])
    assert term.factors == (
        Factor("x", Fraction(2), Parity.PLAIN),
        Factor("x", Fraction(2), Parity.PLAIN, shift=1.0),
        Factor("x", Fraction(2), Parity.PLAIN, log=True),
    )
    assert term.names == ("x",)
    assert dict(term.exponents) == {"x": 2}
    assert term.degree == 4
    assert term / term == Term(1)
    assert abs(Term.from_factors(-1, [log])) == Term.from_factors(1, [log._replace(parity=Parity.ABSOLUTE)])
    with pytest.raises(ValueError, match="the shift of 'x' must be finite"):
        Term.from_factors(1, [Factor("x", 1, Parity.ODD, shift=float("inf"))])
    with pytest.raises(TypeError, match="the shift of 'x' must be a real number, not str"):
        Term.from_factors(1, [Factor("x", 1, Parity.ODD, shift="1")])


def test_values_of_shifts_and_logarithms_follow_the_definition():
    x = np.array([0.5, 1.0, 3.0])
    term = Term.from_factors(
        2, [Factor("x", 1, Parity.ODD, log=True), Factor("x", Fraction(1, 2), Parity.PLAIN, shift=-0.5)]
    )
    np.testing.assert_allclose(term.evaluate({"x": x}), 2 * np.log(x) * np.sqrt(x - 0.5), rtol=1e-14, atol=0)


def test_documented_order():
    shuffled = [Term(1), Term(1, {"y": 2}), Term(1, {"x": -1}), Term(1, {"x": 1, "y": 1}), Term(1, {"x": 2})]
    assert sorted(shuffled) == [
        Term(1, {"x": 2}),
        Term(1, {"x": 1, "y": 1}),
        Term(1, {"y": 2}),
        Term(1, {"x": -1}),
        Term(1),
    ]


@given(terms, terms, terms)
@settings(max_examples=50, deadline=None)
def test_order_is_total(a, b, c):
    assert (a < b) + (a == b) + (b < a) == 1
    assert sorted([a, b, c]) == sorted([c, b, a])
    assert (a <= b) == (not b < a)


@given(terms, terms)
@settings(max_examples=50, deadline=None)
def test_product_and_quotient_evaluate_as_such(a, b):
    np.testing.assert_allclose((a * b).evaluate(POSITIVE), a.evaluate(POSITIVE) * b.evaluate(POSITIVE), rtol=1e-11)
    assert a * b == b * a
    assume(b.coefficient != 0)
    np.testing.assert_allclose((a / b).evaluate(POSITIVE), a.evaluate(POSITIVE) / b.evaluate(POSITIVE), rtol=1e-11)


@given(terms, st.integers(-3, 3))
@settings(max_examples=50, deadline=None)
def test_integer_power_evaluates_as_such(term, power):
    assume(term.coefficient != 0)
    np.testing.assert_allclose((term**power).evaluate(POSITIVE), term.evaluate(POSITIVE) ** power, rtol=1e-11)


@pytest.mark.parametrize(
    ("left", "right", "product"),
    [
        (Term(1, {"x": 1}), Term(1, {"x": 1}), Term(1, {"x": 2})),
        (Term(1, {"x": 1}, absolute={"x"}), Term(1, {"x": 1}), Term(1, {"x": 2}, odd={"x"})),
        (Term(1, {"x": 0.5}), Term(1, {"x": 0.5}), Term(1, {"x": 1})),
        (Term(1, {"x": 0.5}, odd={"x"}), Term(1, {"x": 0.5}, odd={"x"}), Term(1, {"x": 1}, absolute={"x"})),
        (Term(2, {"x": 1}), Term(3, {"x": -1}), Term(6)),
    ],
)
def test_signs_multiply(left, right, product):
    assert left * right == product


@pytest.mark.parametrize(
    "term",
    [
        Term(2, {"x": 3, "y": -2}),
        Term(2, {"x": 3}, absolute={"x"}),
        Term(-1, {"x": Fraction(1, 3), "y": 1}, odd={"x", "y"}),
        Term(1.5, {"x": 0.7, "y": 2}, absolute={"x"}, odd={"y"}),
    ],
)
def test_negative_values_follow_the_definition(term):
    x = {name: np.asarray(values) for name, values in MIXED.items()}
    expected = np.full(3, term.coefficient)
    for name, b in term.exponents.items():
        expected = expected * np.abs(x[name]) ** float(b) * (np.sign(x[name]) if name in term.odd else 1)
    np.testing.assert_allclose(term.evaluate(MIXED), expected, rtol=1e-14)
    np.testing.assert_allclose(abs(term).evaluate(MIXED), np.abs(expected), rtol=1e-14)
    np.testing.assert_allclose((-term).evaluate(MIXED), -expected, rtol=1e-14)
    np.testing.assert_allclose((1 / term).evaluate(MIXED), 1 / expected, rtol=1e-14)


def test_real_powers():
    assert Term(4, {"x": 2}) ** 0.5 == Term(2, {"x": 1}, absolute={"x"})
    assert Term(4, {"x": 1}) ** Fraction(1, 2) == Term(2, {"x": Fraction(1, 2)})
    assert Term(5, {"x": 1}) ** 0 == Term(1)
    with pytest.raises(ValueError, match=r"negative coefficient -4\.0 has no real power"):
        Term(-4) ** 0.5


@pytest.mark.parametrize("operation", [lambda t: t * 1e200, lambda t: t**2, lambda t: t ** (10**6)])
def test_overflow_is_an_error(operation):
    with pytest.raises(ValueError, match="coefficient must be finite"):
        operation(Term(1e200))


def test_numpy_scalars_take_part():
    assert np.float64(2) * Term(3, {"x": 1}) == Term(6, {"x": 1}) == Term(3, {"x": 1}) * np.int64(2)
    assert Term(6, {"x": 1}) / np.float64(2) == Term(3, {"x": 1})


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ({"coefficient": float("nan")}, ValueError, "coefficient must be finite"),
        ({"coefficient": "2"}, TypeError, "coefficient must be a real number, not str"),
        ({"coefficient": 10**400}, ValueError, "coefficient must be finite"),
        ({"coefficient": 1, "exponents": {3: 1}}, TypeError, "feature name must be a string, not 3"),
        ({"coefficient": 1, "exponents": {"x": 1}, "odd": ["z"]}, ValueError, "'z' is in odd or in absolute but"),
        (
            {"coefficient": 1, "exponents": {"x": 1}, "odd": ["x"], "absolute": ["x"]},
            ValueError,
            "'x' cannot be both in odd and in absolute",
        ),
    ],
)
def test_bad_parts_are_refused(arguments, error, message):
    with pytest.raises(error, match=message):
        Term(**arguments)


@pytest.mark.parametrize("operation", [lambda t: t * "2", lambda t: t / "2", lambda t: "2" / t, lambda t: t ** "2"])
def test_other_types_are_left_to_python(operation):
    with pytest.raises(TypeError):
        operation(Term(1))
    assert Term(1) != 1
    with pytest.raises(TypeError):
        assert Term(1) < 1
