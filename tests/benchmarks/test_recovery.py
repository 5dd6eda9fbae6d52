"""The recovery benchmark: its equations, its strict criterion, its large tables."""

from itertools import combinations

import numpy as np
import pandas as pd
import pytest

from benchmarks.recovery_data import equations, is_recovered
from benchmarks.recovery_report import misses, scale
from benchmarks.recovery_scale import LAW, table
from benchmarks.recovery_truth import truth_lengths
from ecsel import ECSELRegressor, Signomial


def test_there_are_as_many_equations_as_the_paper_has():
    assert [len(equations(group)) for group in ("signomial", "nguyen", "non-signomial")] == [58, 5, 8]
    assert sum(e.is_feynman for e in equations("signomial")) == 45


@pytest.mark.parametrize(
    "form", ["a*m*u**2 + b*m*v**2 + c*m*w**2", "a*m*u**2 + b*m*v**2", "a*m*u**2 + b*m*v**2 + c*w**2"]
)
def test_the_criterion_asks_for_exactly_the_true_monomials(form):
    """I.13.4 is m (u² + v² + w²) / 2."""
    equation = next(e for e in equations() if e.name == "I.13.4")
    X, y = equation.data(42, 0.01, relative=False)
    model = ECSELRegressor(form=form).fit(pd.DataFrame(X, columns=list(equation.columns)), y)
    assert is_recovered(equation, model) == (form.count("m") == 3)


def test_noise_is_absolute_or_a_share_of_the_root_mean_square():
    equation = next(e for e in equations() if e.name == "I.12.1")
    X, clean = equation.data(42, 0.0, relative=False)
    np.testing.assert_array_equal(clean, equation.value(X))
    absolute, share = (equation.data(42, 0.1, relative=r)[1] - clean for r in (False, True))
    np.testing.assert_allclose(share / absolute, np.sqrt(np.mean(clean**2)))


def test_the_law_of_the_large_tables_is_what_they_hold():
    X, y = table(2000, 6, 0)
    clean = Signomial.parse(LAW).evaluate({f"x{j}": X[:, j] for j in range(6)})
    assert np.std(y - clean) == pytest.approx(0.01 * np.sqrt(np.mean(clean**2)), rel=0.05)


def test_the_table_of_scale_shows_the_worst_seconds():
    row = {"rows": "1000000", "columns": "10", "recovered": "1", "peak_mb": "800", "table_mb": "76.3"}
    text = scale([{**row, "seconds": "2", "cpu_seconds": "3"}, {**row, "seconds": "8", "cpu_seconds": "9"}])
    assert "1 000 000 × 10" in text
    assert "5.0 / 5.0 / 8.0" in text
    assert "100.0 % of 2" in text


@pytest.mark.parametrize("name", ["I.12.1", "Korns-6", "Constant-6", "Nguyen-4", "Livermore-16"])
def test_the_truth_has_the_code_length_of_a_law_that_finds_it(name):
    """Exact, odd and even powers, a real exponent, a complete range of degrees, a fifth root."""
    equation = next(e for e in equations() if e.name == name)
    X, y = equation.data(42, 0.01, relative=False)
    model = ECSELRegressor(random_state=42).fit(pd.DataFrame(X, columns=list(equation.columns)), y)
    assert is_recovered(equation, model)
    monomials, numbers = truth_lengths(equation, X, y)
    assert monomials == pytest.approx(model.law_.code_length, abs=2.5)
    assert numbers > monomials - 1.0


def test_a_miss_is_reported_with_its_code_lengths():
    row = {"equation": "I.0", "seed": "7", "expression": "2.0*a**2", "code_length": "-10"}
    rows = [
        {**row, "recovered": "0", "truth_monomials_length": "-9", "truth_numbers_length": "-8"},
        {**row, "recovered": "0", "truth_monomials_length": "-11", "truth_numbers_length": "-8"},
        {**row, "recovered": "1", "truth_monomials_length": "-10", "truth_numbers_length": "-10"},
    ]
    lines = misses(rows).splitlines()[2:]
    assert [line.split("|")[-2].strip() for line in lines] == ["the rows", "search"]
    assert "-10.00" in lines[0]


def test_no_three_powers_reach_the_papers_figure_for_nguyen_5():
    """So that figure is one of its sample: the best fit on the whole range, over a grid of exponents, is below it."""
    equation = next(e for e in equations() if e.name == "Nguyen-5")
    x = (np.arange(2000) + 0.5) / 400
    y = equation.value(x[:, None])
    exponents = np.concatenate([np.linspace(-0.4, 4, 45), np.linspace(4.25, 12, 32)])
    powers = (x[:, None] / 5) ** exponents
    powers /= np.linalg.norm(powers, axis=0)
    chosen = np.array(list(combinations(range(len(exponents)), 3)))
    gram, along = (powers.T @ powers)[chosen[:, :, None], chosen[:, None, :]], (powers.T @ y)[chosen]
    # A touch of ridge keeps neighbours on the grid solvable; it moves no R² in its third digit.
    weights = np.linalg.solve(gram + 1e-9 * np.eye(3), along[:, :, None])[:, :, 0]
    left = y @ y - 2 * np.einsum("ck,ck->c", weights, along) + np.einsum("ck,ckl,cl->c", weights, gram, weights)
    best = 1 - left.min() / np.sum((y - y.mean()) ** 2)
    assert 0.08 < best < 0.09 < equation.published["ECSEL"]["r2"]
