"""Numbers that the pages tell of the search are those of the code."""

from pathlib import Path

import pytest

from ecsel.estimators.folds import MANY_ROWS, SEARCH_ROWS, VALIDATION_ROWS
from ecsel.search import code_length, cuts, dictionary, rounding, selection, turning
from ecsel.tables import describing_raw, level_text, shifts

DOCS = Path(__file__).parents[2] / "docs"


def percent(share):
    return f"{100 * share:g}"


@pytest.mark.parametrize(
    ("page", "sentence"),
    [
        ("how_it_works", f"lower the expected loss by {percent(selection.FACTOR_PRICE)} % of the best"),
        ("how_it_works", f"may cost {percent(selection.MIN_COST)} %, and up to {percent(selection.MAX_COST)} % where"),
        ("how_it_works", f"by less than {selection.EVIDENCE:g} nats"),
        ("choosing", f"must lower the loss by {percent(selection.FACTOR_PRICE)} %"),
        ("classifier", f"lower the smoothed loss by {percent(selection.FACTOR_PRICE)} % of the best"),
        ("how_it_works", f"(a standardised value beyond {dictionary.MAX_LEVERAGE:g})"),
        ("how_it_works", f"at most {dictionary.MAX_PAIRS} of them"),
        ("how_it_works", f"a logarithm costs {code_length.LOGARITHM:g}"),
        ("how_it_works", f"{code_length.TERM:g} + \\ln\\binom"),
        ("how_it_works", f"five folds, from {MANY_ROWS} distinct rows on three"),
        ("how_it_works", f"Beyond {SEARCH_ROWS} distinct rows"),
        ("how_it_works", f"up to {VALIDATION_ROWS:,} rows".replace(",", " ")),
        ("classifier", f"more than {SEARCH_ROWS} distinct rows"),
        ("how_it_works", f"less than {shifts.MAX_RATIO:g} times"),
        ("how_it_works", f"the median less than {shifts.MAX_MEDIAN_RATIO:g} times"),
        ("how_it_works", f"{percent(rounding.SHARE)} %"),
        ("choosing", f"more than {percent(rounding.SHARE)} %"),
        ("classifier", f"{percent(level_text.RARE_SHARE)} % of"),
    ],
)
def test_a_page_tells_the_number_of_the_code(page, sentence):
    text = " ".join((DOCS / f"{page}.md").read_text(encoding="utf-8").split())
    assert sentence in text


def test_numbers_in_words():
    assert (rounding.NATS, describing_raw.MIN_LEVEL_ROWS, describing_raw.MAX_NUMBER_LEVELS) == (0.5, 5.0, 12)
    assert (1 + len(dictionary.PAIRS), len(dictionary.WITH_INDICATOR)) == (20, 5)  # one shape is that of deviations
    assert (len(cuts.QUANTILES), turning.MIN_SLOPE, selection.BANDWIDTH) == (5, 2.0, 5.0)
