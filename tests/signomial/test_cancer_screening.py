"""The toy screening example, worked out by SymPy to 50 digits."""

import runpy
from pathlib import Path

import numpy as np
import pytest
import sympy

from ecsel.signomial import FeatureRows, ScoreTerms, Signomial, scores
from ecsel.signomial.properties import (
    attribution,
    elasticity,
    margin_sensitivity,
    probabilities,
    probability_sensitivity,
    scaled_scores,
)

SCRIPT = Path(__file__).parents[2] / "examples" / "cancer_screening.py"
PROFILES = {
    "no cancer": ("0.7", "0.7", "0.8"),
    "mixed": ("1.4", "1.4", "1.2"),
    "size-driven": ("3", "1", "2"),
    "biomarker-driven": ("1", "3", "2"),
}
TERMS = ScoreTerms.from_signomials(
    [
        Signomial.parse("0.8*x1**-1.2*x3**-0.6 + 0.6*x2**-1.5*x3**-0.4"),
        Signomial.parse("0.7*x1**1.6*x3**0.8 + 0.5*x2**1.8*x3**0.4"),
    ],
    ["x1", "x2", "x3"],
)
X = sympy.symbols("x1:4", positive=True)


def power(coefficient, b1, b2, b3):
    b = [sympy.Rational(value) for value in (b1, b2, b3)]
    return sympy.Rational(coefficient) * X[0] ** b[0] * X[1] ** b[1] * X[2] ** b[2]


Z0 = power("0.8", "-1.2", "0", "-0.6") + power("0.6", "0", "-1.5", "-0.4")
Z1 = power("0.7", "1.6", "0", "0.8") + power("0.5", "0", "1.8", "0.4")
P1 = 1 / (1 + sympy.exp(Z0 - Z1))


def exact(expression, profile):
    values = {x: sympy.Rational(v) for x, v in zip(X, PROFILES[profile], strict=True)}
    return float(expression.subs(values).evalf(50))


def row_of(profile):
    return FeatureRows.from_logs(np.log([[float(v) for v in PROFILES[profile]]]))


@pytest.mark.parametrize("profile", PROFILES)
def test_scores_margin_and_probability(profile):
    z = scores(TERMS, row_of(profile))[0]
    assert z[0] == pytest.approx(exact(Z0, profile), rel=1e-12)
    assert z[1] == pytest.approx(exact(Z1, profile), rel=1e-12)
    assert z[1] - z[0] == pytest.approx(exact(Z1 - Z0, profile), rel=1e-12)
    assert probabilities(z[None], "softmax")[0, 1] == pytest.approx(exact(P1, profile), rel=1e-12)


@pytest.mark.parametrize("profile", PROFILES)
def test_derivatives(profile):
    row = row_of(profile)
    e = elasticity(TERMS, row).values[0]
    d1 = margin_sensitivity(TERMS, row, 1, 0, link="softmax")[0]
    d2 = probability_sensitivity(TERMS, row, link="softmax")[0]
    for j, x in enumerate(X):
        assert e[0, j] == pytest.approx(exact(x * sympy.diff(sympy.log(Z0), x), profile), rel=1e-12)
        assert e[1, j] == pytest.approx(exact(x * sympy.diff(sympy.log(Z1), x), profile), rel=1e-12)
        assert d1[j] == pytest.approx(exact(x * sympy.diff(Z1 - Z0, x), profile), rel=1e-12)
        assert d2[1, j] == pytest.approx(exact(x * sympy.diff(P1, x), profile), rel=1e-11)


def test_counterfactual_and_attribution_of_the_mixed_profile():
    row = row_of("mixed")
    for q in ("0.5", "2"):
        new = scaled_scores(TERMS, row, np.array([float(q), 1.0, 1.0]))[0]
        scaled = {X[0]: sympy.Rational(q) * X[0]}
        np.testing.assert_allclose(new, [exact(z.subs(scaled), "mixed") for z in (Z0, Z1)], rtol=1e-12)
    ones = dict.fromkeys(X, 1)
    expected = [exact(sympy.diff(Z1, x).subs(ones) * sympy.log(x), "mixed") for x in X]
    np.testing.assert_allclose(
        attribution(TERMS, row, FeatureRows.from_logs(np.zeros((1, 3)))).values[0, 1], expected, rtol=1e-12
    )


def test_only_the_no_cancer_profile_is_negative():
    margins = [exact(Z1 - Z0, profile) for profile in PROFILES]
    assert np.round(margins, 3).tolist() == [-1.952, 1.557, 7.132, 5.37]


def test_the_example_prints_the_table(capsys):
    runpy.run_path(str(SCRIPT), run_name="__main__")
    table = capsys.readouterr().out
    for profile in PROFILES:
        row = next(line for line in table.splitlines() if line.startswith(profile))
        expected = [exact(z, profile) for z in (Z0, Z1, Z1 - Z0, P1)]
        printed = row.removeprefix(profile).split()
        assert [float(number) for number in printed[:4]] == pytest.approx(expected, abs=5.1e-4)
