"""DuckDB and PostgreSQL read text and dates of a table as the model does; other dialects say that they do not."""

import csv
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from ecsel import ECSELClassifier
from ecsel.export import to_sql
from ecsel.export.program.lowering import lower
from ecsel.export.targets.sql.dialects import DIALECTS
from ecsel.export.targets.sql.query import Query, table_of
from ecsel.tables.dates import DateReading
from ecsel.tables.number_text import NumberText

FILE = Path(__file__).parents[3] / "data" / "awkward.csv"
KEY = "the row's number"


@pytest.fixture(params=["duckdb", "postgres"])
def reader(request):
    return request.getfixturevalue(f"in_{request.param}")


@pytest.fixture
def asked(reader, reading_program):
    """Return what a query makes of values."""

    def ask(reading, name, values, kind="text"):
        query = Query(reading_program(reading, name), DIALECTS[reader.dialect], table_of("t"), (KEY,)).sql()
        columns = {KEY: ("key", list(range(len(values)))), reading.column: (kind, values)}
        return [row[1] for row in sorted(reader.ask("t", columns, query))]

    return ask


def test_numbers_in_text(asked, number_text_case):
    reading, texts, (expected,) = number_text_case
    expected = [None if number != number else number for number in expected]  # noqa: PLR0124 - NaN
    assert asked(reading, "x", [*texts, None]) == [*expected, None]


@pytest.mark.parametrize("text", ["abc", "1.2.3", "(4", "7 kg", "1 234", "1_000", "inf"])
def test_text_that_is_no_number_stops_the_query(asked, text):
    with pytest.raises(Exception, match="no number: "):
        asked(NumberText("x", ".", ",", "$"), "x", ["5", text])


def test_parts_of_dates(asked, date_case):
    reading, values, expected = date_case
    texts = [None if value is None else str(value) for value in values]
    for name, numbers in zip(reading.names, expected, strict=True):
        known = [None if number is None or number != number else number for number in numbers]  # noqa: PLR0124
        assert asked(reading, name, texts) == [
            pytest.approx(each) if isinstance(each, float) else each for each in known
        ]


@pytest.mark.parametrize("text", ["30.02.2018", "1/2.2018", "soon", "28.02.2018 25:00"])
def test_text_that_is_no_date_stops_the_query(asked, text):
    reading = DateReading("when", "day.month.year", "2018-01-01", ("days",), whole=True, names=("days",))
    with pytest.raises(Exception, match=r"no date|out of range|[Ii]nvalid"):
        asked(reading, "days", ["28.02.2018", text])


def test_awkward_rows_as_they_are_give_the_model_s_probability(reader, awkward_model, awkward_rows):
    with FILE.open(encoding="utf-8", newline="") as file:
        cells = list(csv.DictReader(file))
    columns = {KEY: ("key", list(range(len(cells))))}
    for name in awkward_rows:
        kind = "number" if awkward_rows[name].dtype.kind in "if" and awkward_rows[name].notna().any() else "text"
        values = [row[name] or None for row in cells]
        columns[name] = (
            kind,
            [None if value is None else float(value) if kind == "number" else value for value in values],
        )
    query = to_sql(awkward_model, reader.dialect, "t", keep=[KEY])
    answers = sorted(reader.ask("t", columns, query))
    if hasattr(awkward_model, "classes_"):
        expected = awkward_model.predict_proba(awkward_rows)
        np.testing.assert_allclose([row[2:] for row in answers], expected, rtol=1e-9)
        assert [row[1] for row in answers] == list(awkward_model.predict(awkward_rows))
    else:
        np.testing.assert_allclose([row[1] for row in answers], awkward_model.predict(awkward_rows), rtol=1e-9)
    assert query.startswith("-- Text and dates are read here:\n")


def test_columns_of_numbers_by_their_type_are_read_as_they_are(asked):
    assert asked(NumberText("x", ",", "."), "x", [1234.5, None], "number") == [1234.5, None]


@pytest.mark.parametrize("dialect", sorted(set(DIALECTS) - {"duckdb", "postgres"}))
def test_dialects_that_read_no_text_say_so(awkward_model, dialect):
    if dialect == "bigquery" and any(" (days since " in each.name for each in lower(awkward_model).inputs):
        with pytest.raises(
            ValueError, match=r"'opened \(days since 2018-01-01\)', which is made of 'opened': rename it"
        ):
            to_sql(awkward_model, dialect, "t")
        return
    head = to_sql(awkward_model, dialect, "t").splitlines()
    assert head[0] == "-- Text and dates are not read here. Make these columns before:"
    assert any(line.startswith("--   'rate' is the number that the text of 'rate' holds") for line in head)


def test_sqlite_refuses_text_in_the_place_of_numbers(in_sqlite):
    model = ECSELClassifier(n_terms=1, l1=0.001).fit(
        pd.DataFrame({"rate": [None if i % 9 == 0 else f"{i % 7}.5%" for i in range(60)]}),
        [i % 7 > 3 for i in range(60)],
    )
    query = to_sql(model, "sqlite", "t", keep=[KEY])
    found = in_sqlite.ask("t", {KEY: ("key", [0, 1, 2]), "rate": ("text", ["5.5%", " ", None])}, query)
    (_, first, *_), (_, second, *_), (_, third, *_) = sorted(found)
    assert first is None  # refused, where it was a missing value without a word
    assert second == third == model.predict(pd.DataFrame({"rate": [None]}, dtype=object))[0]


def test_a_unit_stays_inside_of_its_quotes(asked):
    unit = "'; DROP TABLE t; -- |($"
    assert asked(NumberText("x", ".", "", unit), "x", ["5", "6"]) == [5.0, 6.0]
