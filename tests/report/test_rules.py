"""The rules that are told are those that the model keeps."""

import re

import numpy as np
import pytest

from ecsel import ECSELClassifier
from ecsel.explain import ModelView
from ecsel.report.rules import column_rules, used_columns


def rules_of(case):
    return {rule.column: rule for rule in column_rules(case.evidence.view)}


def test_columns_in_use_are_those_that_change_the_score(case):
    view, X = case.evidence.view, case.X_test.head(40)
    before = view.scores_of(view.rows(X, warn=False))
    for j, name in enumerate(view.raw_names):
        after = view.scores_of(view.rows(X.assign(**{name: X[name].sample(frac=1, random_state=0).to_numpy()})))
        if j not in used_columns(view):
            np.testing.assert_array_equal(after, before)
        elif X[name].nunique() > 5:
            assert (after != before).any()


def test_values_outside_count_as_the_nearest_end(churn_case):
    model, rule = churn_case.model, rules_of(churn_case)["tenure"]
    low, high = (float(text) for text in re.fullmatch(r"(\S+) to (\S+)", rule.span).groups())
    assert (low, high) == (churn_case.X["tenure"].min(), churn_case.X["tenure"].max())
    assert rule.outside == "counts as the nearest end"
    row = churn_case.X_test.head(1)
    with pytest.warns(UserWarning, match="tenure"):
        beyond = model.predict_proba(row.assign(tenure=10_000))
    np.testing.assert_array_equal(beyond, model.predict_proba(row.assign(tenure=high)))


def test_missing_values_are_refused_or_count_as_reported(churn_case):
    model, rules, row = churn_case.model, rules_of(churn_case), churn_case.X_test.head(1)
    assert rules["tenure"].missing == "refused"
    with pytest.raises(ValueError, match="tenure"):
        model.predict_proba(row.assign(tenure=np.nan))
    reported = rules["age"].missing
    assert "[age missing] is 1" in reported or "counts as" in reported
    if match := re.match(r"counts as (\d+)$", reported):
        filled = model.predict_proba(row.assign(age=float(match[1])))
        np.testing.assert_array_equal(model.predict_proba(row.assign(age=np.nan)), filled)


def test_new_levels_have_no_indicator(churn_case):
    rule = rules_of(churn_case)["contract"]
    assert rule.span == "month to month, one year, two year"
    assert rule.outside.endswith("0")


def test_the_paper_s_model_and_laws_have_no_such_rules(loan_case, law_case):
    assert rules_of(loan_case) == rules_of(law_case) == {}


@pytest.mark.parametrize(("out_of_range", "reported"), [("extrapolate", "taken as it is"), ("error", "refused")])
def test_other_rules_are_reported(churn_case, out_of_range, reported):
    model = ECSELClassifier(max_factors=2, cv=3, out_of_range=out_of_range).fit(churn_case.X, churn_case.y)
    numeric = [rule for rule in column_rules(ModelView.of(model)) if " to " in rule.span]
    assert all(rule.outside == reported for rule in numeric if rule.column != "contract")
