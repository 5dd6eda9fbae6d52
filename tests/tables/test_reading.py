import datetime as dt

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy import sparse

from ecsel.tables import TableEncoder
from ecsel.tables.reading import read_table

HOSTILE_NAMES = [
    "",
    "N",
    "exec",
    "a b",
    "it's",
    'say "x"',
    "line\nbreak",
    "été",
    "数",
    "{x}",
    "%s",
    "__import__('os')",
    "=1",
]


def test_any_text_is_a_name(make_frame):
    frame = make_frame({name: [float(j), j + 1.0] for j, name in enumerate(HOSTILE_NAMES)})
    encoder = TableEncoder.fit(frame)
    assert encoder.raw_names == encoder.feature_names == tuple(HOSTILE_NAMES)
    assert encoder.named


def test_arrays_and_lists_have_positional_names():
    for X in (np.ones((2, 3)), [[1, 2, 3], [4, 5, 6]]):
        table = read_table(X)
        assert table.names == ("x0", "x1", "x2")
        assert not table.named


def test_frames_without_text_names_are_positional():
    table = read_table(pd.DataFrame(np.ones((2, 2))))
    assert table.names == ("x0", "x1")
    assert not table.named


def test_masked_values_are_missing():
    X = np.ma.array([[1.0, 2.0], [3.0, 4.0], [5.0, 9.0]], mask=[[0, 1], [0, 0], [0, 0]])
    encoder = TableEncoder.fit(X)
    assert encoder.feature_names == ("x0", "x1", "x1=?")
    assert encoder.columns[1].low == 4.0


def test_mixed_types_of_names_are_refused():
    with pytest.raises(TypeError, match="Feature names are only supported if all input features have string names"):
        read_table(pd.DataFrame({"a": [1.0], 7: [2.0]}))


@pytest.mark.parametrize("name", ["a", "", 0])
def test_equal_names_are_refused(name):
    with pytest.raises(ValueError, match=f"Column names must be unique, but {name!r} occurs 2 times"):
        read_table(pd.DataFrame([[1, 2]], columns=[name, name]))


def test_equal_names_are_refused_in_arrow():
    import pyarrow as pa

    table = pa.Table.from_arrays([pa.array([1]), pa.array([2])], names=["a", "a"])
    with pytest.raises(ValueError, match="Column names must be unique, but 'a' occurs 2 times"):
        read_table(table)


@pytest.mark.parametrize(
    ("X", "error", "message"),
    [
        (sparse.csr_array(np.eye(3)), TypeError, "Sparse data was passed.*dense data is required"),
        (sparse.csc_matrix(np.eye(3)), TypeError, "Sparse data was passed.*dense data is required"),
        (pd.DataFrame({"a": pd.arrays.SparseArray([0, 1])}), TypeError, "Sparse data was passed in column 'a'"),
        (np.ones((2, 2)) * 1j, ValueError, "Complex data not supported"),
        (pd.DataFrame({"a": [1j, 2.0]}), ValueError, "Complex data not supported: column 'a'"),
        (np.ones(3), ValueError, "Expected 2D array, got 1D array instead.*(.|\n)*Reshape your data"),
        (np.ones((2, 2, 2)), ValueError, "Found array with dim 3"),
        (np.ones((0, 3)), ValueError, r"Found array with 0 sample\(s\) \(shape=\(0, 3\)\) while a minimum of 1"),
        (np.ones((5, 0)), ValueError, r"Found array with 0 feature\(s\) \(shape=\(5, 0\)\) while a minimum of 1"),
        (
            pd.DataFrame({"a": []}),
            ValueError,
            r"Found array with 0 sample\(s\) \(shape=\(0, 1\)\) while a minimum of 1",
        ),
        (pd.DataFrame(index=[0, 1]), ValueError, r"Found array with 0 feature\(s\) \(shape=\(2, 0\)\)"),
        (pl.LazyFrame({"a": [1.0]}), TypeError, "X is a lazy frame.*collect or compute it first"),
        (pl.DataFrame({"at": [dt.time(20, 1)]}), ValueError, "Column 'at' has the type Time.*numbers, dates or text"),
        (pl.DataFrame({"nest": [[1], [2]]}), ValueError, "Column 'nest' has the type List"),
        (
            pd.DataFrame({"nest": [[1], [2]]}),
            TypeError,
            r"Column 'nest' holds \[1\]: argument must be a string or a number",
        ),
        (np.array([[{"foo": "bar"}], [1.0]], dtype=object), TypeError, "argument must be a string or a number"),
        (np.array([[b"a"]]), ValueError, "Column 'x0' has the type"),
    ],
)
def test_what_is_no_table_of_numbers_and_text_is_refused(X, error, message):
    with pytest.raises(error, match=message):
        TableEncoder.fit(X)


def test_the_columns_of_a_frame_are_read_when_they_are_asked_for(make_frame):
    table = read_table(make_frame({"a": [1.5, 2.5], "b": ["u", "v"], "c": [3, 4]}))
    assert (len(table.columns), table.names, table.n_rows) == (3, ("a", "b", "c"), 2)
    assert table.columns[2] is table.columns[-1]
    assert [column.name for column in table.columns[:2]] == ["a", "b"]
    assert table.columns[0].numbers().tolist() == [1.5, 2.5]
    assert table.columns[1].distinct() == ["u", "v"]


def test_a_frame_that_narwhals_wraps_is_a_frame():
    import narwhals as nw

    frame = pd.DataFrame({"a": [1.5, 2.5], "b": ["u", "v"]})
    wrapped = read_table(nw.from_native(frame))
    assert wrapped.names == ("a", "b")
    assert np.shares_memory(wrapped.columns[0].numbers(), frame["a"].to_numpy())


def test_a_table_that_was_read_is_not_read_again():
    table = read_table([[1.0, 2.0]])
    assert read_table(table) is table


def test_names_of_training_are_recognised_in_frames_alone(make_frame):
    encoder = TableEncoder.fit(make_frame({"a": [1.0, 2.0], "b": [1.0, 3.0]}))
    same, swapped, fewer = ({"a": [1.0], "b": [2.0]}, {"b": [1.0], "a": [2.0]}, {"a": [1.0]})
    recognised = encoder.names_match(make_frame(same))
    assert not encoder.names_match(make_frame(swapped))
    assert not encoder.names_match(make_frame(fewer))
    assert not encoder.names_match(np.ones((1, 2)))
    assert recognised == (not type(make_frame(same)).__module__.startswith("pyarrow"))  # its columns are no names
