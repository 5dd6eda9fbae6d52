"""Printing: exact round trips for any name, Python's own reading, and rounding for people."""

import keyword
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from ecsel.signomial import Factor, Parity, Signomial, Term
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
    "log",
    "[x > 4]",
    '[contract = it\'s "two" year]',
    "[a]b]",
    "[a`b]",
    "[]",
    "[a\nb]",
    "`",
    "a`b",
    "a\u00a0b",
    "[a\u2028b]",
    "x)",
    "__import__('os')",
    "1x",
    " x",
    "#",
]
NUMBERS = st.floats(allow_nan=False, allow_infinity=False)
NAMES = st.one_of(
    st.text(max_size=8),
    st.text(max_size=6).map("[{}]".format),
    st.sampled_from(HOSTILE),
    st.sampled_from(keyword.kwlist),
)


@given(NAMES)
@settings(max_examples=120, deadline=None)
def test_any_name_round_trips(name):
    shapes = [
        Factor(name, 1, Parity.ODD, log=True),
        Factor(name, 1, Parity.ODD, shift=-2000),
        Factor(name, Fraction(-1, 2), Parity.PLAIN, shift=0.1, log=True),
        Factor(name, 3, Parity.ABSOLUTE, shift=1e-7),
    ]
    terms = [Term.from_factors(k + 1, [factor]) for k, factor in enumerate(shapes)]
    z = Signomial(
        [Term(2, {name: Fraction(1, 3)}), Term(-1, {name: 2}, odd={name}), *terms, Term.from_factors(1, shapes)]
    )
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
    term = Term(coefficient, {"x": inexact, "y": exact, "z": other})
    shifted = Factor("x", other, Parity.ODD, shift=inexact, log=coefficient > 0)
    z = Signomial([term * Term.from_factors(1, [shifted, Factor("y", inexact, Parity.PLAIN, shift=coefficient)])])
    back = Signomial.parse(str(z))
    assert back == z
    for mine, theirs in zip(z.terms, back.terms, strict=True):
        assert [type(b) for b in mine.exponents.values()] == [type(b) for b in theirs.exponents.values()]


@given(st.from_type(Signomial))
@settings(max_examples=80, deadline=None)
def test_python_reads_the_same_function(z):
    z = z.rename({"page value": "page_value", "[x > 4]": "step"})
    data = {
        "x": np.array([0.5, 2.0]),
        "y": np.array([1.5, 0.3]),
        "page_value": np.array([3.0, 0.7]),
        "step": np.array([0.9, 1.1]),
    }
    scope = {"abs": abs, "sign": np.sign, "sqrt": np.sqrt, "log": np.log, **data, "__builtins__": {}}
    size = 1e-12 * (1 + sum(np.abs(term.evaluate(data)).max() for term in z.terms))
    np.testing.assert_allclose(np.broadcast_to(eval(str(z), scope), 2), z(data), rtol=1e-10, atol=size)


def test_python_reads_signs_as_we_do():
    z = Signomial.parse("x**3 - sign(x)*abs(x)**(1/3) + 2*abs(x)**1.5 - x**-1 - x**2")
    x = np.array([-2.0, -0.4, 0.3, 5.0])
    np.testing.assert_allclose(eval(str(z), {"abs": abs, "sign": np.sign, "x": x}), z({"x": x}), rtol=1e-13)


@pytest.mark.parametrize(
    "text",
    [
        "2.5*x**2/sqrt(y) - 3*abs(z)**1.37 + 0.25",
        "sign(x)*abs(x)**(1/3)",
        "x**3",
        "-x + 1",
        "`page value`/x**2",
        "col('page`value')/x**2",
        "17/Age",
        "0.3*x/y**2",
        "2/(x + 1)",
        "sqrt(x + 1)",
        "-1/(x - 2000)",
        "x**-1.0",
        "2*log(glucose + 50)",
        "0.9*[contract = two year] - 0.033*time_months + 1.2*log(frequency) - 1.09",
        "(x + 1.5)**2*log(x + 1e-07)",
        "sign(x)*sqrt(abs(y))/(abs(x)**2*z)",
        "sign(x)*abs(x)**2",
        "sign(x)",
        "abs(x)",
        "0",
        "-1",
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
        (Signomial.parse("1.23456*log(x + 1.23456)/y"), ".3g", "1.23*log(x + 1.23456)/y"),
        (Signomial.parse("1.00001*(x + 3)"), ".3g", "1*(x + 3)"),
        (Signomial.parse("17.04/x"), ".3g", "17/x"),
        (Signomial([Term(1, {"x": 1})]), "", "x"),
    ],
)
def test_format_rounds_for_people(z, spec, text):
    assert format(z, spec) == text


def test_format_refuses_what_floats_refuse():
    with pytest.raises(ValueError, match="format code 's'"):
        format(Signomial.constant(1), "s")


def test_names_that_mean_something_are_quoted():
    assert print_name("if") == "`if`"
    assert print_name("sqrt") == "`sqrt`"
    assert print_name("log") == "`log`"
    assert print_name("match") == "match"
    assert print_name("größe") == "größe"
    assert print_name("ﬁ") == "`ﬁ`"
    assert print_name("[x > 4]") == "[x > 4]"
    assert print_name("[a [b]]") == "`[a [b]]`"
    assert print_name("a`b") == "col('a`b')"
