"""Names are data, in queries too."""

import numpy as np
import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st
from sqlglot import exp, parse, parse_one

from ecsel import Signomial
from ecsel.explain import ModelView
from ecsel.export import to_sql
from ecsel.export.targets.sql.dialects import DIALECTS
from ecsel.export.targets.sql.names import LONGEST, ResultNames

FIXTURES = [HealthCheck.function_scoped_fixture]


def usable(hostile):
    """Leave out what no database takes, which another test is about."""
    texts = [*hostile.columns, *hostile.levels, *hostile.classes]
    assume(not any("\0" in text for text in texts))
    assume("" not in hostile.columns)
    assume(len({column.lower() for column in hostile.columns}) == len(hostile.columns))
    return hostile


def check(database, hostile, table):
    reported = database.score(hostile.view, hostile.rows, table, contributions="attribution")
    np.testing.assert_allclose([each[1:3] for each in reported], hostile.probabilities, rtol=1e-9)
    assert [each[0] for each in reported] == hostile.labels


@settings(max_examples=8, deadline=None, suppress_health_check=FIXTURES)
@given(st.data())
def test_databases_take_any_name(database, draw_hostile, data):
    check(database, usable(draw_hostile(data)), "t")


def test_databases_take_every_hostile_name(database, all_hostile):
    for hostile in all_hostile:
        texts = [*hostile.columns, *hostile.levels, *hostile.classes]
        if "" not in hostile.columns and not any("\0" in text for text in texts):
            table = hostile.classes[0].replace(".", "") or "t"
            check(database, hostile, table)


@settings(max_examples=12, deadline=None, suppress_health_check=FIXTURES)
@given(st.data(), st.sampled_from(["spark", "snowflake", "tsql", "mysql", "bigquery"]))
def test_queries_are_one_statement_with_the_names_in_it(draw_hostile, data, dialect):
    columns = ["SELECT", "a"] if dialect == "bigquery" else None  # BigQuery limits the names of columns
    hostile = usable(draw_hostile(data, columns))
    texts = [*hostile.columns, *hostile.levels, *hostile.classes]
    assume(dialect != "spark" or not any("${" in each for each in texts))  # the next test
    (statement,) = parse(to_sql(hostile.view, dialect, keep=["key"]), read=dialect)
    assert isinstance(statement, exp.Select)
    read = {column.name for column in statement.find_all(exp.Column) if column.table == "source"}
    assert read == {*hostile.columns, "key"}
    texts = {each.name for each in statement.find_all(exp.Literal, exp.National) if each.is_string or dialect == "tsql"}
    end = "." if dialect == "tsql" else ""
    assert {level + end for level in hostile.levels} | set(hostile.classes) <= texts


def test_no_variable_of_spark_is_in_a_query(make_hostile):
    query = to_sql(make_hostile(["a", "b"], ["${x}", "$${y}${"], ["${env:HOME}", "no"]).view, "spark")
    assert "${" not in query
    parts = [each.expressions for each in parse_one(query, read="spark").find_all(exp.Concat)]
    assert {"".join(part.name for part in each) for each in parts} == {"${x}", "$${y}${", "${env:HOME}"}
    with pytest.raises(ValueError, match=r"Spark takes the '\$\{' in the column 'a\$\{b' for a variable"):
        to_sql(make_hostile(["a${b", "b"], ["x", "y"], ["no", "yes"]).view, "spark")


def test_what_no_database_can_hold_is_refused():
    def view(names, classes=("a", "b")):
        return ModelView.of_equations({label: Signomial.parse("x0*x1") for label in classes}, names)

    def model(first, second="y"):
        return Signomial.parse(f"col({first!r})*col({second!r})")

    with pytest.raises(ValueError, match=r"the column 'a\\x00' has a character that SQL text cannot hold"):
        to_sql(model("a\0"))
    with pytest.raises(ValueError, match=r"the class '.ud800' has a character"):
        to_sql(view(["x0", "x1"], ("a", "\ud800")))
    with pytest.raises(ValueError, match="a column has the empty name"):
        to_sql(model("a"), keep=[""])
    with pytest.raises(ValueError, match="'A' and 'a' are the same column in the dialect 'sqlite', which ignores case"):
        to_sql(model("a", "A"), "sqlite")
    assert to_sql(model("a", "A"), "postgres")
    with pytest.raises(ValueError, match=r"BigQuery takes no column of the name 'a\.b'"):
        to_sql(model("a.b"), "bigquery")


@given(st.lists(st.text(max_size=100), max_size=8), st.sampled_from(list(DIALECTS)))
@settings(max_examples=50, deadline=None)
def test_result_names_differ_whatever_the_labels(labels, dialect):
    names = ResultNames(DIALECTS[dialect], ["label"])
    reported = [names.of("label"), *(names.of("probability", label) for label in labels)]
    assert len({each.lower() for each in [*reported, "label"]}) == len(reported) + 1
    assert all(len(each.encode()) <= LONGEST for each in reported)
    if dialect == "bigquery":
        assert all(each.replace("_", "a").isalnum() for each in reported)


@pytest.mark.parametrize("length", [45, 48, 49, 50, 70])
def test_long_names_keep_room_for_their_number(length):
    names = ResultNames(DIALECTS["postgres"], [])
    reported = [names.of("probability", "é" * (length // 2)) for _ in range(120)]
    assert len(set(reported)) == 120
    assert max(len(each.encode()) for each in reported) <= LONGEST


def test_results_are_named_after_classes_and_columns():
    view = ModelView.of_equations({"yes": Signomial.parse("x"), "no": Signomial.parse("y")}, ["x", "y"])
    query = to_sql(view, keep=["label"], contributions="log_additive", baseline=[1.0, 1.0])
    assert parse_one(query, read="duckdb").named_selects == [
        "label",
        "label_2",
        "probability_yes",
        "probability_no",
        "base_value_yes_0",
        "contribution_yes_0_x",
        "contribution_yes_0_y",
        "base_value_no_0",
        "contribution_no_0_x",
        "contribution_no_0_y",
    ]
