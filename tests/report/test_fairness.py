import numpy as np
import pandas as pd
import pytest

from ecsel.report.fairness import fairness


def first_number(cell):
    return float(cell.split("\u202f")[0].replace("−", "-"))


def test_rates_are_those_of_the_groups(loan_case):
    X, y, model = loan_case.X_test, loan_case.y_test, loan_case.model
    reported = fairness(loan_case.evidence, "sex")
    assert [line.name for line in reported.lines] == ["man", "woman"]
    decided = pd.Series(model.predict(X) == "repaid", index=X.index)
    truth = y == "repaid"
    for line in reported.lines:
        mine = X["sex"] == line.name
        expected = [
            truth[mine].mean(),
            decided[mine].mean(),
            decided[mine & truth].mean(),
            decided[mine & ~truth].mean(),
            truth[mine & decided].mean(),
        ]
        printed = [first_number(line.cells[k]) for k in (1, 2, 4, 5, 6)]
        np.testing.assert_allclose(printed, 100 * np.array(expected), atol=0.051)


def test_numbers_are_cut_into_quarters_that_cover_all_rows(loan_case):
    reported = fairness(loan_case.evidence, "age")
    assert len(reported.lines) == 4
    assert sum(int(line.cells[0]) for line in reported.lines) == len(loan_case.X_test)


def test_missing_values_are_a_group(loan_case):
    assert fairness(loan_case.evidence, "years").lines[-1].name == "missing"


def test_groups_may_come_from_outside_of_the_table(law_case):
    group = pd.Series(np.where(law_case.X_test["unused"] > 0, "up", "down"), name="side")
    reported = fairness(law_case.evidence, group)
    assert (reported.by, [line.name for line in reported.lines]) == ("side", ["down", "up"])
    mine = (group == "up").to_numpy()
    error = np.abs(law_case.y_test - law_case.model.predict(law_case.X_test))[mine].mean()
    assert float(reported.lines[1].cells[-1]) == pytest.approx(error, rel=1e-3)


def test_a_ratio_beyond_four_fifths_is_marked(loan_case):
    reported = fairness(loan_case.evidence, loan_case.model.predict(loan_case.X_test))
    assert [line.marked for line in reported.lines] == [True, False]


def test_many_levels_are_put_together(loan_case):
    reported = fairness(loan_case.evidence, np.array([f"g{i % 40}" for i in range(len(loan_case.X_test))]))
    assert reported.lines[-1].name == "all others"
    assert all(line.few for line in reported.lines[:-1])


def test_a_group_of_another_length_is_refused(loan_case):
    with pytest.raises(ValueError, match=r"group must be the name of a column or one label per row of the held-out"):
        fairness(loan_case.evidence, np.zeros(3))


def test_a_column_that_does_not_exist_is_refused(loan_case):
    with pytest.raises(ValueError, match="no column 'gender'"):
        fairness(loan_case.evidence, "gender")


def test_without_a_group_there_is_no_table(loan_case):
    assert fairness(loan_case.evidence, None) is None
