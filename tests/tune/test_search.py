"""Searches are deterministic, judge honestly, and refuse with one clear message."""

import sys

import numpy as np
import optuna
import polars as pl
import pyarrow as pa
import pytest
from sklearn.datasets import load_iris
from sklearn.metrics import f1_score, log_loss
from sklearn.model_selection import StratifiedKFold, cross_val_predict

import ecsel
from ecsel import ECSELClassifier, tune
from ecsel.tune.spaces import SPACES

pytestmark = pytest.mark.filterwarnings("ignore:.*rows lie", "ignore:.*not converged")


def trials(found):
    return [(trial.params, trial.value) for trial in found.study.trials]


def rebuilt(found, space, n_classes):
    """The best options once more, by Optuna's own means."""
    return SPACES[space].suggest(optuna.trial.FixedTrial(found.options), n_classes) | {"random_state": 0}


def test_the_same_seed_finds_the_same_and_another_seed_does_not(table):
    first = tune.search(*table, space="shopping", n_trials=3, cv=2)
    again = tune.search(*table, space="shopping", n_trials=3, cv=2)
    other = tune.search(*table, space="shopping", n_trials=3, cv=2, random_state=1)
    assert trials(first) == trials(again)
    assert first.model.equations_ == again.model.equations_
    assert trials(first) != trials(other)


def test_frames_of_another_library_give_the_same_trials(table):
    X, y = table
    ours = tune.search(X, y, space="shopping", n_trials=2, cv=2)
    for frame in (pl.from_pandas(X), pa.Table.from_pandas(X)):
        theirs = tune.search(frame, y.tolist(), space="shopping", n_trials=2, cv=2)
        assert trials(ours) == trials(theirs)


def test_the_score_is_the_weighted_f1_of_scikit_learns_own_cross_validation():
    X, y = load_iris(return_X_y=True)
    X, y = X[::4], y[::4]
    found = tune.search(X, y, n_trials=2, cv=3)
    folds = StratifiedKFold(3, shuffle=True, random_state=0)
    predicted = cross_val_predict(ECSELClassifier(**rebuilt(found, "benchmark", 3)), X, y, cv=folds)
    assert found.score == pytest.approx(f1_score(y, predicted, average="weighted"), abs=1e-12)
    assert found.score == max(value for _, value in trials(found))
    refit = ECSELClassifier(**rebuilt(found, "benchmark", 3)).fit(X, y)
    assert refit.equations_ == found.model.equations_
    assert found.refit_seconds > 0


def test_the_threshold_is_the_best_for_f1_on_rows_that_were_not_trained_on(table):
    X, y = table
    found = tune.search(X, y, space="fraud", n_trials=2, cv=3)
    folds = StratifiedKFold(3, shuffle=True, random_state=0)
    model = ECSELClassifier(**rebuilt(found, "fraud", 2))
    p = cross_val_predict(model, X, y, cv=folds, method="predict_proba")[:, 1]
    every = [f1_score(y == "yes", p >= cut, zero_division=0) for cut in np.unique(p)]
    assert found.score == pytest.approx(max(every), abs=1e-12)
    assert f1_score(y == "yes", p >= found.model.threshold_) == pytest.approx(found.score, abs=1e-12)


def test_a_scorer_of_scikit_learn_and_explicit_splits(table):
    X, y = table
    splits = list(StratifiedKFold(2, shuffle=True, random_state=5).split(X, y))
    found = tune.search(X, y, space="shopping", n_trials=1, cv=splits, scoring="neg_log_loss")
    model = ECSELClassifier(**rebuilt(found, "shopping", 2))
    losses = [
        log_loss(y[test], model.fit(X.iloc[train], y[train]).predict_proba(X.iloc[test])) for train, test in splits
    ]
    assert found.score == pytest.approx(-np.mean(losses), abs=1e-12)
    assert found.model.threshold_ == 0.5


def test_further_options_reach_the_classifier(table):
    found = tune.search(*table, space="shopping", n_trials=1, cv=2, options={"missing": "error"})
    assert found.model.missing == "error"


def test_time_ends_a_search_after_at_least_one_trial(table):
    assert len(trials(tune.search(*table, space="shopping", n_trials=50, cv=2, timeout=0))) == 1


def test_an_interrupt_keeps_the_best_of_the_finished_trials(table, monkeypatch):
    fit, calls = ECSELClassifier.fit, []

    def interrupted(self, X, y):
        calls.append(1)
        if len(calls) == 4:  # the second fold of the second trial
            raise KeyboardInterrupt
        return fit(self, X, y)

    monkeypatch.setattr(ECSELClassifier, "fit", interrupted)
    with pytest.warns(UserWarning, match="interrupted after 1 of 9 trials"):
        found = tune.search(*table, space="shopping", n_trials=9, cv=2)
    assert [trial.state.name for trial in found.study.trials] == ["COMPLETE", "FAIL"]
    assert found.model.predict(table[0]).shape == (80,)


class Terminal:
    """A standard error that is a terminal."""

    def __init__(self):
        self.text = ""

    def isatty(self):
        return True

    def write(self, text):
        self.text += text

    def flush(self):
        pass


def test_progress_is_shown_on_a_terminal_and_nowhere_else(table, monkeypatch, capsys):
    tune.search(*table, space="shopping", n_trials=2, cv=2)
    assert capsys.readouterr().err == ""
    tune.search(*table, space="shopping", n_trials=2, cv=2, verbose=1)
    assert "trial 2 of 2, best score" in capsys.readouterr().err
    monkeypatch.setattr(sys, "stderr", terminal := Terminal())
    tune.search(*table, space="shopping", n_trials=2, cv=2)
    assert "trial 2 of 2, best score" in terminal.text
    assert "100 %" in terminal.text
    printed = len(terminal.text)
    tune.search(*table, space="shopping", n_trials=2, cv=2, verbose=0)
    assert len(terminal.text) == printed


def test_optunas_own_verbosity_is_left_as_it_was(table):
    before = optuna.logging.get_verbosity()
    tune.search(*table, space="shopping", n_trials=1, cv=2)
    assert optuna.logging.get_verbosity() == before


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"space": "credit"}, "space='credit' is not known: use one of 'benchmark', 'shopping', 'fraud'"),
        ({"n_trials": 0}, "n_trials=0 must be a whole number of at least 1"),
        ({"random_state": None}, "random_state=None must be a whole number"),
        ({"timeout": -1}, "timeout=-1 must be a finite number"),
        ({"cv": 1}, "cv=1 must be a whole number of at least 2"),
        ({"cv": 60}, "cv=60 needs 60 rows of every class, but "),
        ({"cv": []}, "cv gives no splits"),
        ({"options": {"l1": 0.1}}, "options sets 'l1', which space='benchmark' sets itself"),
        ({"storage": 3.5}, "storage=3.5 must be a path"),
        ({"storage": "nowhere/at/all.db"}, "the folder 'nowhere/at' does not exist"),
    ],
)
def test_what_cannot_be_is_refused_by_name(table, options, message):
    with pytest.raises((ValueError, TypeError, FileNotFoundError), match=message.replace("(", r"\(")):
        tune.search(*table, **options)


def test_classes_that_do_not_suit_are_refused(table):
    X, y = table
    with pytest.raises(ValueError, match="space='fraud' needs two classes, but y has 3"):
        tune.search(X, np.arange(80) % 3, space="fraud")
    with pytest.raises(ValueError, match="space='benchmark' needs at least two classes, but y has 1"):
        tune.search(X, np.zeros(80))
    order = np.argsort(y)
    with pytest.raises(ValueError, match="cv: split 0 trains on no row of class 'yes'"):
        tune.search(X, y, cv=[(order[:20], order[20:])])


def test_without_optuna_the_extra_is_named(table, monkeypatch):
    monkeypatch.setitem(sys.modules, "optuna", None)
    with pytest.raises(ImportError, match=r'ecsel\.tune needs Optuna: pip install "ecsel\[tune\]"'):
        tune.search(*table)
    assert ecsel.tune is tune
