import numpy as np
import pandas as pd
import pytest

from ecsel.tables import TableEncoder

FRAME = pd.DataFrame({"a": [1.0, 2.0, 40.0], "b": [3.0, 5.0, 4.0], "c": ["u", "v", "u"]})


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        (
            {"scaling": "log"},
            ValueError,
            "scaling must be one of 'auto', 'minmax', 'spread', 'ratio', 'raw', but is 'log'",
        ),
        ({"scaling": {"a": "raw"}}, ValueError, "scaling='raw' is for all columns at once"),
        ({"scaling": "raw", "two_sided": True}, ValueError, "raw values have no mirrors"),
        ({"scaling": {"a": "log"}}, ValueError, "scaling must be one of"),
        ({"scaling": {"z": "minmax"}}, ValueError, "scaling names the column 'z', but X has 3 columns: 'a', 'b', 'c'"),
        ({"missing": "mean"}, ValueError, "missing must be one of 'factor', 'median', 'error', but is 'mean'"),
        ({"out_of_range": None}, ValueError, "out_of_range must be one of 'clip', 'extrapolate', 'error', but is None"),
        ({"categorical": "a"}, TypeError, "categorical must be a list of column names or positions, but is 'a'"),
        ({"categorical": [3]}, ValueError, "categorical names the column 3, but X has 3 columns"),
        ({"categorical": [True]}, ValueError, "categorical names the column True"),
        (
            {"ordinal": {"c": ["u", "v"]}, "categorical": ["c"]},
            ValueError,
            "'c' is listed in categorical and in ordinal",
        ),
        ({"ordinal": {"c": ["u", "u"]}}, ValueError, r"ordinal\['c'\] must list each level once, lowest first"),
        ({"ordinal": {"c": []}}, ValueError, r"ordinal\['c'\] must list each level once"),
        ({"ordinal": {"c": "uv"}}, ValueError, r"ordinal\['c'\] must list each level once"),
        ({"two_sided": ["z"]}, ValueError, "two_sided names the column 'z'"),
        ({"two_sided": ["c"]}, ValueError, "two_sided names the column 'c', which is not numeric"),
        ({"scaling": {"c": "minmax"}}, ValueError, "scaling names the column 'c', which is not numeric"),
        (
            {"two_sided": ["a"], "categorical": ["a"]},
            ValueError,
            "two_sided names the column 'a', which is not numeric",
        ),
        ({"missing_codes": -999}, TypeError, "missing_codes must be 'auto', None, a list of codes"),
        ({"missing_codes": {"a": -999}}, TypeError, "missing_codes must be 'auto', None, a list of codes"),
        ({"missing_codes": [None]}, ValueError, "must be text, a boolean or a finite number, but is None"),
        ({"sample_weight": [1.0, 2.0]}, ValueError, r"one number per row, shape \(3,\), but has shape \(2,\)"),
        ({"sample_weight": [1.0, -2.0, 1.0]}, ValueError, "finite and not negative"),
        ({"sample_weight": [0.0, 0.0, 0.0]}, ValueError, "sample_weight is zero in every row"),
        ({"sample_weight": [1.0, np.nan, 1.0]}, ValueError, "finite and not negative"),
    ],
)
def test_bad_options_are_refused_by_name(options, error, message):
    with pytest.raises(error, match=message):
        TableEncoder.fit(FRAME, **options)


def test_scaling_per_column():
    encoder = TableEncoder.fit(FRAME, scaling={"a": "ratio", 1: "spread"})
    assert [encoder.columns[0].scaling, encoder.columns[1].scaling] == ["ratio", "spread"]
    silent = TableEncoder.fit(FRAME, scaling={"a": "minmax"}).columns
    assert [silent[0].scaling, silent[1].scaling] == ["minmax", TableEncoder.fit(FRAME).columns[1].scaling]


@pytest.mark.parametrize("two_sided", [["b"], [1], ("b",), {"b"}])
def test_mirrors_of_the_listed_columns(two_sided):
    assert TableEncoder.fit(FRAME, two_sided=two_sided).feature_names == ("a", "b", "b~", "c=u", "c=v")


def test_all_numeric_columns_can_be_mirrored():
    assert TableEncoder.fit(FRAME, two_sided=True).feature_names == ("a", "a~", "b", "b~", "c=u", "c=v")
    assert TableEncoder.fit(FRAME, two_sided=False).feature_names == ("a", "b", "c=u", "c=v")
