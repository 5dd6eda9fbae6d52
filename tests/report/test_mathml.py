"""What is typeset is the equation: it is read back and evaluated."""

import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ecsel import Signomial
from ecsel.report.mathml import all_digits, equation, piece, simple_number, symbol

POINT = {"x": 1.7, "y1": 0.6, "page value": 2.3, "[city = San José]": 1.0, "[x > 1]": 0.0}
ROW = {name: [value] for name, value in POINT.items()}
exponents = st.one_of(st.integers(-4, 4), st.sampled_from(["(1/2)", "(-2/3)", "0.7312", "-1.25"]))
factors = st.sampled_from(["x", "y1", "col('page value')", "abs(x)", "abs(y1)"])


@settings(max_examples=60)
@given(
    st.lists(
        st.tuples(st.floats(1e-5, 1e7), st.booleans(), st.dictionaries(factors, exponents, max_size=3)),
        min_size=1,
        max_size=4,
    )
)
def test_a_typeset_equation_has_the_value_of_the_equation(evaluate_typeset, terms):
    text = "+".join(
        f"({'-' if negative else ''}{alpha!r})" + "".join(f"*{name}**{beta}" for name, beta in powers.items())
        for alpha, negative, powers in terms
    )
    z = Signomial.parse(text)
    printed = evaluate_typeset(str(equation(symbol("z"), z)), POINT)
    size = sum(abs(term.evaluate(ROW)[0]) for term in z.terms)
    assert printed == pytest.approx(z(ROW)[0], abs=2e-3 * size + 1e-12)


READABLE = [
    "1.2*log(x) - 0.033*y1 + 0.9*[city = San José] - 1.09",
    "17/x - 3*sqrt(y1)/(x + 2)**2 + 2*(x - 0.25)*log(`page value` + 50)",
    "-1/(x*y1) + log(x)**2*y1 - 3*[x > 1]*x + 1e-05*x**3",
    "-x + 1/sqrt(x + 1) + 2.0*x**(-2/3)",
]


@pytest.mark.parametrize("text", READABLE)
def test_logarithms_shifts_indicators_and_quotients_are_typeset_with_every_digit(evaluate_typeset, text):
    z = Signomial.parse(text)
    assert evaluate_typeset(str(equation(symbol("z"), z, all_digits)), POINT) == pytest.approx(z(ROW)[0], rel=1e-12)
    for term in z.terms:
        value = evaluate_typeset(f"<math><mi>z</mi><mo>=</mo></math>{piece(term)}", POINT)
        assert term.coefficient * value == pytest.approx(term.evaluate(ROW)[0], rel=1e-12)


def test_indicators_keep_their_brackets_and_quotients_have_a_line():
    printed = str(equation(symbol("z"), Signomial.parse("0.9*[city = San José] + 17/x"), all_digits))
    assert "<mtext>[city = San José]</mtext>" in printed
    assert '<mfrac displaystyle="true"><mn>17</mn><mi>x</mi></mfrac>' in printed


def test_simple_numbers_are_called_by_name():
    assert "4π" in str(equation(symbol("F"), Signomial.parse(f"{4 * math.pi!r}*x"), simple_number))
    assert "1/2" in str(equation(symbol("F"), Signomial.parse("0.5*x"), simple_number))


def test_the_empty_sum_is_zero():
    assert str(equation(symbol("z"), Signomial())).endswith("<math><mn>0</mn></math>")


def test_names_are_text():
    assert "<msup>" not in str(symbol("</mi><msup>"))
    assert "&lt;/mi&gt;" in str(symbol("</mi><msup>"))
