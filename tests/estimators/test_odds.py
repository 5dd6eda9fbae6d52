"""What a piece does to the odds, in words: every number in a phrase is the ratio of odds of the equation itself."""

import re

import numpy as np
import pandas as pd
import pytest

from ecsel.estimators.odds import odds_phrases
from ecsel.signomial import Signomial
from ecsel.tables import TableEncoder

TABLE = pd.DataFrame(
    {
        "age": np.tile([18.0, 30.0, 44.0, 60.0, 80.0, np.nan], 6),
        "income": np.tile([1200.0, 30_000.0, 45_500.0, 60_000.0, 250_000.0, 52_000.0], 6),
        "share": np.tile([0.001, 0.002, 0.004, 0.006, 0.009, 0.003], 6),
        "contract": np.tile(["month", "two year", "month", "one year", "month", "two year"], 6),
        "size": np.tile(["low", "mid", "high"], 12),
        "is_new": np.tile([0, 1], 18),
    }
)
ENCODER = TableEncoder.fit(TABLE, scaling="raw", ordinal={"size": ["low", "mid", "high"]}).with_cuts(
    {"age": [("step", 40), ("above", 50), ("below", 30)]}
)
TYPICAL = {feature.name: feature.baseline for feature in ENCODER.features}


def phrases(text):
    (term,) = Signomial.parse(text).terms
    return odds_phrases(term, ENCODER)


def ratio(text, before, after):
    """The odds after a change over the odds before it."""
    equation = Signomial.parse(text)
    rows = [{name: np.array([float(x)]) for name, x in {**TYPICAL, **change}.items()} for change in (before, after)]
    return float(np.exp(equation.evaluate(rows[1]) - equation.evaluate(rows[0]))[0])


def reported(phrase):
    """The factor that a phrase tells, from its last words."""
    if match := re.search(r"(raises|lowers) the odds by ([0-9.e+-]+) %$", phrase):
        return 1 + (1 if match[1] == "raises" else -1) * float(match[2]) / 100
    verb, number = re.search(r"(multiplies|divides) the odds by ([0-9.e+-]+)$", phrase).groups()
    return float(number) if verb == "multiplies" else 1 / float(number)


@pytest.mark.parametrize(
    ("text", "before", "after", "start"),
    [
        ("-0.033*age", {"age": 40}, {"age": 41}, "each further unit of age lowers"),
        ("1.2*age", {"age": 40}, {"age": 41}, "each further unit of age multiplies"),
        ("0.00003*income", {"income": 4e4}, {"income": 5e4}, "each further 10000 of income raises"),
        ("-900*share", {"share": 0.004}, {"share": 0.0041}, "each further 0.0001 of share lowers"),
        ("1.2*log(income)", {"income": 2e4}, {"income": 4e4}, "each doubling of income multiplies"),
        ("-0.4*log(age + 50)", {"age": 20}, {"age": 90}, "each doubling of (age + 50) lowers"),
        ("9*log(income)", {"income": 1e4}, {"income": 1.1e4}, "each 10 % more of income multiplies"),
        (
            "-0.9*[contract = two year]",
            {"[contract = two year]": 0},
            {"[contract = two year]": 1},
            "[contract = two year] lowers",
        ),
        ("1.5*[age missing]", {"[age missing]": 0}, {"[age missing]": 1}, "[age missing] multiplies"),
        ("2*[age > 40]", {"[age > 40]": 0}, {"[age > 40]": 1}, "[age > 40] multiplies"),
        ("0.02*[age above 50]", {"[age above 50]": 3}, {"[age above 50]": 4}, "each unit of age above 50 raises"),
        ("-0.2*[age below 30]", {"[age below 30]": 3}, {"[age below 30]": 4}, "each unit of age below 30 lowers"),
        ("0.7*size", {"size": 0}, {"size": 1}, "each further step of size multiplies"),
        ("0.1*(age - 40)", {"age": 40}, {"age": 41}, "each further unit of age raises"),
        ("-0.03*abs(age - 45)", {"age": 45}, {"age": 46}, "each unit of age away from 45 lowers"),
        ("-0.03*abs(age - 45)", {"age": 30}, {"age": 29}, "each unit of age away from 45 lowers"),
        (
            "-0.0009*(age - 45)**2",
            {"age": 45},
            {"age": 65},
            "age 10 away from 45 lowers the odds by 8.6 %, 20 away lowers",
        ),
        (
            "-0.0009*(age - 45)**2",
            {"age": 45},
            {"age": 25},
            "age 10 away from 45 lowers the odds by 8.6 %, 20 away lowers",
        ),
        (
            "0.0001*(age - 45)*(income - 40000)/1000",
            {"age": 45, "income": 40000},
            {"age": 55, "income": 90000},
            "being on the same side, age of 45 and income of 40000, raises the odds, and on opposite sides lowers them",
        ),
        (
            "-0.0001*(age - 45)*(income - 40000)/1000",
            {"age": 45, "income": 40000},
            {"age": 35, "income": -10000},
            "being on the same side, age of 45 and income of 40000, lowers the odds, and on opposite sides raises them",
        ),
        ("-1.4*is_new", {"is_new": 0}, {"is_new": 1}, "is_new = 1 instead of 0 lowers"),
        ("-4*[age > 40]", {"[age > 40]": 0}, {"[age > 40]": 1}, "[age > 40] divides"),
    ],
)
def test_single_pieces(text, before, after, start):
    (phrase,) = phrases(text)
    assert phrase.startswith(start)
    exact = ratio(text, before, after)
    assert reported(phrase) == pytest.approx(exact, rel=0.05, abs=0.006 * abs(exact - 1))


def moved(verb, by):
    """Return the factor of odds that a verb and a number tell."""
    return {"multiplied": 1.0, "divided": -1.0}[verb], float(by)


@pytest.mark.parametrize(
    "text", ["0.002*age**2", "-0.02*age**2", "-30/age", "0.8*sqrt(income)/100", "-0.7*log(age)**2"]
)
def test_curves_are_distinguished_from_end_to_end(text):
    (phrase,) = phrases(text)
    (name,) = Signomial.parse(text).names
    feature = next(feature for feature in ENCODER.features if feature.name == name)
    verbs = "(multiplied|divided)"
    first = rf"the odds are {verbs} by (\S+) from {name} = (\S+) to (\S+) \(its median\)"
    match = re.fullmatch(rf"{first} and (?:{verbs} )?by (\S+) from there to (\S+)", phrase)
    assert [float(match[i]) for i in (3, 4, 7)] == [feature.low, feature.baseline, feature.high]
    middle = {name: feature.baseline}
    for (sign, by), exact in (
        (moved(match[1], match[2]), ratio(text, {name: feature.low}, middle)),
        (moved(match[5] or match[1], match[6]), ratio(text, middle, {name: feature.high})),
    ):
        assert by**sign == pytest.approx(exact, rel=0.06)
        assert by > 0.09  # odds that nearly vanish are divided: nobody reads 2.2e-26


def test_products_are_reported_at_the_median_of_the_other_column():
    text = "0.00002*age*log(income)"
    first, second = phrases(text)
    assert first.startswith(f"where income = {TYPICAL['income']:.0f}, its median: each further unit of age raises")
    assert second.startswith(f"where age = {TYPICAL['age']:g}, its median: each doubling of income raises")
    exact = [ratio(text, {"age": 40}, {"age": 41}), ratio(text, {"income": 2e4}, {"income": 4e4})]
    assert [reported(first) - 1, reported(second) - 1] == pytest.approx(np.array(exact) - 1, rel=0.05)


def test_products_with_an_indicator_are_reported_where_it_is_one():
    text = "-0.05*[contract = two year]*age"
    (phrase,) = phrases(text)
    assert phrase.startswith("where [contract = two year]: each further unit of age lowers")
    there = {"[contract = two year]": 1}
    exact = ratio(text, {**there, "age": 40}, {**there, "age": 41})
    assert reported(phrase) - 1 == pytest.approx(exact - 1, rel=0.05)
    (both,) = phrases("0.8*[contract = two year]*[age missing]")
    assert both == "[age missing] and [contract = two year] together multiply the odds by 2.2"


def test_huge_effects_are_numbers_still():
    (phrase,) = phrases("5000*[age missing]")
    assert np.isfinite(reported(phrase))
