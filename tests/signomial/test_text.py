"""Printing: exact round trips for any name, Python's own reading, and rounding for people."""

import keyword
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from ecsel.signomial import Signomial, Term
from ecsel.signomial.text import print_name

HOSTILE = [
    "",
    "'",
    '"',
    'it\'s "quoted"',
    "a\nb",
    "\\",
    "\\n",
    "\x00",
    "🙂",
    "ﬁ",
    "हिन्दी",
    "℘",
    "x²",
    "a·b",
    "\ud800",
    "\r",
]
HOSTILE += [
    "lambda",
    "None",
    "abs",
    "sign",
    "sqrt",
    "col",
    "__debug__",
    "x y",
    "x)",
    "__import__('os')",
    "1x",
    " x",
    "#",
]
NUMBERS = st.floats(allow_nan=False, allow_infinity=False)
NAMES = st.one_of(st.text(max_size=8), st.sampled_from(HOSTILE), st.sampled_from(keyword.kwlist))


@given(NAMES)
@settings(max_examples=120, deadline=None)
def test_any_name_round_trips(name):
    z = Signomial([Term(2, {name: Fraction(1, 3)}), Term(-1, {name: 2}, odd={name})])
    assert Signomial.parse(str(z)) == z


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_names_round_trip_in_every_form(name):
    factors = [
        {"exponents": {name: 1}},
        {"exponents": {name: 0.1}, "absolute": {name}},
        {"exponents": {name: 2}, "odd": {name}},
    ]
    z = Signomial(Term(k + 1, **factor) for k, factor in enumerate(factors))
    assert Signomial.parse(str(z)) == z
    assert "\n" not in str(z)


@given(st.from_type(Signomial))
@settings(max_examples=80, deadline=None)
def test_signomials_round_trip(z):
    assert Signomial.parse(str(z)) == z
    assert str(Signomial.parse(str(z))) == str(z)


@given(NUMBERS, st.floats(-1e300, 1e300), st.fractions(), st.fractions(max_denominator=9))
@example(5e-324, 1e300, Fraction(1, 3), Fraction(0))
@settings(max_examples=80, deadline=None)
def test_extreme_numbers_round_trip_with_their_types(coefficient, inexact, exact, other):
    z = Signomial([Term(coefficient, {"x": inexact, "y": exact, "z": other})])
    back = Signomial.parse(str(z))
    assert back == z
    for mine, theirs in zip(z.terms, back.terms, strict=True):
        assert [type(b) for b in mine.exponents.values()] == [type(b) for b in theirs.exponents.values()]


@given(st.from_type(Signomial))
@settings(max_examples=80, deadline=None)
def test_python_reads_the_same_function(z):
    data = {
        "x": np.array([0.5, 2.0]),
        "y": np.array([1.5, 0.3]),
        "page value": np.array([3.0, 0.7]),
        "abs": np.array([0.9, 1.1]),
    }
    scope = {"abs": abs, "sign": np.sign, "col": data.__getitem__, "x": data["x"], "y": data["y"], "__builtins__": {}}
    size = 1e-12 * (1 + sum(np.abs(term.evaluate(data)).max() for term in z.terms))
    np.testing.assert_allclose(np.broadcast_to(eval(str(z), scope), 2), z(data), rtol=1e-10, atol=size)


def test_python_reads_signs_as_we_do():
    z = Signomial.parse("x**3 - sign(x)*abs(x)**(1/3) + 2*abs(x)**1.5 - x**-1 - x**2")
    x = np.array([-2.0, -0.4, 0.3, 5.0])
    np.testing.assert_allclose(eval(str(z), {"abs": abs, "sign": np.sign, "x": x}), z({"x": x}), rtol=1e-13)


@pytest.mark.parametrize(
    "text",
    [
        "2.5*x**2*y**(-1/2) - 3.0*abs(z)**1.37 + 0.25",
        "sign(x)*abs(x)**(1/3)",
        "x**3",
        "-x + 1.0",
        "col('page value')*x**-2",
        "sign(x)*abs(x)**2",
        "sign(x)",
        "abs(x)",
        "0.0",
        "-1.0",
        "1e-07*x**1e-05",
    ],
)
def test_printed_forms_are_stable(text):
    assert str(Signomial.parse(text)) == text


@pytest.mark.parametrize(
    ("z", "spec", "text"),
    [
        (
            Signomial([Term(1 / 3, {"x": 1.23456}), Term(2 / 3, {"x": Fraction(1, 3)})]),
            ".3g",
            "0.333*x**1.23 + 0.667*x**(1/3)",
        ),
        (Signomial([Term(0.99999, {"x": 1}), Term(-1.00001)]), ".3g", "x - 1"),
        (Signomial([Term(-0.99999, {"x": 1})]), ".3g", "-x"),
        (Signomial(), ".2f", "0.00"),
        (Signomial([Term(1, {"x": 1})]), "", "x"),
    ],
)
def test_format_rounds_for_people(z, spec, text):
    assert format(z, spec) == text


def test_format_refuses_what_floats_refuse():
    with pytest.raises(ValueError, match="format code 's'"):
        format(Signomial.constant(1), "s")


def test_names_that_mean_something_are_quoted():
    assert print_name("if") == "col('if')"
    assert print_name("sqrt") == "col('sqrt')"
    assert print_name("match") == "match"
    assert print_name("größe") == "größe"
    assert print_name("ﬁ") == "col('ﬁ')"
