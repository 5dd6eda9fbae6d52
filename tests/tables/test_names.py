import pandas as pd
from hypothesis import given, settings
from hypothesis import strategies as st

from ecsel.signomial import Signomial
from ecsel.signomial.text import is_bracketed, print_name
from ecsel.tables import TableEncoder
from ecsel.tables.names import cut_name, level_name, missing_name

odd_text = st.text(st.sampled_from("ab[]`'\"\\\n\t\x00\u00a0\u2028 =>#~?数"), max_size=6)
surrogates = st.text(st.sampled_from("a\ud800"), max_size=3)  # which pandas takes in levels only


@settings(deadline=None)
@given(odd_text | surrogates, odd_text | surrogates, st.floats(allow_nan=False, allow_infinity=False))
def test_every_name_in_brackets_is_itself(column, level, cut):
    for name in (level_name(column, level), missing_name(column), cut_name(column, "above", cut)):
        assert is_bracketed(name)
        assert print_name(name) == name


@settings(deadline=None)
@given(st.dictionaries(odd_text, st.lists(odd_text, min_size=2, max_size=4, unique=True), min_size=1, max_size=4))
def test_names_are_never_equal_and_read_back(levels):
    rows = {column: [level for level in own for _ in range(5)] for column, own in levels.items()}
    height = max(map(len, rows.values()))
    frame = pd.DataFrame({column: own + [None] * (height - len(own)) for column, own in rows.items()}, dtype=object)
    encoder = TableEncoder.fit(frame, scaling="raw")
    assert len(set(encoder.feature_names)) == len(encoder.feature_names)
    assert not set(encoder.feature_names) & set(encoder.raw_names)
    for name in encoder.feature_names:
        assert Signomial.parse(f"2*{print_name(name)}").names == (name,)


def test_names_say_what_they_stand_for():
    frame = pd.DataFrame(
        {"contract": ["two year", "month", None] * 5, "cp": [0, 1, 2] * 5, "smoker": [True, False, True] * 5}
    )
    assert TableEncoder.fit(frame, scaling="raw").feature_names == (
        "[contract = month]",
        "[contract = two year]",
        "[contract missing]",
        "cp",
        "[cp = 0]",
        "[cp = 1]",
        "[cp = 2]",
        "[smoker = True]",
    )


def test_characters_that_brackets_cannot_hold_are_replaced():
    frame = pd.DataFrame({"a[0]": ["`x`", "line\nbreak", "no\u00a0break"] * 5})
    names = TableEncoder.fit(frame, scaling="raw").feature_names
    assert names == ("[a(0) = 'x']", "[a(0) = line\\nbreak]", "[a(0) = no break]")


def test_equal_names_are_numbered_and_columns_keep_theirs():
    frame = pd.DataFrame({"c": ["[u]", "(u)", "v"] * 5, "[c = v]": [0.5, 1.5, 2.5] * 5})
    encoder = TableEncoder.fit(frame, scaling="raw")
    assert encoder.feature_names == ("[c = (u)]", "[c = (u) #2]", "[c = v #2]", "[c = v]")
    assert [feature.level for feature in encoder.features] == ["(u)", "[u]", "v", None]
