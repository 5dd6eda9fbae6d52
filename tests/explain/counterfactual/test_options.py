"""What may change: columns named like protected attributes stay, unless somebody says how they may move."""

import warnings

import pytest

from ecsel import Signomial, explain
from ecsel.explain import ModelView
from ecsel.explain.counterfactual.options import protected_columns
from ecsel.tables.cautions import ColumnWarning

EQUATION = Signomial.parse("age + debt - 100")


@pytest.fixture
def view():
    return ModelView.of_equations({"no": Signomial.parse("0"), "yes": EQUATION}, ["age", "debt"])


def changed(answers):
    return {name for answer in answers for name in answer.changes}


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ({}, {"debt"}),
        ({"immutable": []}, {"age", "debt"}),
        ({"directions": {"age": "increase"}}, {"age", "debt"}),
        ({"ranges": {"age": (18, 90)}}, {"age", "debt"}),
        ({"costs": {"age": 2.0}}, {"age", "debt"}),
        ({"immutable": ["debt"]}, {"age"}),
    ],
)
def test_nobody_is_advised_to_change_their_age_by_default(view, options, expected):
    answers = explain.counterfactual(view, [40.0, 50.0], "yes", distance="log", **options)
    assert changed(answers) == expected
    (many,) = explain.counterfactuals(view, [[40.0, 50.0]], "yes", distance="log", **options)
    assert changed(many) == expected


def test_who_gets_no_answer_for_that_is_told_why():
    view = ModelView.of_equations({"no": Signomial.parse("0"), "yes": Signomial.parse("age - 50")}, ["age", "debt"])
    with pytest.warns(ColumnWarning, match=r"no answer: 'age' may be protected.*immutable=\[\]"):
        assert explain.counterfactual(view, [40.0, 50.0], "yes", distance="log") == []
    with pytest.warns(ColumnWarning, match="no answer for some rows: 'age'"):
        assert explain.counterfactuals(view, [[40.0, 50.0], [60.0, 50.0]], "yes", distance="log")[0] == []
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert explain.counterfactual(view, [40.0, 50.0], "yes", distance="log", immutable=["age"]) == []
        assert changed(explain.counterfactual(view, [40.0, 50.0], "yes", distance="log", immutable=[])) == {"age"}


def test_protected_columns_are_those_that_nobody_names(view):
    assert protected_columns(view) == ("age",)
    assert protected_columns(view, {"age"}) == ()
