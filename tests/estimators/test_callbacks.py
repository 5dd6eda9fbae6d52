"""scikit-learn's callbacks hear of a fit: from its beginning to its end, a step for each per cent, nothing twice."""

import numpy as np
import pandas as pd
import pytest
import sklearn
from sklearn.model_selection import GridSearchCV
from sklearn.utils.fixes import parse_version

from ecsel import ECSELClassifier, ECSELRegressor

if parse_version(sklearn.__version__) < parse_version("1.9"):
    pytest.skip("scikit-learn has callbacks from version 1.9 on", allow_module_level=True)

from sklearn.callback import ProgressBar


class Diary:
    """A callback that writes down what it hears; scikit-learn knows callbacks by their methods."""

    max_propagation_depth = 1

    def __init__(self):
        self.heard = []

    def setup(self, estimator, context):  # noqa: ARG002
        self.heard.append(("setup", type(estimator).__name__))

    def on_fit_task_begin(self, estimator, context):  # noqa: ARG002
        self.heard.append(("begin", context.task_name))

    def on_fit_task_end(self, estimator, context, *, fitted_estimator=None):  # noqa: ARG002
        self.heard.append(("end", context.task_name))
        if fitted_estimator is not None:
            self.fitted = fitted_estimator

    def teardown(self, estimator, context):  # noqa: ARG002
        self.heard.append(("teardown", type(estimator).__name__))


@pytest.fixture(scope="module")
def rows():
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.lognormal(size=(200, 3)), columns=["a", "b", "c"])
    return X, (np.log(X["a"]) + rng.logistic(size=200) * 0.3 > 0).astype(int)


ESTIMATORS = [
    ECSELClassifier(max_factors=2, cv=3),
    ECSELClassifier(n_terms=1, l1=0.01),
    ECSELRegressor(criterion="prediction", max_factors=2, cv=3),
    ECSELRegressor(max_terms=1),
]


@pytest.mark.parametrize("estimator", ESTIMATORS, ids=["search", "paper", "prediction", "law"])
def test_a_fit_is_a_hundred_steps(estimator, rows):
    X, y = rows
    y = y if isinstance(estimator, ECSELClassifier) else 2 * X["a"] ** 2
    plain = sklearn.clone(estimator).fit(X, y)
    diary = Diary()
    model = sklearn.clone(estimator).set_callbacks(diary).fit(X, y)
    name = type(estimator).__name__
    assert diary.heard[:2] == [("setup", name), ("begin", "fit")]
    assert diary.heard[-2:] == [("end", "fit"), ("teardown", name)]
    steps = diary.heard[2:-2]
    assert [kind for kind, _ in steps] == ["begin", "end"] * 100
    assert all(task for _, task in steps)
    np.testing.assert_array_equal(model.predict(X), plain.predict(X))
    np.testing.assert_array_equal(diary.fitted.predict(X), plain.predict(X))
    assert str(model.set_callbacks().fit(X, y).predict(X)) == str(plain.predict(X))  # and no longer a word
    assert len(diary.heard) == 204


def test_a_fit_that_fails_is_torn_down(rows):
    diary = Diary()
    with pytest.raises(ValueError, match="max_factors"):
        ECSELClassifier(max_factors=0).set_callbacks(diary).fit(*rows)
    assert diary.heard[0][0] == "setup"
    assert diary.heard[-1][0] == "teardown"
    assert ("end", "fit") not in diary.heard


@pytest.mark.filterwarnings("ignore:.*rows lie:UserWarning")
def test_a_search_over_options_passes_callbacks_on(rows):
    diary = Diary()
    search = GridSearchCV(ECSELClassifier(cv=3), {"max_factors": [1, 2]}, cv=2).set_callbacks(diary)
    search.fit(*rows)
    assert [each for each in diary.heard if each[0] == "setup"] == [("setup", "GridSearchCV")]
    assert len([each for each in diary.heard if each == ("begin", "fit")]) >= 5  # two options, two folds, and the best


def test_progress_bar(rows, capsys):
    model = ECSELClassifier(max_factors=2, cv=3).set_callbacks(ProgressBar()).fit(*rows)
    assert "100%" in "".join(capsys.readouterr())
    assert model.equations_


@pytest.mark.filterwarnings("default")
def test_warnings_of_a_fit_point_at_the_line_that_called_it(rows):
    X, y = rows
    with pytest.warns(UserWarning, match="protected attribute") as reported:
        ECSELClassifier(max_factors=1, cv=2).fit(X.assign(age=X["b"]), y)
    assert {each.filename for each in reported} == {__file__}
    with pytest.warns(UserWarning, match="protected attribute") as reported:
        ECSELRegressor(criterion="prediction", max_factors=1, cv=2).fit(X.assign(age=X["b"]), X["a"])
    assert {each.filename for each in reported} == {__file__}
