"""Encoders written and read back, those of schema 1 included."""

import copy
import re

import pandas as pd
import pytest

from ecsel.files import ModelFileError
from ecsel.files.encoders import decode_encoder, encode_encoder
from ecsel.files.node import Node
from ecsel.tables import TableEncoder

RAW = pd.DataFrame(
    {
        "age": [18.5, 40.0, None, 90.0, 33.0, 52.0] * 5,
        "cp": [0, 1, 2, 3, 1, 0] * 5,
        "contract": ["two year", "month", None, "month", "two year", "month"] * 5,
        "smoker": [True, False, True, True, False, False] * 5,
        "size": ["low", "mid", "high", "low", "low", "mid"] * 5,
        "id": [f"u{i}" for i in range(30)],
        "[odd]`\n": [0.5, -1.5, 2.5, 3.5, 4.5, 5.5] * 5,
    }
)


def raw_encoder(**options):
    encoder = TableEncoder.fit(RAW, scaling="raw", ordinal={"size": ["low", "mid", "high"]}, **options)
    return encoder.with_cuts({"age": [("step", 40), ("above", 20.5), ("below", 60)], "cp": [("step", 1)]})


def read_back(document):
    return decode_encoder(Node(document, "encoder"))


@pytest.mark.parametrize("options", [{}, {"missing": "median"}, {"out_of_range": "extrapolate"}])
def test_raw_encoders_come_back_as_the_same_value(options):
    encoder = raw_encoder(**options)
    loaded = read_back(encode_encoder(encoder))
    assert loaded == encoder
    assert loaded.feature_rows(RAW).tobytes() == encoder.feature_rows(RAW).tobytes()
    kept = encoder.keep_features(["[age > 40]", "[contract = month]"])
    assert read_back(encode_encoder(kept)) == kept


def test_old_files_lack_the_later_fields():
    encoder = TableEncoder.fit(RAW.drop(columns="id"), two_sided=["age"])
    document = encode_encoder(encoder)
    del document["is_raw"]
    for column in document["columns"]:
        column.pop("imputed", None)
        column.pop("has_other", None)
    for feature in document["features"]:
        del feature["cut"]
    assert read_back(document) == encoder


@pytest.mark.parametrize(
    ("path", "value", "message"),
    [
        (("is_raw",), 1, "encoder.is_raw: expected true or false, got 1"),
        (("is_raw",), False, "encoder.features[0].kind: a column of kind 'numeric' has no 'number' feature"),
        (("columns", 0, "imputed"), None, "encoder.columns[0].imputed: expected true or false, got null"),
        (("columns", 2, "has_other"), 0, "encoder.columns[2].has_other: expected true or false, got 0"),
        (("columns", 2, "imputed"), True, "encoder.columns[2].imputed: unknown field"),
        (("columns", 0, "low"), 17.0, "encoder.features[0]: its range is not that of the column 'age'"),
        (("features", 0, "scale"), 2.0, "encoder.features[0]: a raw feature has scale 1 and offset 0"),
        (("features", 0, "cut"), 2.0, "encoder.features[0].cut: expected a number for a step or a hinge"),
        (("features", 2, "cut"), None, "encoder.features[2].cut: expected a number for a step or a hinge"),
        (("features", 3, "cut"), "a", 'encoder.features[3].cut: expected a finite number, got "a"'),
        (("features", 0, "kind"), "numeric", "a column of kind 'numeric' has no 'numeric' feature"),
        (("features", 0, "fill"), [], "encoder.features[0].fill: expected a finite number"),
        (("features", 6, "level"), "0", 'encoder.features[6].level: expected a number, got "0"'),
        (("features", 6, "level"), 1, "encoder.features: two features are the same but for their names"),
    ],
)
def test_every_broken_field_is_named(path, value, message):
    document = copy.deepcopy(encode_encoder(raw_encoder()))
    place = document
    for step in path[:-1]:
        place = place[step]
    place[path[-1]] = value
    with pytest.raises(ModelFileError, match=re.escape(message)):
        read_back(document)
