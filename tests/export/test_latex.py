"""The exported LaTeX, read by a parser of LaTeX, says what the model says."""

import math
import re
import string

import numpy as np
import pytest
import sympy
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from latex2sympy2_extended import latex2sympy

from ecsel import Signomial
from ecsel.explain import ModelView
from ecsel.export import formula_inputs, to_latex
from ecsel.export.latex import latex_indicator
from ecsel.export.raw_units import formula_of
from ecsel.signomial.latex import latex_name


def evaluate(view, symbols, source):
    """Read and run all lines of the source; return probabilities by class or predictions."""
    formula = formula_of(view)
    written = {latex_indicator(each): symbols[symbol] for symbol, each in formula.indicators.items()}
    written |= {latex_name(name): symbols.get(name) for name in formula.columns}
    # names that every parser knows: x_{a}, x_{b}, … for symbols and z_{a}, z_{b}, … for scores
    names = {text: f"x_{{{letter}}}" for text, letter in zip(written, string.ascii_letters, strict=False)}
    known = {symbol_of(names[text]): values for text, values in written.items()}
    for letter, label in zip(string.ascii_letters, view.classes, strict=False):
        names[rf"z_{{{latex_name(str(label))}}}"] = f"z_{{{letter}}}"
    pattern = "|".join(re.escape(text) for text in sorted(names, key=len, reverse=True))
    told = []
    for line in source.removeprefix("\\begin{aligned}\n").removesuffix("\n\\end{aligned}").split(" \\\\\n"):
        simple = re.sub(rf"(?<![A-Za-z\\])(?:{pattern})(?![A-Za-z])", lambda match: names[match.group()], line)
        left, right = re.split(r" &(?:=|\\leftarrow) ", simple)
        # the parser knows no sgn, but any function of one letter
        value = values_of(latex2sympy(right.replace(r"\operatorname{sgn}", "s")), known)
        known[symbol_of(left)] = value
        if left.startswith(("P", r"\hat")):
            told.append(value)
    return np.column_stack(np.broadcast_arrays(*told))


def symbol_of(text):
    return sympy.Symbol(text.replace("{", "").replace("}", ""))


def values_of(expression, known):
    free = sorted(expression.free_symbols, key=str)
    function = sympy.lambdify(free, expression.replace(sympy.Function("s"), sympy.sign), "numpy")
    with np.errstate(all="ignore"):
        return function(*(known[symbol] for symbol in free))


@pytest.mark.parametrize(
    "moderate_case",
    ["law_with_signs", "equation_with_parities", "median_and_threshold"],
    indirect=True,
)
def test_a_parser_reads_the_model(moderate_case, make_frame):
    case = moderate_case.every(5)
    symbols = formula_inputs(case.model, make_frame(case.rows, case.view.raw_names))
    told = evaluate(case.view, symbols, to_latex(case.model))
    np.testing.assert_allclose(told, case.outputs, rtol=1e-9, atol=1e-9)


def test_a_parser_reads_a_softmax():
    equations = {"a": Signomial.parse("2*u - 1"), "b": Signomial.parse("u**0.5/v"), "c 1": Signomial.parse("v")}
    view = ModelView.of_equations(equations, ["u", "v"])
    X = np.array([[1.0, 2.0], [3.0, 0.5]])
    told = evaluate(view, formula_inputs(view, X), to_latex(view))
    np.testing.assert_allclose(told, view.probabilities(X), rtol=1e-9)


MACROS = {
    *("backslash", "begin", "cdot", "end", "exp", "frac", "langle", "left", "leftarrow", "mathrm", "max", "min", "pi"),
    *("rangle", "right", "sim", "text", "times", "wedge"),
}


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.data())
def test_latex_takes_any_name(draw_hostile, data):
    source = to_latex(draw_hostile(data).view)
    plain = re.sub(r"\\(?=\n)|\\[^A-Za-z\n]", "", source.replace(" \\\\\n", "\n"))
    assert set(re.findall(r"\\([A-Za-z]+)", plain)) <= MACROS
    depth = np.cumsum([{"{": 1, "}": -1}.get(character, 0) for character in plain])
    assert depth.min() >= 0
    assert depth[-1] == 0
    assert not re.search(r"[%#$]", plain)
    assert len(source.splitlines()) == source.count("\n") + 1


def test_equations_read_well():
    law = Signomial.parse(f"{math.pi / 4!r}*x**(1/2)/y**2 - {1 / 3!r}*sign(z)*abs(z)**1.5 + 1.5e-9*x")
    assert to_latex(law).splitlines()[1] == (
        r"\hat{y} &= \frac{\pi}{4} \cdot y^{-2} \cdot \sqrt{x} - \frac{1}{3} \cdot \operatorname{sgn}\left(z\right) "
        r"\cdot \left|z\right|^{1.5} + 1.5 \times 10^{-9} \cdot x"
    )
