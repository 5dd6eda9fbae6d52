"""The spaces are the paper's tables, line by line."""

import optuna
import pytest
from optuna.distributions import CategoricalDistribution as Choice
from optuna.distributions import FloatDistribution as Float
from optuna.distributions import IntDistribution as Int

from ecsel.fitting import Adam
from ecsel.tune import SPACES

RATE, L1 = Float(1e-4, 1e-2, log=True), Float(1e-4, 1e-2, log=True)
EXPECTED = {
    "benchmark": {
        "n_terms": Int(1, 3),
        "l1": L1,
        "batch_size": Choice([32, 64, 128]),
        "learning_rate": RATE,
        "epochs": Int(800, 1000),
        "patience": Choice([20, 50]),
        "link": Choice(["sigmoid", "softmax"]),
        "threshold": Choice([0.4, 0.5, 0.6, 0.7]),
    },
    "shopping": {
        "l1": L1,
        "class_weight": Float(0.01, 0.91, step=0.1),
        "learning_rate": Float(1e-5, 1e-2, log=True),
        "batch_size": Choice([128, 256]),
        "epochs": Int(100, 200, step=25),
        "patience": Int(25, 70),
    },
    "fraud": {
        "n_terms": Int(1, 2),
        "l1": L1,
        "class_weight": Float(0.3, 1.0, step=0.1),
        "learning_rate": RATE,
        "batch_size": Choice([512, 1024]),
        "epochs": Int(150, 250, step=25),
    },
}


def suggested(name, n_classes, n_trials=20):
    study = optuna.create_study(sampler=optuna.samplers.RandomSampler(seed=0))
    options = []
    for _ in range(n_trials):
        trial = study.ask()
        options.append(SPACES[name].suggest(trial, n_classes))
        study.tell(trial, 0.0)
    ranges = {}
    for trial in study.trials:
        ranges |= trial.distributions
    return ranges, options


@pytest.mark.parametrize("name", EXPECTED)
def test_every_range_is_the_papers(name):
    ranges, options = suggested(name, 2)
    assert ranges == EXPECTED[name]
    for option in options:
        assert (option["penalty"], option["scaling"], option["fit_intercept"]) == ("paper", "minmax", False)
        assert isinstance(option["solver"], Adam)
        assert option["solver"].restarts == 1
        assert option["solver"].clip_norm == 1.0


def test_the_threshold_belongs_to_the_sigmoid_and_the_sigmoid_to_two_classes():
    _, two = suggested("benchmark", 2)
    assert {option["link"] for option in two} == {"sigmoid", "softmax"}
    assert all(("threshold" in option) == (option["link"] == "sigmoid") for option in two)
    ranges, three = suggested("benchmark", 3)
    assert {option["link"] for option in three} == {"softmax"}
    assert not {"link", "threshold"} & set(ranges)


def test_the_case_studies_fix_what_the_paper_fixes():
    assert {option["n_terms"] for option in suggested("shopping", 2)[1]} == {1}
    assert {option["solver"].patience for option in suggested("fraud", 2)[1]} == {25}
    assert [space.chooses_threshold for space in SPACES.values()] == [False, True, True]
