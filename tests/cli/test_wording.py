"""Wrapped equations are the library's own text, broken at safe places."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ecsel import Signomial, Term
from ecsel.cli.explained_row import Reason
from ecsel.cli.wording import DIGITS, factor_of_odds, sentence, wrapped_equation

exponents = st.dictionaries(st.text(max_size=6), st.floats(-3, 3).filter(bool), max_size=4)
terms = st.builds(Term, st.floats(-100, 100), exponents)


@settings(max_examples=50, deadline=None)
@given(equation=st.lists(terms, max_size=3).map(Signomial), width=st.integers(1, 60))
def test_wrapping_changes_nothing_but_line_breaks(equation, width):
    lines = wrapped_equation(equation, width)
    joined = lines[0] + "".join(line[2:] if line.startswith(("  *", "  /")) else f" {line}" for line in lines[1:])
    assert joined == format(equation, DIGITS)


def test_lines_fit_where_names_are_short():
    equation = Signomial.parse("2*a**0.5*b**1.5*c**2.5 - 3*a + 1")
    assert max(map(len, wrapped_equation(equation, 12))) <= 12
    quotient = Signomial.parse("17*log(x + 1)/age**2 - 3/x")
    assert wrapped_equation(quotient, 14) == ["-3/x", "+ 17*log(x + 1)", "  /age**2"]


@pytest.mark.parametrize(("odds", "words"), [(2.0, "multiplied by 2"), (0.25, "divided by 4")])
def test_odds_are_reported_as_a_product_or_a_quotient(odds, words):
    assert factor_of_odds(odds) == words


def test_a_reason_names_the_side_it_speaks_for():
    reported = sentence(Reason("age", 40.0, "35", -0.7), "yes", "no")
    assert reported == "age = 40 (typical: 35) speaks for no: the odds of yes are divided by 2.01"
    assert "typical" not in sentence(Reason("colour", "red", None, 0.7), "yes", "no")
