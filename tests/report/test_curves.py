import re

import numpy as np
import pytest

from ecsel.quality import best_threshold
from ecsel.report.curves import Thresholds, legend, precision_chart, roc_chart
from ecsel.report.svg import Frame, ticks


def test_cells_of_every_threshold_are_counts(loan_case):
    rows = loan_case.evidence.evaluated
    thresholds = Thresholds.of(rows, 0.35)
    assert thresholds.values[thresholds.own] == 0.35
    assert list(thresholds.values) == sorted(set(thresholds.values))
    for at, value in list(enumerate(thresholds.values))[::17]:
        decided = rows.outputs[:, 1] >= value
        expected = [[int(((rows.truth == i) & (decided == j)).sum()) for j in (0, 1)] for i in (0, 1)]
        assert thresholds.cells(at) == expected


def test_the_grid_holds_a_threshold_as_cheap_as_the_best(loan_case):
    rows = loan_case.evidence.evaluated
    thresholds = Thresholds.of(rows, 0.35)
    costs = np.array([[0.0, 5.0], [1.0, 0.0]])
    cheapest = min((np.array(thresholds.cells(k)) * costs).sum() for k in range(len(thresholds.values)))
    decided = rows.outputs[:, 1] >= best_threshold(rows.truth, rows.outputs[:, 1], costs)
    best = 5 * (decided & (rows.truth == 0)).sum() + (~decided & (rows.truth == 1)).sum()
    assert best <= cheapest <= 1.03 * best + 1


def test_each_class_has_its_line(hostile_case):
    rows = hostile_case.evidence.evaluated
    for chart in (roc_chart(rows), precision_chart(rows)):
        assert set(re.findall(r'class="line (c\d)"', str(chart))) == {"c0", "c1", "c2"}
    assert str(legend(rows)).count("<li>") == 3


def test_two_classes_need_no_legend(loan_case):
    assert legend(loan_case.evidence.evaluated) is None


@pytest.mark.parametrize(("low", "high"), [(0, 1), (-3.2, 17), (1e-9, 2e-9), (5, 5), (1e6, 5e7)])
def test_ticks_lie_within_their_range(low, high):
    found = ticks(low, high)
    assert 1 <= len(found) <= 7
    assert all(low - 1e-9 * abs(low) <= tick <= high + 1e-9 * abs(high) for tick in found)


def test_corners_of_a_frame():
    frame = Frame((0.0, 1.0), (0.0, 1.0), width=100, height=100)
    assert frame.across(0.0) < frame.across(1.0) < 100
    assert 0 < frame.up(1.0) < frame.up(0.0) < 100
