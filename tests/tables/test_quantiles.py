import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from ecsel.tables.quantiles import quantiles

values_and_weights = st.lists(st.tuples(st.integers(-9, 9), st.integers(1, 4)), min_size=1, max_size=20)
LEVELS = (0.1, 0.25, 0.5, 0.75, 1.0)


@given(values_and_weights)
def test_quantiles_are_those_of_numpy_and_weights_are_repetitions(rows):
    values, counts = (np.array(column, dtype=float) for column in zip(*rows, strict=True))
    repeated = np.repeat(values, counts.astype(int))
    expected = np.quantile(repeated, LEVELS, method="inverted_cdf")
    np.testing.assert_array_equal(quantiles(repeated, LEVELS), expected)
    np.testing.assert_array_equal(quantiles(values, LEVELS, counts), expected)


@given(st.lists(st.tuples(st.integers(-3, 3), st.floats(0.1, 3)), min_size=2, max_size=20), st.randoms())
def test_the_order_of_the_rows_does_not_matter(rows, random):
    shuffled = random.sample(rows, len(rows))
    first, second = (np.array(each, dtype=float) for each in (rows, shuffled))
    assert quantiles(first[:, 0], LEVELS, first[:, 1]) == quantiles(second[:, 0], LEVELS, second[:, 1])
