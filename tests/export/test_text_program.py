"""The complete text, followed line by line from the raw values of a row, says what the model says of it."""

import math
import re

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ecsel import Signomial
from ecsel.explain import ModelView
from ecsel.export import to_text

PROBABILITY = re.compile(r"""\bP\(((?:'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*"|[^'"()])*)\)""")
LITERAL = re.compile(r"""('(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*")""")


def without_comment(line):
    """Return a line up to its comment; a # within a literal begins none."""
    parts = LITERAL.split(line)
    for place, part in enumerate(parts):
        if place % 2 == 0 and "#" in part:
            return "".join([*parts[:place], part.partition("#")[0]]).rstrip()
    return line


def follower(text):
    """Return the function that follows the lines of a text for one row: its names, and what was defined last."""
    lines = [without_comment(line) for line in text.split("\n")]
    assert lines[0] == lines[1] == ""
    steps = [compile(PROBABILITY.sub(r"P[\1]", line), "text", "exec") for line in lines]
    functions = {"abs": abs, "exp": math.exp, "inf": math.inf, "log": math.log, "max": max, "min": min}
    functions["sqrt"] = math.sqrt

    def follow(row):
        values = {name: None if value is None or value != value else value for name, value in row.items()}  # noqa: PLR0124 - NaN
        known = {**values, **functions, "col": values.__getitem__, "P": {}, "missing": None, "refused": None}
        for step in steps:
            exec(step, {"__builtins__": {}}, known)
        return known

    return follow


def answers(text, rows, classes):
    told = list(map(follower(text), rows))
    if not classes:
        return [None if each["prediction"] is None else [each["prediction"]] for each in told], [None] * len(told)
    outputs = [[each["P"][label] for label in classes] for each in told]
    return [None if None in p else p for p in outputs], [each["label"] for each in told]


def test_equals_the_model_on_awkward_rows(case):
    classes = case.view.classes if case.view.has_classes else ()
    case.assert_same(*answers(to_text(case.model, complete=True), case.rows, classes))


def check_names(hostile):
    text = to_text(hostile.view, complete=True)
    assert all(line.isprintable() for line in text.split("\n"))
    p, labels = answers(text, hostile.rows, hostile.classes)
    np.testing.assert_allclose(p, hostile.probabilities, rtol=1e-9)
    assert labels == hostile.labels


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.data())
def test_any_name_is_followed(draw_hostile, data):
    check_names(draw_hostile(data))


def test_every_hostile_name_is_followed(all_hostile):
    for hostile in all_hostile:
        check_names(hostile)


def test_columns_may_be_called_like_variables_and_functions():
    names = ["ok0", "u1", "exp", "missing", "P", "label", "prediction", "z0", "col", "best", "abs"]
    equation = Signomial.parse(" + ".join(f"{2**j}*col({name!r})" for j, name in enumerate(names)))
    row = {name: float(j + 1) for j, name in enumerate(names)}
    text = to_text(equation, complete=True)
    ((told,),), _ = answers(text, [row], ())
    assert told == pytest.approx(sum(2**j * (j + 1) for j in range(len(names))))


def test_lines_read_well():
    lines = to_text(Signomial.parse("3*x**2/page"), complete=True).split("\n")
    assert "ok1 = 1 if not (x is missing) and x > -inf and x < inf else 0  # x is usable" in lines
    assert "e0 = max(min(-1*u0 + 2*u1, 700), -700)  # exponent of term 0" in lines
    assert lines[-1] == "prediction = z0 if valid == 1 else refused  # prediction"
    view = ModelView.of_equations({c: Signomial.parse("x") for c in "abc"}, ["x"])
    rule = "label = refused if valid == 0 else 'a' if P('a') >= best else 'b' if P('b') >= best else 'c'"
    assert to_text(view, complete=True).split("\n")[-1] == rule


@pytest.mark.parametrize("options", [{"digits": 3}, {"digits": "auto"}, {"X": [[1.0]]}])
def test_a_complete_text_has_all_digits(options):
    with pytest.raises(ValueError, match="complete=True keeps all digits and reads no rows: leave out digits and X"):
        to_text(Signomial.parse("x"), complete=True, **options)
