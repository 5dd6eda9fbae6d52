"""Dates become days, months, weekdays and hours, whatever they are written in; the arithmetic is that of datetime."""

import datetime as dt

import numpy as np
import pandas as pd
import polars as pl
import pytest

from ecsel.tables import TableEncoder
from ecsel.tables.dates import date_form

DAYS = [dt.date(2019, 3, 1) + dt.timedelta(days=9 * i) for i in range(60)]


def expected():
    return {
        "d (days since 2019-01-01)": [(day - dt.date(2019, 1, 1)).days for day in DAYS],
        "d month": [day.month for day in DAYS],
        "d weekday": [day.strftime("%A") for day in DAYS],
    }


@pytest.mark.parametrize(
    "values",
    [
        DAYS,
        pd.to_datetime(DAYS),
        pd.to_datetime(DAYS).tz_localize("Europe/Amsterdam"),
        [day.isoformat() for day in DAYS],
        [day.strftime("%d/%m/%Y") for day in DAYS],
        [day.strftime("%m/%d/%Y") for day in DAYS],
        [day.strftime("%d.%m.%y") for day in DAYS],
        [day.strftime("%d-%b-%y") for day in DAYS],
        [day.strftime("%B %d, %Y") for day in DAYS],
        [day.isoformat() + "T00:00:00Z" for day in DAYS],
    ],
    ids=["date", "datetime64", "zoned", "iso", "dmy", "mdy", "dots", "names", "words", "instant"],
)
def test_one_date_in_every_form(values):
    frame = pd.DataFrame({"d": values})
    encoder = TableEncoder.fit(frame, scaling="raw")
    table = encoder.read(frame)
    assert table.names == tuple(expected())
    for column, cells in zip(table.columns, expected().values(), strict=True):
        assert column.objects().tolist() == cells
    assert encoder.inputs == ("d",)
    assert any("'d' is a date" in note for note in encoder.changes)


def test_polars_dates():
    encoder = TableEncoder.fit(pl.DataFrame({"d": DAYS}), scaling="raw")
    assert encoder == TableEncoder.fit(pd.DataFrame({"d": pd.to_datetime(DAYS)}), scaling="raw")


def test_hours_count_where_they_vary_and_months_from_a_year_on():
    times = pd.date_range("2020-02-03 00:30", periods=40, freq="5h")
    encoder = TableEncoder.fit(pd.DataFrame({"t": times}), scaling="raw")
    assert encoder.raw_names == ("t (days since 2020-01-01)", "t weekday", "t hour")
    days, _, hours = encoder.read(pd.DataFrame({"t": times})).columns
    np.testing.assert_allclose(days.numbers(), (times - pd.Timestamp("2020-01-01")) / pd.Timedelta(days=1))
    np.testing.assert_array_equal(hours.numbers(), times.hour)


def test_the_first_of_every_month_has_no_weekday():
    encoder = TableEncoder.fit(pd.DataFrame({"m": [f"{2009 + i // 12}-{i % 12 + 1:02d}" for i in range(40)]}))
    assert encoder.raw_names == ("m (days since 2009-01-01)", "m month")


def test_a_missing_date_is_one_indicator():
    frame = pd.DataFrame({"d": pd.to_datetime([*DAYS, None])})
    encoder = TableEncoder.fit(frame, scaling="raw")
    assert [f.name for f in encoder.features if f.kind == "missing"] == ["[d missing]"]
    rows = encoder.feature_rows(frame)
    at = encoder.feature_names.index("[d missing]")
    assert rows[at].tolist() == [0] * len(DAYS) + [1]
    assert not np.isnan(rows).any()


def test_never_one_level_a_day():
    frame = pd.DataFrame({"d": [day.isoformat() for day in DAYS] * 3})
    assert not any("2019-03" in name for name in TableEncoder.fit(frame, scaling="raw").feature_names)


def test_ambiguous_days_and_what_is_no_date():
    assert date_form(["03/04/2020", "05/06/2020"]) == "month/day/year"
    assert date_form(["03.04.2020", "05.06.2020"]) == "day.month.year"
    assert date_form(["2020-13-01"]) is None
    assert date_form(["1-2-3"]) is None
    assert date_form(["?"]) is None


def test_a_new_value_that_is_no_date_is_refused_by_name():
    encoder = TableEncoder.fit(pd.DataFrame({"d": [day.strftime("%d/%m/%Y") for day in DAYS]}), scaling="raw")
    with pytest.raises(ValueError, match="Column 'd' is a column of dates, but holds 'soon'"):
        encoder.feature_rows(pd.DataFrame({"d": ["soon"]}))
    same = [pd.DataFrame({"d": [value]}) for value in ("21/05/2019", "2019-05-21", dt.date(2019, 5, 21))]
    rows = [encoder.feature_rows(frame) for frame in same]
    np.testing.assert_array_equal(rows[0], rows[1])
    np.testing.assert_array_equal(rows[0], rows[2])


def test_names_of_parts_that_are_taken_get_a_number():
    frame = pd.DataFrame({"d": pd.to_datetime(DAYS), "d month": range(60), "x": np.arange(60) / 7})
    encoder = TableEncoder.fit(frame, scaling="raw")
    assert "d month #2" in encoder.raw_names
    assert encoder.inputs == ("d", "d month", "x")


def test_plain_columns_are_read_as_they_are():
    frame = pd.DataFrame({"d": pd.to_datetime(DAYS), "x": np.arange(60) / 7})
    encoder = TableEncoder.fit(frame, scaling="raw")
    plain = encoder.read(frame)
    np.testing.assert_array_equal(encoder.feature_rows(plain), encoder.feature_rows(frame))


def test_a_duration_is_left_out_with_a_note():
    frame = pd.DataFrame({"took": pd.to_timedelta(range(60), "h"), "x": np.arange(60) / 7})
    encoder = TableEncoder.fit(frame, scaling="raw")
    assert encoder.feature_names == ("x",)
    assert encoder.changes == ("'took' was left out: a duration; turn it into numbers, such as days.",)
