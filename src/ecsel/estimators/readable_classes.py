"""The default classifier: the search for readable equations under the loss of a link, validated on its folds."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from ecsel.estimators.guarantees import slope_signs
from ecsel.estimators.out_of_fold import OutOfFold, Validation, validate
from ecsel.estimators.readable import SearchTask, families, scores_of
from ecsel.estimators.search_columns import allowed_functions
from ecsel.search.losses import Logistic, Softmax
from ecsel.search.rounding import rounded_coefficients
from ecsel.search.search import SearchOptions

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from ecsel.estimators.classifier import ECSELClassifier
    from ecsel.estimators.path import Path
    from ecsel.estimators.readable import AllRows, Searched, SearchReport
    from ecsel.estimators.settings import Settings, ThresholdRule
    from ecsel.estimators.training_rows import TrainingRows
    from ecsel.search.losses import Loss
    from ecsel.search.search import Equations
    from ecsel.signomial import Signomial
    from ecsel.tables import TableEncoder

    Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class ReadableFit:
    """What was found: encoders of the chosen model and of all candidates, equations, path, figures."""

    encoder: TableEncoder
    path_encoder: TableEncoder
    equations: tuple[Signomial, ...]
    path: Path
    near_ties: tuple[int, ...]
    validation: Validation
    report: SearchReport


def class_task(
    model: ECSELClassifier,
    settings: Settings,
    encoder: TableEncoder,
    classes: Sequence[Any],
    class_weights: Floats,
    seed: int,
) -> SearchTask:
    """Return the search that the options of a classifier ask for."""
    labels = tuple(classes)
    loss: Loss = Logistic() if settings.link(len(labels)).has_reference else Softmax(len(labels))
    options = SearchOptions(
        n_terms=settings.n_terms,
        max_terms=model.max_terms,
        max_factors=model.max_factors,
        max_columns=model.max_features,
        digits=model.digits,
        factor_price=0.0 if model.rule == "best" else SearchOptions.factor_price,
        time_limit=settings.time_limit,
        n_threads=settings.n_threads,
        families=families(thresholds=model.thresholds),
    )
    return SearchTask(
        encoder,
        loss,
        options,
        class_weights,
        seed,
        model.cv,
        model.exponent_bounds,
        allowed_functions(model.allowed_exponents),
        lambda wide: slope_signs(model.monotone, wide, labels, loss.n_scores),
        labels,
        bool(model.verbose),
    )


def fit_classes(
    model: ECSELClassifier,
    settings: Settings,
    task: SearchTask,
    rule: ThresholdRule | None,
    rows: TrainingRows,
    everything: AllRows | None = None,
) -> ReadableFit:
    """Search, choose, fit and round; `everything` reads all rows where `rows` are a sample of them."""
    searched = task.run(rows, everything)
    held_out = searched.held_out
    out_of_fold = None
    if held_out is not None:
        codes = searched.used.codes[held_out.places]
        out_of_fold = OutOfFold(held_out.scores, codes, held_out.weights, held_out.sample_weights, held_out.n_folds)
    link = settings.link(len(task.classes))
    validation = validate(out_of_fold, link, rule, calibrate=model.calibrate)
    chosen, raw = searched.chosen, searched.piece_values(searched.chosen)
    if validation.temperature != 1.0:
        chosen = _divided(task, searched, raw, validation.temperature)
    losses = task.loss.values(scores_of(chosen, raw), searched.used.target)
    return ReadableFit(
        *searched.encoders(),
        chosen.signomials(searched.columns),
        searched.path(),
        searched.found.near_ties,
        validation,
        searched.report(float(np.average(losses, weights=searched.weights))),
    )


def _divided(task: SearchTask, searched: Searched, raw: Floats, temperature: float) -> Equations:
    """Return the chosen equations with their scores divided by a temperature, and rounded once more."""
    equations = searched.chosen
    intercepts, coefficients = equations.intercepts / temperature, equations.coefficients / temperature
    if task.options.digits is not None:
        intercepts, coefficients = rounded_coefficients(
            task.loss,
            raw,
            equations.owners,
            searched.used.target,
            searched.weights,
            intercepts,
            coefficients,
            np.zeros(len(coefficients)),
            task.options.digits,
        )
    return replace(equations, intercepts=intercepts, coefficients=coefficients)
