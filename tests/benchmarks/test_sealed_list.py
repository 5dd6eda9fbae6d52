"""The frozen lists: hashes that only content changes, rows that two codings share, and the rule."""

import pandas as pd
import pytest

from benchmarks import sealed_list
from benchmarks.sealed_list import content_hash, fits_rule, plain_name, read_list, row_keys, shared_rows, usable
from benchmarks.sealed_read import RawTable, read_described

FRAME = pd.DataFrame({"a": [1.0, 2.0, 3.5], "b": ["x", None, "y"]})


def test_the_hash_knows_content_alone():
    known = content_hash(FRAME, [0, 1, 1])
    assert known == content_hash(FRAME[::-1].rename(columns={"a": "other"}), [1, 1, 0])
    assert known == content_hash(FRAME.assign(a=FRAME["a"] + 1e-12), [0, 1, 1])
    assert known != content_hash(FRAME, [1, 1, 1])
    assert known != content_hash(FRAME.assign(a=[1.0, 2.0, 3.6]), [0, 1, 1])


def test_rows_are_the_same_under_another_coding_of_categories():
    measured = pd.DataFrame({name: [float(i * k) for i in range(20)] for name, k in (("a", 1), ("b", 3), ("c", 7))})
    one, other = measured.assign(kind=["u", "v"] * 10), measured[["c", "a", "b"]].assign(kind=[1.0, 2.0] * 10)
    assert shared_rows(row_keys(one), row_keys(other)) == 1


@pytest.mark.parametrize(("counts", "fits"), [((60, 60), True), ((60, 9), False), ((120,), False), ((10,) * 11, False)])
def test_the_rule_looks_at_rows_and_classes(counts, fits):
    target = pd.Series([f"c{k}" for k, n in enumerate(counts) for _ in range(n)])
    table = RawTable("t", "classification", pd.DataFrame({"a": range(len(target))}), target)
    assert fits_rule(usable(table)) is fits


def test_a_described_file_says_its_columns_and_its_target(tmp_path):
    path = tmp_path / "t.dat"
    text = "@relation t\n@attribute y {a,b}\n@attribute x real [0,1]\n@outputs y\n@data\na, 0.5\nb, <null>\n"
    path.write_text(text, encoding="utf-8")
    frame, at = read_described(path)
    assert (list(frame), at) == (["y", "x"], 0)
    assert frame["x"].isna().tolist() == [False, True]


def test_no_sealed_table_is_in_the_tuning_list():
    tuning, sealed = read_list(sealed_list.TUNING), read_list(sealed_list.SEALED)
    assert not {plain_name(r["name"]) for r in tuning} & {plain_name(r["name"]) for r in sealed}
    assert not {r["sha256"] for r in tuning} & {r["sha256"] for r in sealed}
    assert len({r["sha256"] for r in sealed}) == len(sealed)
