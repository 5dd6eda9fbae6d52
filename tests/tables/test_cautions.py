"""What asks for a second look is told before a fit, in a category of warnings of its own."""

import warnings

import numpy as np
import pandas as pd
import pytest

from ecsel import ColumnWarning, ECSELClassifier, ECSELRegressor
from ecsel.tables import TableEncoder
from ecsel.tables.cautions import find_cautions, warn_cautions

rng = np.random.default_rng(0)
CODES = np.repeat([0, 1, 2], 100)


def found(frame, target, name="", *, classes=True):
    encoder = TableEncoder.fit(frame, scaling="raw")
    cautions = find_cautions(encoder, frame, np.asarray(target, dtype=float), name, classes=classes)
    return {(each.kind, each.column) for each in cautions}


def test_a_column_that_knows_the_answer_is_suspected_whatever_its_type():
    frame = pd.DataFrame({
        "number": CODES * 10.0 + rng.normal(size=300),
        "text": [f"${value:,.2f}" for value in CODES * 9000.0 + rng.uniform(0, 99, 300)],
        "level": np.array(["low", "mid", "high"])[CODES],
        "noise": rng.normal(size=300),
        "missing": np.where(CODES == 1, np.nan, rng.normal(size=300)),
    })  # fmt: skip
    assert found(frame, CODES) == {("leakage", "number"), ("leakage", "text"), ("leakage", "level")}
    assert ("leakage", "missing") in found(frame, CODES == 1)


def test_few_rows_cannot_tell():
    assert not found(pd.DataFrame({"copy": CODES[::3] + 0.0}), CODES[::3])


def test_a_column_in_the_order_of_a_quantity_is_suspected():
    y = rng.uniform(1, 2, 300)
    frame = pd.DataFrame({"copy": np.exp(y), "other": rng.uniform(size=300)})
    assert found(frame, y, classes=False) == {("leakage", "copy")}


def test_names_tell_what_is_known_too_late():
    y = rng.integers(0, 2, 400)
    frame = pd.DataFrame({
        "recoveries": rng.normal(size=400),
        "last_pymnt_d": rng.normal(size=400),
        "income": rng.normal(size=400),
        "is_recid": np.where(rng.random(400) < 0.15, 1 - y, y),
        "prior_recid": rng.normal(size=400),
    })  # fmt: skip
    late = {("afterwards", "recoveries"), ("afterwards", "last_pymnt_d"), ("afterwards", "is_recid")}
    assert found(frame, y, "two_year_recid") == late
    assert ("afterwards", "is_recid") not in found(frame, y, "two_year")


def test_protected_attributes_are_reported_by_whole_words():
    names = [
        "sex",
        "Race",
        "wife_religion",
        "age_cat",
        "mileage",
        "package",
        "essex",
        "nationality",
        "city of birth",
        "marital_status",
    ]
    frame = pd.DataFrame({name: rng.normal(size=30) for name in names})
    protected = {column for kind, column in found(frame, rng.integers(0, 2, 30)) if kind == "protected"}
    known = {"sex", "Race", "wife_religion", "age_cat", "nationality", "city of birth", "marital_status"}
    assert protected == known


def test_a_column_that_is_dropped_is_not_reported():
    frame = pd.DataFrame({"sex": ["f", "m"] * 20, "x": rng.normal(size=40)})
    encoder = TableEncoder.fit(frame, scaling="raw", drop=["sex"])
    assert not find_cautions(encoder, frame, np.zeros(40), classes=True)


def test_a_letter_is_no_word_that_names_share():
    """A column `a` tells much about a target that is derived from it, but the names say nothing of that."""
    y = rng.integers(0, 2, 400)
    frame = pd.DataFrame(
        {"a": np.where(rng.random(400) < 0.15, 1 - y, y), "x1": np.where(rng.random(400) < 0.1, 1 - y, y)}
    )
    assert not found(frame, y, "a > x1")
    assert ("afterwards", "paid") in found(frame.rename(columns={"a": "paid"}), y, "paid_back")


@pytest.mark.parametrize("options", [{}, {"n_terms": 1, "l1": 0.1}])
def test_a_classifier_warns_before_its_fit_and_the_category_can_be_silenced(options):
    y = rng.integers(0, 2, 250)
    frame = pd.DataFrame({"copy": y + 0.0, "gender": rng.choice(["f", "m"], 250), "x": rng.normal(size=250)})
    with pytest.warns(ColumnWarning) as caught:
        ECSELClassifier(max_terms=1 if not options else None, **options).fit(frame, y)
    reported = [str(each.message) for each in caught if each.category is ColumnWarning]
    assert "'copy' alone nearly tells the target (balanced accuracy 1.000)" in reported[0]
    assert "drop=['copy']" in reported[0]
    assert "'gender' may be a protected attribute" in reported[1]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.simplefilter("ignore", ColumnWarning)
        warn_cautions(find_cautions(TableEncoder.fit(frame), frame, y + 0.0, classes=True))


def test_a_prediction_of_numbers_warns_too():
    y = rng.normal(size=250)
    with pytest.warns(ColumnWarning, match="'copy' alone nearly tells the target"):
        ECSELRegressor(criterion="prediction", max_terms=1).fit(
            pd.DataFrame({"copy": 2 * y, "x": rng.normal(size=250)}), y
        )
