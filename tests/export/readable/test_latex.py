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
from ecsel.export.readable.formula_latex import latex_indicator
from ecsel.export.readable.latex import level_names
from ecsel.export.readable.raw_units import formula_of, positive_encoder
from ecsel.signomial.latex import latex_name


def lines_of(source):
    """Return the left and right sides of all lines."""
    inner = source.removeprefix("\\begin{aligned}\n").removesuffix("\n\\end{aligned}")
    return [re.split(r" &(?:=|\\leftarrow) ", line) for line in inner.split(" \\\\\n")]


def evaluate(view, written, source):
    """Read and run the equations of the source; return probabilities by class or predictions.

    `written` has the values of everything that equations speak of, by its LaTeX.
    """
    # names that every parser knows: x_{a}, x_{b}, … for symbols and z_{a}, z_{b}, … for scores
    names = {text: f"x_{{{letter}}}" for text, letter in zip(written, string.ascii_letters, strict=False)}
    known = {symbol_of(names[text]): values for text, values in written.items()}
    for letter, label in zip(string.ascii_letters, view.classes, strict=False):
        names[rf"z_{{{latex_name(str(label))}}}"] = f"z_{{{letter}}}"
    pattern = "|".join(re.escape(text) for text in sorted(names, key=len, reverse=True))
    reported = []
    for line in lines_of(source):
        left, right = (
            re.sub(rf"(?<![A-Za-z\\])(?:{pattern})(?![A-Za-z])", lambda match: names[match.group()], side)
            for side in line
        )
        if not left.startswith(("P", "z", r"\hat")) and not (left in names.values() and positive_encoder(view)):
            continue  # a rule about columns or the label
        # the parser knows no sgn, but any function of one letter, and takes log for that of base 10
        for mine, theirs in ((r"\operatorname{sgn}", "s"), (r"\,", r" \cdot "), (r"\log", r"\ln")):
            right = right.replace(mine, theirs)
        value = values_of(latex2sympy(right), known)
        known[symbol_of(left)] = value
        if left.startswith(("P", r"\hat")):
            reported.append(value)
    return np.column_stack(np.broadcast_arrays(*reported))


def written_of(view, symbols):
    """Return values by the LaTeX of their names."""
    encoder = positive_encoder(view)
    if encoder is None:
        return {latex_name(name): values for name, values in symbols.items()}
    formula = formula_of(view, encoder)
    written = {latex_indicator(each): symbols[symbol] for symbol, each in formula.indicators.items()}
    return written | {latex_name(name): symbols.get(name) for name in formula.columns}


def symbol_of(text):
    return sympy.Symbol(text.replace("{", "").replace("}", ""))


def values_of(expression, known):
    free = sorted(expression.free_symbols, key=str)
    # NumPy's logarithm takes no base, which the parser writes down
    natural = expression.replace(lambda each: isinstance(each, sympy.log), lambda each: sympy.log(each.args[0]))
    function = sympy.lambdify(free, natural.replace(sympy.Function("s"), sympy.sign), "numpy")
    with np.errstate(all="ignore"):
        return function(*(known[symbol] for symbol in free))


@pytest.mark.parametrize(
    "moderate_case",
    [
        *("law_with_signs", "equation_with_parities", "equation_with_shifts", "median_and_threshold"),
        *("raw_0", "raw_1", "default_of_two", "default_of_three", "default_with_thresholds"),
    ],
    indirect=True,
)
def test_a_parser_reads_the_model(moderate_case, make_frame):
    case = moderate_case.every(5)
    symbols = formula_inputs(case.model, make_frame(case.rows, case.view.raw_names))
    reported = evaluate(case.view, written_of(case.view, symbols), to_latex(case.model))
    np.testing.assert_allclose(reported, case.outputs, rtol=1e-9, atol=1e-9)


def test_a_parser_reads_a_softmax():
    equations = {"a": Signomial.parse("2*u - 1"), "b": Signomial.parse("u**0.5/v"), "c 1": Signomial.parse("v")}
    view = ModelView.of_equations(equations, ["u", "v"])
    X = np.array([[1.0, 2.0], [3.0, 0.5]])
    reported = evaluate(view, written_of(view, formula_inputs(view, X)), to_latex(view))
    np.testing.assert_allclose(reported, view.probabilities(X), rtol=1e-9)


MACROS = {
    *("backslash", "begin", "cdot", "end", "exp", "frac", "geq", "langle", "left", "leftarrow", "mathrm", "max", "min"),
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
        r"\hat{y} &= -\frac{1}{3}\,\operatorname{sgn}(z)\,\left|z\right|^{1.5} + 1.5 \times 10^{-9}\,x "
        r"+ \frac{\pi}{4}\,\frac{\sqrt{x}}{y^{2}}"
    )


def test_the_rules_of_a_raw_encoder_are_written(all_cases):
    case = all_cases["raw_0"]
    columns = {column.name: column for column in case.view.encoder.columns}
    fill = {feature.name: feature.fill for feature in case.view.encoder.features}
    lines = lines_of(to_latex(case.model))
    rules = {left: right for left, right in lines if not left.startswith(("P", "z"))}
    age = rf"\min\left(\max\left(\mathrm{{age}}, {columns['age'].low}\right), {columns['age'].high}\right)"
    missing = rf"{fill['age']:g} & \text{{if }} \mathrm{{age}} = \text{{missing}}"
    assert rules[r"\mathrm{age}"] == rf"\begin{{cases}} {missing} \\ {age} & \text{{otherwise}} \end{{cases}}"
    assert rules[latex_name("[age above 50]")] == r"\max\left(0, \mathrm{age} - 50\right)"
    assert rules[latex_name("[balance above -50]")] == r"\max\left(0, \mathrm{balance} + 50\right)"
    assert r"2 & \text{if } \mathrm{grade} = \mathrm{high}" in rules[r"\mathrm{grade}"]
    assert r"\mathrm{yes} & \text{if } P\left(\mathrm{yes}\right) \geq 0.35" in rules[r"\mathrm{label}"]
    assert rules[r"\left[\text{a statement}\right]"].startswith(r"\begin{cases} 1 & \text{if } \text{it holds}")
    three = to_latex(all_cases["default_of_three"].model)
    assert lines_of(three)[-1][1] == r"\text{the class with the largest } P"


def test_the_complete_listing_runs_as_python_and_no_name_ends_it():
    name = r"\end{verbatim}\input{secret}"
    equation = Signomial.parse(f"3*x**2 + col({name!r})")
    first, *lines, last = to_latex(equation, complete=True).splitlines()
    assert (first, last) == (r"\begin{verbatim}", r"\end{verbatim}")
    assert not any(r"\end{" in line for line in lines)
    program = {}
    exec("\n".join(lines), program)  # the listing is a program
    assert program["predict"]({"x": 2.0, name: 5.0}) == {"prediction": pytest.approx(17.0)}


def test_a_complete_listing_has_all_digits():
    with pytest.raises(ValueError, match="complete=True keeps all digits and reads no rows: leave out digits and X"):
        to_latex(Signomial.parse("x"), complete=True, digits=3)


def test_levels_that_look_alike_are_distinguished():
    assert level_names(["a b", "a\tb", 2, 2.5, True]) == {
        "a b": r"\mathrm{a\ b}",
        "a\tb": r"\mathrm{a\ b}_{(1)}",
        2: "2",
        2.5: "2.5",
        True: r"\mathrm{True}",
    }
