"""Files of every released schema keep loading, and mean what they meant."""

from pathlib import Path

import numpy as np
import pytest

from ecsel.files import read
from ecsel.signomial import Signomial
from ecsel.tables import CategoricalColumn, EmptyColumn, NumericColumn, OrdinalColumn

GOLDEN = Path(__file__).parent / "golden"


@pytest.fixture(scope="module")
def first():
    return read(GOLDEN / "schema-1.json")


def test_model(first):
    assert (first.kind, first.link, first.classes) == ("classifier", "sigmoid", ("bad", "good"))
    assert first.inputs == ("income", "loan's purpose", "owner", "score", "size", "tail", "constant", "empty")
    assert first.threshold == 0.25
    assert first.equations == (
        Signomial.parse(
            "2.5*income**(3/2)*col('income~')**(-0.1) - 0.125*col('loan\\'s purpose=car')**0.75*col('score=?')**2 "
            "+ 0.3*tail**(-2/3)*size - 1.5"
        ),
    )


def test_records(first):
    assert first.params == {"n_terms": "auto", "l1": 0.001, "class_weight": None, "cv": 5, "fit_intercept": True}
    assert first.report == {"n_iter": 12, "standard_errors": [[0.25, None], [1e-300, 3.0]]}
    assert first.path == (
        {"n_terms": 1, "loss": 0.5, "equations": ["income**2"]},
        {"n_terms": 2, "loss": 0.25, "equations": []},
    )
    assert first.metrics == {"log_loss": 0.1 + 0.2, "n": 6}
    assert first.library_version == "0.1.0"


def test_columns(first):
    assert first.encoder.columns == (
        NumericColumn("income", "float", 12.0, 90.0, "minmax"),
        CategoricalColumn("loan's purpose", "text", ("boat", "car", "home"), has_missing=True),
        CategoricalColumn("owner", "boolean", (False, True)),
        NumericColumn("score", "float", 0.25, 0.75, "minmax", has_missing=True),
        OrdinalColumn("size", "text", ("low", "mid", "high")),
        NumericColumn("tail", "float", 0.0, 900.0, "spread", missing_codes=(-999,)),
        NumericColumn("constant", "integer", 1.0, 1.0, None),
        EmptyColumn("empty"),
    )
    assert [type(level) for level in first.encoder.columns[2].levels] == [bool, bool]
    assert first.encoder.named
    assert first.encoder.out_of_range == "clip"


def test_features(first, train):
    features = dict(zip(first.encoder.feature_names, first.encoder.model_features(train.iloc[:2]).T, strict=True))
    expected = {
        "income": [1.0, 4.230769230769232],
        "income~": [10.0, 6.769230769230769],
        "loan's purpose=boat": [1.0, 10.0],
        "loan's purpose=car": [10.0, 1.0],
        "loan's purpose=home": [1.0, 1.0],
        "loan's purpose=?": [1.0, 1.0],
        "owner=True": [10.0, 1.0],
        "score": [5.5, 4.170434885108038],
        "score=?": [1.0, 10.0],
        "size": [1.0, 5.5],
        "tail": [1.0, 3.0],
    }
    assert list(features) == list(expected)
    for name, values in expected.items():
        np.testing.assert_array_equal(features[name], values)
