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
