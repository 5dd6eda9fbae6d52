"""Older names still work, and their warning has the new one."""

import pytest

from ecsel import fitting


@pytest.mark.parametrize(("old", "new"), fitting._RENAMED.items())
def test_an_older_name_gives_the_new_object_and_says_so(old, new):
    with pytest.warns(FutureWarning, match=f"{old} is now called {new}"):
        assert getattr(fitting, old) is getattr(fitting, new)


def test_other_names_are_unknown():
    with pytest.raises(AttributeError, match="no attribute 'Tax'"):
        fitting.Tax  # noqa: B018


def test_older_names_of_a_result_give_the_same_and_say_so(make_table):
    result = fitting.fit_scores(*make_table(), fitting.Logistic(), fitting.L1(1e-2), 1)
    with pytest.warns(FutureWarning, match="spread is now objective_spread"):
        assert result.report.spread is result.report.objective_spread
    with pytest.warns(FutureWarning, match="laws is now terms"):
        assert result.laws is result.terms
    assert result.report.to_dict()["spread"] == list(result.report.objective_spread)  # as it stands in files
