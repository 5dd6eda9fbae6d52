"""Reading columns: every kind of table, and the errors at the edge of the domain."""

from fractions import Fraction

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from ecsel.signomial import Signomial, Term

DATA = {"x": [1.0, 2.0, 4.0], "page value": [1, 2, 3]}
EQUATION = Signomial.parse("x**2*col('page value') + 1")
EXPECTED = [2.0, 9.0, 49.0]


@pytest.mark.parametrize(
    "table",
    [
        DATA,
        {name: np.array(values) for name, values in DATA.items()},
        pd.DataFrame(DATA),
        pd.DataFrame(DATA).astype({"page value": "Int64"}),
        pl.DataFrame(DATA),
        pa.table(DATA),
        np.array([(1.0, 1), (2.0, 2), (4.0, 3)], dtype=[("x", float), ("page value", int)]),
    ],
    ids=["lists", "arrays", "pandas", "pandas-nullable", "polars", "pyarrow", "structured"],
)
def test_every_kind_of_table(table):
    np.testing.assert_allclose(EQUATION(table), EXPECTED, rtol=1e-14)
    assert Signomial.constant(3)(table).tolist() == [3.0, 3.0, 3.0]
    assert Signomial()(table).tolist() == [0.0, 0.0, 0.0]


def test_scalars_are_repeated():
    np.testing.assert_allclose(EQUATION({"x": [1.0, 2.0], "page value": 3}), [4.0, 13.0], rtol=1e-14)
    assert EQUATION({"x": 1, "page value": 3}).shape == (1,)
    assert Signomial.constant(2)({}).tolist() == [2.0]
    assert Signomial.constant(2)({"x": 3, "y": [1, 2]}).tolist() == [2.0, 2.0]


def test_no_rows_give_no_values():
    assert EQUATION({"x": [], "page value": []}).shape == (0,)


@pytest.mark.parametrize("exponent", [2, 0.5, Fraction(1, 3), 1e-3])
def test_zero_to_a_positive_power_is_zero(exponent):
    assert Term(5, {"x": exponent}).evaluate({"x": [0.0, -0.0]}).tolist() == [0.0, 0.0]


def test_exponentials_are_clipped():
    value = Term(1, {"x": 1000}).evaluate({"x": [10.0, 0.1]})
    np.testing.assert_allclose(value, np.exp([700.0, -700.0]), rtol=1e-14)


def test_the_domain_of_derivatives_is_that_of_values():
    for source in ("log(x)", "sqrt(x - 1)", "1/(x - 0.5)"):
        with pytest.raises(ValueError, match="column 'x' is"):
            Signomial.parse(source).log_gradient({"x": [-1.0, 0.5]})


@pytest.mark.parametrize("missing_from", [DATA, pd.DataFrame(DATA), pl.DataFrame(DATA), pa.table(DATA)])
def test_a_missing_column_is_named(missing_from):
    with pytest.raises(ValueError, match="the data has no column 'z', which the equation uses"):
        Signomial.variable("z")(missing_from)


@pytest.mark.parametrize(
    ("source", "values", "message"),
    [
        ("x**0.5", [-1.0, 2.0, -3.0], r"column 'x' is negative in 2 of 3 rows, where its power 0\.5 is not defined"),
        ("x**(1/3)", [-1.0, 2.0], "column 'x' is negative in 1 of 2 rows, where its power 1/3"),
        ("x**-2", [0.0, 2.0], "column 'x' is zero in 1 of 2 rows, where its power -2"),
        ("abs(x)**-0.5", [0.0, 2.0], "column 'x' is zero in 1 of 2 rows"),
        ("log(x)", [0.0, 2.0, -3.0], r"column 'x' is not positive in 2 of 3 rows, where log\(x\) is not defined"),
        ("log(x + 50)", [-50.0, 2.0], r"column 'x' is not above -50 in 1 of 2 rows, where log\(x \+ 50\) is not"),
        (
            "sqrt(x - 1)",
            [0.0, 2.0],
            "x - 1 of column 'x' is negative in 1 of 2 rows, where its power 1/2 is not defined",
        ),
        ("1/(x + 1)", [-1.0, 2.0], r"x \+ 1 of column 'x' is zero in 1 of 2 rows, where its power -1"),
        ("1/log(x)", [1.0, 2.0], r"log\(x\) of column 'x' is zero in 1 of 2 rows"),
        ("x", [np.nan, 2.0, np.inf], "column 'x' is missing or infinite in 2 of 3 rows"),
        ("x", [None, 2.0], "column 'x' is missing or infinite in 1 of 2 rows"),
        ("x", ["a", "b"], "column 'x' must hold numbers, not <U1"),
        ("x", np.array(["a", 1], dtype=object), "column 'x' must hold numbers: could not convert"),
        ("x", [1j], "column 'x' must hold numbers, not complex128"),
        ("x", [[1.0, 2.0]], r"column 'x' must be one-dimensional, but has shape \(1, 2\)"),
        ("x + y", [1.0, 2.0], "same number of rows: 'x' has 2, 'y' has 3"),
    ],
)
def test_bad_values_give_one_clear_error(source, values, message):
    with pytest.raises(ValueError, match=message):
        Signomial.parse(source)({"x": values, "y": [1.0, 2.0, 3.0]})


def test_columns_that_share_a_name_are_refused():
    frame = pd.DataFrame([[1.0, 2.0]], columns=["x", "x"])
    with pytest.raises(ValueError, match="two columns named alike"):
        Signomial.variable("x")(frame)
