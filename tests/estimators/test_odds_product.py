"""The odds as a product of powers: evaluated from its text, it is the odds that the model gives."""

import re

import numpy as np
import pandas as pd
import pytest

from ecsel import ECSELClassifier
from ecsel.estimators.odds_product import is_product_of_powers, odds_factors
from ecsel.signomial import Signomial
from ecsel.tables import TableEncoder

TABLE = pd.DataFrame(
    {
        "income": np.tile([1200.0, 30_000.0, 45_500.0, 60_000.0], 9),
        "years open": np.tile([0.0, 2.0, 5.0], 12),
        "contract": np.tile(["month", "two year", "one year", "month"], 9),
        "is_new": np.tile([0, 1], 18),
    }
)
ENCODER = TableEncoder.fit(TABLE, scaling="raw")
NAME = re.compile(r"`[^`]*`|\[[^\]]*\]|(?<![\w.])[A-Za-z_]\w*")


def evaluate(text, point):
    """Compute a product from its text and the values of its names, as a person would."""

    def value(found):
        name = found[0].strip("`")
        return found[0] if name == "exp" else f"({point[name]!r})"

    return eval(NAME.sub(value, text), {"__builtins__": {}}, {"exp": np.exp})


@pytest.mark.parametrize(
    "text",
    [
        "1.2*log(income) - 10.5",
        "-0.4*log(`years open` + 5) + 0.9*[contract = two year] + 2.1e-05*log(income)",
        "0.7*is_new - 1.1*[contract = month]*is_new + 0.25",
    ],
)
def test_a_product_is_the_exponential_of_the_equation(text):
    equation = Signomial.parse(text)
    assert is_product_of_powers(equation, ENCODER)
    names = ["income", "years open", "[contract = two year]", "[contract = month]", "is_new"]
    for row in ([1200.0, 0.0, 0.0, 1.0, 1.0], [45_500.0, 5.0, 1.0, 0.0, 0.0]):
        point = dict(zip(names, row, strict=True))
        odds = evaluate(" * ".join(odds_factors(equation)), point)
        exact = np.exp(equation.evaluate({name: np.array([x]) for name, x in point.items()}))[0]
        assert odds == pytest.approx(exact, rel=1e-12)


@pytest.mark.parametrize(
    "text", ["0.1*income + log(income)", "log(income)*`years open`", "2/income", "3", "log(income)**2"]
)
def test_other_pieces_make_no_product(text):
    assert not is_product_of_powers(Signomial.parse(text), ENCODER)


def test_a_summary_has_the_product_where_there_is_one():
    rng = np.random.default_rng(1)
    X = pd.DataFrame({"income": rng.lognormal(10, 1, 400).round(), "contract": rng.choice(["month", "year"], 400)})
    z = 1.5 * (np.log(X["income"]) - 10) - 2 * (X["contract"] == "year")
    y = np.where(rng.random(400) < 1 / (1 + np.exp(-z)), "good", "bad")
    model = ECSELClassifier(max_factors=2).fit(X, y)
    ((label, equation),) = model.equations_.items()
    assert is_product_of_powers(equation, model.encoder_)
    lines = model.summary().splitlines()
    product = lines[lines.index(f"odds of {label!r}, the same as a product:") + 1].strip()
    features = model.to_model_features(X)
    for i in (0, 7):
        odds = evaluate(product, dict(zip(model.encoder_.feature_names, np.asarray(features)[i].tolist(), strict=True)))
        assert odds / (1 + odds) == pytest.approx(model.predict_proba(X)[i, 1], rel=1e-12)
