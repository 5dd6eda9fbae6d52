"""The exported text is Python: evaluated line by line, it says what the model says."""

import math
import re

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ecsel import Signomial
from ecsel.explain import ModelView
from ecsel.export import formula_inputs, to_python, to_text
from ecsel.export.readable.digits import readable_formula
from ecsel.export.readable.raw_rows import symbols_of
from ecsel.export.readable.raw_units import formula_of
from ecsel.export.readable.text import score_name


class Column(np.ndarray):
    """Values that are also equal to levels, or missing."""

    def __eq__(self, level):
        return self.indicators[level].astype(float)

    __hash__ = None


def namespace(formula, view, symbols):
    columns = {}
    n_rows = max((len(each) for each in symbols.values()), default=1)
    for name in formula.columns:
        column = np.asarray(symbols.get(name, np.zeros(n_rows))).view(Column)
        low, high = formula.clipped(name) or (None, None)
        column = column if low is None else np.maximum(column, low)
        columns[name] = column if high is None else np.minimum(column, high)
        columns[name].indicators = {
            "missing" if each.level is None else each.level: symbols[each.symbol]
            for each in formula.indicators.values()
            if each.column == name
        }
    functions = {"max": np.maximum, "min": np.minimum, "abs": np.abs, "sign": np.sign, "exp": np.exp, "pi": math.pi}
    scores = {score_name(view, formula.columns): {}} if len(view.score_classes) > 1 else {}
    return {**columns, **functions, **scores, "col": columns.__getitem__, "missing": "missing", "p": {}}


def equations_of(text):
    """Return the equations of a text as (left, right), each in one line."""
    lines = re.sub(r"\n    ([+-] )", r" \1", text).split("\nwhere\n")[0].splitlines()
    return [line.split(" = ", 1) for line in lines if not line.startswith("the label is")]


def run(equations, known, view):
    """Carry out equations in Python and return what they say of each class."""
    for left, right in equations:
        line = f"{left} = {right}"
        exec(re.sub(r"\bP\(((?:'(?:[^'\\]|\\.)*'|\"(?:[^\"\\]|\\.)*\"|[^)])*)\)", r"p[\1]", line), known)
    return np.column_stack([np.asarray(known["p"][label]) for label in view.classes])


def evaluate(view, symbols, text, formula=None):
    """Run the equations of the paper's model."""
    return run(equations_of(text), namespace(formula or formula_of(view, view.encoder), view, symbols), view)


def test_the_text_of_the_papers_model_is_the_model(paper_case, make_frame):
    case = paper_case
    symbols = formula_inputs(case.model, make_frame(case.rows, case.view.raw_names))
    with np.errstate(all="ignore"):
        reported = evaluate(case.view, symbols, to_text(case.model))
    check(reported, case)


def check(reported, case):
    known = np.isfinite(reported).all(axis=1)  # exp overflows in the plain form of a softmax
    assert known.mean() > 0.5
    np.testing.assert_allclose(reported[known], np.array(case.outputs)[known], rtol=1e-9, atol=1e-9)


def test_the_text_of_any_other_model_is_what_its_equations_print(value_case, make_frame):
    case, view = value_case, value_case.view
    symbols = formula_inputs(case.model, make_frame(case.rows, view.raw_names))
    *scores, answers = split_scores(equations_of(to_text(case.model)), len(view.score_classes))
    equations = view.terms.to_signomials(view.feature_names)
    if not view.has_classes:
        ((left, right),) = scores
        assert left == "prediction"
        np.testing.assert_allclose(Signomial.parse(right).evaluate(symbols), equations[0].evaluate(symbols), rtol=1e-9)
        return
    assert [right for _, right in scores] == list(map(str, equations))
    z = [np.broadcast_to(each.evaluate(symbols), len(case.rows)) for each in equations]
    values = {"z": z[0] if view.link.has_reference else dict(zip(view.classes, z, strict=True)), "exp": np.exp, "p": {}}
    with np.errstate(all="ignore"):
        check(run(answers, values, view), case)


def split_scores(equations, n_scores):
    return [*equations[:n_scores], equations[n_scores:]]


def test_the_rules_of_a_raw_encoder_are_said(all_cases):
    notes = to_text(all_cases["raw_0"].model).split("\nwhere\n")[1].splitlines()
    fill = {feature.name: feature.fill for feature in all_cases["raw_0"].view.encoder.features}
    columns = {column.name: column for column in all_cases["raw_0"].view.encoder.columns}
    filled = ", ".join(f"{name} counts as {fill[name]:g}" for name in ("age", "balance"))
    said = [
        "training ranges (a value outside counts as the nearest end):",
        f"  age: {columns['age'].low:.4g} to {columns['age'].high:.4g}",
        "  visits: 0 to 3",
        "missing values are refused in income, plan, member, `page value`: training had none",
        "infinite numbers are refused",
        "[age > 40] is 1 where age > 40, else 0, 0 where it is missing",
        f"[age above 50] is max(0, age - 50), {fill['[age above 50]']:g} where it is missing",
        f"[age below 30] is max(0, 30 - age), {fill['[age below 30]']:g} where it is missing",
        "[age missing] is 1 where age is missing, else 0",
        f"[balance above -50] is max(0, balance + 50), {fill['[balance above -50]']:g} where it is missing",
        "[city = Rome] is 1 where city is 'Rome', else 0",
        f"grade is 0 for 'low', 1 for 'mid', 2 for 'high', {fill['grade']:g} for a level that training has not seen",
        "[member = True] is 1 where member is True, else 0",
    ]
    assert {f"    {line}" for line in said} <= set(notes)
    assert f"    where missing, {filled}, " in "\n".join(notes)
    assert "(a value outside is taken as it is)" in to_text(all_cases["raw_1"].model)
    assert "(a value outside is refused)" in to_text(all_cases["raw_2"].model)
    assert not any(word in " ".join(notes) for word in ("scale", "mirror", "~"))


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.data())
def test_text_takes_any_name(draw_hostile, data):
    hostile = draw_hostile(data)
    text = to_text(hostile.view)
    assert all(line.isprintable() for line in text.split("\n"))  # no name breaks a line
    symbols = formula_inputs(hostile.view, hostile.table)
    if hostile.view.encoder.is_raw:
        scores = [Signomial.parse(right) for _, right in equations_of(text)[:2]]
        reported = hostile.view.outputs_of(np.column_stack([each.evaluate(symbols) for each in scores]))
    else:
        reported = evaluate(hostile.view, symbols, text)
    np.testing.assert_allclose(reported, hostile.probabilities, rtol=1e-9)


@pytest.mark.parametrize("tolerance", [1e-2, 1e-4])
def test_rounded_text_stays_within_the_tolerance(encoded_case, tolerance, make_frame):
    case, view = encoded_case.take(encoded_case.ordinary), encoded_case.view
    X = make_frame(case.rows, view.raw_names)
    X = X if view.encoder.named else X.to_numpy(dtype=float)
    text = to_text(case.model, digits="auto", tolerance=tolerance, X=X)
    if view.encoder.is_raw:
        symbols = formula_inputs(case.model, X)
        scores = [Signomial.parse(right) for _, right in equations_of(text)[: len(view.score_classes)]]
        reported = view.outputs_of(np.column_stack([np.zeros(len(X)) + each.evaluate(symbols) for each in scores]))
    else:
        short = readable_formula(view, view.encoder, "auto", tolerance, X)
        reported = evaluate(view, symbols_of(view, view.encoder, short, X), text, short)
    assert np.abs(reported - case.outputs).max() <= tolerance
    assert len(text) <= len(to_text(case.model))


def test_columns_may_be_called_like_functions():
    names = ["exp", "max", "pi", "P", "missing", "z"]
    equation = Signomial.parse(" + ".join(f"{2**j}*col({name!r})" for j, name in enumerate(names)))
    view = ModelView.of_equations({"no": equation, "yes": Signomial.parse("0.5*exp")}, names)
    (left, right), *_ = equations_of(to_text(view))
    assert left == "score['no']"
    assert Signomial.parse(right) == equation


def test_equations_read_well():
    law = Signomial.parse(f"{2 * math.pi!r}*x**2/y - {1 / 3!r}*z**(1/2)/y**3 + col('a b')/{math.pi**2!r} + 0.25*abs(x)")
    assert to_text(law) == "prediction = 1/pi**2*`a b` + 2*pi*x**2/y + 0.25*abs(x) - 1/3*sqrt(z)/y**3"
    assert to_text(Signomial.parse(f"{1 / 3!r}/y")) == "prediction = 1/3/y"
    assert to_text(Signomial.parse(f"{1 / 3!r}*(x + 1)*1")) == "prediction = 1/3*(x + 1)"
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
    assert to_text(view).endswith("the label is 'yes' where P('yes') >= 0.25, else 'no'")
    three = ModelView.of_equations({c: Signomial.parse("x") for c in "abc"}, ["x"])
    assert to_text(three).endswith("the label is the class with the largest P")


@pytest.mark.parametrize("digits", [0, 18, 2.5, "all"])
def test_wrong_digits_are_refused(digits):
    with pytest.raises(ValueError, match="digits must be None, 'auto' or an integer from 1 to 17"):
        to_text(Signomial.parse("x"), digits=digits)


def test_the_complete_text_is_the_python_program(all_cases):
    for case in all_cases.values():
        assert to_text(case.model, complete=True) == to_python(case.model)


@pytest.mark.parametrize("options", [{"digits": 3}, {"digits": "auto"}, {"X": [[1.0]]}])
def test_a_complete_text_has_all_digits(options):
    with pytest.raises(ValueError, match="complete=True keeps all digits and reads no rows: leave out digits and X"):
        to_text(Signomial.parse("x"), complete=True, **options)
