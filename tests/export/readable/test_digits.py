"""Rounded formulas keep what they promise."""

import math

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ecsel import ECSELClassifier, Signomial
from ecsel.explain import ModelView
from ecsel.export import to_text
from ecsel.export.readable.digits import exact_name, fewest_digits, readable_equations, readable_formula, training_table
from ecsel.export.readable.raw_rows import symbols_of
from ecsel.export.readable.raw_units import positive_encoder
from ecsel.signomial import ScoreTerms, scores


def scores_of(view, digits, table):
    """Return the scores of some rows from a formula of so many digits."""
    encoder = positive_encoder(view)
    if encoder is None:
        equations = readable_equations(view, digits, 1e-3, None)
        return scores(ScoreTerms.from_signomials(equations, view.feature_names), view.cell_rows(table))
    formula = readable_formula(view, encoder, digits, 1e-3, None)
    return formula.evaluate(symbols_of(view, encoder, formula, table))


@pytest.mark.parametrize("tolerance", [1e-2, 1e-5])
def test_probabilities_stay_within_the_tolerance_and_fewer_digits_would_not_do(encoded_case, tolerance):
    view = encoded_case.view
    table = training_table(view)
    exact = view.outputs_of(scores_of(view, None, table))
    digits = fewest_digits(view, lambda n: scores_of(view, n, table), tolerance)

    def change(digits):
        return np.abs(view.outputs_of(scores_of(view, digits, table)) - exact).max()

    assert change(digits) <= tolerance
    assert digits == 1 or change(digits - 1) > tolerance
    reported = to_text(view, digits="auto", tolerance=tolerance).split("\nwhere")[0]
    assert reported == to_text(view, digits=digits).split("\nwhere")[0]


def test_rows_of_the_training_ranges_are_accepted_by_the_model(encoded_case):
    table = training_table(encoded_case.view)
    assert np.isfinite(encoded_case.view.encoder.model_features(table, warn=False)).all()


def test_predictions_stay_within_the_tolerance_on_given_rows():
    X = pd.DataFrame({"x": np.linspace(1, 3, 50), "y": np.linspace(2, 5, 50)})
    law = Signomial.parse("1.2345678*x**2.3456789/y + 9.8765432")
    assert to_text(law, digits="auto", X=X, tolerance=0.01) == "prediction = 1.23*x**2.35/y + 9.88"
    assert to_text(law, digits="auto", X=X, tolerance=1e-12) == to_text(law)
    with pytest.raises(ValueError, match="give X to find the digits"):
        to_text(law, digits="auto")
    with pytest.raises(ValueError, match="tolerance must be positive"):
        to_text(law, digits="auto", X=X, tolerance=0)


def test_exact_numbers_are_not_rounded():
    law = Signomial.parse(f"{2 * math.pi!r}*x**(1/3) + {1 / 3!r}*y + 0.123456")
    assert to_text(law, digits=2) == "prediction = 1/3*y + 2*pi*x**(1/3) + 0.12"


@given(st.floats(-1e6, 1e6))
def test_names_are_exact(value):
    name = exact_name(value)
    if name is not None:
        ratio, power = name
        assert float(ratio) * math.pi**power == pytest.approx(value, rel=1e-11)


def test_levels_that_no_longer_multiply_are_left_out():
    X = pd.DataFrame({"c": ["a", "b", "c"] * 20, "x": np.linspace(1, 5, 60)})
    y = (X["x"] > 3) ^ (np.arange(60) % 7 == 0)
    view = ModelView.of(ECSELClassifier(n_terms=1, l1=1e-3).fit(X, y))
    formula = readable_formula(view, view.encoder, 1, 1e-3, None)
    assert all(each.value != 1 for term in formula.terms for each in term.multipliers)
