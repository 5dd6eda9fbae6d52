"""The exported SymPy expressions, turned into functions by lambdify, say what the model says."""

import math

import numpy as np
import pytest
import sympy
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ecsel import Signomial
from ecsel.explain import ModelView
from ecsel.export import formula_inputs, to_sympy


def values_of(expression, symbols):
    """Let lambdify evaluate an expression."""
    free = sorted(expression.free_symbols, key=str)
    function = sympy.lambdify(free, expression, "numpy")
    n_rows = max((len(each) for each in symbols.values()), default=1)
    with np.errstate(all="ignore"):
        return np.broadcast_to(function(*(symbols[str(symbol)] for symbol in free)), (n_rows,))


def test_lambdify_equals_the_model(moderate_case, make_frame):
    case, view = moderate_case, moderate_case.view
    symbols = formula_inputs(case.model, make_frame(case.rows, view.raw_names))
    scores = to_sympy(case.model, output="score")
    if not view.has_classes:
        scores = {"prediction": scores}
    assert list(scores) == list(view.score_classes)
    z = np.column_stack([values_of(expression, symbols) for expression in scores.values()])
    np.testing.assert_allclose(view.outputs_of(z), case.outputs, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("encoded_case", ["median_and_threshold"], indirect=True)
def test_probabilities_are_expressions_too(encoded_case, make_frame):
    case = encoded_case.take(encoded_case.ordinary)
    symbols = formula_inputs(case.model, make_frame(case.rows, case.view.raw_names))
    reported = to_sympy(case.model)
    assert list(reported) == list(case.view.classes)
    p = np.column_stack([values_of(expression, symbols) for expression in reported.values()])
    np.testing.assert_allclose(p, case.outputs, rtol=1e-9, atol=1e-9)


def test_probabilities_of_three_classes():
    equations = {"a": Signomial.parse("2*u - 1000.5"), "b": Signomial.parse("u**0.5/v"), "c": Signomial.parse("v")}
    view = ModelView.of_equations(equations, ["u", "v"])
    X = np.array([[1.0, 2.0], [3.0, 0.5], [500.5, 1.0]])
    p = [values_of(expression, formula_inputs(view, X)) for expression in to_sympy(view).values()]
    np.testing.assert_allclose(np.column_stack(p), view.probabilities(X), rtol=1e-9, atol=1e-300)


def check_names(hostile):
    scores = to_sympy(hostile.view, output="score")
    names = {str(symbol) for expression in scores.values() for symbol in expression.free_symbols}
    assert hostile.columns[0] in names
    encoder = hostile.view.encoder
    kinds = {"level", "missing"}  # no text at all is a missing value
    assert names <= {hostile.columns[0], *(feature.name for feature in encoder.features if feature.kind in kinds)}
    if not encoder.is_raw:
        levels = (*(level.strip() for level in hostile.levels), "?")  # outer blanks are no part of a level
        assert names <= {hostile.columns[0], *(f"{hostile.columns[1]}={level}" for level in levels)}
    symbols = formula_inputs(hostile.view, hostile.table)
    z = np.column_stack([values_of(expression, symbols) for expression in scores.values()])
    np.testing.assert_allclose(hostile.view.outputs_of(z), hostile.probabilities, rtol=1e-9)


@settings(max_examples=15, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.data())
def test_any_name_is_the_name_of_a_symbol(draw_hostile, data):
    check_names(draw_hostile(data))


def test_hostile_names_are_names_of_symbols(all_hostile):
    for hostile in all_hostile:
        check_names(hostile)


def test_numbers_stay_exact():
    x, y = sympy.Symbol("x", positive=True), sympy.Symbol("y", real=True)
    equation = Signomial.parse(f"{2 * math.pi!r}*x**(3/2)/y + {1 / 3!r}")
    assert to_sympy(equation) == 2 * sympy.pi * x ** sympy.Rational(3, 2) / y + sympy.Rational(1, 3)


def test_a_wrong_output_is_refused():
    with pytest.raises(ValueError, match="output must be 'probability' or 'score', not 'logit'"):
        to_sympy(Signomial.parse("x"), output="logit")
