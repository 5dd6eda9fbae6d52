"""The PMML document, read by an evaluator that knows nothing of the library, says what the model says."""

import importlib.util
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ecsel import Signomial
from ecsel.explain import reasons
from ecsel.export import to_pmml, to_python
from ecsel.export.program.lowering import lower

_spec = importlib.util.spec_from_file_location("pmml_evaluator", Path(__file__).with_name("pmml_evaluator.py"))
pmml_evaluator = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(pmml_evaluator)
Evaluator = pmml_evaluator.Evaluator


def answers(results, classes):
    if not classes:
        return [[each["prediction"]] for each in results], [None] * len(results)
    return [[each[f"probability_{label}"] for label in classes] for each in results], [
        each["label"] for each in results
    ]


def classes_of(case):
    return list(case.view.classes) if case.view.has_classes else []


def test_equals_the_model_on_awkward_rows(case):
    evaluator = Evaluator(to_pmml(case.model))
    case.assert_same(*answers([evaluator.evaluate(row) for row in case.rows], classes_of(case)))


@pytest.mark.parametrize("method", ["log_additive", "attribution", "shapley"])
def test_contributions_are_those_of_the_other_exports(fitted_case, method):
    case = fitted_case
    options = {"contributions": method, "baseline": case.rows[case.ordinary[0]]}
    evaluator = Evaluator(to_pmml(case.model, **options))
    python = {}
    exec(to_python(case.model, **options), python)
    several = len(lower(case.model).scores) > 1
    for row in case.rows:
        reported = evaluator.evaluate(row)
        for each in python["predict"](row)["contributions"]:
            words = [each["class"]] if several else []
            words += [each["term"]] if "term" in each else []
            mine = [reported["_".join(map(str, ["contribution", *words, column]))] for column in each["values"]]
            theirs = np.array(list(each["values"].values()), dtype=float)
            np.testing.assert_allclose(
                np.array(mine, dtype=float), theirs, rtol=1e-9, atol=1e-9 * np.nanmax(np.abs(theirs), initial=1.0)
            )


def test_scores_are_those_of_the_model(encoded_case, make_frame):
    case = encoded_case.accepted
    evaluator = Evaluator(to_pmml(case.model))
    view = case.view
    names = ["score"] if view.link.has_reference else [f"score_{label}" for label in view.classes]
    for row in case.rows[:10]:
        wanted = view.scores_of(view.rows(make_frame([row], view.raw_names), warn=False))[0]
        reported = evaluator.evaluate(row)
        np.testing.assert_allclose([reported[name] for name in names], wanted, rtol=1e-9)


def test_reason_codes_are_the_strongest_reasons(fitted_case, make_frame):
    case = fitted_case
    baseline = case.rows[case.ordinary[0]]
    evaluator = Evaluator(to_pmml(case.model, reasons=3, baseline=baseline))
    view = case.view
    refused = [r for r, outputs in enumerate(case.outputs) if outputs is None]
    for row, outputs in ((case.rows[r], case.outputs[r]) for r in (*case.ordinary, *refused[:5])):
        reported = evaluator.evaluate(row)
        codes = [reported.get(f"reason_{r}") for r in (1, 2, 3)]
        if outputs is None:
            assert codes == [None] * 3
            continue
        explained = reasons(view, make_frame([row], view.raw_names), 3, baseline=baseline)
        wanted = [view.raw_names[j] for j in explained.ranked[0]]
        values = sorted(explained.values[0], reverse=True)
        if np.diff(values[:4]).max(initial=-1.0) < -1e-9 * abs(values[0]):  # no ties that rounding could decide
            assert codes == wanted + [None] * (3 - len(wanted)), row
        assert "contribution_age" not in reported


@given(st.data())
@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_hostile_names_are_text(draw_hostile, data):
    hostile = draw_hostile(data)
    try:
        document = to_pmml(hostile.view)
    except ValueError as error:
        assert "XML cannot hold" in str(error) or "empty name" in str(error)  # noqa: PT017 - either is right
        return
    evaluator = Evaluator(document)
    for row, p in zip(hostile.rows, hostile.probabilities, strict=True):
        reported = evaluator.evaluate(row)
        got = [value for name, value in reported.items() if name.startswith("probability_")]
        np.testing.assert_allclose(got, p, rtol=1e-9)


def test_names_of_columns_do_not_meet_those_of_steps():
    law = Signomial.parse("2*ecsel_x0 + 3*v0 + valid*prediction")
    evaluator = Evaluator(to_pmml(law))
    reported = evaluator.evaluate({"ecsel_x0": 1.0, "v0": 2.0, "valid": 3.0, "prediction": 5.0})
    assert reported == {"prediction_2": pytest.approx(23.0)}


def test_what_cannot_be_written_is_refused():
    from ecsel import Term

    with pytest.raises(ValueError, match="has a character that XML cannot hold: rename it"):
        to_pmml(Signomial([Term(1.0, {"a\x01": 1})]))
    with pytest.raises(ValueError, match="reasons must be a whole number"):
        to_pmml(Signomial.parse("x"), reasons=-1)
    with pytest.raises(ValueError, match="reasons go by Shapley values"):
        to_pmml(Signomial.parse("x"), reasons=1, contributions="attribution", baseline={"x": 1.0})


def test_a_constant_needs_no_column():
    assert Evaluator(to_pmml(Signomial.parse("4"))).evaluate({}) == {"prediction": 4.0}


def test_blanks_and_line_breaks_in_levels_survive():
    import pandas as pd

    from ecsel import ECSELClassifier

    levels = ["a", " a", "a ", "a\r", "a\n", "a\tb", "a\r\nb", "<&>"]
    X = pd.DataFrame({"x": [level for level in levels for _ in range(20)]})
    y = [i % 20 < 2 * k + 2 for k, _ in enumerate(levels) for i in range(20)]
    model = ECSELClassifier(n_terms=1, l1=0.001).fit(X, y)
    document = Evaluator(to_pmml(model))
    for level, p in zip(levels, model.predict_proba(pd.DataFrame({"x": levels})), strict=True):
        reported = document.evaluate({"x": level})
        assert [reported["probability_False"], reported["probability_True"]] == pytest.approx(p.tolist(), rel=1e-9)
    assert len(set(model.predict_proba(pd.DataFrame({"x": levels}))[:, 1])) == 4  # the reader takes "a " for "a"
