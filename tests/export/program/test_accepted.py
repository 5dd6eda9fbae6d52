"""The accepted interval ends exactly where the model begins to refuse."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ecsel.export.program.accepted import LARGEST, _double, _ordinal, accepted_interval
from ecsel.tables import TableEncoder


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_doubles_have_places(x):
    assert _double(_ordinal(x)) == x
    up = math.nextafter(x, math.inf)
    if math.isfinite(up):
        assert _ordinal(up) == _ordinal(x) + 1


def is_refused(encoder, x):
    try:
        encoder.log_features([[x]], warn=False)
    except ValueError:
        return True
    return False


@pytest.mark.parametrize("rule", ["clip", "extrapolate", "error"])
@pytest.mark.parametrize("two_sided", [False, True])
@settings(max_examples=25, deadline=None)
@given(
    low=st.floats(-1e6, 1e6),
    width=st.floats(1e-3, 1e6),
    scaling=st.sampled_from(["minmax", "spread", "auto"]),
)
def test_the_ends_are_the_last_accepted_doubles(rule, two_sided, low, width, scaling):
    X = np.array([[low], [low + width], [low + width / 3]])
    encoder = TableEncoder.fit(X, scaling=scaling, out_of_range=rule, two_sided=two_sided)
    ends = accepted_interval(encoder.columns[0], encoder.features, rule)
    for end, beyond in zip(ends, (-math.inf, math.inf), strict=True):
        assert not is_refused(encoder, end)
        assert is_refused(encoder, math.nextafter(end, beyond))


def test_a_scale_that_overflows_ends_the_interval():
    encoder = TableEncoder.fit([[0.0], [1e-5], [2e-5]], scaling="minmax")
    low, high = accepted_interval(encoder.columns[0], encoder.features, "clip")
    assert low == -LARGEST
    assert 0 < high < LARGEST
    assert is_refused(encoder, math.nextafter(high, math.inf))
