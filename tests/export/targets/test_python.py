"""The exported Python runs in a bare interpreter and says what the model says."""

import ast
import subprocess
import sys
from decimal import Decimal

import pandas as pd
import pytest

from ecsel import Signomial
from ecsel.export import to_python

RUN = """
from math import inf, nan
import sys
assert not [path for path in sys.path if path.endswith("-packages")]
print(ascii([predict(row) for row in eval(sys.stdin.read())]))
"""


def run(source, rows):
    done = subprocess.run(
        [sys.executable, "-I", "-S", "-c", source + RUN],
        input=ascii(rows),
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    assert done.returncode == 0, done.stderr
    return ast.literal_eval(done.stdout)


def answers(results, classes):
    if not classes:
        return [[each["prediction"]] for each in results], [None] * len(results)
    assert all(list(each["probabilities"]) == list(classes) for each in results)
    return [list(each["probabilities"].values()) for each in results], [each["label"] for each in results]


def test_equals_the_model_on_awkward_rows(case):
    results = run(to_python(case.model), case.rows)
    case.assert_same(*answers(results, case.view.classes if case.view.has_classes else ()))


@pytest.fixture
def product():
    namespace = {}
    exec(to_python(Signomial.parse("2*x*y")), namespace)
    return namespace["predict"]


def test_every_kind_of_number_is_read(product):
    assert product({"x": Decimal("1.5"), "y": True})["prediction"] == pytest.approx(3.0)
    assert product({"x": 10**400, "y": 1})["prediction"] is None  # larger than any double


def test_every_kind_of_missing_value_is_read(product):
    for missing in (None, float("nan"), pd.NA, pd.NaT, Decimal("NaN")):
        assert product({"x": missing, "y": 1.0})["prediction"] is None


def test_a_row_of_other_columns_is_refused(product):
    with pytest.raises(KeyError, match="the row has no column 'y'"):
        product({"x": 1.0})
    with pytest.raises(TypeError, match="column 'y' must be a number, not 'one'"):
        product({"x": 1.0, "y": "one"})
