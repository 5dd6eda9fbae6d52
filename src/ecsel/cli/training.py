"""The work of `ecsel fit`: judged on held-out rows beside its rivals, then fitted once more on all rows.

The held-out quality is that of a model whose every choice (columns, pieces, size) was made without the held-out
rows. The model that is kept is fitted in the same way on all rows, since more rows make a better one; what it says of
itself out of fold is in its file.
"""

from __future__ import annotations

import warnings
from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from ecsel.cli.drivers import Driver, strongest_drivers
from ecsel.cli.rivals import rival_frame, rival_threshold, rivals, size_of
from ecsel.explain.view import ModelView

if TYPE_CHECKING:
    from collections.abc import Callable

    from ecsel.cli.preparing import Prepared

N_BOOTSTRAP = 20
MAX_BOOTSTRAP_WORK = 1_000_000
"""Rows times parameters up to which the stability is looked into: beyond, it would take longer than the fit."""

STEADY_USE, STEADY_SIGN = 0.5, 0.9
"""A column is called unstable if fewer draws use it, or fewer of those agree on its sign."""


@dataclass(frozen=True, slots=True)
class ClassQuality:
    """How good a classifier is on held-out rows; `rarest` is the class with the fewest of them."""

    model: str
    accuracy: float
    log_loss: float
    auc: float | None
    rarest: Any
    rarest_recall: float
    numbers: int | None
    threshold: float | None = None
    """Of two classes the probability from which the second is predicted."""


@dataclass(frozen=True, slots=True)
class ValueQuality:
    """How good a regression is on held-out rows."""

    model: str
    r2: float
    rmse: float
    mae: float
    numbers: int | None


@dataclass(frozen=True, slots=True)
class Training:
    """Everything that a fit found."""

    prepared: Prepared
    model: Any
    n_held_out: int
    qualities: tuple[ClassQuality | ValueQuality, ...]
    drivers: tuple[Driver, ...]
    unstable: tuple[str, ...]

    def quality_documents(self) -> list[dict[str, Any]]:
        """Return the qualities as plain values."""
        return [asdict(quality) for quality in self.qualities]


def train(
    prepared: Prepared,
    build: Callable[[], Any],
    *,
    share: float,
    seed: int,
    begin: Callable[[str], None],
    choose: Callable[[Any], Any],
    whole: Callable[[Any], Any] | None = None,
) -> Training:
    """Fit, judge and look into a model; `build` makes it, unfitted, and `begin` is called with the name of every stage.

    `choose` takes a fitted model and returns it, or another of its candidates. Where the rows are a sample of a larger
    table, `whole` fits the model that is kept to all of it.
    """
    X, y, outcomes = prepared.X, prepared.y, prepared.outcomes
    classification = prepared.task.kind == "classification"
    kept, held = hold_out(prepared.codes if classification else None, len(y), share, seed)
    qualities: tuple[ClassQuality | ValueQuality, ...] = ()
    if held.size:
        begin(f"fitting {kept.size} rows to judge the model on the other {held.size}")
        trial = choose(build().fit(X.iloc[kept], outcomes[kept]))
        begin("fitting the models to compare with")
        beside = rivals(prepared.task.kind, prepared.plain.iloc[kept], prepared.codes[kept])
        judge = _judge_classes if classification else _judge_values
        with warnings.catch_warnings():
            # held-out rows may lie a little outside the range of the others; that is part of the judgement
            warnings.simplefilter("ignore", UserWarning)
            qualities = judge(prepared, trial, beside, kept, held)
    begin(f"fitting all {len(y)} rows" if whole is None else "fitting all rows of the file")
    model = choose(build().fit(X, outcomes) if whole is None else whole(build()))
    begin("looking into the model")
    unstable = unstable_columns(model, X, y, seed) if classification else unstable_exponents(model)
    drivers = strongest_drivers(model, ModelView.of(model).plain(X), seed=seed)
    return Training(prepared, model, held.size, qualities, drivers, unstable)


STAGES = 4


def hold_out(
    codes: np.ndarray[Any, Any] | None, n: int, share: float, seed: int
) -> tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]:
    """Return the rows to fit and those to judge by, each class in proportion; a class of one row is fitted.

    >>> kept, held = hold_out(np.array([0] * 8 + [1] * 4 + [2]), 13, 0.25, 0)
    >>> len(kept), [int(i) // 8 for i in held]
    (10, [0, 0, 1])
    """
    rng = np.random.default_rng(seed)
    groups = [np.arange(n)] if codes is None else [np.flatnonzero(codes == c) for c in np.unique(codes)]
    held = [rng.permutation(rows)[: min(round(share * rows.size), rows.size - 1)] for rows in groups]
    judged = np.sort(np.concatenate(held))
    return np.setdiff1d(np.arange(n), judged), judged


def n_numbers(model: Any) -> int:
    """Return of how many numbers the equations are made: coefficients, exponents other than 1, shifts."""
    equations = model.equations_.values() if hasattr(model, "equations_") else (model.equation_,)
    terms = [term for equation in equations for term in equation.terms]
    factors = [factor for term in terms for factor in term.factors]
    return len(terms) + sum(int(f.exponent != 1) + int(f.shift != 0) for f in factors)


def _judge_classes(
    prepared: Prepared, model: Any, beside: dict[str, Any], kept: np.ndarray[Any, Any], held: np.ndarray[Any, Any]
) -> tuple[ClassQuality, ...]:
    X, codes = prepared.X.iloc[held], prepared.codes[held]
    labels = list(prepared.classes)
    places = [labels.index(label) for label in model.classes_.tolist()]
    p = np.zeros((len(held), len(labels)))
    p[:, places] = model.predict_proba(X)
    decided = np.array([labels.index(label) for label in model.predict(X).tolist()])
    found = [replace(_class_quality("ECSEL", labels, codes, p, decided, n_numbers(model)), threshold=model.threshold_)]
    frame = rival_frame(prepared.plain.iloc[held])
    for name, rival in beside.items():
        p = rival.predict_proba(frame)
        decided, threshold = p.argmax(axis=1), None
        if model.threshold_ is not None and p.shape[1] == 2:  # the same rule for everybody, or the figures mislead
            threshold = rival_threshold(model.threshold, rival, prepared.plain.iloc[kept], prepared.codes[kept])
            decided = (p[:, 1] >= threshold).astype(np.intp)
        quality = _class_quality(name, labels, codes, p, decided, size_of(rival))
        found.append(replace(quality, threshold=threshold))
    return tuple(found)


def _class_quality(
    name: str,
    labels: list[Any],
    codes: np.ndarray[Any, Any],
    p: np.ndarray[Any, Any],
    decided: np.ndarray[Any, Any],
    numbers: int | None,
) -> ClassQuality:
    from ecsel.quality import measure

    loss = float(-np.log(np.clip(p[np.arange(len(codes)), codes], 1e-15, 1)).mean())
    q = measure(codes, np.asarray(p, dtype=np.float64), decided, np.ones(len(codes)), loss)
    return ClassQuality(name, q.accuracy, q.log_loss, q.auc, labels[q.minority], q.minority_recall, numbers)


def _judge_values(
    prepared: Prepared, model: Any, beside: dict[str, Any], _kept: np.ndarray[Any, Any], held: np.ndarray[Any, Any]
) -> tuple[ValueQuality, ...]:
    X, y = prepared.X.iloc[held], prepared.y[held]
    found = [_value_quality("ECSEL", y, model.predict(X), n_numbers(model))]
    frame = rival_frame(prepared.plain.iloc[held])
    found += [_value_quality(name, y, rival.predict(frame), size_of(rival)) for name, rival in beside.items()]
    return tuple(found)


def _value_quality(
    name: str, y: np.ndarray[Any, Any], predicted: np.ndarray[Any, Any], numbers: int | None
) -> ValueQuality:
    error = y - predicted
    spread = float(((y - y.mean()) ** 2).sum())
    r2 = 1 - float((error**2).sum()) / spread if spread > 0 else float("nan")
    return ValueQuality(name, r2, float(np.sqrt((error**2).mean())), float(np.abs(error).mean()), numbers)


def unstable_columns(model: Any, X: Any, y: np.ndarray[Any, Any], seed: int) -> tuple[str, ...]:
    """Return the features of the paper's model that other draws of the rows leave out or give another sign."""
    if model.encoder_.is_raw or len(y) * model.fit_report_.n_parameters > MAX_BOOTSTRAP_WORK:
        return ()
    draws = model.stability(X, y, n_bootstrap=N_BOOTSTRAP, random_state=seed)
    used = np.abs(draws.effect) > 0
    doubtful = used & ((draws.frequency < STEADY_USE) | (draws.sign_agreement < STEADY_SIGN))
    return tuple(name for name, bad in zip(draws.feature_names, doubtful.any(axis=0), strict=True) if bad)


def unstable_exponents(model: Any) -> tuple[str, ...]:
    """Return the exponents of a law that are not two standard errors away from zero."""
    return tuple(
        dict.fromkeys(
            p.feature
            for p in model.law_.parameters
            if p.feature is not None and not p.rounded and abs(p.value) < 2 * p.standard_error
        )
    )
