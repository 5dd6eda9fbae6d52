"""Codes for missing values are isolated and frequent; numbers that merely are far or rare stay numbers."""

import numpy as np
import pandas as pd
import pytest

from ecsel.tables import TableEncoder
from ecsel.tables.missing_codes import find_missing_codes

rng = np.random.default_rng(0)
AMOUNTS = rng.uniform(0, 40, 500)
COUNTS = rng.poisson(12, 500).astype(float)


def with_code(values, code, n=25):
    return np.concatenate([values, np.full(n, code)])


@pytest.mark.parametrize(
    ("values", "codes"),
    [
        (with_code(AMOUNTS, -999.0), (-999,)),
        (with_code(AMOUNTS, 9999.0), (9999,)),
        (with_code(with_code(AMOUNTS, -999.0), 9999.0), (-999, 9999)),
        (with_code(AMOUNTS, -1.0), (-1,)),
        (with_code(COUNTS, -1.0), (-1,)),
        (with_code(AMOUNTS, -99.0), (-99,)),
        (with_code(AMOUNTS, -999.0, n=4), ()),
        (with_code(AMOUNTS, -999.0, n=5), (-999,)),
        (with_code(np.resize(AMOUNTS, 4991), -999.0, n=9), ()),
        (with_code(np.resize(AMOUNTS, 4990), -999.0, n=10), (-999,)),
        (with_code(AMOUNTS * 1000, 9999.0), ()),
        (with_code(AMOUNTS - 20, -1.0), ()),
        (np.array([-1.0, 0.0, 1.0] * 100), ()),
        (rng.poisson(3, 500).astype(float) - 1, ()),
        (np.full(100, 999.0), ()),
        (rng.normal(size=300), ()),
    ],
)
def test_codes(values, codes):
    assert find_missing_codes(values) == codes


def test_a_code_is_missing_with_a_note_that_names_the_option():
    frame = pd.DataFrame({"dti": with_code(AMOUNTS, -999.0)})
    encoder = TableEncoder.fit(frame, scaling="raw")
    assert encoder.feature_names == ("dti", "[dti missing]")
    assert encoder.columns[0].missing_codes == (-999,)
    assert encoder.columns[0].low >= 0
    note = "'dti' is -999 in 25 of 525 rows, which is read as missing (missing_codes=None turns this off)."
    assert note in encoder.changes
    off = TableEncoder.fit(frame, scaling="raw", missing_codes=None)
    assert off.feature_names == ("dti",)
    assert off.columns[0].low == -999


def test_words_for_missing_levels():
    frame = pd.DataFrame({"c": ["u", "v", "?", "unknown"] * 10})
    encoder = TableEncoder.fit(frame, scaling="raw")
    assert encoder.feature_names == ("[c = u]", "[c = unknown]", "[c = v]", "[c missing]")
    off = TableEncoder.fit(frame, scaling="raw", missing_codes=None)
    assert "[c = ?]" in off.feature_names
