"""`search`: the paper's way to choose a model, 30 trials of Optuna's TPE sampler compared by cross-validation.

Trial number t draws from a sampler that is seeded by (random_state, t) and sees the t trials before it. So the
trials depend on the data, the options and the seed alone, not on where a search was stopped and taken up again.
"""

from __future__ import annotations

import sys
import time
import warnings
from contextlib import nullcontext
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.metrics import check_scoring

from ecsel.estimators.classifier import ECSELClassifier
from ecsel.estimators.options import check_choice, check_integer, check_number
from ecsel.estimators.progress import ProgressBar
from ecsel.estimators.targets import check_target
from ecsel.tables.reading import read_table
from ecsel.tune.spaces import SPACES
from ecsel.tune.storage import fingerprint, import_optuna, open_study, quiet
from ecsel.tune.validation import Validator, fit_or_stop, make_folds

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    import optuna

    from ecsel.tune.spaces import Space

THRESHOLD = "threshold"
"""The attribute of a trial that holds the threshold that was chosen for it."""


@dataclass(frozen=True, slots=True)
class Search:
    """What a search found.

    Attributes
    ----------
    model
        The best options, fitted on all rows.
    study
        Optuna's study with every trial.
    score
        The cross-validated score of the best trial.
    options
        What was suggested in it, by name.
    refit_seconds
        Seconds of the last fit, on all rows.
    """

    model: ECSELClassifier
    study: optuna.Study = field(repr=False)
    score: float
    options: Mapping[str, Any]
    refit_seconds: float


def search(
    X: Any,
    y: Any,
    *,
    space: str = "benchmark",
    n_trials: int = 30,
    cv: Any = 5,
    scoring: Any = None,
    options: Mapping[str, Any] | None = None,
    storage: Any = None,
    study_name: str = "ecsel",
    timeout: float | None = None,
    random_state: int = 0,
    verbose: int | None = None,
) -> Search:
    """Search one of the paper's spaces and fit the best options on all rows.

    Parameters
    ----------
    X, y
        A table and its classes, as `ECSELClassifier.fit` takes them.
    space : {"benchmark", "shopping", "fraud"}, default="benchmark"
        The paper's search space; see `ecsel.tune.spaces`. The last two are for two classes.
    n_trials : int, default=30
        Trials in all. Those that the storage holds already count.
    cv : int, splitter or list of splits, default=5
        Folds on which a trial is evaluated; a number makes stratified shuffled ones.
    scoring : str or callable, optional
        A scorer of scikit-learn, higher is better. None is the space's own: the weighted F1, or F1 of the second class.
    options : dict, optional
        Further options of `ECSELClassifier`, such as ``{"categorical": ["zip"]}``.
    storage : path, URL or Optuna storage, optional
        Where trials are kept as they finish: ``.db``, ``.sqlite`` and ``.sqlite3`` are SQLite files, any other path is
        a journal file. A search that was killed goes on when it is called again. One process at a time.
    study_name : str, default="ecsel"
        Name of the study in the storage.
    timeout : float, optional
        No trial begins after this many seconds; at least one is made.
    random_state : int, default=0
        Seeds the folds, the sampler and the fits.
    verbose : int, optional
        0 is silent, 1 shows progress on standard error; None shows it on a terminal.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from ecsel import tune
    >>> X, y = load_iris(return_X_y=True, as_frame=True)
    >>> found = tune.search(X[::5], y[::5], n_trials=2, cv=2)  # real searches take more of both
    >>> len(found.study.trials), sorted(found.options)
    (2, ['batch_size', 'epochs', 'l1', 'learning_rate', 'n_terms', 'patience'])
    >>> found.model.predict(X[:1])
    array([0])
    """
    import_optuna()
    check_integer("n_trials", n_trials, least=1)
    check_integer("random_state", random_state, least=0)
    if timeout is not None:
        check_number("timeout", timeout, least=0)
    chosen = SPACES[check_choice("space", space, tuple(SPACES))]
    labels = check_target(ECSELClassifier(), read_table(X).n_rows, y)
    n_classes = len(np.unique(labels))
    if n_classes < 2 or (chosen.chooses_threshold and n_classes > 2):
        needed = "two classes" if chosen.chooses_threshold else "at least two classes"
        raise ValueError(f"space={space!r} needs {needed}, but y has {n_classes}.")
    folds = make_folds(cv, labels, random_state)
    scorer = None if scoring is None else check_scoring(ECSELClassifier(), scoring=scoring)
    validator = Validator(X, labels, folds, scorer, chosen.chooses_threshold)
    more = dict(options or {})
    asked = {
        **fingerprint(X, labels, folds),
        "space": space,
        # the text of a function holds its address, which differs between processes
        "scoring": getattr(scoring, "__qualname__", None) or str(scoring),
        "options": repr(sorted(more.items())),
        "random_state": str(random_state),
    }
    study = open_study(storage, study_name, asked)
    to_options = _complete(chosen, n_classes, more, random_state)
    deadline = np.inf if timeout is None else time.monotonic() + timeout
    is_visible = sys.stderr.isatty() if verbose is None else bool(verbose)
    with quiet(), ProgressBar() if is_visible else nullcontext(_say_nothing) as progress:
        _run_trials(study, validator, to_options, n_trials, deadline, random_state, progress)
    return _refit(study, validator, to_options)


def _say_nothing(share: float, doing: str) -> None:
    """Stand in for a progress bar."""


def _complete(
    space: Space, n_classes: int, more: dict[str, Any], random_state: int
) -> Callable[[optuna.trial.BaseTrial], dict[str, Any]]:
    """Return the map from a trial to all options of the classifier; what the space sets may not be set twice."""

    def to_options(trial: optuna.trial.BaseTrial) -> dict[str, Any]:
        suggested = space.suggest(trial, n_classes)
        twice = sorted(set(suggested) & set(more))
        if twice:
            raise ValueError(f"options sets {twice[0]!r}, which space={space.name!r} sets itself: leave it out.")
        return {**suggested, "random_state": random_state, **more}

    return to_options


def _run_trials(
    study: optuna.Study,
    validator: Validator,
    to_options: Callable[[optuna.trial.BaseTrial], dict[str, Any]],
    n_trials: int,
    deadline: float,
    random_state: int,
    progress: Callable[[float, str], None],
) -> None:
    """Make the trials that are missing; an interrupt keeps those that were finished."""
    optuna = import_optuna()
    done = len(_finished(study))
    while done < n_trials and (done == 0 or time.monotonic() < deadline):
        best = f", best score {study.best_value:.4f}" if done else ""
        progress(done / n_trials, f"trial {done + 1} of {n_trials}{best}")
        seed = int(np.random.SeedSequence([random_state, done]).generate_state(1)[0])
        study.sampler = optuna.samplers.TPESampler(seed=seed)
        trial = study.ask()
        try:
            result = validator.evaluate(to_options(trial))
        except BaseException as error:
            study.tell(trial, state=optuna.trial.TrialState.FAIL)
            if not isinstance(error, KeyboardInterrupt) or not done:
                raise
            warnings.warn(
                f"The search was interrupted after {done} of {n_trials} trials; the best of them is fitted.",
                UserWarning,
                stacklevel=4,
            )
            return
        trial.set_user_attr(THRESHOLD, result.threshold)
        study.tell(trial, result.score)
        done += 1


def _finished(study: optuna.Study) -> list[Any]:
    states = (import_optuna().trial.TrialState.COMPLETE,)
    return list(study.get_trials(deepcopy=False, states=states))


def _refit(
    study: optuna.Study, validator: Validator, to_options: Callable[[optuna.trial.BaseTrial], dict[str, Any]]
) -> Search:
    best = study.best_trial
    options = to_options(import_optuna().trial.FixedTrial(best.params))
    if best.user_attrs[THRESHOLD] is not None:
        options["threshold"] = best.user_attrs[THRESHOLD]
    started = time.perf_counter()
    model = fit_or_stop(ECSELClassifier(**options), validator.X, validator.y)
    return Search(model, study, study.best_value, dict(best.params), time.perf_counter() - started)
