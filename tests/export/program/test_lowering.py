"""The program of a model: what it reads, in which order, and how its edges are decided."""

import datetime as dt
import itertools
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest

from ecsel import ECSELClassifier, Signomial
from ecsel.explain import ModelView
from ecsel.export import to_python
from ecsel.export.program.expr import variables
from ecsel.export.program.lowering import lower

STAGES = ["value", "feature", "valid", "log", "part", "exponent", "term", "score", "link", "output", "contribution"]


def predictor(model):
    namespace = {}
    exec(to_python(model), namespace)
    return namespace["predict"]


def test_only_outputs_and_contributions_can_be_null_and_nothing_refers_to_them(case):
    program = lower(case.model, contributions="shapley", baseline=case.rows[case.ordinary[0]])
    final = {*program.outputs, program.decision, *(v for each in program.contributions for _, v in each.by_column)}
    for each in program.assignments:
        assert each.stage in STAGES
        assert ("Null" in repr(each.value)) == (each.name in final)
        assert not final & set(variables(each.value))
    assert {each.name for each in program.assignments} >= {*program.scores, *final} - {None}


def test_cases_have_what_exports_must_carry(all_cases):
    binary, several = (all_cases[name].model for name in ("median_and_threshold", "softmax_of_three"))
    assert binary.temperature_ > 1.1
    assert several.temperature_ > 1.1
    assert len(several.classes_) == 3
    assert binary.threshold_ not in {None, 0.5}
    assert {case.view.encoder.out_of_range for case in all_cases.values() if case.view.encoder is not None} == {
        "clip",
        "extrapolate",
        "error",
    }


def test_raw_cases_have_every_kind_of_feature_and_factor(all_cases):
    kinds = {feature.kind for feature in all_cases["raw_0"].view.encoder.features}
    assert kinds == {"number", "level", "missing", "ordinal", "step", "above", "below"}
    factors = {factor for placed in all_cases["raw_0"].view.factors for factor in placed}
    assert {(factor.log, factor.shift != 0) for factor in factors} == {
        (a, b) for a in (False, True) for b in (False, True)
    }
    assert {Fraction(factor.exponent).denominator for factor in factors} >= {1, 2}
    fitted = [all_cases[name].model.encoder_ for name in all_cases if name.startswith("default")]
    assert all(encoder.is_raw for encoder in fitted)
    assert {feature.kind for feature in fitted[-1].features} & {"step", "above", "below"}


def test_columns_that_no_equation_uses_are_not_read(fitted_case):
    used = {column.name for column in lower(fitted_case.model).inputs}
    view = fitted_case.view
    in_equations = {factor.name for factors in view.factors for factor in factors}
    if view.encoder is not None:
        in_equations = {feature.column for feature in view.encoder.features if feature.name in in_equations}
    assert used == in_equations


def test_inputs_are_described():
    X = pd.DataFrame({"t": ["a", None, "b", "a"] * 3, "n": [1, 2, 1, 2] * 3, "b": [True, False, True, True] * 3})
    y = [0, 1, 0, 1, 1, 0] * 2
    model = ECSELClassifier(n_terms=1, l1=0.01, categorical=["n"]).fit(X, y)
    program = lower(model)
    reported = {each.name: (each.kind, each.levels, each.refuses_missing) for each in program.inputs}
    known = {"t": ("text", ("a", "b"), False), "n": ("number", (1, 2), True), "b": ("boolean", (False, True), True)}
    assert reported
    assert reported.items() <= known.items()


def test_a_model_without_columns_has_an_answer():
    assert predictor(Signomial.parse("3"))({})["prediction"] == 3.0
    assert predictor(Signomial())({})["prediction"] == 0.0


def test_ties_go_to_the_first_class_as_in_numpy():
    equation = Signomial.parse("x")
    view = ModelView.of_equations({"a": Signomial.parse("0*x"), "b": equation, "c": equation}, ["x"])
    assert predictor(view)({"x": 1.0})["label"] == "b"
    even = ModelView.of_equations({"no": equation, "yes": equation}, ["x"])  # p = 0.5 reaches the threshold
    assert predictor(even)({"x": 1.0})["label"] == "yes"


def test_many_classes_and_terms_are_no_trouble():
    names = [f"x{j}" for j in range(60)]
    equations = {c: Signomial.parse(f"{c / 100}*x{c % 60} + 0.1") for c in range(120)}
    view = ModelView.of_equations(equations, names)
    row = dict.fromkeys(names, 1.0)
    reported = predictor(view)(row)
    assert reported["label"] == 119
    np.testing.assert_allclose(list(reported["probabilities"].values()), view.probabilities(np.ones((1, 60)))[0])


def test_large_coefficients_saturate_instead_of_overflowing():
    view = ModelView.of_equations({"a": Signomial.parse("1e9*x**3"), "b": Signomial.parse("1e8*x**3")}, ["x"])
    reported = predictor(view)({"x": 1e200})
    assert reported["label"] in {"a", "b"}
    assert all(0 <= p <= 1 for p in reported["probabilities"].values())


def test_labels_of_other_types_are_refused():
    days = [dt.date(2020, 1, 1), dt.date(2021, 1, 1)]
    view = ModelView.of_equations(dict(zip(days, itertools.repeat(Signomial.parse("x")), strict=False)), ["x"])
    with pytest.raises(TypeError, match="is of the type date: exports need classes that are text"):
        lower(view)
