"""The other dialects: their queries are read back by sqlglot, written for DuckDB and run there."""

import math

import numpy as np
import pytest
from sqlglot import exp, parse_one

from ecsel import Signomial
from ecsel.export import to_sql
from ecsel.export.targets.sql.dialects import DIALECTS

OTHERS = ["spark", "bigquery", "snowflake", "tsql", "mysql"]
KEY = "the row's number"


def for_duckdb(query, dialect):
    """Return a query in DuckDB's dialect, where text is compared exactly without a collation."""

    def translated(node):
        if isinstance(node, exp.National):
            return exp.Literal.string(node.this)
        if isinstance(node, (exp.Greatest, exp.Least)):
            node.set("ignore_nulls", True)  # as DuckDB does; no part is NULL
        if isinstance(node, exp.DataType):
            if node.this in {exp.DataType.Type.NVARCHAR, exp.DataType.Type.CHARACTER_SET}:
                return exp.DataType.build("text")
            if node.this == exp.DataType.Type.BIT:
                return exp.DataType.build("boolean")
            if dialect == "tsql" and node.this == exp.DataType.Type.FLOAT:  # 53 bits, by its manual
                return exp.DataType.build("double")
        return node

    tree = parse_one(query, read=dialect)
    for each in list(tree.find_all(exp.Collate)):
        each.replace(each.this)
    return tree.transform(translated, copy=False).sql("duckdb", copy=False)


@pytest.mark.parametrize("dialect", OTHERS)
def test_equals_the_model_on_awkward_rows(case, dialect, in_duckdb, assert_equals_model):
    query = for_duckdb(to_sql(case.model, dialect, keep=[KEY]), dialect)
    rows = [without_nan(row) for row in case.rows] if dialect in {"tsql", "mysql"} else case.rows
    assert_equals_model(case, in_duckdb.score(case.model, rows, query=query))


@pytest.mark.parametrize("dialect", OTHERS)
@pytest.mark.parametrize("method", ["log_additive", "attribution", "shapley"])
def test_contributions_equal_those_of_duckdb(dialect, method, all_cases, in_duckdb):
    case = all_cases["median_and_threshold"].every(3)
    options = {"contributions": method, "baseline": case.rows[case.ordinary[0]]}
    rows = [without_nan(row) for row in case.rows]
    query = for_duckdb(to_sql(case.model, dialect, keep=[KEY], **options), dialect)
    reported, wanted = (
        np.array([each[1:] for each in answers], dtype=float)
        for answers in (in_duckdb.score(case.model, rows, query=query), in_duckdb.score(case.model, rows, **options))
    )
    scale = np.nanmax(np.abs(wanted[: len(case.ordinary)]), initial=1.0)
    np.testing.assert_allclose(reported, wanted, rtol=1e-9, atol=1e-9 * scale)


@pytest.mark.parametrize("dialect", OTHERS)
def test_hostile_names_run_as_names(dialect, all_hostile, in_duckdb):
    n_run = 0
    for hostile in all_hostile:
        texts = [*hostile.columns, *hostile.levels, *hostile.classes]
        if "" in hostile.columns or any("\0" in text for text in texts):
            continue  # what no database takes
        try:
            query = to_sql(hostile.view, dialect, keep=[KEY])
        except ValueError as error:
            assert dialect == "bigquery"
            assert "BigQuery takes no column of the name" in str(error)  # noqa: PT017 - the others go on
            continue
        reported = in_duckdb.score(hostile.view, hostile.rows, query=for_duckdb(query, dialect))
        np.testing.assert_allclose([each[1:3] for each in reported], hostile.probabilities, rtol=1e-9)
        assert [each[0] for each in reported] == hostile.labels
        n_run += 1
    assert n_run >= (1 if dialect == "bigquery" else 9)


def without_nan(row):
    """Return a row as a database without NaN has it."""
    return {name: None if isinstance(value, float) and math.isnan(value) else value for name, value in row.items()}


def test_all_dialects_are_tested():
    assert {*OTHERS, "duckdb", "sqlite", "postgres"} == set(DIALECTS)


def test_each_dialect_has_its_own_words():
    written = {name: to_sql(Signomial.parse("x**0.7"), name) for name in DIALECTS}
    assert "LOG(" in written["tsql"]
    assert "LN(" in written["postgres"]
    assert "MAX(MIN(" in written["sqlite"]
    assert "OFFSET 0" in written["postgres"]
    assert "IS_NAN(" in written["bigquery"]
    for name, quote in {"duckdb": '"', "mysql": "`", "bigquery": "`", "spark": "`", "snowflake": '"'}.items():
        assert f"{quote}source{quote}.{quote}x{quote}" in written[name]
    assert "[source].[x]" in written["tsql"]
