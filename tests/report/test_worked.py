"""A row worked out by hand is what the model says, to the digits that are printed."""

import math
import re

import numpy as np
import pytest

from ecsel import Signomial
from ecsel.explain import ModelView
from ecsel.report.worked import outcome_steps, worked_example


def by_hand(example):
    """Calculate the sums from the printed numbers alone."""
    return [sum(float(p.value_text) * float(p.coefficient_text) for p in score.pieces) for score in example.scores]


def test_every_case_gets_the_model_s_own_probabilities(case):
    for i in range(0, len(case.X_test), 7):
        row = case.X_test.iloc[i : i + 1]
        example = worked_example(case.model, row)
        view = case.evidence.view
        exact = view.probabilities(row)[0]
        np.testing.assert_allclose([value for _, value in example.outcomes], exact, rtol=1e-9, atol=1e-12)
        sums = by_hand(example)
        for score, total in zip(example.scores, sums, strict=True):
            decimals = len(score.total_text.partition(".")[2])
            assert total == pytest.approx(score.total, abs=(len(score.pieces) + 1) * 10.0**-decimals)
        if view.has_classes:
            assert example.decided == case.model.predict(row)[0]
            np.testing.assert_allclose(view.outputs_of(np.array([sums]))[0], exact, atol=1e-3)


def test_the_last_steps_end_at_the_probability(readable_case):
    row = readable_case.X_test.iloc[:1]
    steps = outcome_steps(readable_case.model, worked_example(readable_case.model, row))
    p = dict(zip(readable_case.model.classes_, readable_case.model.predict_proba(row)[0], strict=True))
    found = [re.fullmatch(r"probability of (.*?) = (.*) = ([0-9.]+)", step) for step in steps]
    lines = [match for match in found if match]
    assert lines
    for match in lines:
        value = eval(match[2], {"__builtins__": {}}, {"exp": math.exp})
        assert value == pytest.approx(p[match[1]], abs=1e-4)
        assert float(match[3]) == pytest.approx(p[match[1]], abs=6e-5)
    assert steps[-1] == f"predicted: {readable_case.model.predict(row)[0]}"


def test_what_the_equation_reads_instead_of_a_cell_is_reported(churn_case):
    row = churn_case.X_test.iloc[:1].assign(tenure=1000, age=np.nan)
    reported = {each.column: each for each in worked_example(churn_case.model, row).inputs}
    high = churn_case.X["tenure"].max()
    assert reported["tenure"].remark == f"counts as {high}, the largest value in training"
    assert reported["tenure"].value == 1000
    if "age" in reported:
        assert reported["age"].value is None


def test_a_law_and_large_scores():
    example = worked_example(Signomial.parse("0.5*x*log(y) - 3"), [[2.0, 1.0]])
    assert [piece.text for piece in example.scores[0].pieces] == ["x*log(y)", ""]
    assert example.outcomes == (("prediction", -3.0),)
    assert example.decided is None


def test_powers_that_no_calculator_has_are_taken_relative_to_the_largest():
    equations = {name: Signomial.parse(text) for name, text in (("a", "x"), ("b", "x - 1"), ("c", "-x"))}
    view = ModelView.of_equations(equations, ["x"])
    steps = outcome_steps(view, worked_example(view, [[900.0]]))
    assert steps[0] == "exp(900.0000 - 900.0000) = 1 for a"
    assert steps[3] == f"probability of a = 1 / {1 + math.exp(-1):.6g} = {1 / (1 + math.exp(-1)):.4f}"
