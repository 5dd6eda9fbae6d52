"""Python exports read text and dates as the model does, so that a row of the user's own table gives its probability."""

import math

import numpy as np
import pytest

from ecsel import export
from ecsel.export.targets.python import source_of
from ecsel.tables.dates import DateReading
from ecsel.tables.number_text import NumberText
from ecsel.tables.raw import RawColumn


def predict_of(program):
    namespace = {}
    exec(source_of(program), namespace)
    return lambda value: namespace["predict"]({program.inputs[0].prepared.column: value})["prediction"]


def is_same(found, expected):
    if expected is None or expected != expected:  # noqa: PLR0124 - NaN
        return found is None
    return found == expected


def test_numbers_in_text(number_text_case, reading_program):
    reading, texts, (expected,) = number_text_case
    predict = predict_of(reading_program(reading, "x"))
    for text, number in zip(texts, expected, strict=True):
        assert is_same(predict(text), number), text
    assert predict(2.5) == 2.5
    assert predict(None) is None


def test_text_that_is_no_number_is_refused_as_by_the_model(reading_program):
    reading = NumberText("x", ".", ",", "$")
    predict = predict_of(reading_program(reading, "x"))
    for text in ("abc", "1.2.3", "(4", "7 kg", "1 234"):
        with pytest.raises(ValueError, match="could not convert"):
            reading.plain(RawColumn("x", np.array([text], dtype=object)))
        with pytest.raises(ValueError, match="column 'x' is a column of numbers, but holds"):
            predict(text)


def test_parts_of_dates(date_case, reading_program):
    reading, values, expected = date_case
    for name, numbers in zip(reading.names, expected, strict=True):
        predict = predict_of(reading_program(reading, name))
        for value, number in zip(values, numbers, strict=True):
            assert is_same(predict(value), number), (name, value)


def test_text_that_is_no_date_is_refused(reading_program):
    reading = DateReading("when", "day.month.year", "2018-01-01", ("days",), whole=True, names=("days",))
    predict = predict_of(reading_program(reading, "days"))
    for text in ("30.02.2018", "1/2.2018", "soon", "28.02.2018 25:00"):
        with pytest.raises(ValueError, match="column 'when' is a column of dates, but holds"):
            predict(text)
    assert predict(np.datetime64("2018-01-03")) == 2.0
    assert predict(math.nan) is None


def test_awkward_rows_as_they_are_give_the_model_s_probability(awkward_model, awkward_rows):
    namespace = {}
    source = export.to_python(awkward_model)
    exec(source, namespace)
    rows = awkward_rows.astype(object).where(awkward_rows.notna(), None).to_dict("records")
    reported = [namespace["predict"](row) for row in rows]
    if hasattr(awkward_model, "classes_"):
        found = [row["probabilities"]["yes"] for row in reported]
        np.testing.assert_allclose(found, awkward_model.predict_proba(awkward_rows)[:, 1], rtol=1e-12)
        assert [row["label"] for row in reported] == list(awkward_model.predict(awkward_rows))
    else:
        np.testing.assert_allclose(
            [row["prediction"] for row in reported], awkward_model.predict(awkward_rows), rtol=1e-9
        )
    assert "# Text and dates are read here:\n" in source
    assert "#   'rate' is the number that the text of 'rate' holds" in source


@pytest.mark.parametrize("target", [export.to_javascript, export.to_c])
def test_programs_that_read_no_text_say_so_at_their_top(awkward_model, target):
    head = target(awkward_model)[:3000]
    assert "Text and dates are not read here. Make these columns before:" in head
    assert "the number that the text of 'rate' holds" in head.replace("\\u0027", "'")
