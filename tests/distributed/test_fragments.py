"""Files of a folder that do not fit together, and damaged ones, are told by file, row group and column."""

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from ecsel import ECSELClassifier
from ecsel.distributed import ParquetTable

N = 3000


@pytest.fixture(scope="module")
def rows():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(
        {"age": rng.integers(18, 90, N), "income": rng.lognormal(3, 1, N), "home": ["own", "rent"] * (N // 2)}
    )
    return frame.assign(ill=rng.random(N) < 1 / (1 + np.exp(3 - np.log(frame["income"]))))


@pytest.fixture
def folder(tmp_path, rows):
    """Write the rows and then a second file that is a changed copy of them."""

    def write(second):
        rows.to_parquet(tmp_path / "a.parquet")
        (pq.write_table if isinstance(second, pa.Table) else pd.DataFrame.to_parquet)(second, tmp_path / "b.parquet")
        return tmp_path

    return write


@pytest.mark.parametrize(
    ("change", "reported"),
    [
        (lambda rows: rows.drop(columns="age"), r"b\.parquet' has no column 'age', but .*a\.parquet' has"),
        (lambda rows: rows.rename(columns={"age": "Age"}), r"b\.parquet' has no column 'age' \(it has 'Age'\)"),
        (lambda rows: rows.assign(age=rows["age"] + 0.5), r"b\.parquet': the column 'age' holds double, but int64 in"),
        (
            lambda rows: rows.assign(income=rows["income"].astype(str)),
            r"the column 'income' holds .*string, but double",
        ),
        (lambda rows: rows.assign(ill=rows["ill"].astype(int)), r"the column 'ill' holds int64, but bool"),
        (lambda rows: rows.assign(home=np.arange(N)), r"the column 'home' holds int64, but .*string"),
    ],
)
def test_a_file_that_does_not_fit_to_the_first_is_refused_by_name(folder, rows, change, reported):
    with pytest.raises(ValueError, match=reported):
        ECSELClassifier(n_terms=1, l1=1e-3).fit(folder(change(rows)), "ill")


@pytest.mark.parametrize(
    "change",
    [
        lambda rows: rows.assign(extra=1),
        lambda rows: rows[rows.columns[::-1]],
        lambda rows: rows.astype({"age": "int32", "home": "category"}),
        lambda rows: rows.assign(income=rows["income"].astype("float32")),
        lambda rows: pa.Table.from_pandas(rows).set_column(1, "income", pa.nulls(N)),
    ],
)
def test_what_means_the_same_is_read(folder, rows, change):
    table = ParquetTable(folder(change(rows)))
    read = pa.concat_tables(table.tables(["age", "income", "home", "ill"]))
    assert read.num_rows == table.n_rows == 2 * N
    assert read.column("age").to_pylist() == [*rows["age"]] * 2


@pytest.mark.parametrize(
    ("first", "second"),
    [("date32", "timestamp[us]"), ("timestamp[us]", "timestamp[us, tz=UTC]"), ("timestamp[us, tz=UTC]", "date32")],
)
def test_days_and_times_are_not_mixed_up(tmp_path, first, second):
    """A time read as a date would lose its hours, and one without its zone would be another time."""
    types = {
        "date32": pa.date32(),
        "timestamp[us]": pa.timestamp("us"),
        "timestamp[us, tz=UTC]": pa.timestamp("us", "UTC"),
    }
    for name, kind in (("a", first), ("b", second)):
        days = pa.array([18_000, 18_001], pa.int32() if kind == "date32" else pa.int64())
        pq.write_table(pa.table({"day": days.cast(types[kind])}), tmp_path / f"{name}.parquet")
    with pytest.raises(ValueError, match=r"b\.parquet': the column 'day' holds"):
        list(ParquetTable(tmp_path).tables(["day"]))


def test_columns_that_nobody_uses_may_differ(folder, rows):
    table = ParquetTable(folder(rows.assign(home=1.5)), columns=["income"])
    model = ECSELClassifier(n_terms=1, l1=1e-3).fit(table, "ill")
    assert model.n_features_in_ == 1


def test_damage_is_reported_by_row_group_and_column(folder, rows):
    place = folder(rows)
    path = place / "b.parquet"
    pq.write_table(pa.Table.from_pandas(rows), path, row_group_size=1000)
    group = pq.read_metadata(path).row_group(1)
    income = next(group.column(j) for j in range(4) if group.column(j).path_in_schema == "income")
    content = bytearray(path.read_bytes())
    at = income.dictionary_page_offset or income.data_page_offset
    content[at : at + 30] = b"\xff" * 30
    path.write_bytes(content)
    with pytest.raises(ValueError, match=r"b\.parquet', row group 1, column 'income': cannot be read"):
        list(ParquetTable(place).tables(["age", "income"]))


def test_a_file_cut_short_is_named(folder, rows):
    place = folder(rows)
    path = place / "b.parquet"
    path.write_bytes(path.read_bytes()[:-200])
    with pytest.raises(ValueError, match=r"b\.parquet' cannot be read as Parquet"):
        ECSELClassifier(n_terms=1, l1=1e-3).fit(place, "ill")
