"""Reading text: what people type, and one clear line for what cannot be read."""

import contextlib
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ecsel.signomial import Signomial, Term
from ecsel.signomial.parse import parse_signomial


@pytest.mark.parametrize(
    ("typed", "meant"),
    [
        ("2*x", "2*x"),
        ("  x * 2 \n", "2*x"),
        ("-(x - 1)*(x + 1)", "-(x - 1)*(x + 1)"),
        ("-(x - y)*(x + y)", "-x**2 + y**2"),
        ("(x + 1)**2", "(x + 1)**2"),
        ("(x + 3)", "x + 3"),
        ("(x + 3) - 2", "x + 1"),
        ("2*(x + 3)", "2*(x + 3)"),
        ("1*(x + 3)", "1*(x + 3)"),
        ("-1*(x + 3)", "-1*(x + 3)"),
        ("-(x + 3)/y", "-(x + 3)/y"),
        ("2/(3 - x)", "-2/(x - 3)"),
        ("(x + y + 1)*y", "x*y + y**2 + y"),
        ("(2*x + 1)*y", "2*x*y + y"),
        ("(x + 1)*(x + y)", "x*(x + 1) + (x + 1)*y"),
        ("(x + 1)/(x + 1)", "1"),
        ("sqrt(x + 1)*sqrt(x + 1)", "1*(x + 1)"),
        ("sqrt((x + 1)**2)", "abs(x + 1)"),
        ("abs(1 - x)", "abs(x - 1)"),
        ("sign(2*(x + 1))", "sign(x + 1)"),
        ("(x + 50)**-0.5", "(x + 50)**-0.5"),
        ("(x - 0.1)**(-2/3)", "(x - 0.1)**(-2/3)"),
        ("1/(x + 1)**2/y", "1/((x + 1)**2*y)"),
        ("log(x)", "log(x)"),
        ("log(50 + x)", "log(x + 50)"),
        ("log(x)*log(x)/log(x - 2)", "log(x)**2/log(x - 2)"),
        ("sqrt(log(x))", "sqrt(log(x))"),
        ("abs(log(x))", "abs(log(x))"),
        ("sign(log(x))*log(x)**2", "sign(log(x))*abs(log(x))**2"),
        ("log(4)*x", "1.3862943611198906*x"),
        ("log", "`log`"),
        ("log*2", "2*`log`"),
        ("0.9*[contract = two year]*log(age)", "0.9*[contract = two year]*log(age)"),
        ("[x above 3]**2 - 1*[age missing]", "[x above 3]**2 - [age missing]"),
        ("`page value` + 2*col('page value')", "3*`page value`"),
        ("sqrt(`a b` + 1)", "sqrt(`a b` + 1)"),
        ("`age`", "age"),
        ("`[x > 1]`", "[x > 1]"),
        ("(x + y)**2/4", "0.25*x**2 + 0.5*x*y + 0.25*y**2"),
        ("sqrt(4*x)", "2*sqrt(x)"),
        ("sqrt(x**2)", "abs(x)"),
        ("sqrt(2)*x", "1.4142135623730951*x"),
        ("1/x/y", "1/(x*y)"),
        ("1/(2*x)", "0.5/x"),
        ("-x**2", "-x**2"),
        ("(-x)**2", "x**2"),
        ("2**-1*x", "0.5*x"),
        ("x**(1/2 + 1)", "x**(3/2)"),
        ("x**(-(1/2))", "1/sqrt(x)"),
        ("x**+2", "x**2"),
        ("x**2**3", "x**8"),
        ("x**3/2", "0.5*x**3"),
        ("+x - -x", "2*x"),
        ("x*x*x", "x**3"),
        ("x*abs(x)", "sign(x)*abs(x)**2"),
        ("abs(-2*x*y**2)", "2*abs(x)*y**2"),
        ("abs(1 - 3)*x", "2*x"),
        ("sign(-2*x*y)", "-sign(x)*sign(y)"),
        ("sign(-2)*x + sign(0)", "-x"),
        ("col(\"x\") + col('x')", "2*x"),
        (".5*x + 5.*y + 1e2*z", "0.5*x + 5*y + 100*z"),
        ("x**0", "1"),
        ("x - x", "0"),
        ("0**0", "1"),
        ("abs(x - x)", "0"),
        ("sign(x - x)", "0"),
        ("1/3", "0.3333333333333333"),
        ("(x - x)**1000000", "0"),
    ],
)
def test_what_people_type(typed, meant):
    assert str(Signomial.parse(typed)) == meant


def test_string_literals_have_pythons_escapes():
    assert Signomial.parse(r"""col('a\u0301\x41\n\'\"')""").names == ("a\u0301A\n'\"",)


def test_fractions_are_exact_and_decimals_are_floats():
    exact, inexact = Signomial.parse("x**(3/2)").terms[0], Signomial.parse("x**1.5").terms[0]
    assert isinstance(exact.exponents["x"], Fraction)
    assert isinstance(inexact.exponents["x"], float)
    assert exact == inexact


def test_identifiers_are_normalised_as_python_does():
    assert Signomial.parse("ﬁ").names == ("fi",)
    assert Signomial.parse("col('ﬁ')").names == ("ﬁ",)


@pytest.mark.parametrize(
    ("typed", "position", "problem"),
    [
        ("", 1, "the text is empty"),
        ("x +", 4, "not the end of the text"),
        ("x y", 3, "expected an operator before 'y'"),
        ("2x", 2, "expected an operator before 'x'"),
        ("x**y", 2, "an exponent must be a number"),
        ("(x", 3, r"expected '\)' before the end"),
        ("x)", 2, r"expected an operator before '\)'"),
        ("tan(x)", 1, "there is no function 'tan', only abs, col, exp, log, sign, sqrt"),
        ("exp(x*y)", 1, "multiples of features"),
        ("exp(1000)", 1, "too large"),
        ("x(y)", 1, r"write \* to multiply"),
        ("lambda", 1, "a feature of that name is written `lambda`"),
        ("x²", 1, "is no plain identifier"),
        ("abs", 4, "'abs' is a function and needs a parenthesis"),
        ("x^2", 2, r"write a power as \*\*"),
        ("'a'", 1, "written `a`"),
        ("col(a)", 5, "one feature name in quotes"),
        ("col('a' + 'b')", 9, r"expected '\)'"),
        (r"col('\q')", 5, "Python's escapes"),
        (r"col('\U00110000')", 5, "not valid in Python"),
        ("col('\x00')", 5, "not valid in Python"),
        ("col('a\nb')", 5, "must end on its line"),
        ("x = 2", 3, "right-hand side"),
        ("1,5*x", 2, "decimals with a point"),
        ("x % 2", 3, "unexpected '%'"),
        ("(x + y)**0.5", 8, "only non-negative integer powers"),
        ("1/(x + y)", 2, "divided by a single term"),
        ("x/0", 2, "division by zero"),
        ("0**-1", 2, "division by zero"),
        ("abs(x + y)", 1, r"abs\(\) takes a single term"),
        ("sqrt(2*x + 1)", 1, r"sqrt\(\) takes a single term"),
        ("sqrt(3 - x)", 1, r"negative coefficient -1\.0"),
        ("(3 - x)**0.5", 8, r"negative coefficient -1\.0"),
        ("log(x**2)", 1, r"log\(\) takes a feature, or a feature plus a number"),
        ("log(3 - x)", 1, r"log\(\) takes a feature"),
        ("log(x + y)", 1, r"log\(\) takes a single term"),
        ("log(log(x))", 1, r"log\(\) takes a feature"),
        ("log(0)", 1, "0 has no logarithm"),
        ("log(-2.5)", 1, r"-2\.5 has no logarithm"),
        ("`a", 1, "in backticks must end with one"),
        ("[a", 1, "in square brackets must end with one"),
        ("[a[b]]", 1, "in square brackets must end with one"),
        ("``", 1, "a name is empty"),
        ("[]", 1, "a name is empty"),
        ("`a\nb`", 1, r"control characters is written col\('...'\)"),
        ("[a\x07]", 1, r"control characters is written col\('...'\)"),
        ("sign(x**2)", 1, "product of odd powers"),
        ("(-8)**(1/3)", 5, "negative number -8 has no real power 1/3"),
        ("sqrt(-x)", 1, r"negative coefficient -1\.0"),
        ("1e999", 1, "too large"),
        ("1e308*10", 6, "too large"),
        ("1e308*x*10", 8, "must be finite"),
        ("9**9**9", 2, "too large"),
        ("x**(9**999)", 6, "too large"),
        ("x**1e301", 2, "at most 1e300"),
        ("1" * 401, 1, "at most 400 characters"),
        ("(" * 51 + "x", 51, "nested more than 50 levels"),
        ("x" + "**2" * 51, 152, "nested more than 50 levels"),
        ("(a + b)**100000", 8, "too many terms"),
        ("(a + b)**1e18", 8, "too many terms"),
        ("*".join(["(a + b + c + d)"] * 30), None, "too many terms"),
        (f"({'+'.join(f'x{i}' for i in range(220))})*({'+'.join(f'y{i}' for i in range(220))})", None, "too many"),
        (f"({'+'.join(f'x{i}' for i in range(2000))})" + "/1" * 20_000, None, "too many terms"),
        ("(" * 49 + "+".join(f"x{i}" for i in range(2000)) + ")+1" * 49, None, "too many terms"),
    ],
)
def test_what_cannot_be_read_is_said_in_one_line(typed, position, problem):
    with pytest.raises(ValueError, match=problem) as caught:
        Signomial.parse(typed)
    message = str(caught.value)
    assert "\n" not in message
    assert message.startswith("cannot read the equation at character ")
    if position is not None:
        assert message.split(":", maxsplit=1)[0].endswith(f" {position}")


def test_length_and_type_are_checked_first():
    with pytest.raises(ValueError, match="at most 1000000 characters, not 1000001"):
        Signomial.parse("x" * 1_000_001)
    with pytest.raises(TypeError, match="read from a string, not from bytes"):
        Signomial.parse(b"x")


def test_long_sums_are_read_in_one_pass():
    z = Signomial(Term(k + 1, {f"x{k}": Fraction(1, 3)}) for k in range(2000))
    assert Signomial.parse(str(z)) == z


@given(st.text(alphabet="xy2.()+-*/ absignqrtcol'e`[]", max_size=30))
@settings(max_examples=120, deadline=None)
def test_any_text_is_read_or_refused_by_value_error(text):
    with contextlib.suppress(ValueError):
        z = Signomial.parse(text)
        assert str(Signomial.parse(str(z))) == str(z)


def test_a_product_of_very_many_factors_is_read_in_one_go():
    names = [f"x{i:04}" for i in range(4000)]
    expected = Term(1.0, dict.fromkeys(names, 1))
    assert parse_signomial("*".join(names), max_products=0).terms == (expected,)
    assert parse_signomial("1/" + "/".join(names), max_products=0).terms == (Term(1.0) / expected,)


@pytest.mark.parametrize(
    ("long", "short"),
    [("x*y/x*x", "x*y"), ("2*x/4*3/x", "1.5"), ("6*(x + 1)/(x + 1)**2/3", "2/(x + 1)"), ("x*0*y", "0"), ("--x", "x")],
)
def test_a_product_is_merged_from_left_to_right(long, short):
    assert Signomial.parse(long) == Signomial.parse(short)


def test_a_printed_equation_needs_no_expansion():
    text = "3*x**2*(y + 1)**3*log(z - 2)/(x - 4) - 2*sqrt(`page value`)*abs(y) + 1*(x + 2) + 5"
    equation = parse_signomial(text, max_products=0)
    assert parse_signomial(str(equation), max_products=0) == equation == Signomial.parse(text)
    with pytest.raises(ValueError, match="too many terms"):
        parse_signomial("(x + y)*z", max_products=0)


@pytest.mark.parametrize(
    ("text", "products"),
    [
        ("(x + y)*z", 2),
        ("(x + y)*(u + v + w)", 6),
        ("(x + y)*(u + v)*(r + s)", 4 + 8),
        ("(x + y)*(u + v) + 1", 4 + 4),  # the terms of a sum in a sum are merged
    ],
)
def test_products_are_counted_before_they_are_made(text, products):
    parse_signomial(text, max_products=products)
    with pytest.raises(ValueError, match="too many terms"):
        parse_signomial(text, max_products=products - 1)
