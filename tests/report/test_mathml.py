"""What is typeset is the equation: it is read back and evaluated."""

import math
import xml.etree.ElementTree as ET

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ecsel import Signomial
from ecsel.report.mathml import all_digits, equation, piece, simple_number, symbol

POINT = {"x": 1.7, "y1": 0.6, "page value": 2.3, "[city = San José]": 1.0, "[x > 1]": 0.0}
ROW = {name: [value] for name, value in POINT.items()}
SIGNS = {"·": "*", "×": "*", "−": "-", "+": "+", "(": "(", ")": ")", "=": "=="}


def evaluate(html):
    """Evaluate the right-hand side of typeset MathML at the point."""
    tree = ET.fromstring(f"<all>{html}</all>")
    return calculate("".join(python(each) for each in tree[1:]))


def calculate(text):
    functions = {"log": math.log, "sgn": lambda g: math.copysign(1.0, g), "sqrt": math.sqrt, "abs": abs}
    return eval(text, {"__builtins__": {}}, functions)


def python(node):
    """Return a node as a Python expression."""
    if node.tag == "msub":
        return f"({POINT[node[0].text + node[1].text]})"
    parts = [python(child) for child in node]
    inside = "".join(parts)
    if node.tag == "mi" and node.text in {"log", "sgn"}:
        return node.text
    if node.tag == "mrow" and node[0].text == "|":
        return f"abs({''.join(parts[1:-1])})"
    return {
        "math": lambda: inside,
        "span": lambda: inside,
        "mo": lambda: SIGNS.get(node.text, ""),
        "mn": lambda: f"({node.text.replace('π', f'*{math.pi!r}')})",
        "mi": lambda: f"({POINT[node.text]})",
        "mtext": lambda: f"({POINT[node.text]})",
        "msqrt": lambda: f"sqrt({inside})",
        "msup": lambda: f"(({parts[0]})**({parts[1]}))",
        "mfrac": lambda: f"(({parts[0]})/({parts[1]}))",
        "mrow": lambda: f"({inside})" if node[0].tag != "mi" else inside,
    }[node.tag]()


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
def test_a_typeset_equation_has_the_value_of_the_equation(terms):
    text = "+".join(
        f"({'-' if negative else ''}{alpha!r})" + "".join(f"*{name}**{beta}" for name, beta in powers.items())
        for alpha, negative, powers in terms
    )
    z = Signomial.parse(text)
    shown = evaluate(str(equation(symbol("z"), z)))
    size = sum(abs(term.evaluate(ROW)[0]) for term in z.terms)
    assert shown == pytest.approx(z(ROW)[0], abs=2e-3 * size + 1e-12)


READABLE = [
    "1.2*log(x) - 0.033*y1 + 0.9*[city = San José] - 1.09",
    "17/x - 3*sqrt(y1)/(x + 2)**2 + 2*(x - 0.25)*log(`page value` + 50)",
    "-1/(x*y1) + log(x)**2*y1 - 3*[x > 1]*x + 1e-05*x**3",
    "-x + 1/sqrt(x + 1) + 2.0*x**(-2/3)",
]


@pytest.mark.parametrize("text", READABLE)
def test_logarithms_shifts_indicators_and_quotients_are_typeset_with_every_digit(text):
    z = Signomial.parse(text)
    assert evaluate(str(equation(symbol("z"), z, all_digits))) == pytest.approx(z(ROW)[0], rel=1e-12)
    for term in z.terms:
        alone = ET.fromstring(f"<all>{piece(term)}</all>")
        value = calculate("".join(map(python, alone)))
        assert term.coefficient * value == pytest.approx(term.evaluate(ROW)[0], rel=1e-12)


def test_indicators_keep_their_brackets_and_quotients_have_a_line():
    shown = str(equation(symbol("z"), Signomial.parse("0.9*[city = San José] + 17/x"), all_digits))
    assert "<mtext>[city = San José]</mtext>" in shown
    assert '<mfrac displaystyle="true"><mn>17</mn><mi>x</mi></mfrac>' in shown


def test_simple_numbers_are_called_by_name():
    assert "4π" in str(equation(symbol("F"), Signomial.parse(f"{4 * math.pi!r}*x"), simple_number))
    assert "1/2" in str(equation(symbol("F"), Signomial.parse("0.5*x"), simple_number))


def test_the_empty_sum_is_zero():
    assert str(equation(symbol("z"), Signomial())).endswith("<math><mn>0</mn></math>")


def test_names_are_text():
    assert "<msup>" not in str(symbol("</mi><msup>"))
    assert "&lt;/mi&gt;" in str(symbol("</mi><msup>"))
