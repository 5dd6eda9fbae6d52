"""Documents that the tests of this room share."""

import pandas as pd
import pytest

from ecsel.files import ModelDocument
from ecsel.signomial import Signomial
from ecsel.tables import TableEncoder

TRAIN = pd.DataFrame(
    {
        "income": [12.0, 40.0, 33.5, 27.0, 90.0, 12.5],
        "loan's purpose": ["car", "boat", "car", None, "home", "boat"],
        "owner": [True, False, True, True, False, False],
        "score": [0.5, None, 0.25, 0.75, 0.5, None],
        "size": ["low", "mid", "high", "low", "low", "mid"],
        "tail": [0.0, 1.0, 1.0, 2.0, 2.0, 900.0],
        "constant": [1, 1, 1, 1, 1, 1],
        "empty": [None, None, None, None, None, None],
    }
)


def make_classifier(**changes):
    """A classifier with categories, missing factors, an order, a mirror and exact exponents."""
    encoder = TableEncoder.fit(
        TRAIN, ordinal={"size": ["low", "mid", "high"]}, two_sided=["income"], missing_codes={"tail": [-999]}
    )
    equation = Signomial.parse(
        "2.5*income**(3/2)*col('income~')**(-0.1) - 0.125*col('loan\\'s purpose=car')**0.75*col('score=?')**2 "
        "+ 0.3*tail**(-2/3)*size - 1.5"
    )
    values = {
        "kind": "classifier",
        "link": "sigmoid",
        "inputs": encoder.raw_names,
        "classes": ("bad", "good"),
        "encoder": encoder,
        "equations": (equation,),
        "threshold": 0.25,
        "params": {"n_terms": "auto", "l1": 0.001, "class_weight": None, "cv": 5, "fit_intercept": True},
        "report": {"n_iter": 12, "standard_errors": [[0.25, None], [1e-300, 3.0]]},
        "path": (
            {"n_terms": 1, "loss": 0.5, "equations": ["income**2"]},
            {"n_terms": 2, "loss": 0.25, "equations": []},
        ),
        "metrics": {"log_loss": 0.1 + 0.2, "n": 6},
        "library_version": "0.1.0",
    }
    return ModelDocument(**(values | changes))


def make_regressor(**changes):
    """A law in raw columns, with signs and absolute values."""
    values = {
        "kind": "regressor",
        "link": "identity",
        "inputs": ("x", "y z"),
        "equations": (Signomial.parse("3*sign(x)*abs(x)**(1/3) - abs(x)*col('y z')**(-2) + x**3"),),
    }
    return ModelDocument(**(values | changes))


@pytest.fixture
def train():
    return TRAIN


@pytest.fixture
def classifier():
    return make_classifier


@pytest.fixture
def regressor():
    return make_regressor


@pytest.fixture
def model_path(tmp_path):
    return tmp_path / "model.json"
