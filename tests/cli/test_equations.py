"""The equation that a person sees in the terminal is the model: worked out from its text it gives the probability."""

import io
import math
import re

import numpy as np
import pandas as pd
import pytest
from rich.console import Console

from ecsel import ECSELClassifier
from ecsel.cli.equations import aids_heading, reading_aids, show_equations

FUNCTIONS = {"log": math.log, "exp": math.exp, "sqrt": math.sqrt, "abs": abs, "__builtins__": {}}


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
    reported = [1 / (1 + math.exp(-by_hand("(" + right.strip() + ")", row))) for row in rows]
    np.testing.assert_allclose(reported, model.predict_proba(X.head(40))[:, 1], rtol=1e-9)


@pytest.mark.parametrize("width", [40, 200])
def test_a_product_of_odds_in_the_terminal_gives_the_probability(width):
    rng = np.random.default_rng(1)
    X = pd.DataFrame({"income": rng.lognormal(10, 1, 400).round(), "contract": rng.choice(["month", "year"], 400)})
    z = 1.5 * (np.log(X["income"]) - 10) - 2 * (X["contract"] == "year")
    model = ECSELClassifier(max_factors=2, threshold=0.3).fit(X, rng.random(400) < 1 / (1 + np.exp(-z)))
    seen = io.StringIO()
    show_equations(Console(file=seen, width=width, markup=False, highlight=False), model)
    product = re.search(r"\n  odds of True =(.*?)\n  predicts True", seen.getvalue(), re.DOTALL)[1]
    assert "predicts True where its probability is at least 0.3\n" in seen.getvalue()
    for i, row in enumerate(X.head(20).to_dict("records")):
        odds = by_hand("(" + product.strip() + ")", row)
        assert odds / (1 + odds) == pytest.approx(model.predict_proba(X.iloc[[i]])[0, 1], rel=1e-9)


@pytest.mark.parametrize("width", [40, 200])
def test_the_equations_of_several_classes_in_the_terminal_give_the_probabilities(width):
    rng = np.random.default_rng(3)
    X = pd.DataFrame(
        {"size": rng.uniform(1, 9, 400), "weight": rng.uniform(1, 9, 400), "kind": rng.choice(["a", "b"], 400)}
    )
    z = np.log(X["size"]) * 4 + X["weight"] * (X["kind"] == "b") + rng.normal(0, 1, 400)
    y = np.array(["small", "tall", "very wide"])[np.digitize(z, np.quantile(z, [0.3, 0.7]))]
    model = ECSELClassifier(max_factors=4, cv=3).fit(X, y)
    seen = io.StringIO()
    show_equations(Console(file=seen, width=width, markup=False, highlight=False), model)
    text = seen.getvalue().partition("  probability of a class = exp(its score) / sum of exp(score)")[0]
    rights = re.findall(r"  score of (.+?) =(.*?)(?=\n  score of |\Z)", text, re.DOTALL)
    assert [label for label, _ in rights] == model.classes_.tolist()
    rights = [right.partition("   (the class")[0].strip() for _, right in rights]
    rows = X.head(40).to_dict("records")
    powers = np.array([[math.exp(by_hand(f"({right})", row)) for right in rights] for row in rows])
    expected = model.predict_proba(X.head(40))
    np.testing.assert_allclose(powers / powers.sum(axis=1, keepdims=True), expected, rtol=1e-9)


def test_several_classes_are_reported_class_by_class():
    rng = np.random.default_rng(2)
    X = pd.DataFrame({"size": rng.uniform(1, 9, 300), "weight": rng.uniform(1, 9, 300)})
    y = np.array(["small", "tall", "wide"])[np.digitize(X["size"] + rng.normal(0, 0.5, 300), [3, 6])]
    model = ECSELClassifier(max_factors=2, cv=3).fit(X, y)
    reported = reading_aids(model)
    assert reported.pop() == "size is in 2 pieces: read them together"
    for label, equation in model.equations_.items():
        n_pieces = sum(not term.is_constant for term in equation.terms)
        if n_pieces:
            assert reported.pop(0) == f"{label}:"
        assert all(reported.pop(0).startswith("  each ") for _ in range(n_pieces))
    assert not reported
    assert aids_heading(model) == "What each piece does to the odds of its class against any other"
