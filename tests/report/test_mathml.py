"""What is typeset is the equation: it is read back and evaluated."""

import math
import xml.etree.ElementTree as ET

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ecsel import Signomial
from ecsel.report.mathml import equation, symbol

POINT = {"x": 1.7, "y1": 0.6, "page value": 2.3}


def evaluate(html):
    """Evaluate the right-hand side of typeset MathML at the point: a product goes on until a sign or the end."""
    tree = ET.fromstring(f"<all>{html}</all>")
    tokens = [token for math_ in tree[1:] for child in math_ for token in flat(child)]
    total, product, sign = 0.0, 1.0, 1.0
    seen = False
    for kind, value in tokens:
        if kind == "sign":
            total += sign * product if seen else 0.0
            product, sign, seen = 1.0, value, False
        else:
            product *= value
            seen = True
    return total + sign * product


def flat(node):
    """Yield signs and factors of a node."""
    if node.tag == "mo":
        if node.text in "+−":
            yield "sign", -1.0 if node.text == "−" else 1.0
    elif node.tag == "mrow" and node[0].tag == "mn":
        yield "factor", number(node)
    elif node.tag == "mrow" and node[-1].tag in ("msup", "msqrt"):
        yield "factor", value(node[0])
        yield "factor", value(node[-1])
    else:
        yield "factor", value(node)


def value(node):
    return {
        "mn": lambda: eval_fraction(node.text),
        "mi": lambda: POINT[node.text],
        "mtext": lambda: POINT[node.text],
        "msub": lambda: POINT[node[0].text + node[1].text],
        "msqrt": lambda: math.sqrt(value(node[0])),
        "msup": lambda: value(node[0]) ** number(node[1]),
        "mrow": lambda: math.copysign(1.0, value(node[2])) if node[0].text == "sgn" else abs(value(node[1])),
    }[node.tag]()


def number(node):
    if node.tag == "mn":
        return eval_fraction(node.text)
    if node[0].tag == "mo":
        return -number(node[1])
    return float(node[0].text) * 10 ** number(node[2][1])


def eval_fraction(text):
    above, _, below = text.partition("/")
    number = math.pi * float(above.removesuffix("π") or 1) if above.endswith("π") else float(above)
    return number / float(below) if below else number


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
    size = sum(
        abs(term.coefficient * term.evaluate({k: [v] for k, v in POINT.items()})[0] / term.coefficient)
        for term in z.terms
    )
    assert shown == pytest.approx(z({k: [v] for k, v in POINT.items()})[0], abs=2e-3 * size + 1e-12)


def test_simple_numbers_are_called_by_name():
    assert "4π" in str(equation(symbol("F"), Signomial.parse(f"{4 * math.pi!r}*x"), simple_numbers=True))
    assert "1/2" in str(equation(symbol("F"), Signomial.parse("0.5*x"), simple_numbers=True))


def test_the_empty_sum_is_zero():
    assert str(equation(symbol("z"), Signomial())).endswith("<math><mn>0</mn></math>")


def test_names_are_text():
    assert "<msup>" not in str(symbol("</mi><msup>"))
    assert "&lt;/mi&gt;" in str(symbol("</mi><msup>"))
