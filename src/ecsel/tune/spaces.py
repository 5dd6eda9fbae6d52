"""The paper's three search spaces, as functions from an Optuna trial to options of `ECSELClassifier`.

=============  ======================  ===========================  ==========================
               benchmark               shopping                     fraud
=============  ======================  ===========================  ==========================
terms          1 to 3                  1                            1 or 2
l1             1e-4 to 1e-2, log       1e-4 to 1e-2, log            1e-4 to 1e-2, log
class weight   none                    0.01 to 0.91, step 0.1         0.3 to 1, step 0.1
learning rate  1e-4 to 1e-2, log       1e-5 to 1e-2, log            1e-4 to 1e-2, log
batch size     32, 64, 128             128, 256                     512, 1024
epochs         800 to 1000             100 to 200, step 25          150 to 250, step 25
patience       20, 50                  25 to 70                     25
link           sigmoid or softmax      sigmoid                      sigmoid
threshold      0.4, 0.5, 0.6, 0.7      chosen for F1                chosen for F1
=============  ======================  ===========================  ==========================

In all of them the trainer is Adam with one start, the penalty the paper's, the features are mapped to [1, 10], and
scores have no constant. The benchmark's link and threshold are searched for two classes only, the threshold with the
sigmoid only; more classes have the softmax. The class weight multiplies the balanced weight of the rarest class.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ecsel.fitting import Adam
from ecsel.signomial.links import LINKS

if TYPE_CHECKING:
    from collections.abc import Callable

    from optuna.trial import BaseTrial

Options = dict[str, Any]
PAPER: Options = {"penalty": "paper", "scaling": "minmax", "fit_intercept": False, "two_sided": False}
"""What no trial changes."""


@dataclass(frozen=True, slots=True)
class Space:
    """A search space.

    Attributes
    ----------
    name
        Its name.
    suggest
        From a trial and the number of classes to options of `ECSELClassifier`.
    chooses_threshold
        Whether a model decides at the threshold that is best for F1 of the second class on rows it was not trained
        on. Such a space is for two classes, and its score is that F1; otherwise the score is the weighted F1.

    Examples
    --------
    >>> from ecsel.tune import SPACES
    >>> sorted(SPACES) == sorted(space.name for space in SPACES.values())
    True
    """

    name: str
    suggest: Callable[[BaseTrial, int], Options]
    chooses_threshold: bool


def _benchmark(trial: BaseTrial, n_classes: int) -> Options:
    options: Options = {
        "n_terms": trial.suggest_int("n_terms", 1, 3),
        "l1": trial.suggest_float("l1", 1e-4, 1e-2, log=True),
        "solver": Adam(
            batch_size=trial.suggest_categorical("batch_size", [32, 64, 128]),
            learning_rate=trial.suggest_float("learning_rate", 1e-4, 1e-2, log=True),
            epochs=trial.suggest_int("epochs", 800, 1000),
            patience=trial.suggest_categorical("patience", [20, 50]),
            restarts=1,
        ),
        "link": "softmax",
    }
    if n_classes == 2:
        options["link"] = trial.suggest_categorical("link", ["sigmoid", "softmax"])
    if LINKS[options["link"]].has_reference:
        options["threshold"] = trial.suggest_categorical("threshold", [0.4, 0.5, 0.6, 0.7])
    return PAPER | options


def _shopping(trial: BaseTrial, _: int) -> Options:
    return PAPER | {
        "n_terms": 1,
        "l1": trial.suggest_float("l1", 1e-4, 1e-2, log=True),
        "class_weight": trial.suggest_float("class_weight", 0.01, 0.91, step=0.1),
        "solver": Adam(
            learning_rate=trial.suggest_float("learning_rate", 1e-5, 1e-2, log=True),
            batch_size=trial.suggest_categorical("batch_size", [128, 256]),
            epochs=trial.suggest_int("epochs", 100, 200, step=25),
            patience=trial.suggest_int("patience", 25, 70),
            restarts=1,
        ),
        "link": "sigmoid",
    }


def _fraud(trial: BaseTrial, _: int) -> Options:
    return PAPER | {
        "n_terms": trial.suggest_int("n_terms", 1, 2),
        "l1": trial.suggest_float("l1", 1e-4, 1e-2, log=True),
        "class_weight": trial.suggest_float("class_weight", 0.3, 1.0, step=0.1),
        "solver": Adam(
            learning_rate=trial.suggest_float("learning_rate", 1e-4, 1e-2, log=True),
            batch_size=trial.suggest_categorical("batch_size", [512, 1024]),
            epochs=trial.suggest_int("epochs", 150, 250, step=25),
            patience=25,
            restarts=1,
        ),
        "link": "sigmoid",
    }


SPACES = {
    space.name: space
    for space in (
        Space("benchmark", _benchmark, chooses_threshold=False),
        Space("shopping", _shopping, chooses_threshold=True),
        Space("fraud", _fraud, chooses_threshold=True),
    )
}
"""The paper's spaces by name."""
