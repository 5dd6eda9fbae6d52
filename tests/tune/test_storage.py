"""A search that was killed goes on: nothing is lost, nothing is done twice, and the result is that of one sitting."""

import signal
import subprocess
import sys

import optuna
import pytest

from ecsel import tune

pytestmark = pytest.mark.filterwarnings("ignore:.*rows lie", "ignore:.*not converged")

SCRIPT = """
import sys
import optuna
import pandas as pd
from ecsel import tune
tell = optuna.Study.tell
def tell_and_print(*arguments, **options):
    frozen = tell(*arguments, **options)
    print("a trial is stored", flush=True)
    return frozen
optuna.Study.tell = tell_and_print
frame = pd.read_csv(sys.argv[1])
tune.search(frame[["a", "b", "c"]], frame["y"], space="shopping", n_trials=200, cv=2, storage=sys.argv[2])
"""


def complete(study):
    return [(t.params, t.value) for t in study.trials if t.state.name == "COMPLETE"]


@pytest.mark.parametrize("name", ["search.db", "search.journal"])
def test_two_sittings_equal_one(table, tmp_path, name):
    options = {"space": "shopping", "cv": 2}
    first = complete(tune.search(*table, n_trials=2, storage=tmp_path / name, **options).study)
    second = tune.search(*table, n_trials=4, storage=str(tmp_path / name), **options)
    third = tune.search(*table, n_trials=3, storage=tmp_path / name, **options)
    whole = tune.search(*table, n_trials=4, **options)
    assert complete(second.study)[:2] == first
    assert complete(second.study) == complete(whole.study) == complete(third.study)
    assert second.model.equations_ == whole.model.equations_
    assert second.model.threshold_ == whole.model.threshold_


def test_a_killed_search_goes_on_where_it_was(table, tmp_path):
    X, y = table
    X.assign(y=y).to_csv(tmp_path / "table.csv", index=False)
    storage = tmp_path / "search.db"
    command = [sys.executable, "-c", SCRIPT, str(tmp_path / "table.csv"), str(storage)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        stored = [process.stdout.readline() for _ in range(2)]
        process.send_signal(signal.SIGKILL)
    assert stored == ["a trial is stored\n"] * 2
    at_death = complete(optuna.load_study(study_name="ecsel", storage=f"sqlite:///{storage}"))
    assert len(at_death) >= 2
    n_trials = len(at_death) + 2
    assert n_trials < 200
    resumed = tune.search(X, y, space="shopping", n_trials=n_trials, cv=2, storage=storage)
    whole = tune.search(X, y, space="shopping", n_trials=n_trials, cv=2)
    assert complete(resumed.study)[: len(at_death)] == at_death
    assert complete(resumed.study) == complete(whole.study)
    assert not [t for t in resumed.study.trials if t.state.name == "RUNNING"]
    assert resumed.model.equations_ == whole.model.equations_


def test_a_scoring_function_is_known_again_by_its_name(table, tmp_path):
    def accuracy(model, X, y):
        return float((model.predict(X) == y).mean())

    first = accuracy

    def accuracy(model, X, y):  # another object, as another process would have it
        return float((model.predict(X) == y).mean())

    options = {"space": "shopping", "cv": 2, "storage": tmp_path / "search.db"}
    tune.search(*table, n_trials=1, scoring=first, **options)
    assert len(complete(tune.search(*table, n_trials=2, scoring=accuracy, **options).study)) == 2


def test_another_question_is_refused(table, tmp_path):
    X, y = table
    storage = tmp_path / "search.db"
    tune.search(X, y, space="shopping", n_trials=1, cv=2, storage=storage)
    with pytest.raises(ValueError, match="'ecsel' in this storage was begun with another cv, random_state"):
        tune.search(X, y, space="shopping", n_trials=1, cv=2, storage=storage, random_state=1)
    with pytest.raises(ValueError, match="another data"):
        tune.search(X.assign(b=X["b"] ** 2), y, space="shopping", n_trials=1, cv=2, storage=storage)
    with pytest.raises(ValueError, match="another space"):
        tune.search(X, y, space="fraud", n_trials=1, cv=2, storage=storage)
    other = tune.search(X, y, space="fraud", n_trials=1, cv=2, storage=storage, study_name="fraud")
    assert len(other.study.trials) == 1


def test_a_study_of_another_program_is_left_alone(table, tmp_path):
    storage = f"sqlite:///{tmp_path / 'other.db'}"
    optuna.create_study(storage=storage, study_name="ecsel").optimize(lambda trial: trial.suggest_float("x", 0, 1), 1)
    with pytest.raises(ValueError, match=r"not made by ecsel\.tune"):
        tune.search(*table, n_trials=1, storage=storage)
