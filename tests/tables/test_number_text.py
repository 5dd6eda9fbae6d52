"""Text that holds numbers is read as numbers, in one style throughout, and nothing else is."""

import numpy as np
import pandas as pd
import polars as pl
import pytest

from ecsel.tables import TableEncoder
from ecsel.tables.number_text import NumberText, learn_number_text, parse_number


@pytest.mark.parametrize(
    ("texts", "numbers"),
    [
        (["36,338", "1,000,000", "999"], [36338, 1e6, 999]),
        (["$9,558.11", "$1.50", "-$3"], [9558.11, 1.5, -3]),
        (["12.74%", "9.1%", "100%"], [12.74, 9.1, 100]),
        ([" 36 months", " 60 months", "1 month"], [36, 60, 1]),
        (["131,05", "7,5", "12"], [131.05, 7.5, 12]),
        (["1.234,5", "12.345.678,25", "3"], [1234.5, 12345678.25, 3]),
        (["1 234,5", "12", "1\u202f000"], [1234.5, 12, 1000]),
        (["1'234.50", "7"], [1234.5, 7]),
        (["0,125", "0,250"], [0.125, 0.25]),
        (["(300)", "1,200"], [-300, 1200]),
        (["\N{MINUS SIGN}3.5", "+4"], [-3.5, 4]),
        (["5 kg", "7.5 kg"], [5, 7.5]),
        (["1e3", "2.5"], [1000, 2.5]),
        (["€ 5", "7 EUR", "8"], None),
        (["00731", "10001"], None),
        (["860xx", "111xx"], None),
        (["5 kg", "7 m"], None),
        (["1.2.3", "4.5"], None),
        (["12-31", "11-30"], None),
        (["A12", "B7"], None),
        (["10+ years", "< 1 year"], None),
    ],
)
def test_numbers_in_disguise(texts, numbers):
    frame = pd.DataFrame({"x": texts})
    encoder = TableEncoder.fit(frame, scaling="raw")
    readings = [reading for reading in encoder.readings if isinstance(reading, NumberText)]
    if numbers is None:
        assert not readings
        return
    np.testing.assert_allclose(encoder.read(frame).columns[0].numbers(), numbers)
    assert any("is text that is read as numbers" in note for note in encoder.changes)
    other = pl.DataFrame({"x": texts})
    assert TableEncoder.fit(other, scaling="raw") == encoder


@pytest.mark.parametrize(
    ("texts", "unit"),
    [
        (["$5", "$7.50"], "$"),
        (["£5", "(£7)"], "£"),
        (["5 EUR", "-7 EUR"], "EUR"),
        (["5", "$7"], "$"),
        (["5 km", "7 km"], "km"),
        (["5,000", "7"], ""),
    ],
)
def test_the_unit_is_that_of_the_texts(texts, unit):
    reading, strange = learn_number_text("x", dict.fromkeys(texts, 1.0))
    assert (reading.unit, strange) == (unit, ())


def test_missing_words_among_numbers_are_missing_and_unknown_is_a_level():
    encoder = TableEncoder.fit(pd.DataFrame({"x": ["1", "?", "2", "N/A", "3"]}), scaling="raw")
    rows = dict(zip(encoder.feature_names, encoder.feature_rows(pd.DataFrame({"x": ["?", "2"]})), strict=True))
    np.testing.assert_array_equal([rows["x"], rows["[x missing]"]], [[2, 2], [1, 0]])
    assert learn_number_text("x", {"1": 1, "unknown": 1}) is None


def test_a_slip_of_the_pen_counts_as_missing_and_is_reported():
    frame = pd.DataFrame({"year": [1990 + i % 20 for i in range(299)] + ["1976A"]})
    encoder = TableEncoder.fit(frame, scaling="raw")
    values = encoder.read(frame).columns[0].numbers()
    assert np.isnan(values[-1])
    assert not np.isnan(values[:-1]).any()
    assert any("'1976A' is no number and counts as missing" in note for note in encoder.changes)


def test_new_text_that_is_no_number_is_refused_by_name():
    encoder = TableEncoder.fit(pd.DataFrame({"x": ["1,000", "2,000", "3,500"]}), scaling="raw")
    with pytest.raises(ValueError, match="Column 'x' is a column of numbers, but holds 'many'"):
        encoder.feature_rows(pd.DataFrame({"x": ["many"]}))


def test_numbers_proper_are_taken_at_prediction():
    encoder = TableEncoder.fit(pd.DataFrame({"x": ["1,000", "2,000", "3,500"]}), scaling="raw")
    assert encoder.feature_rows(pd.DataFrame({"x": [2000.0]}))[0] == 2000


def test_listed_categories_stay_text():
    frame = pd.DataFrame({"code": ["1", "2", "1", "2"] * 5})
    assert TableEncoder.fit(frame, scaling="raw", categorical=["code"]).feature_names == ("[code = 1]", "[code = 2]")
    assert TableEncoder.fit(frame, scaling="raw").feature_names == ("code",)
    typed = frame.astype("category")
    assert TableEncoder.fit(typed, scaling="raw").feature_names == ("[code = 1]", "[code = 2]")


def test_a_unit_that_differs_is_no_number():
    assert parse_number("7 days", ".", "", "months") is None
    assert parse_number("7 months", ".", "", "month") == 7


@pytest.mark.parametrize("word", ["<null>", "\\N", "<NA>", "Missing", " ? "])
def test_missing_words_that_appear_only_later_are_missing(word):
    """A fold may hold the one row with a word that the rows of training lack."""
    encoder = TableEncoder.fit(pd.DataFrame({"x": ["1.5", "2.5", "?", "4.0"] * 9}), scaling="raw")
    rows = dict(zip(encoder.feature_names, encoder.feature_rows(pd.DataFrame({"x": [word, "2.5"]})), strict=True))
    np.testing.assert_array_equal(rows["[x missing]"], [1, 0])
