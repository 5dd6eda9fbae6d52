"""The equation that a person sees in the terminal is the model: worked out from its text it gives the probability."""

import io
import math
import re

import numpy as np
import pandas as pd
import pytest
from rich.console import Console

from ecsel import ECSELClassifier
from ecsel.cli.equations import show_equations

FUNCTIONS = {"log": math.log, "sqrt": math.sqrt, "abs": abs, "__builtins__": {}}


@pytest.fixture(scope="module")
def churn():
    rng = np.random.default_rng(11)
    n = 500
    X = pd.DataFrame(
        {
            "tenure": rng.integers(1, 72, n).astype(float),
            "monthly charge": rng.uniform(18, 120, n).round(2),
            "contract": rng.choice(["month to month", "one year", "two year"], n),
            "age": rng.integers(18, 80, n).astype(float),
        }
    )
    z = 1 - 1.2 * np.log(X["tenure"]) + 0.04 * X["monthly charge"] - 1.8 * (X["contract"] == "two year")
    z -= 0.05 * (X["age"] - 45).abs()
    y = np.where(rng.random(n) < 1 / (1 + np.exp(-z)), "leaves", "stays")
    return ECSELClassifier(max_factors=5, cv=3).fit(X, y), X


def by_hand(text, row):
    """Return the value of a printed right-hand side, by an evaluator of its own."""
    text = re.sub(r"\[(\w+) = ([^\]]+)\]", lambda m: str(int(row[m[1]] == m[2])), text)
    text = re.sub(r"`([^`]+)`", lambda m: f"({row[m[1]]!r})", text)
    numbers = {name: value for name, value in row.items() if isinstance(value, float)}
    return eval(text, FUNCTIONS, numbers)


@pytest.mark.parametrize("width", [40, 200])
def test_the_text_in_the_terminal_gives_the_probability(churn, width):
    model, X = churn
    seen = io.StringIO()
    show_equations(Console(file=seen, width=width, markup=False, highlight=False), model)
    text = seen.getvalue()
    assert "col(" not in text
    assert "…" not in text
    assert ".0*" not in text
    label = model.classes_[1]
    link = rf"probability of {label} = 1 / \(1 \+ exp\(-log-odds\)\)"
    right = re.search(rf"log-odds of {label} =(.*?){link}", text, re.DOTALL)[1]
    rows = X.head(40).to_dict("records")
    told = [1 / (1 + math.exp(-by_hand("(" + right.strip() + ")", row))) for row in rows]
    np.testing.assert_allclose(told, model.predict_proba(X.head(40))[:, 1], rtol=1e-9)
