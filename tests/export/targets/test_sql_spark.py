"""Scoring by exported SQL in a real Spark session on this machine. `make integrations` runs this; it needs Java.

Spark is given tables of rows that are out of the ordinary, and must say what the model says of each.
"""

import os

import numpy as np
import pandas as pd
import pytest

from ecsel import ECSELClassifier
from ecsel.export import to_python, to_sql
from ecsel.export.program.lowering import lower

KEY = "the row's number"

if os.environ.get("ECSEL_INTEGRATIONS"):
    import pyspark.sql
else:
    pyspark = pytest.importorskip("pyspark", reason="`make integrations` has it")

pytestmark = pytest.mark.filterwarnings("default")  # Spark has warnings of its own


@pytest.fixture(scope="session")
def spark():
    from pyspark.sql import SparkSession

    settings = {
        "spark.ui.enabled": "false",
        "spark.sql.shuffle.partitions": "1",
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.driver.host": "127.0.0.1",
    }
    builder = SparkSession.builder.master("local[1]").appName("ecsel")
    for name, value in settings.items():
        builder = builder.config(name, value)
    session = builder.getOrCreate()
    yield session
    session.stop()


def ask(spark, columns, query):
    """Make a view of columns (by name, kind and values) and return the answers of a query over it, by key."""
    from pyspark.sql import types

    of_kind = {"number": types.DoubleType(), "text": types.StringType(), "boolean": types.BooleanType()}
    fields = [types.StructField(KEY, types.LongType())]
    fields += [types.StructField(name, of_kind[kind]) for name, (kind, _) in columns.items()]
    values = [list(range(len(next(iter(columns.values()))[1]))), *(values for _, values in columns.values())]
    frame = spark.createDataFrame(list(zip(*values, strict=True)), types.StructType(fields))
    frame.createOrReplaceTempView("t")
    answers = [tuple(row) for row in spark.sql(query).collect()]
    assert sorted(each[0] for each in answers) == values[0]
    return [each[1:] for each in sorted(answers, key=lambda each: each[0])]


def typed(value, kind):
    if value is None or (kind != "number" and value != value):  # noqa: PLR0124 - NaN
        return None
    return {"number": float, "text": str, "boolean": bool}[kind](value)


def score(spark, model, rows, **options):
    columns = {
        each.name: (each.kind, [typed(row[each.name], each.kind) for row in rows]) for each in lower(model).inputs
    }
    return ask(spark, columns, to_sql(model, "spark", "t", keep=[KEY], **options))


def test_spark_says_what_the_model_says(case, spark):
    answers = score(spark, case.model, case.rows)
    if not case.view.has_classes:
        case.assert_same([list(each) for each in answers], [None] * len(answers))
        return
    case.assert_same([list(each[1:]) for each in answers], [each[0] for each in answers])


def test_contributions(fitted_case, spark):
    case = fitted_case
    options = {"contributions": "shapley", "baseline": case.rows[case.ordinary[0]]}
    rows = [case.rows[r] for r in case.ordinary]
    python = {}
    exec(to_python(case.model, **options), python)
    n_outputs = 1 + len(case.view.classes) if case.view.has_classes else 1
    for row, answer in zip(rows, score(spark, case.model, rows, **options), strict=True):
        expected = []
        for each in python["predict"](row)["contributions"]:
            expected += [each["base_value"], *each["values"].values()]
        np.testing.assert_allclose(np.array(answer[n_outputs:], float), expected, rtol=1e-9, atol=1e-9)


def test_levels_are_compared_as_they_are(spark):
    levels = ["a", "A", "a b", "a\tb", "a\nb", "<&>\"'", "naïve 😀", "=1+1", "back\\slash", "${x}"]
    X = pd.DataFrame({"x `y`.z": [level for level in levels for _ in range(40)]})
    y = [i % 40 < 3 * k + 3 for k, _ in enumerate(levels) for i in range(40)]
    model = ECSELClassifier(n_terms=1, l1=0.001).fit(X, y)
    answers = score(spark, model, [{"x `y`.z": level} for level in levels])
    expected = model.predict_proba(pd.DataFrame({"x `y`.z": levels}))
    np.testing.assert_allclose(np.array([each[1:] for each in answers], float), expected, rtol=1e-9)


def test_every_hostile_name_is_data(all_hostile, spark):
    for hostile in all_hostile:
        texts = [*hostile.columns, *hostile.levels, *hostile.classes]
        if "" in hostile.columns or any("\0" in text for text in texts) or any("${" in c for c in hostile.columns):
            continue  # which are refused
        answers = score(spark, hostile.view, hostile.rows)
        np.testing.assert_allclose(np.array([each[1:] for each in answers], float), hostile.probabilities, rtol=1e-9)
        assert [each[0] for each in answers] == hostile.labels
