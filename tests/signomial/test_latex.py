"""LaTeX: the forms of powers, and names that cannot leave the formula."""

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ecsel.signomial import Signomial, Term
from ecsel.signomial.latex import latex_name


@pytest.mark.parametrize(
    ("source", "latex"),
    [
        (
            "2.5*x1**2*y**(-1/2) - 3.0*abs(z)**1.37 + 0.25",
            r"\frac{2.5\,x_{1}^{2}}{\sqrt{y}} - 3\,\left|z\right|^{1.37} + 0.25",
        ),
        ("sqrt(x)", r"\sqrt{x}"),
        ("sqrt(abs(x))", r"\sqrt{\left|x\right|}"),
        ("x**(2/3)", r"x^{\frac{2}{3}}"),
        ("sign(x)*abs(x)**(1/3)", r"\operatorname{sgn}(x)\,\left|x\right|^{\frac{1}{3}}"),
        ("sign(x)", r"\operatorname{sgn}(x)"),
        ("-x**3 - y", r"-x^{3} - y"),
        ("-x + 1", r"-x + 1"),
        ("x**-1", r"\frac{1}{x}"),
        ("-17/age", r"-\frac{17}{\mathrm{age}}"),
        ("0.3*x/(y**2*z)", r"\frac{0.3\,x}{y^{2}\,z}"),
        ("x**(-2/3)", r"x^{-\frac{2}{3}}"),
        ("log(x)", r"\log\left(x\right)"),
        ("2*log(x + 50)**2", r"2\,\left(\log\left(x + 50\right)\right)^{2}"),
        ("sqrt(x - 0.5)/(y + 1)", r"\frac{\sqrt{x - 0.5}}{y + 1}"),
        ("3*(x + 1)", r"3\,\left(x + 1\right)"),
        ("abs(log(x))", r"\left|\log\left(x\right)\right|"),
        ("2*[a = b_c]", r"2\,\left[\mathrm{a\ \text{=}\ b\_c}\right]"),
        ("1e-7*x", r"1e-07\,x".replace("1e-07", r"1 \times 10^{-7}")),
        ("age*x", r"\mathrm{age}\,x"),
        ("x - x", "0"),
    ],
)
def test_forms(source, latex):
    assert Signomial.parse(source).to_latex() == latex


def test_digits_round_numbers_and_leave_fractions():
    z = Signomial([Term(1 / 3, {"x": 0.123456}), Term(0.99999, {"y1": 1})])
    assert z.to_latex(digits=3) == r"y_{1} + 0.333\,x^{0.123}"
    assert z._repr_latex_() == r"$\displaystyle y_{1} + 0.3333\,x^{0.1235}$"


@pytest.mark.parametrize(
    ("name", "latex"),
    [
        ("x", "x"),
        ("x12", "x_{12}"),
        ("abc2", r"\mathrm{abc}_{2}"),
        ("page value", r"\mathrm{page\ value}"),
        ("a_b", r"\mathrm{a\_b}"),
        ("#$%&_{}", r"\mathrm{\#\$\%\&\_\{\}}"),
        ("\\^~", r"\mathrm{\backslash{}\wedge{}\sim{}}"),
        ("a=b", r"\mathrm{a\text{=}b}"),
        ("\x07", r"\mathrm{\text{U+0007}}"),
        ("", r"\langle\rangle"),
        ("[x > 4]", r"\left[\mathrm{x\ \text{>}\ 4}\right]"),
        ("[a]}", r"\mathrm{\text{[}a\text{]}\}}"),
    ],
)
def test_names(name, latex):
    assert latex_name(name) == latex


@given(st.one_of(st.text(max_size=12), st.text(max_size=9).map("[{}]".format)))
@settings(max_examples=100, deadline=None)
def test_no_name_leaves_the_formula(name):
    latex = latex_name(name)
    macros = set(re.findall(r"\\(?:[A-Za-z]+|.)", latex, flags=re.DOTALL))
    known = {
        r"\mathrm",
        r"\text",
        r"\backslash",
        r"\wedge",
        r"\sim",
        r"\langle",
        r"\rangle",
        r"\ ",
        r"\left",
        r"\right",
    }
    assert macros <= known | {"\\" + character for character in "#$%&_{}"}
    bare = re.sub(r"\\.", "", latex, flags=re.DOTALL)
    assert not set("#$%&^~") & set(bare)
    assert bare.count("{") == bare.count("}")
    assert "\n" not in latex
