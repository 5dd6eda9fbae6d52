import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ecsel import Signomial, explain

pytestmark = pytest.mark.filterwarnings("ignore:.*training")


@settings(max_examples=10, deadline=None)
@given(st.integers(0, 2**32 - 1), st.sampled_from(["sigmoid", "softmax3"]), st.booleans())
def test_directions_are_those_of_the_log_odds(make_model, make_raw_model, seed, kind, raw):
    """The score of a class against the mean of all, moved along every column by the model itself."""
    model, X = (make_raw_model if raw else make_model)(seed, kind)
    view = explain.ModelView.of(model)
    label = model.classes_[0]
    ways = explain.directions(model, X, label=label)
    used = {view.raw_names[j] for j in view.feature_groups[view.terms.uses.any(axis=0)]}
    assert {*ways} == used - {"purpose"}
    for name, way in ways.items():
        values = np.unique(X[name].dropna())
        table = X.iloc[np.repeat(np.arange(len(X)), values.size)].assign(**{name: np.tile(values, len(X))})
        z = view.scores_of(view.rows(table))
        odds = -z[:, 0] if kind == "sigmoid" else z[:, 0] - z.mean(axis=1)
        steps = np.diff(odds.reshape(len(X), -1), axis=1)
        small = 1e-9 * np.abs(steps).max()
        seen = {"increasing": steps.max() > small, "decreasing": steps.min() < -small}
        assert way == ("mixed" if all(seen.values()) else next((w for w, yes in seen.items() if yes), "none"))


def test_a_step_a_hinge_and_a_log_have_one_way(make_raw_model):
    model, X = make_raw_model(0)
    model.equations_ = {"yes": Signomial.parse("[balance > 0.5] - [income above 20] - log(income) + [gap missing]")}
    assert explain.directions(model, X) == {"income": "decreasing", "balance": "increasing", "gap": "none"}
    assert explain.directions(model, X, label="no") == {"income": "increasing", "balance": "decreasing", "gap": "none"}


def test_columns_of_bare_equations_are_found_by_name():
    equation = Signomial.parse("x - y*w**2")
    table = pd.DataFrame({"w": [0.5, 2.0, 1.0], "y": [1.0, -1.0, 3.0], "x": [1.0, 2.0, 3.0]})
    assert explain.directions(equation, table) == {"w": "mixed", "x": "increasing", "y": "decreasing"}
    with pytest.raises(ValueError, match="not a class"):
        explain.directions(
            explain.ModelView.of_equations({"a": equation, "b": equation}, ["w", "x", "y"]), table, label=1
        )
