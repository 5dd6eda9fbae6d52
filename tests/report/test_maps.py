"""The boundary of a decision map is where the model changes its mind."""

import re

import numpy as np
import pytest

from ecsel.report.drivers import drivers
from ecsel.report.evidence import typical_row
from ecsel.report.maps import decision_map
from ecsel.report.svg import BOTTOM, LEFT, RIGHT, TOP


@pytest.mark.filterwarnings("ignore:.*training maximum:UserWarning")  # of ten per cent more
def test_the_boundary_is_on_the_threshold(loan_case):
    evidence = loan_case.evidence
    start = typical_row(evidence)
    drawn = decision_map(evidence, drivers(evidence).ranking, start)
    path = re.search(r'<path d="([^"]*)" class="boundary"', str(drawn.chart))[1]
    ends = np.array([[float(n) for n in pair.split()] for pair in re.findall(r"[ML]([\d.]+ [\d.]+)", path)])
    assert len(ends) > 20
    spans = [np.quantile(loan_case.X[name], [0.01, 0.99]) for name in (drawn.across, drawn.up)]
    width, height = map(float, re.search(r'viewBox="0 0 (\S+) (\S+)"', str(drawn.chart)).groups())
    across = spans[0][0] + (ends[:, 0] - LEFT) / (width - LEFT - RIGHT) * np.diff(spans[0])
    up = spans[1][0] + (height - BOTTOM - ends[:, 1]) / (height - TOP - BOTTOM) * np.diff(spans[1])
    rows = loan_case.X_test.iloc[[start] * len(ends)].assign(**{drawn.across: across, drawn.up: up})
    p = loan_case.model.predict_proba(rows)[:, 1]
    np.testing.assert_allclose(p, 0.35, atol=0.01)


def test_a_model_of_levels_has_no_map(loan_case):
    assert decision_map(loan_case.evidence, (3, 4), 0) is None


def test_a_law_has_a_map_without_boundary(law_case):
    drawn = decision_map(law_case.evidence, (0, 1), 0)
    assert "boundary" not in str(drawn.chart)
    assert drawn.colour.startswith("the prediction")


@pytest.mark.parametrize("name", ["loan_case", "law_case"])
def test_the_typical_row_is_an_ordinary_one(name, request):
    case = request.getfixturevalue(name)
    row = case.X_test.iloc[typical_row(case.evidence)]
    for j in case.evidence.used:
        if case.evidence.view.levels(j) is None:
            low, high = case.X_test.iloc[:, j].quantile([0.05, 0.95])
            assert low <= row.iloc[j] <= high
