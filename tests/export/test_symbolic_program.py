"""The complete SymPy expressions, turned into functions by lambdify, say what the model says of any row."""

import warnings

import numpy as np
import pandas as pd
import pytest
import sympy
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ecsel import Signomial
from ecsel.explain import ModelView
from ecsel.export import formula_inputs, to_sympy


def lambdified(expressions, symbols):
    """Let lambdify evaluate expressions together, columns of a matrix."""
    arguments = [sympy.Symbol(name, extended_real=True) for name in symbols]
    function = sympy.lambdify(arguments, expressions, "numpy", cse=True)
    n_rows = max((len(each) for each in symbols.values()), default=1)
    with np.errstate(all="ignore"):
        return np.column_stack([np.broadcast_to(each, n_rows) for each in function(*symbols.values())])


def answers(model, X):
    """Return outputs and labels, None on a refused row."""
    view = ModelView.of(model)
    symbols = formula_inputs(model, X, complete=True)
    told = to_sympy(model, complete=True)
    if not view.has_classes:
        values = lambdified([told], symbols)
        return [None if np.isnan(row).any() else row.tolist() for row in values], [None] * len(values)
    assert list(told) == list(view.classes)
    values = lambdified([*told.values(), to_sympy(model, output="label", complete=True)], symbols)
    refused = np.isnan(values)
    assert (refused.all(axis=1) == refused.any(axis=1)).all()
    return (
        [None if no else row[:-1].tolist() for row, no in zip(values, refused[:, 0], strict=True)],
        [None if no else view.classes[int(row[-1])] for row, no in zip(values, refused[:, 0], strict=True)],
    )


def test_lambdify_equals_the_model_on_awkward_rows(case, make_frame):
    case.assert_same(*answers(case.model, make_frame(case.rows, case.view.raw_names)))


@pytest.mark.parametrize("encoded_case", ["sigmoid_with_gaps", "softmax_of_three"], indirect=True)
def test_scores_equal_the_model_on_accepted_rows(encoded_case, make_frame):
    case = encoded_case.accepted
    X = make_frame(case.rows, case.view.raw_names)
    scores = to_sympy(case.model, output="score", complete=True)
    assert list(scores) == list(case.view.score_classes)
    z = lambdified(list(scores.values()), formula_inputs(case.model, X, complete=True))
    np.testing.assert_allclose(case.view.outputs_of(z), case.outputs, rtol=1e-9, atol=1e-9)


def check_names(hostile):
    p, labels = answers(hostile.view, hostile.table)
    np.testing.assert_allclose(p, hostile.probabilities, rtol=1e-9)
    assert labels == hostile.labels


@settings(max_examples=6, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.data())
def test_lambdify_takes_any_name(draw_hostile, data):
    check_names(draw_hostile(data))


def test_lambdify_takes_every_hostile_name(all_hostile):
    for hostile in all_hostile:
        check_names(hostile)


def test_symbols_of_one_name_are_told_apart():
    equation = Signomial.parse("x*col('x=?')")
    X = pd.DataFrame({"x": [2.0, np.nan], "x=?": [3.0, 5.0]})
    symbols = formula_inputs(equation, X, complete=True)
    assert {name: values.tolist() for name, values in symbols.items()} == {
        "x": [2.0, 0.0],
        "x=?": [3.0, 5.0],
        "x=?_": [0.0, 1.0],
        "x=?=?": [0.0, 0.0],
    }
    assert answers(equation, X)[0] == [[pytest.approx(6.0)], None]


def test_numbers_can_be_put_in_and_the_rest_stays_algebra():
    x, missing = (sympy.Symbol(name, extended_real=True) for name in ("x", "x=?"))
    told = to_sympy(Signomial.parse("3*x**2"), complete=True)
    assert told.free_symbols == {x, missing}
    assert float(told.subs({x: 2, missing: 0})) == pytest.approx(12.0)
    assert told.subs({x: 0, missing: 1}) is sympy.nan
    assert told.subs({x: sympy.oo, missing: 0}) is sympy.nan


def test_the_label_is_part_of_the_complete_expressions_alone():
    view = ModelView.of_equations({"no": Signomial.parse("x"), "yes": Signomial.parse("1/x")}, ["x"])
    with pytest.raises(ValueError, match="output='label' is a rule of the model: give complete=True as well"):
        to_sympy(view, output="label")


def test_a_table_without_a_column_is_refused():
    equation = Signomial.parse("x*y")
    with pytest.raises(ValueError, match="X has no column 'y'"):
        formula_inputs(equation, pd.DataFrame({"x": [1.0]}), complete=True)
    with pytest.raises(ValueError, match="X has 3 columns, but the model has 2"):
        formula_inputs(equation, np.ones((1, 3)), complete=True)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert formula_inputs(equation, np.full((1, 2), np.inf), complete=True)["y"].tolist() == [np.inf]
