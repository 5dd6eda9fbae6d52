from decimal import Decimal

import numpy as np
import pandas as pd
import polars as pl
import pytest

from ecsel.tables import CategoricalColumn, NumericColumn, TableEncoder
from ecsel.tables.raw import RawColumn
from ecsel.tables.reading import read_table


def column(X, j=0):
    return read_table(X).columns[j]


def array_column(values):
    return RawColumn("x0", np.array(values, dtype=object))


def test_kinds_in_frames(make_frame):
    frame = make_frame(
        {
            "i": [1, 2, 3],
            "f": [0.5, None, 1.5],
            "b": [True, False, True],
            "m": [True, None, False],
            "s": ["u", None, "v"],
            "n": [1, None, 3],
        }
    )
    kinds = [raw.kind_and_dtype() for raw in read_table(frame).columns]
    assert [kind for kind, _ in kinds] == ["number", "number", "boolean", "boolean", "text", "number"]
    assert [dtype for _, dtype in kinds[:5]] == ["integer", "float", "boolean", "boolean", "text"]


def test_missing_values_are_found_in_every_frame(make_frame):
    frame = make_frame({"f": [0.5, None, 1.5], "n": [1, None, 3], "s": ["u", None, "v"], "m": [True, None, False]})
    f, n, s, m = read_table(frame).columns
    np.testing.assert_array_equal(f.numbers(), [0.5, np.nan, 1.5])
    np.testing.assert_array_equal(n.numbers(), [1, np.nan, 3])
    for raw in (s, m):
        distinct = raw.distinct()
        assert len(distinct) == 2
        assert raw.recoded(distinct, [5, 7], missing=-1)[1] == -1


def test_nan_and_null_are_both_missing_in_polars():
    raw = column(pl.DataFrame({"f": [1.0, None, float("nan")]}))
    np.testing.assert_array_equal(raw.numbers(), [1.0, np.nan, np.nan])
    assert raw.distinct() == [1.0]
    np.testing.assert_array_equal(raw.recoded([1.0], [4], missing=-1), [4, -1, -1])


@pytest.mark.parametrize(
    ("values", "kind", "dtype"),
    [
        ([1, 2.5, None], "number", "float"),
        ([1, np.int8(2), None], "number", "integer"),
        ([Decimal("1.5"), 2], "number", "float"),
        (["1", "2.5"], "number", "float"),
        ([1.0, "2.5"], "number", "float"),
        (["1", "b"], "text", "text"),
        ([True, None, np.bool_(False)], "boolean", "boolean"),
        ([True, 2], "number", "integer"),
        ([None, None], "number", "float"),
        ([pd.NA, pd.NaT, 3.0], "number", "float"),
    ],
)
def test_kinds_of_object_arrays(values, kind, dtype):
    assert array_column(values).kind_and_dtype() == (kind, dtype)


def test_numbers_of_object_arrays():
    np.testing.assert_array_equal(
        array_column([1, "2.5", None, pd.NA, Decimal("0.5")]).numbers(), [1, 2.5, np.nan, np.nan, 0.5]
    )


def test_a_list_of_mixed_rows_keeps_its_numbers():
    encoder = TableEncoder.fit([["a", 1.5], ["b", 2.5], ["a", 3.5]], scaling="minmax")
    assert encoder.feature_names == ("x0=a", "x0=b", "x1")
    assert [type(column) for column in encoder.columns] == [CategoricalColumn, NumericColumn]


@pytest.mark.parametrize(
    "X",
    [pd.DataFrame({"x0": [31, "n/a", 40]}), np.array([[31], ["n/a"], ["40"]], dtype=object)],
    ids=["frame", "array"],
)
def test_numbers_mixed_with_missing_words_are_numbers(X):
    encoder = TableEncoder.fit(X, scaling="raw")
    np.testing.assert_array_equal(encoder.read(X).columns[0].numbers(), [31, np.nan, 40])


@pytest.mark.parametrize(
    ("later", "value"),
    [
        (pd.DataFrame({"age": ["old", "new"]}), "'old'"),
        (pd.DataFrame({"age": ["31", "new"]}), "'31'"),
        (pl.DataFrame({"age": [None, "old"]}), "'old'"),
        (np.array([["31"], ["new"]], dtype=object), "'new'"),
        (np.array([["31"], ["new"]]), "'new'"),
    ],
)
def test_text_where_training_had_numbers_is_refused(later, value):
    encoder = TableEncoder.fit(pd.DataFrame({"age": [31, 40]}))
    with pytest.raises(ValueError, match=f"Column 'age' is a column of numbers, but holds {value}"):
        encoder.log_features(later)


def test_booleans_and_decimals_read_as_numbers():
    np.testing.assert_array_equal(column(pl.DataFrame({"b": [True, None, False]})).numbers(), [1.0, np.nan, 0.0])
    np.testing.assert_array_equal(column(pl.DataFrame({"d": [Decimal("1.5"), None]})).numbers(), [1.5, np.nan])


def test_text_without_values_reads_as_missing_numbers(make_frame):
    encoder = TableEncoder.fit(make_frame({"age": [31.0, 40.0, None]}))
    for later in (pl.DataFrame({"age": [None]}), pl.DataFrame({"age": [None]}, schema={"age": pl.String})):
        np.testing.assert_array_equal(encoder.model_features(later)[:, 1], [10])


def test_kept_rows(make_frame):
    raw = column(make_frame({"f": [1.0, 2.0, 3.0]})).keep(np.array([True, False, True]))
    np.testing.assert_array_equal(raw.numbers(), [1.0, 3.0])


@pytest.mark.parametrize(
    "source",
    [
        np.array([3.0, np.nan, 1.0, 3.0]),
        np.array([3, None, 1, 3.0], dtype=object),
        pd.Series([3, None, 1, 3], dtype="category"),
        pd.Series([3, None, 1, 3], dtype="Int64"),
        pl.Series([3.0, None, 1.0, 3.0]),
        pl.Series([Decimal(3), None, Decimal(1), Decimal(3)]),
    ],
)
def test_distinct_values_and_their_codes(source):
    if isinstance(source, np.ndarray):
        raw = RawColumn("x0", source)
    else:
        raw = column(pd.DataFrame({"x": source}) if isinstance(source, pd.Series) else pl.DataFrame({"x": source}))
    distinct = raw.distinct()
    assert sorted(distinct) == [1, 3]
    codes = [int(10 * value) for value in distinct]
    np.testing.assert_array_equal(raw.recoded(distinct, codes, missing=-1), [30, -1, 10, 30])


def test_text_arrays_are_recoded():
    raw = RawColumn("x0", np.array(["v", "u", "v"]))
    assert raw.distinct() == ["u", "v"]
    np.testing.assert_array_equal(raw.recoded(["u", "v"], [0, 1], missing=-1), [1, 0, 1])


def test_columns_without_values_are_all_missing(make_frame):
    raw = column(make_frame({"s": ["u", None, None]})).keep(np.array([False, True, True]))
    assert raw.distinct() == []
    np.testing.assert_array_equal(raw.recoded([], [], missing=-1), [-1, -1])


def test_slices_of_numbers_are_views_of_pandas_arrays(make_frame):
    frame = make_frame({"x": [1.0, 2.0, 3.0], "t": ["a", "b", "a"]})
    number, text = read_table(frame).columns
    assert number.slice(slice(1, 3)).numbers().tolist() == [2.0, 3.0]
    assert text.slice(slice(0, 2)).kind_and_dtype() == ("text", "text")
    if isinstance(frame, pd.DataFrame):
        assert np.shares_memory(number.numbers(), frame["x"].to_numpy())


def test_a_run_of_rows_of_a_table():
    table = read_table(pd.DataFrame({"x": [1, 2, 3], "y": [True, False, None]}))
    part = table.slice(slice(2, 9))
    assert (part.n_rows, part.names, part.named) == (1, ("x", "y"), True)
    assert part.columns[0].numbers().tolist() == [3]


def test_every_so_many_th_row(make_frame):
    raw = read_table(make_frame({"c": list("abcdefg")})).columns[0]
    assert raw.slice(slice(None, None, 3)).objects().tolist() == ["a", "d", "g"]
