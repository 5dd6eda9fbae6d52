import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ecsel.tables import CategoricalColumn, EmptyColumn, NumericColumn, OrdinalColumn, TableEncoder
from ecsel.tables.describing_raw import MAX_KNOWN_LEVELS, MAX_NUMBER_LEVELS, few_whole_values, min_level_weight


def fit(data, **options):
    return TableEncoder.fit(pd.DataFrame(data), scaling="raw", **options)


def test_a_number_is_itself():
    encoder = fit({"age": [18.5, 40.0, 90.0, 33.0]})
    assert encoder.is_raw
    (age,) = encoder.features
    assert (age.name, age.kind, age.scale, age.offset, age.low, age.high) == ("age", "number", 1.0, 0.0, 18.5, 90.0)
    assert encoder.columns == (NumericColumn("age", "float", 18.5, 90.0, "raw"),)
    assert encoder.notes == ()


@pytest.mark.parametrize(
    ("values", "levels"),
    [
        ([4, 0, 1, 3, 2], [0, 1, 2, 3, 4]),
        (list(range(MAX_NUMBER_LEVELS)), list(range(MAX_NUMBER_LEVELS))),
        (list(range(MAX_NUMBER_LEVELS + 1)), []),
        ([7, -3, 7], []),  # two values: the number tells them apart
        ([0, 1, 1], []),
        ([-1.0, 0.0, 1.0], [-1, 0, 1]),
        ([0.5, 1.0, 1.5], []),
    ],
)
def test_a_few_whole_numbers_get_indicators_beside_the_number(values, levels):
    encoder = fit({"cp": values})
    assert encoder.feature_names == ("cp", *(f"[cp = {level}]" for level in levels))
    assert [feature.level for feature in encoder.features[1:]] == levels


@settings(max_examples=60, deadline=None)
@given(st.lists(st.integers(-7, 7), min_size=1, max_size=60), st.integers(1, 2000))
def test_few_whole_values_are_the_distinct_ones(values, repeats):
    expected = tuple(sorted(set(values)))
    repeated = np.array(values * repeats, dtype=float)[:5000]
    assert few_whole_values(repeated) == (expected if len(expected) <= MAX_NUMBER_LEVELS else ())
    assert few_whole_values(np.append(repeated, 0.25)) == ()


def test_a_boolean_is_one_indicator():
    encoder = fit({"smoker": [True, False, True]})
    assert encoder.feature_names == ("[smoker = True]",)
    np.testing.assert_array_equal(encoder.model_features(pd.DataFrame({"smoker": [False, True]})), [[0], [1]])


def test_levels_need_five_rows_and_half_a_per_cent():
    encoder = fit({"c": ["often"] * 20 + ["five"] * 5 + ["four"] * 4})
    assert encoder.feature_names == ("[c = five]", "[c = often]")
    assert encoder.columns[0] == CategoricalColumn("c", "text", ("five", "four", "often"))
    assert encoder.notes == ("'c' is nominal with 3 levels, of these 1 with fewer than 5 rows without an indicator.",)
    many = pd.DataFrame({"c": [7] * 5000 + [10] * 24 + [11] * 26})
    numbers = TableEncoder.fit(many, scaling="raw", categorical=["c"])
    assert numbers.feature_names == ("[c = 7]", "[c = 11]")  # half a per cent of 5050 rows is more than 25


def test_rare_levels_are_no_unknown_ones():
    encoder = fit({"c": ["often"] * 20 + ["rare"], "x": np.arange(21.0)})
    later = pd.DataFrame({"c": ["rare", "often"], "x": [1.0, 2.0]})
    assert not encoder.transform_report(later)
    np.testing.assert_array_equal(encoder.model_features(later), [[0, 1], [1, 2]])


@settings(deadline=None)
@given(st.lists(st.integers(1, 9), min_size=1, max_size=6))
def test_integer_weights_of_levels_are_rows(counts):
    levels = [f"l{i}" for i in range(len(counts))]
    weighted = fit({"c": levels}, sample_weight=counts)
    repeated = fit({"c": np.repeat(levels, counts)})
    assert weighted.columns == repeated.columns
    assert weighted.features == repeated.features


def test_weights_that_sum_to_one_count_as_shares():
    levels = ["u"] * 60 + ["v"] * 36 + ["w"] * 4
    even = fit({"c": levels}, sample_weight=np.full(100, 0.01))
    assert even.feature_names == fit({"c": levels}).feature_names == ("[c = u]", "[c = v]")


def test_sums_of_weights_may_have_rounding_errors():
    weights = np.concatenate([np.full(50, 0.1), np.full(50, 1.9)])
    assert sum(weights[:50]) < 5  # 4.999999999999998
    assert min_level_weight(100, 100.0) == 5
    encoder = fit({"c": ["u"] * 50 + ["v"] * 50}, sample_weight=weights)
    assert encoder.feature_names == ("[c = u]", "[c = v]")


def test_an_identifier_is_left_out_and_said_so():
    encoder = fit({"id": [f"u{i}" for i in range(2000)], "x": np.arange(2000.0)})
    assert encoder.feature_names == ("x",)
    why = "looks like an identifier: 2000 different texts in 2000 rows"
    assert encoder.notes == (f"'id' was left out: {why}; keep=[…] keeps it.",)
    assert encoder.columns[0] == EmptyColumn("id", why)
    assert encoder.model_features(pd.DataFrame({"id": [3], "x": [7]})) == 7


def test_of_very_many_levels_only_the_frequent_ones_are_remembered():
    rare = [f"u{i}" for i in range(MAX_KNOWN_LEVELS + 1)]
    encoder = fit({"c": ["often"] * 100 + rare})
    assert encoder.feature_names == ("[c = often]", "[c = other]")
    assert encoder.columns[0] == CategoricalColumn("c", "text", ("often", "other"))
    assert not encoder.transform_report(pd.DataFrame({"c": ["u5", "never seen"]}))


def test_missing_numbers_count_as_the_median_with_few_digits():
    encoder = fit({"x": [10.123, 37.4123, 38.9, None, 90.7]})
    assert encoder.feature_names == ("x", "[x missing]")
    assert encoder.notes == ("'x' is missing in 1 of 5 rows; it counts as 37 there; '[x missing]' is 1 there.",)
    np.testing.assert_array_equal(encoder.model_features([[np.nan], [50.0]]), [[37, 1], [50, 0]])


@settings(max_examples=100, deadline=None)
@given(st.lists(st.floats(-1e6, 1e6), min_size=3, max_size=20, unique=True))
def test_the_fill_is_near_the_median_and_inside_the_range(values):
    encoder = fit({"x": [*values, None]})
    if "x" not in encoder.feature_names:
        return
    number = encoder.features[0]
    median = np.quantile(values, 0.5, method="inverted_cdf")
    assert number.baseline == median
    assert min(values) <= number.fill <= max(values)
    assert abs(number.fill - median) <= 0.01 * np.ptp(values)
    assert abs(number.fill - median) <= 0.05 * abs(median)


@pytest.mark.parametrize(("missing", "indicators"), [("factor", [0, 0, 0]), ("median", [0, 1, 0])])
def test_missing_codes_of_few_values(missing, indicators):
    encoder = fit({"cp": [2020, 2021, 2021, 2022, None]}, missing=missing)
    features = encoder.model_features([[np.nan]])[0]
    assert features[0] == 2021
    np.testing.assert_array_equal(features[1:4], indicators)
    assert features[4:].tolist() == ([1] if missing == "factor" else [])


def test_missing_levels_have_no_level():
    encoder = fit({"c": ["u"] * 6 + ["v"] * 5 + [None], "b": [True, False] * 5 + [None, True]})
    assert encoder.feature_names == ("[c = u]", "[c = v]", "[c missing]", "[b = True]", "[b missing]")
    np.testing.assert_array_equal(
        encoder.model_features([[None, None], ["u", True]]), [[0, 0, 1, 0, 1], [1, 0, 0, 1, 0]]
    )


def test_missing_levels_become_the_most_frequent_one_on_request():
    encoder = fit({"c": ["u"] * 6 + ["v"] * 5 + [None]}, missing="median")
    np.testing.assert_array_equal(encoder.model_features(pd.DataFrame({"c": [None, "v"]})), [[1, 0], [0, 1]])
    assert encoder.notes[-1] == "'c' is missing in 1 of 12 rows; it counts as 'u' there."


@pytest.mark.parametrize("data", [{"x": [1.5, 2.5, None]}, {"c": ["u"] * 5 + ["v"] * 5 + [None]}])
def test_missing_values_are_refused_on_request_and_where_training_had_none(data):
    frame = pd.DataFrame(data)
    with pytest.raises(ValueError, match="missing value"):
        TableEncoder.fit(frame, scaling="raw", missing="error")
    encoder = TableEncoder.fit(frame[:-1], scaling="raw")
    with pytest.raises(ValueError, match=r"has 1 missing value.*had none in training"):
        encoder.model_features(frame)


def test_codes_stand_for_missing_values():
    encoder = fit({"x": [1.5, -999, 3.5], "c": ["?"] + ["u"] * 2}, missing_codes={"x": [-999], "c": ["?"]})
    assert encoder.feature_names == ("x", "[x missing]", "[c missing]")
    features = encoder.model_features(pd.DataFrame({"x": [-999, 2.0], "c": ["u", "?"]}))
    np.testing.assert_array_equal(features, [[1.5, 1, 0], [2.0, 0, 1]])


def test_ordinal_levels_are_their_positions():
    encoder = fit({"size": ["mid", "low", None, "high", "mid"]}, ordinal={"size": ["low", "mid", "high"]})
    assert encoder.columns == (OrdinalColumn("size", "text", ("low", "mid", "high"), has_missing=True),)
    assert encoder.feature_names == ("size", "[size missing]")
    assert encoder.baseline.tolist() == [1, 0]
    assert encoder.notes == (
        "'size' is ordinal with 3 levels: 'low' is 0, 'high' is 2.",
        "'size' is missing in 1 of 5 rows; it counts as 'mid' there; '[size missing]' is 1 there.",
    )
    later = pd.DataFrame({"size": ["low", "mid", "high", None, "huge"]})
    np.testing.assert_array_equal(encoder.model_features(later, warn=False)[:, 0], [0, 1, 2, 1, 1])
    assert encoder.transform_report(later).columns[0].unknown == ("huge",)


def test_constant_and_empty_columns_are_left_out_and_said_so():
    encoder = fit(
        {
            "k": [5.0, 5.0, None],
            "c": ["u", "u", "u"],
            "e": [None, None, None],
            "o": ["a", "a", "a"],
            "d": [1e16, 1e16 + 2, 1e16],
        },
        ordinal={"o": ["a", "b"]},
    )
    assert encoder.feature_names == ("[k missing]",)
    assert encoder.columns[2] == EmptyColumn("e")
    assert [note.partition(" and ")[0] for note in encoder.notes if "left out" in note] == [
        "'k' is constant (5.0)",
        "'c' is constant ('u')",
        "'e' has no values",
        "'o' is constant ('a')",
        "'d' varies in its last digits only (1e+16 to 1.0000000000000002e+16)",
    ]
    # Of a column that was constant only missing values matter.
    later = pd.DataFrame({"k": [7.0, None], "c": "?", "e": "?", "o": "?", "d": "?"})
    np.testing.assert_array_equal(encoder.model_features(later), [[0], [1]])
    assert not encoder.transform_report(later)


def test_the_baseline_is_a_typical_row():
    frame = pd.DataFrame(
        {
            "x": [1.0, 2.0, 4.0, None] * 5,
            "cp": [1, 2, 2, 3] * 5,
            "c": ["v", "u", "v", "w"] * 5,
            "b": [True, True, False, True] * 5,
        }
    )
    encoder = TableEncoder.fit(frame, scaling="raw")
    typical = pd.DataFrame({"x": [2.0], "cp": [2], "c": ["v"], "b": [True]})
    np.testing.assert_array_equal(encoder.baseline, encoder.model_features(typical)[0])


def test_the_order_of_the_rows_does_not_matter():
    rng = np.random.default_rng(4)
    n = 400
    frame = pd.DataFrame({"x": rng.lognormal(size=n), "k": rng.integers(0, 4, n), "c": rng.choice(list("abc"), n)})
    frame.loc[:30, "x"] = np.nan
    weights = rng.random(n)
    order = rng.permutation(n)
    for sample_weight in (None, weights):
        encoder = TableEncoder.fit(frame, scaling="raw", sample_weight=sample_weight)
        shuffled = None if sample_weight is None else weights[order]
        assert TableEncoder.fit(frame.iloc[order], scaling="raw", sample_weight=shuffled) == encoder
