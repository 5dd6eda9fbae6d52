"""The PMML document in two engines that others wrote: JPMML, the reference, and PMML4S. `make integrations` runs this.

Both run on Java. Values go in with the types that the document declares, missing ones as nothing.
"""

import math
import os

import numpy as np
import pandas as pd
import pytest

from ecsel import ECSELClassifier
from ecsel.explain import reasons
from ecsel.export import to_pmml, to_python
from ecsel.export.program.lowering import lower


def needed(package):
    """Import an optional package; `make integrations` has it."""
    if os.environ.get("ECSEL_INTEGRATIONS"):
        return __import__(package)
    return pytest.importorskip(package, reason="`make integrations` has it")


class Jpmml:
    """JPMML-Evaluator, by its Python package."""

    def __init__(self):
        needed("jpmml_evaluator")
        from jpmml_evaluator.jpype import JPypeBackend

        self.backend = JPypeBackend()

    def load(self, document, path):
        from jpmml_evaluator import make_evaluator

        path.write_text(document, encoding="utf-8")
        return make_evaluator(str(path), backend=self.backend).verify().evaluate


class Pmml4s:
    """PMML4S, by its Python package."""

    def __init__(self):
        needed("pypmml")

    def load(self, document, path):
        from pypmml import Model

        del path
        model = Model.fromString(document)

        def evaluate(row):
            reported = model.predict({name: value for name, value in row.items() if value is not None})
            return {name: None if value != value else value for name, value in reported.items()}  # noqa: PLR0124 - NaN

        return evaluate


@pytest.fixture(scope="session", params=[Jpmml, Pmml4s])
def engine(request):
    return request.param()


def typed(row, columns):
    """Return the values of a row that the document reads, in the types that it declares."""
    result = {}
    for column in columns:
        value = row[column.name]
        missing = value is None or (isinstance(value, float) and math.isnan(value))
        result[column.name] = None if missing else float(value) if column.kind == "number" else value
    return result


def answers(reported, classes):
    if not classes:
        return [[each.get("prediction")] for each in reported], [None] * len(reported)
    return [[each.get(f"probability_{label}") for label in classes] for each in reported], [
        each.get("label") for each in reported
    ]


def test_engines_say_what_the_model_says(case, engine, tmp_path):
    evaluate = engine.load(to_pmml(case.model), tmp_path / "model.pmml")
    columns = lower(case.model).inputs
    reported = [evaluate(typed(row, columns)) for row in case.rows]
    case.assert_same(*answers(reported, list(case.view.classes) if case.view.has_classes else []))


def test_contributions_and_reasons(fitted_case, engine, make_frame, tmp_path):
    case = fitted_case
    options = {"contributions": "shapley", "baseline": case.rows[case.ordinary[0]]}
    evaluate = engine.load(to_pmml(case.model, reasons=2, **options), tmp_path / "model.pmml")
    python = {}
    exec(to_python(case.model, **options), python)
    program = lower(case.model)
    for r in case.ordinary[1:]:  # the first is the baseline, with nothing but rounding to tell
        reported = evaluate(typed(case.rows[r], program.inputs))
        for each in python["predict"](case.rows[r])["contributions"]:
            words = ["contribution", each["class"]] if len(program.scores) > 1 else ["contribution"]
            mine = [reported["_".join(map(str, [*words, column]))] for column in each["values"]]
            theirs = np.array(list(each["values"].values()), dtype=float)
            np.testing.assert_allclose(np.array(mine, dtype=float), theirs, rtol=1e-9, atol=1e-9)
        view = case.view
        table = make_frame([case.rows[r]], view.raw_names)
        strongest = reasons(view, table, 1, baseline=options["baseline"]).ranked[0]
        assert reported["reason_1"] == (view.raw_names[strongest[0]] if strongest else None)


def test_levels_are_compared_as_they_are(engine, tmp_path):
    levels = ["a", "A", "a b", "a\tb", "a\nb", "<&>\"'", "naïve 😀", "=1+1"]
    X = pd.DataFrame({"x <y>": [level for level in levels for _ in range(40)]})
    y = [i % 40 < 4 * k + 3 for k, _ in enumerate(levels) for i in range(40)]
    model = ECSELClassifier(n_terms=1, l1=0.001).fit(X, y)
    evaluate = engine.load(to_pmml(model), tmp_path / "model.pmml")
    for level, p in zip(levels, model.predict_proba(pd.DataFrame({"x <y>": levels})), strict=True):
        reported = evaluate({"x <y>": level})
        assert [reported["probability_False"], reported["probability_True"]] == pytest.approx(p.tolist(), rel=1e-9), (
            level
        )
