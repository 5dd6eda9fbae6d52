"""The curves of columns are differences of the model's own scores."""

from dataclasses import replace

import numpy as np
import pytest

from ecsel.report.drivers import drivers
from ecsel.report.effects import Around, effects
from ecsel.report.evidence import Rows, typical_row


def test_a_curve_is_the_change_of_the_log_odds(churn_case):
    evidence, start = churn_case.evidence, typical_row(churn_case.evidence)
    j = evidence.view.column_position("tenure")
    grid = np.array([0.0, 5.0, 60.0])
    rows = churn_case.X_test.iloc[[start] * 3].assign(tenure=grid.astype(int))
    wanted = churn_case.model.decision_function(rows)
    np.testing.assert_allclose(Around(evidence, start).scores(j, grid)[:, 0], wanted, rtol=1e-12)


def test_scores_of_several_classes_are_relative_to_their_mean(hostile_case):
    evidence = hostile_case.evidence
    j = int(evidence.used[0])
    values = evidence.training.numbers(j)[:5]
    np.testing.assert_allclose(Around(evidence, 0).scores(j, values).sum(axis=1), 0, atol=1e-9)


@pytest.mark.filterwarnings("ignore:.*rows lie")
def test_every_important_column_is_drawn_once_with_its_typical_value_at_zero(case):
    evidence, start = case.evidence, typical_row(case.evidence)
    ranking = drivers(evidence).ranking
    found = effects(evidence, ranking, start)
    assert len(found.columns) + found.n_left_out == len(ranking)
    for j, column in zip(ranking, found.columns, strict=False):
        if evidence.view.levels(j) is None:
            assert column.chart is not None
            assert "rug" in column.chart.text
        else:
            assert column.chart is None
            assert {text for text, _ in column.levels[0].effects} == {"0"}
            assert column.levels[0].level == column.typical


def test_the_effect_of_levels_and_of_a_missing_value_is_printed(churn_case):
    evidence, start = churn_case.evidence, typical_row(churn_case.evidence)
    found = {c.name: c for c in effects(evidence, drivers(evidence).ranking, start).columns}
    row = churn_case.X_test.iloc[[start]]
    z = churn_case.model.decision_function
    for level in found["contract"].levels:
        change = z(row.assign(contract=level.level)) - z(row.assign(contract=found["contract"].typical))
        text = level.effects[0][0].replace("−", "-").partition(" ± ")[0]
        assert float(text) == pytest.approx(change[0], abs=6e-4)
    if "age" in found:
        (missing,) = found["age"].levels
        typical = np.nanquantile(churn_case.X["age"], 0.5, method="lower")
        change = z(row.assign(age=np.nan)) - z(row.assign(age=typical))
        assert float(missing.effects[0][0].replace("−", "-").partition(" ± ")[0]) == pytest.approx(change[0], abs=6e-4)


def test_few_values_are_dots_and_many_a_line(churn_case):
    evidence = churn_case.evidence
    (column,) = effects(evidence, (evidence.view.column_position("tenure"),), 0).columns
    assert column.chart.text.count("<polyline") == 2  # the curve, and the line at zero
    few = replace(evidence, training=Rows.read(evidence.view, *_rows_of(churn_case, tenure=[0, 5, 9]), "y"))
    (column,) = effects(few, (evidence.view.column_position("tenure"),), 0).columns
    assert column.chart.text.count("<polyline") == 1
    assert column.chart.text.split('class="dots c0"')[0].count("h0") == 3


def _rows_of(case, tenure):
    kept = case.X["tenure"].isin(tenure)
    return case.X[kept], case.y[kept]
