"""Readings survive a round trip, and a file whose readings do not fit its columns is refused by name."""

import json

import numpy as np
import pandas as pd
import pytest

from ecsel.files import ModelFileError
from ecsel.files.encoders import decode_encoder, encode_encoder
from ecsel.files.node import Node
from ecsel.tables import TableEncoder


@pytest.fixture(scope="module")
def encoder():
    rng = np.random.default_rng(0)
    n = 200
    frame = pd.DataFrame({
        "id": [f"c{i}" for i in range(n)],
        "price": [f"${value:,.2f}" for value in rng.uniform(0, 9999, n)],
        "sold": pd.date_range("2019-03-01", periods=n, freq="3D").strftime("%d/%m/%Y"),
        "use": rng.choice(["car", "Car ", "house"], n),
        "town": rng.choice(["big"] * 60 + [f"v{i}" for i in range(40)], n),
    })  # fmt: skip
    return TableEncoder.fit(frame, scaling="raw")


def plain(encoder):
    return json.loads(json.dumps(encode_encoder(encoder)))


def test_round_trip(encoder):
    assert {reading.kind for reading in encoder.readings} == {"number", "date", "levels"}
    assert decode_encoder(Node(plain(encoder), "encoder")) == encoder


def test_old_files_have_no_readings():
    numbers = TableEncoder.fit([[1.0], [2.0], [4.0]])
    old = plain(numbers)
    for field in ("readings", "changes", "is_raw"):
        del old[field]
    assert decode_encoder(Node(old, "encoder")) == numbers


@pytest.mark.parametrize(
    ("spoil", "message"),
    [
        (lambda d: d["readings"][0].update(kind="spell"), r"readings\[0\].kind"),
        (lambda d: d["readings"][0].update(column="nowhere"), r"readings\[0\].column: there is no column 'nowhere'"),
        (lambda d: d["readings"][0].update(decimal="x"), r"readings\[0\].decimal"),
        (lambda d: d["readings"][1].update(reference="soon"), r"readings\[1\].reference: expected a day"),
        (lambda d: d["readings"][1].update(form="(a+)+"), r"readings\[1\].form"),
        (lambda d: d["readings"][1]["parts"].pop(), r"readings\[1\].names: expected a name for each part"),
        (lambda d: d["readings"][2]["spellings"][0].pop(), r"readings\[2\].spellings\[0\]"),
        (lambda d: d["readings"][2].update(column="price"), r"readings\[2\]: 'price' has no levels"),
        (lambda d: d["readings"].append(d["readings"][0]), "readings: a column is read twice"),
    ],
)
def test_a_spoilt_reading_is_refused_by_name(encoder, spoil, message):
    document = plain(encoder)
    spoil(document)
    with pytest.raises(ModelFileError, match=message):
        decode_encoder(Node(document, "encoder"))
