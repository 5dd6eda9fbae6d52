"""Hostile and broken documents: whatever is changed in a sound file, the answer is a model or one clear error."""

import copy
import json
import re
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ecsel.files import ModelFileError
from ecsel.files.node import MAX_ITEMS
from ecsel.files.schema import decode, encode

GOLDEN = Path(__file__).parent / "golden"


@pytest.fixture
def sound(classifier):
    return encode(classifier())


def put(document, path, value):
    """Return the document with the value at a path of names and positions; Ellipsis removes it."""
    changed = copy.deepcopy(document)
    place = changed
    for step in path[:-1]:
        place = place[step]
    if value is ...:
        del place[path[-1]]
    else:
        place[path[-1]] = value
    return changed


@pytest.mark.parametrize(
    ("path", "value", "message"),
    [
        (("kind",), "clusterer", "kind: expected one of 'classifier', 'regressor', got \"clusterer\""),
        (("kind",), "regressor", "link: a regressor has no link 'sigmoid'"),
        (("link",), ..., "link: the field is not there"),
        (("link",), "softmax", "equations: there should be 2, not 1"),
        (("surprise",), 1, "surprise: unknown field"),
        (("classes",), ["a", "b", "c"], "classes: a sigmoid has exactly 2, not 3"),
        (("classes", 0), None, "classes[0]: expected text, a boolean or a finite number, got null"),
        (("classes", 0), 2**70, "classes[0]: expected text, a boolean or a finite number, got 1180591620717411303424"),
        (("classes",), "ab", f'classes: expected a list of at most {MAX_ITEMS} items, got "ab"'),
        (("inputs",), ["a"], "inputs: they are not the columns of the encoder"),
        (("inputs", 0), 3, "inputs[0]: expected text, got 3"),
        (("threshold",), "0.5", 'threshold: expected a finite number, got "0.5"'),
        (("threshold",), True, "threshold: expected a finite number, got true"),
        (("params",), [], "params: expected an object, got a list of 0 items"),
        (("metrics", "n"), float("inf"), "metrics['n']: expected text, a boolean or a finite number, got Infinity"),
        (("path",), {}, f"path: expected a list of at most {MAX_ITEMS} items, got an object"),
        (
            ("equations", 0, "terms", 0, "coefficient"),
            "abc",
            "equations[0].terms[0].coefficient: expected a finite number",
        ),
        (("equations", 0, "terms", 0, "coefficient"), 10**400, "equations[0].terms[0].coefficient: expected a finite"),
        (
            ("equations", 0, "terms", 1, "factors", 0, "exponent"),
            "3/0",
            "factors[0].exponent: expected a number, or a fraction",
        ),
        (
            ("equations", 0, "terms", 1, "factors", 0, "exponent"),
            "__import__('os')",
            "expected a number, or a fraction",
        ),
        (("equations", 0, "terms", 1, "factors", 0, "exponent"), "1" * 400, "expected a number, or a fraction"),
        (("equations", 0, "terms", 1, "factors", 0, "exponent"), 1e301, "equations[0].terms[1]: "),
        (("equations", 0, "terms", 1, "factors", 0, "name"), "ghost", "equations[0]: there is no feature 'ghost'"),
        (
            ("equations", 0, "terms", 1, "factors", 0, "sign"),
            "even",
            "equations[0].terms[1].factors[0].sign: expected one of",
        ),
        (
            ("equations", 0, "terms", 1, "factors", 0, "shift"),
            None,
            "equations[0].terms[1].factors[0].shift: expected a finite number",
        ),
        (
            ("equations", 0, "terms", 1, "factors", 0, "log"),
            1,
            "equations[0].terms[1].factors[0].log: expected true or false",
        ),
        (
            ("equations", 0, "terms", 1, "factors", 0, "log"),
            ...,
            "equations[0].terms[1].factors[0].log: the field is not there",
        ),
        (("equations", 0, "terms", 1, "factors"), 1, "equations[0].terms[1].factors: expected a list"),
        (("equations", 0, "terms", 1, "surprise"), 1, "equations[0].terms[1].surprise: unknown field"),
        (("encoder", "out_of_range"), "wrap", "encoder.out_of_range: expected one of"),
        (("encoder", "columns", 0, "kind"), "date", "encoder.columns[0].kind: expected one of"),
        (
            ("encoder", "columns", 0, "high"),
            1.0,
            "encoder.columns[0].high: expected a number of at least 12.0, got 1.0",
        ),
        (("encoder", "columns", 0, "low"), 13.0, "encoder.features[0]: its range is not that of the column 'income'"),
        (("encoder", "columns", 0, "missing_codes"), ["?"], "encoder.columns[0].missing_codes: expected numbers"),
        (("encoder", "columns", 1, "levels"), ["car", "car"], "encoder.columns[1].levels: the levels are not unique"),
        (("encoder", "columns", 1, "levels"), ["car"], "encoder.features[2].level: 'boat' is no level of"),
        (("encoder", "columns", 1, "levels"), list(range(10_001)), "levels: expected a list of at most 10000 items"),
        (("encoder", "columns", 1, "name"), "income", "encoder.columns: the names are not unique"),
        (("encoder", "features", 0, "scale"), 0, "encoder.features[0].scale: expected a negative number for a mirror"),
        (("encoder", "features", 0, "offset"), -100.0, "encoder.features[0]: its training range has no positive image"),
        (("encoder", "features", 0, "kind"), "ordinal", "encoder.features[0].kind: a column of kind 'numeric' has no"),
        (("encoder", "features", 0, "column"), "ghost", "encoder.features[0].column: there is no column 'ghost'"),
        (("encoder", "features", 0, "column"), "size", "encoder.features[0].kind: a column of kind 'ordinal' has no"),
        (("encoder", "features", 0, "level"), "x", "encoder.features[0].level: expected a level for a level feature"),
        (("encoder", "features", 7, "fill"), -1.0, "encoder.features[7].fill: expected a positive number"),
        (("encoder", "features", 1, "name"), "income", "encoder.features: the names are not unique"),
        (("encoder", "notes", 0), 5, "encoder.notes[0]: expected text, got 5"),
    ],
)
def test_every_broken_field_is_named(sound, path, value, message):
    with pytest.raises(ModelFileError, match=re.escape(message)):
        decode(put(sound, path, value))


OLD_TERM = ("equations", 0, "terms", 1)


@pytest.mark.parametrize(
    ("path", "value", "message"),
    [
        (("exponents", "income"), "3/0", "exponents['income']: expected a number, or a fraction"),
        (("exponents", "income"), "__import__('os')", "expected a number, or a fraction"),
        (("exponents", "income"), "1" * 400, "expected a number, or a fraction"),
        (("exponents", "ghost"), 1.5, "equations[0]: there is no feature 'ghost'"),
        (("odd",), ["ghost"], "equations[0].terms[1].odd[0]: expected one of"),
        (("exponents", "income"), 1e301, "equations[0].terms[1]: "),
        (("odd",), 1, "equations[0].terms[1].odd: expected a list"),
    ],
)
def test_every_broken_field_of_an_old_term_is_named(path, value, message):
    first = json.loads((GOLDEN / "schema-1.json").read_text(encoding="utf-8"))
    with pytest.raises(ModelFileError, match=re.escape(message)):
        decode(put(first, (*OLD_TERM, *path), value))


def test_features_stand_in_the_order_of_their_columns(sound):
    sound["encoder"]["features"].reverse()
    with pytest.raises(ModelFileError, match=r"encoder.features: the features are not in the order of their columns"):
        decode(sound)


def test_deep_records_are_refused(sound):
    nest = []
    for _ in range(50):
        nest = [nest]
    with pytest.raises(ModelFileError, match="nested more than 16 levels deep"):
        decode(sound | {"report": {"nest": nest}})


def test_regressors_have_no_classes(regressor):
    document = encode(regressor())
    assert decode(document) == regressor()
    with pytest.raises(ModelFileError, match="classes: a regressor has none"):
        decode(document | {"classes": ["a"]})


def every_path(value, path=()):
    yield path
    if isinstance(value, dict):
        for key, item in value.items():
            yield from every_path(item, (*path, key))
    elif isinstance(value, list):
        for i, item in enumerate(value):
            yield from every_path(item, (*path, i))


junk = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=4,
)


def test_any_change_gives_a_document_or_the_one_error(sound):
    paths = [path for path in every_path(sound) if path]

    @settings(max_examples=150, deadline=None)
    @given(st.sampled_from(paths), junk | st.just(...))
    def check(path, value):
        changed = put(sound, path, value)
        try:
            document = decode(changed)
        except ModelFileError:
            return
        assert decode(encode(document)) == document

    check()
