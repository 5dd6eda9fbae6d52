"""What models that have not seen a row say of it: temperature, threshold and quality, out of fold.

The chosen model is fitted anew on the training part of every fold and scores the part that was held out. On these
scores z

    temperature   the T > 0 that minimises the log-loss of z/T, under the weights of the fit
    threshold     the cut of the probabilities of z/T that is best under the user's rule, under the sample weights
    quality       all measures of the probabilities of z/T and of the decisions, under the sample weights

Class weights are part of the fit and of the temperature, since they say for which population probabilities are meant;
decisions and quality are about the rows as they are.
"""

from __future__ import annotations

import sys
import warnings
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from ecsel.estimators.folds import fold_rows, is_count
from ecsel.fitting import Status
from ecsel.fitting.fit import PowerLaws, score_laws
from ecsel.quality import Quality, fit_temperature, measure
from ecsel.quality.calibration import LARGEST_TEMPERATURE, log_loss
from ecsel.quality.thresholds import RULES, best_cut, saving

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ecsel.estimators.classifier import ECSELClassifier
    from ecsel.estimators.folds import FoldedRows
    from ecsel.estimators.settings import ThresholdRule
    from ecsel.estimators.training import Train
    from ecsel.fitting import FitResult
    from ecsel.fitting.rows.merging import Rows
    from ecsel.signomial.links import Link

    Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class OutOfFold:
    """Scores (rows, scores) of held-out rows, with their classes, weights of the fit and sample weights.

    A row held out twice counts half.
    """

    scores: Floats
    codes: NDArray[np.intp]
    weights: Floats
    sample_weights: Floats
    n_folds: int


@dataclass(frozen=True, slots=True)
class Validation:
    """What the folds decided and measured; without folds nothing was measured."""

    temperature: float = 1.0
    threshold: float | None = None
    quality: Quality | None = None
    n_folds: int = 0

    @classmethod
    def unseen(cls, rule: ThresholdRule | None) -> Validation:
        """Return what holds without folds: a given threshold, or one half for a rule that could not be applied."""
        return cls(threshold=rule if rule is None or isinstance(rule, float) else 0.5)


def validate(held_out: OutOfFold | None, link: Link, rule: ThresholdRule | None, *, calibrate: bool) -> Validation:
    """Return temperature, threshold and quality of held-out scores."""
    if held_out is None:
        return Validation.unseen(rule)
    codes, weights = held_out.codes, held_out.weights
    temperature = fit_temperature(held_out.scores, codes, weights) if calibrate else 1.0
    if temperature >= LARGEST_TEMPERATURE:
        warnings.warn(
            f"calibrate: the temperature reached its limit of {LARGEST_TEMPERATURE:g}, since the fits of the folds are "
            "far too sure of rows that they had not seen. Raise l1, or lower n_terms.",
            UserWarning,
            stacklevel=3,
        )
    z = held_out.scores / temperature
    plain = held_out.sample_weights
    p = link.outputs(z)
    threshold = None if rule is None else _threshold(codes, p[:, 1], rule, plain)
    decided = p.argmax(axis=1) if threshold is None else (p[:, 1] >= threshold).astype(np.intp)
    quality = measure(codes, p, decided, plain, log_loss(z, codes, plain))
    return Validation(temperature, threshold, quality, held_out.n_folds)


def out_of_fold(folded: FoldedRows, train: Train, class_weights: Floats, *, tell: bool = False) -> OutOfFold | None:
    """Fit every training part and score its held-out rows; None where an interrupt came before the first was done.

    An interrupt keeps what the finished folds say.
    """
    logs, codes, weights = folded.rows
    covered = np.sum([held for _, held in folded.folds], axis=0)
    parts = []
    for i, (fitted, held) in enumerate(folded.folds):
        if tell:
            sys.stderr.write(f"out of fold: fold {i + 1} of {len(folded.folds)}\n")
        seen, unseen = np.flatnonzero(fitted), np.flatnonzero(held)
        result = train((np.take(logs, seen, axis=1), codes[seen], fitted[seen]))
        if result.report.status is Status.INTERRUPTED:
            warnings.warn(
                f"The fit was interrupted after {i} of {len(folded.folds)} folds; temperature, threshold and quality "
                + ("rest on these." if i else "were not determined."),
                UserWarning,
                stacklevel=4,
            )
            break
        share = held[unseen] * weights[unseen] / covered[unseen]
        parts.append((score_laws(result.laws, logs[:, unseen]).T, codes[unseen].astype(np.intp), share))
    if not parts:
        return None
    scores, classes, shares = (np.concatenate(each) for each in zip(*parts, strict=True))
    return OutOfFold(scores, classes, shares, shares * folded.thinning / class_weights[classes], len(parts))


OVERFITTED = (
    "With n_terms={n_terms} and l1={l1:g} rows that the fit has not seen are predicted worse than by the shares of the "
    "classes alone: raise l1, lower n_terms, or leave both out for the search."
)
WIDE, RISKY = 50, 10
"""Fits of at least so many features with fewer rows than this for each number are tried on rows they have not seen."""


def is_overfitted(model: ECSELClassifier, result: FitResult, rows: Rows, class_weights: Floats, train: Train) -> bool:
    """Whether one fold of held-out rows is predicted worse than by the shares of the classes; asked only if risky."""
    laws = result.laws
    n_numbers = np.count_nonzero(laws.coefficients) + np.count_nonzero(laws.exponents)
    n_rows = len(rows[1])
    risky = len(rows[0]) >= WIDE and n_numbers * RISKY > n_rows
    if not risky or result.report.status is Status.INTERRUPTED or not is_count(model.cv):
        return False
    folded = fold_rows(model.cv, rows, (rows, np.empty(0)), class_weights, seed=0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of a trial; the fit itself has warned where it had to
        held = out_of_fold(replace(folded, folds=folded.folds[:1]), train, class_weights)
    if held is None:
        return False
    shares = np.bincount(held.codes, held.sample_weights, minlength=len(class_weights)) / held.sample_weights.sum()
    entropy = -float(np.sum(shares[shares > 0] * np.log(shares[shares > 0])))
    return log_loss(held.scores, held.codes, held.sample_weights) > entropy


def _threshold(codes: NDArray[np.intp], p: Floats, rule: ThresholdRule, weights: Floats) -> float:
    if isinstance(rule, float):
        return rule
    if len(np.unique(codes)) < 2:
        raise ValueError("threshold: the validation folds hold rows of one class only; give other folds by cv=.")
    return best_cut(codes, p, RULES[rule] if isinstance(rule, str) else saving(rule), weights)


def scaled_by_temperature(laws: PowerLaws, temperature: float) -> PowerLaws:
    """Return the power laws of z/T: the temperature is folded into the coefficients."""
    return PowerLaws(laws.intercepts / temperature, laws.coefficients / temperature, laws.exponents)
