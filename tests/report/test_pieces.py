"""The text that people read is the equation, whole or a piece a line."""

from hypothesis import given, settings
from hypothesis import strategies as st

from ecsel import Signomial
from ecsel.report.pieces import equation_lines, equation_text, piece_text
from ecsel.signomial import Term

PIECES = ("log(x)", "sqrt(y + 1)", "x", "x**2", "`page value`", "[city = San José]", "x*log(y + 2)", "1/x", "x/y**2")
numbers = st.one_of(st.integers(-99, 99).map(float), st.floats(-50, 50, width=32)).filter(bool)
equations = st.dictionaries(st.sampled_from(PIECES), numbers, max_size=6).map(
    lambda parts: sum((c * Signomial.parse(text) for text, c in parts.items()), Signomial.parse("5"))
)


@settings(max_examples=60, deadline=None)
@given(equation=equations, width=st.integers(1, 100))
def test_the_text_reads_back_as_the_same_equation(equation, width):
    assert Signomial.parse(equation_text(equation)) == equation
    lines = equation_lines(equation, width)
    assert Signomial.parse(" ".join(line.strip() for line in lines)) == equation
    assert len(lines) == 1 or len(lines) == len(equation.terms)


@settings(max_examples=40, deadline=None)
@given(equation=equations)
def test_a_coefficient_times_its_piece_is_the_term(equation):
    for term in equation.terms:
        text = piece_text(term)
        (alone,) = Signomial.parse(text or "1").terms
        assert Term.from_factors(term.coefficient * alone.coefficient, alone.factors) == term


def test_whole_numbers_are_printed_whole():
    assert equation_text(Signomial.parse("17.0/Age - 2.0*x + 5")) == "-2*x + 17/Age + 5"
    assert equation_text(Signomial()) == "0"
