"""Expressions: sums of any length stay shallow, and rules write every kind of node."""

import typing

import pytest

from ecsel.export.program.expr import WIDEST, Add, Condition, Const, Expr, Mul, Var, add, largest, mul, variables
from ecsel.export.program.program import Assignment, Program
from ecsel.export.program.writing import fold
from ecsel.export.targets import javascript, python


def depth(node):
    return 1 + max(map(depth, node.parts)) if isinstance(node, Add) else 0


@pytest.mark.parametrize("n", [2, 50, 51, 52, 101, 2501, 2502, 6000])
def test_long_sums_are_shallow_and_complete(n):
    total = add([Var(f"x{i}") for i in range(n)])
    assert list(variables(total)) == [f"x{i}" for i in range(n)]
    assert depth(total) <= 3

    def widest(node):
        return max(len(node.parts), *map(widest, node.parts)) if isinstance(node, Add) else 0

    assert widest(total) <= WIDEST


def test_sums_and_products_of_nothing_and_one():
    assert add([]) == Const(0.0)
    assert mul([]) == Const(1.0)
    assert largest([Var("x")]) == Var("x")
    assert mul([Const(2.0), Const(1.0), Var("x")]) == Mul((Const(2.0), Var("x")))


def test_constants_are_finite():
    for bad in (float("inf"), float("nan")):
        with pytest.raises(ValueError, match="must be finite"):
            Const(bad)


@pytest.mark.parametrize("backend", [python, javascript])
def test_every_backend_writes_every_node(backend):
    assert set(backend._rules([])) == set(typing.get_args(Expr) + typing.get_args(Condition))


def test_negative_constants_do_not_run_together():
    assert eval(fold(Add((Const(1.0), Const(-2.0))), python._rules([]))) == -1.0


def test_programs_are_in_order():
    def program(*assignments):
        return Program((), tuple(Assignment(n, v, "log", n) for n, v in assignments), (), (), (), None)

    program(("a", Const(1.0)), ("b", Var("a")))
    with pytest.raises(ValueError, match="b refers to a, which no earlier assignment names"):
        program(("b", Var("a")), ("a", Const(1.0)))
    with pytest.raises(ValueError, match="a is assigned twice"):
        program(("a", Const(1.0)), ("a", Const(1.0)))
