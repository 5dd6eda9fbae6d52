"""The data frame libraries that tables may come from."""

import warnings

import pandas as pd
import polars as pl
import pyarrow as pa
import pytest


@pytest.fixture(params=["pandas", "pandas-nullable", "polars", "pyarrow"])
def make_frame(request):
    """Build a frame from a dict of lists, in which None is missing."""

    def build(data):
        if request.param == "pandas":
            return pd.DataFrame(data)
        if request.param == "pandas-nullable":
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", RuntimeWarning)  # pandas 2.2 tries whether infinity is a whole number
                return pd.DataFrame(data).convert_dtypes()
        if request.param == "polars":
            return pl.DataFrame(data)
        return pa.table(data)

    return build
