"""The exported query, run by three databases, says what the model says."""

import builtins
import sqlite3
import sys

import duckdb
import numpy as np
import pandas as pd
import pytest
from sqlglot import exp, parse_one

from ecsel import Signomial
from ecsel.explain import ModelView
from ecsel.export import to_sql
from ecsel.tables import TableEncoder

PRODUCT = Signomial.parse("2*x*y")


def test_equals_the_model_on_awkward_rows(case, database, assert_equals_model):
    assert_equals_model(case, database.score(case.model, case.rows))


def test_a_table_is_named_in_parts_or_as_sqlglot_knows_it():
    with duckdb.connect() as connection:
        connection.execute("""CREATE SCHEMA "a b"; CREATE TABLE "a b"."c""d" AS SELECT 3.0 AS x, 2 AS y""")
        connection.execute("""CREATE TABLE "e.f" AS SELECT 3.0 AS "X", 2 AS z""")
        renamed = parse_one('SELECT "X" AS x, z AS y FROM "e.f"').subquery()
        tables = ['a b.c"d', 'memory.a b.c"d', renamed]
        assert [connection.execute(to_sql(PRODUCT, table=table)).fetchall() for table in tables] == [
            [(pytest.approx(12.0),)]
        ] * 3
        dotted = exp.Table(this=exp.to_identifier("e.f", quoted=True))
        assert connection.execute(to_sql(Signomial.parse("z"), table=dotted)).fetchall() == [(pytest.approx(2.0),)]


def test_a_table_may_be_called_like_a_layer(database):
    assert database.score(PRODUCT, [{"x": 2.0, "y": 3.0}], "ecsel_0") == [(pytest.approx(12.0),)]


def test_columns_may_be_called_like_variables(database):
    model = Signomial.parse("v1 - v0*keep0 + 2*source + ok0")
    row = dict(zip(["v0", "v1", "keep0", "source", "ok0"], [2.0, 3.0, 5.0, 7.0, 11.0], strict=True))
    assert database.score(model, [row], "source") == [(pytest.approx(18.0),)]


def test_a_column_that_the_table_lacks_is_an_error_of_the_database():
    """SQLite takes "x" for the text 'x' where there is no such column; with its table before it, it does not."""
    connection = sqlite3.connect(":memory:")
    connection.execute("CREATE TABLE t (x REAL)")
    with pytest.raises(sqlite3.OperationalError, match="no such column"):
        connection.execute(to_sql(PRODUCT, "sqlite"))
    connection.close()


def test_every_type_of_number_is_read():
    with duckdb.connect() as connection:
        for x in ("3", "3::UTINYINT", "3.0::DECIMAL(9, 4)", "3.0::REAL", "3::HUGEINT", "'3'::VARCHAR"):
            connection.execute(f"CREATE OR REPLACE TABLE t AS SELECT {x} AS x, true AS y")
            assert connection.execute(to_sql(PRODUCT)).fetchall() == [(pytest.approx(6.0),)]


def test_text_among_the_numbers_of_sqlite_is_no_zero():
    connection = sqlite3.connect(":memory:")
    connection.execute("CREATE TABLE t (x, y)")
    connection.executemany("INSERT INTO t VALUES (?, 1)", [(3,), ("",), ("three",), (b"3",)])
    reported = [value for (value,) in connection.execute(to_sql(PRODUCT, "sqlite"))]
    connection.close()
    assert reported == [pytest.approx(6.0), None, None, None]


@pytest.fixture(scope="session")
def level_model(product_of):
    """Return the function that gives a model of one column whose levels have the exponents 1, 2, …"""

    def of(levels):
        encoder = TableEncoder.fit(pd.DataFrame({"x": [*levels] * 3}), categorical=["x"])
        return product_of(encoder, np.arange(1.0, len(encoder.features) + 1))

    return of


def test_levels_are_equal_to_themselves_alone(level_model, database):
    """Not to the same word in capitals, nor with a space behind it, nor without its accent."""
    model = level_model(["a", "é"])
    rows = [{"x": x} for x in ("a", "é", "A", "a ", " a", "e", "e\u0301", "")]
    assert [value for (value,) in database.score(model, rows)] == pytest.approx([10.0, 100.0] + [1.0] * 6)


@pytest.mark.parametrize(
    ("dialect", "connect"), [("duckdb", duckdb.connect), ("sqlite", lambda: sqlite3.connect(":memory:"))]
)
def test_columns_that_ignore_case_are_read_exactly(level_model, dialect, connect):
    connection = connect()
    connection.execute("CREATE TABLE t (x VARCHAR COLLATE NOCASE)")
    connection.execute("INSERT INTO t VALUES ('a'), ('A')")
    reported = connection.execute(to_sql(level_model(["a", "b"]), dialect)).fetchall()
    connection.close()
    assert reported == [(pytest.approx(10.0),), (pytest.approx(1.0),)]


def test_levels_beyond_the_exact_doubles_stay_apart(level_model):
    big = 2**53
    with duckdb.connect() as connection:
        connection.execute(f"CREATE TABLE t AS SELECT unnest([{big}, {big + 1}, {big + 2}, NULL])::BIGINT AS x")
        reported = connection.execute(to_sql(level_model([big, big + 1]))).fetchall()
    assert reported == [(pytest.approx(10.0),), (pytest.approx(100.0),), (pytest.approx(1.0),), (None,)]


def test_a_model_without_columns_scores_every_row(database):
    assert database.score(Signomial.parse("3"), [{}, {}]) == [(3.0,), (3.0,)]


def test_labels_of_several_types_are_text(in_duckdb):
    view = ModelView.of_equations({"a": PRODUCT, 1: Signomial.parse("0.5*x*y")}, ["x", "y"])
    rows = [{"x": 1.0, "y": 1.0}, {"x": -1.0, "y": 1.0}]
    assert [each[0] for each in in_duckdb.score(view, rows)] == ["a", "1"]


def test_many_classes_and_terms_are_no_trouble(database):
    """Layers are computed once: written out at every use, the softmax of 25 classes would have millions of terms."""
    names = [f"x{j}" for j in range(20)]
    view = ModelView.of_equations({c: Signomial.parse(f"{c / 100}*x{c % 20} + 0.1") for c in range(25)}, names)
    ((label, *p),) = database.score(view, [dict.fromkeys(names, 1.0)])
    assert label == 24
    np.testing.assert_allclose(p, view.probabilities(np.ones((1, 20)))[0])


def test_what_is_wrong_is_said():
    with pytest.raises(ValueError, match=r"dialect must be one of 'duckdb', .*, not 'oracle'"):
        to_sql(PRODUCT, "oracle")
    with pytest.raises(TypeError, match=r"keep must be a list of columns, not 'id': write \['id'\]"):
        to_sql(PRODUCT, keep="id")
    with pytest.raises(TypeError, match="table must be a name, or a Table or Subquery of sqlglot, not int"):
        to_sql(PRODUCT, table=3)
    for table in ("a.b.c.d", "a..b", "", "a\0"):
        with pytest.raises(ValueError, match=r"table must be 'table', 'schema\.table' or"):
            to_sql(PRODUCT, table=table)


def test_sqlglot_is_asked_for_by_its_extra(monkeypatch):
    def without_sqlglot(name, *arguments, **options):
        if name.partition(".")[0] == "sqlglot":
            raise ModuleNotFoundError("No module named 'sqlglot'", name="sqlglot")
        return find(name, *arguments, **options)

    find = builtins.__import__
    for name in [each for each in sys.modules if each.startswith("ecsel.export.targets.sql.")]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setattr(builtins, "__import__", without_sqlglot)
    with pytest.raises(ImportError, match=r'to_sql needs sqlglot: pip install "ecsel\[sql\]"'):
        to_sql(PRODUCT)
