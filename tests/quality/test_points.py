"""Points: the two numbers that define the scale, additivity, and the way back."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ecsel.quality import PointsScale

SCALES = st.builds(
    PointsScale,
    base_score=st.floats(-1000, 1000),
    base_odds=st.floats(0.01, 1000),
    pdo=st.floats(1, 100),
    good=st.sampled_from([0, 1]),
)


@settings(max_examples=40, deadline=None)
@given(SCALES, st.floats(-20, 20))
def test_double_odds_are_pdo_more_points_and_base_odds_the_base_score(scale, z):
    sign = 1 if scale.good else -1
    assert scale.points(sign * np.log(scale.base_odds)) == pytest.approx(scale.base_score, abs=1e-6)
    assert scale.points(z + sign * np.log(2)) - scale.points(z) == pytest.approx(scale.pdo)
    assert scale.scores(scale.points(z)) == pytest.approx(z, abs=1e-6)
    p = scale.probability(scale.points(z))
    assert p == pytest.approx(1 / (1 + np.exp(-sign * z)), abs=1e-6)


@settings(max_examples=40, deadline=None)
@given(SCALES, st.lists(st.floats(-5, 5), min_size=1, max_size=6))
def test_parts_of_the_score_are_parts_of_the_points(scale, parts):
    rows = np.array([parts, parts])
    np.testing.assert_allclose(scale.offset + scale.parts(rows).sum(axis=1), scale.points(rows.sum(axis=1)), atol=1e-6)


@pytest.mark.parametrize("wrong", [{"pdo": 0}, {"base_odds": -1}, {"good": 2}, {"base_score": np.nan}])
def test_a_scale_that_means_nothing_is_refused(wrong):
    with pytest.raises(ValueError, match=next(iter(wrong))):
        PointsScale(**wrong)
