"""The exported text is Python: evaluated line by line, it says what the model says."""

import math
import re

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ecsel import Signomial
from ecsel.explain import ModelView
from ecsel.export import formula_inputs, to_text
from ecsel.export.digits import readable_formula
from ecsel.export.raw_rows import symbols_of
from ecsel.export.raw_units import formula_of


class Column(np.ndarray):
    """Values that are also equal to levels, or missing."""

    def __eq__(self, level):
        return self.indicators[level].astype(float)

    __hash__ = None


def namespace(formula, symbols):
    columns = {}
    n_rows = max((len(each) for each in symbols.values()), default=1)
    for name in formula.columns:
        column = np.asarray(symbols.get(name, np.zeros(n_rows))).view(Column)
        low, high = formula.held(name) or (None, None)
        column = column if low is None else np.maximum(column, low)
        columns[name] = column if high is None else np.minimum(column, high)
        columns[name].indicators = {
            "missing" if each.level is None else each.level: symbols[each.symbol]
            for each in formula.indicators.values()
            if each.column == name
        }
    functions = {"max": np.maximum, "min": np.minimum, "abs": np.abs, "sign": np.sign, "exp": np.exp, "pi": math.pi}
    scores = {formula.score_name: {}} if formula.link == "softmax" else {}
    return {**columns, **functions, **scores, "col": columns.__getitem__, "missing": "missing", "p": {}}


def evaluate(view, symbols, text, formula=None):
    """Run the equations of a text and return what they say of each class."""
    known = namespace(formula or formula_of(view), symbols)
    equations = re.sub(r"\n    ([+-] )", r" \1", text).split("\nwhere\n")[0].splitlines()
    for line in equations:
        if line.startswith("the label is"):
            continue
        exec(re.sub(r"\bP\(((?:'(?:[^'\\]|\\.)*'|\"(?:[^\"\\]|\\.)*\"|[^)])*)\)", r"p[\1]", line), known)
    if not view.has_classes:
        return np.asarray(known["prediction"])[:, None] + np.zeros((1, 1))
    return np.column_stack([np.asarray(known["p"][label]) for label in view.classes])


def test_the_text_is_the_model(moderate_case, make_frame):
    case = moderate_case
    symbols = formula_inputs(case.model, make_frame(case.rows, case.view.raw_names))
    with np.errstate(all="ignore"):
        told = evaluate(case.view, symbols, to_text(case.model))
    known = np.isfinite(told).all(axis=1)  # exp overflows in the plain form of a softmax
    assert known.mean() > 0.5
    np.testing.assert_allclose(told[known], np.array(case.outputs)[known], rtol=1e-9, atol=1e-9)


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.data())
def test_text_takes_any_name(draw_hostile, data):
    hostile = draw_hostile(data)
    text = to_text(hostile.view)
    assert all(line.isprintable() for line in text.split("\n"))  # no name breaks a line
    told = evaluate(hostile.view, formula_inputs(hostile.view, hostile.table), text)
    np.testing.assert_allclose(told, hostile.probabilities, rtol=1e-9)


@pytest.mark.parametrize("tolerance", [1e-2, 1e-4])
def test_rounded_text_stays_within_the_tolerance(encoded_case, tolerance, make_frame):
    case = encoded_case.take(encoded_case.ordinary)
    X = make_frame(case.rows, case.view.raw_names)
    X = X.to_numpy(dtype=float) if case.view.estimator is None else X
    text = to_text(case.model, digits="auto", tolerance=tolerance, X=X)
    short = readable_formula(case.view, "auto", tolerance, X)
    told = evaluate(case.view, symbols_of(case.view, short, X), text, short)
    assert np.abs(told - case.outputs).max() <= tolerance
    assert len(text) < len(to_text(case.model))


def test_columns_may_be_called_like_functions():
    names = ["exp", "max", "pi", "P", "missing", "z"]
    equation = Signomial.parse(" + ".join(f"{2**j}*col({name!r})" for j, name in enumerate(names)))
    view = ModelView.of_equations({"no": equation, "yes": Signomial.parse("0.5*exp")}, names)
    X = np.array([[0.1, 0.2, 0.3, 0.4, 0.5, 0.6]])
    np.testing.assert_allclose(evaluate(view, formula_inputs(view, X), to_text(view)), view.probabilities(X), rtol=1e-9)


def test_equations_read_well():
    law = Signomial.parse(f"{2 * math.pi!r}*x**2/y - {1 / 3!r}*z**(1/2)/y**3 + col('a b')/{math.pi**2!r} + 0.25*abs(x)")
    assert to_text(law) == "prediction = 2*pi*x**2/y - 1/3*z**(1/2)/y**3 + 0.25*abs(x) + 1/pi**2*col('a b')"
    assert to_text(Signomial.parse("prediction*z")) == "prediction_ = prediction*z"
    view = ModelView.of_equations({"no": Signomial.parse("z"), "yes": Signomial.parse("1/z")}, ["z"])
    assert "score['yes'] = 1/z" in to_text(view)


def test_long_sums_have_one_term_a_line():
    long = Signomial.parse(" + ".join(f"{j}.5*a_rather_long_name_{j}**2" for j in range(1, 8)))
    lines = to_text(long).splitlines()
    assert len(lines) == 7
    assert all(line.startswith("    + ") for line in lines[1:])
    assert to_text(Signomial()) == "prediction = 0"


def test_a_threshold_and_the_largest_are_said():
    view = ModelView.of_equations({"no": Signomial.parse("x"), "yes": Signomial.parse("1/x")}, ["x"], threshold=0.25)
    assert "the label is 'yes' where P('yes') >= 0.25" in to_text(view)
    three = ModelView.of_equations({c: Signomial.parse("x") for c in "abc"}, ["x"])
    assert to_text(three).endswith("the label is the class with the largest P")


@pytest.mark.parametrize("digits", [0, 18, 2.5, "all"])
def test_wrong_digits_are_refused(digits):
    with pytest.raises(ValueError, match="digits must be None, 'auto' or an integer from 1 to 17"):
        to_text(Signomial.parse("x"), digits=digits)
