"""Products without underflow: the same numbers, but for those that are next to nothing."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ecsel.export.program.expr import Const, Exp, Mul, Var
from ecsel.export.program.program import Assignment, Program
from ecsel.export.targets.sql.underflow import flush_limit, without_underflow


@given(st.floats(5e-324, 1.0, exclude_max=True))
def test_one_factor_is_changed_only_where_the_product_is_zero(constant):
    limit = flush_limit(constant, 1)
    assert constant * limit > 0
    assert constant * math.nextafter(limit, 0.0) == 0


@given(st.floats(1e-300, 1e300), st.integers(2, 12))
def test_several_factors_that_pass_have_a_product(constant, n_factors):
    limit = flush_limit(constant, n_factors)
    product = constant
    for _ in range(n_factors):
        product *= limit
        assert product > 0
    assert product == pytest.approx(1e-300, rel=1e-9)


def program(stage, value):
    first = Assignment("a", Const(1.0), stage, "a")
    return Program((), (first, Assignment("b", value, "output", "b")), (), (), ("b",), None)


def test_logarithms_and_exponentials_are_left_alone():
    for value in (Mul((Const(0.5), Var("a"))), Mul((Const(0.5), Exp(Var("a"))))):
        assert without_underflow(program("log", value)) == program("log", value)
    tiny = program("value", Mul((Const(0.5), Var("a"))))
    assert without_underflow(tiny) != tiny
    assert without_underflow(program("value", Mul((Const(2.0), Var("a"))))) == program(
        "value", Mul((Const(2.0), Var("a")))
    )
