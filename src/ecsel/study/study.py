"""A fit with what surrounds it: evaluated on held-out rows beside its rivals, then fitted once more on all rows.

The held-out quality is that of a model whose every choice (columns, pieces, size) was made without the held-out
rows. The model that is kept is fitted in the same way on all rows, since more rows make a better one; what it says of
itself out of fold is in its file.
"""

from __future__ import annotations

import time
import warnings
from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.base import clone, is_classifier

from ecsel.estimators.classifier import ECSELClassifier
from ecsel.estimators.regressor import ECSELRegressor
from ecsel.explain.frames import plain_table
from ecsel.explain.optional import import_optional
from ecsel.explain.view import ModelView
from ecsel.quality import measure
from ecsel.signomial.text import format_name
from ecsel.study.drivers import Driver, strongest_drivers
from ecsel.study.rivals import rival_frame, rival_threshold, rivals, size_of
from ecsel.study.screening import detect_task
from ecsel.tables.cautions import Caution, find_cautions
from ecsel.tables.encoder import TableEncoder

if TYPE_CHECKING:
    import os
    from collections.abc import Callable

    from ecsel._typing import Places

    Labels = np.ndarray[Any, Any]

N_BOOTSTRAP = 20
MAX_BOOTSTRAP_WORK = 1_000_000
"""Rows times parameters up to which the stability is looked into: beyond, it would take longer than the fit."""

STEADY_USE, STEADY_SIGN = 0.5, 0.9
"""A column is called unstable if fewer draws use it, or fewer of those agree on its sign."""


@dataclass(frozen=True, slots=True)
class ClassQuality:
    """How good a classifier is on held-out rows; `rarest` is the class with the fewest of them.

    Examples
    --------
    >>> print(ClassQuality("ecsel", 0.9, 0.3, 0.95, "late", 0.8, 4).auc)
    0.95
    """

    model: str
    accuracy: float
    log_loss: float
    auc: float | None
    rarest: Any
    rarest_recall: float
    numbers: int | None
    threshold: float | None = None
    """Of two classes the probability from which the second is predicted."""

    def __str__(self) -> str:
        area = "" if self.auc is None else f", AUC {self.auc:.3f}"
        recall = f", recall of {format_name(self.rarest)} {self.rarest_recall:.3f}"
        return f"{self.model}: accuracy {self.accuracy:.3f}, log-loss {self.log_loss:.3f}{area}{recall}"


@dataclass(frozen=True, slots=True)
class ValueQuality:
    """How good a regression is on held-out rows.

    Examples
    --------
    >>> ValueQuality("ecsel", r2=0.9, rmse=1.5, mae=1.2, numbers=3).rmse
    1.5
    """

    model: str
    r2: float
    rmse: float
    mae: float
    numbers: int | None

    def __str__(self) -> str:
        return f"{self.model}: R² {self.r2:.3f}, RMSE {self.rmse:.4g}, mean absolute error {self.mae:.4g}"


@dataclass(frozen=True, eq=False)
class Study:
    """A model, how good it is on rows that it has not seen, beside which rivals, and what drives it.

    `ecsel fit` and `ecsel demo` print a study, and `write_report` writes it as a page.

    Attributes
    ----------
    X, y
        The table, a pandas data frame, and its target.
    target
        What the target is called.
    model
        The model that is kept.
    validation_model
        The model that was fitted without the held-out rows; None where no row was held out.
    held_out
        The positions of the held-out rows.
    qualities
        How good `validation_model` is on them, and then its rivals.
    drivers
        The columns that move the scores most, the strongest first.
    unstable
        The features, or the exponents of a law, that other rows would give another sign, or none.
    seconds
        How long the fit of the model that is kept took.

    Examples
    --------
    >>> import numpy as np
    >>> import pandas as pd
    >>> rng = np.random.default_rng(0)
    >>> X = pd.DataFrame({"age": rng.integers(18, 80, 400), "debt": rng.gamma(2.0, 50.0, 400).round()})
    >>> y = np.where(X["debt"] + rng.normal(0, 30, 400) > 100, "bad", "good")
    >>> study = Study.of(X, y)
    >>> [quality.model for quality in study.qualities][:2], len(study.held_out), study.drivers[0].column
    (['ECSEL', 'logistic regression'], 100, 'debt')
    """

    X: Any
    y: Labels
    target: str
    model: Any
    validation_model: Any
    held_out: Places
    qualities: tuple[ClassQuality | ValueQuality, ...]
    drivers: tuple[Driver, ...]
    unstable: tuple[str, ...]
    seconds: float

    @classmethod
    def of(
        cls,
        X: Any,
        y: Any,
        model: Any = None,
        *,
        holdout: float = 0.25,
        refit: bool = True,
        seed: int = 0,
        target: str | None = None,
        plain: Any = None,
        begin: Callable[[str], None] = lambda _: None,
        choose: Callable[[Any], Any] = lambda model: model,
        whole: Callable[[Any], Any] | None = None,
    ) -> Study:
        """Hold rows out, fit, compare with rivals, fit once more on all rows, and look into the model.

        Parameters
        ----------
        X, y : data frame or array, and target
            The table. Arrays and frames of other libraries become pandas data frames.
        model : ECSELClassifier or ECSELRegressor, optional
            The model, unfitted; it is cloned. By default a readable equation of classes, or of a quantity, whichever
            the target holds.
        holdout : float, default=0.25
            The share of rows that the model is evaluated on, of each class in proportion; 0 for none.
        refit : bool, default=True
            Whether the model that is kept is fitted to all rows. Otherwise it is the one that was evaluated.
        seed : int, default=0
            Decides which rows are held out.
        target : str, optional
            What the target is called; by default its name, where it has one.
        plain : data frame, optional
            The table as numbers and levels, for the rivals; by default as models read it.
        begin : callable, optional
            Is called with the name of every stage; there are at most `STAGES`.
        choose : callable, optional
            Takes a fitted model and returns it, or another of its candidates.
        whole : callable, optional
            Fits the model that is kept, where the rows are a sample of a larger table.
        """
        pd = import_optional("pandas", "a study")
        X = X if isinstance(X, pd.DataFrame) else _data_frame(pd, X)
        name = getattr(y, "name", None) if target is None else target
        y = np.asarray(y)
        model = _default_model(pd.Series(y)) if model is None else model
        classification = is_classifier(model)
        codes = np.unique(y, return_inverse=True)[1] if classification else y
        # a quantity keeps its name, which the left-hand side of its equation is called by
        outcomes = pd.Series(y, name=None if classification else name, index=X.index)
        kept, held_out_rows = hold_out(codes if classification else None, len(y), holdout, seed)
        validated: Any = None
        qualities: tuple[ClassQuality | ValueQuality, ...] = ()
        started = time.perf_counter()
        plain = _plain(X) if plain is None and held_out_rows.size else plain
        if held_out_rows.size:
            kept, held_out_rows = with_missing_values(plain, kept, held_out_rows)
        if held_out_rows.size:
            begin(f"fitting {kept.size} rows to judge the model on the other {held_out_rows.size}")
            validated = choose(clone(model).fit(X.iloc[kept], outcomes.iloc[kept]))
            seconds = time.perf_counter() - started
            begin("fitting the models to compare with")
            beside = rivals("classification" if classification else "regression", plain.iloc[kept], codes[kept])
            measured = _class_qualities if classification else _value_qualities
            with warnings.catch_warnings():
                # held-out rows may lie a little outside the range of the others; that is part of the judgement
                warnings.simplefilter("ignore", UserWarning)
                qualities = measured(_Rows(X, plain, y, kept, held_out_rows), validated, beside)
        rows = np.arange(len(y))
        if refit or validated is None:
            begin(f"fitting all {len(y)} rows" if whole is None else "fitting all rows of the file")
            started = time.perf_counter()
            fitted = choose(clone(model).fit(X, outcomes) if whole is None else whole(clone(model)))
            seconds = time.perf_counter() - started
        else:
            fitted, rows = validated, kept
        begin("looking into the model")
        seen = X.iloc[rows]
        unstable = unstable_columns(fitted, seen, y[rows], seed) if classification else unstable_exponents(fitted)
        drivers = strongest_drivers(fitted, ModelView.of(fitted).plain(seen), seed=seed)
        return cls(
            X, y, str(name or "the target"), fitted, validated, held_out_rows, qualities, drivers, unstable, seconds
        )

    @property
    def classes(self) -> dict[Any, int]:
        """The classes with their numbers of rows, sorted; empty for a quantity."""
        if not ModelView.of(self.model).has_classes:
            return {}
        labels, counts = np.unique(self.y, return_counts=True)
        return dict(zip(labels.tolist(), counts.tolist(), strict=True))

    @property
    def cautions(self) -> tuple[Caution, ...]:
        """The columns that ask for a second look: that may leak the target, or may be protected attributes."""
        encoder = TableEncoder.fit(self.X, scaling="raw")
        is_class = bool(self.classes)
        codes = np.unique(self.y, return_inverse=True)[1] if is_class else self.y
        return tuple(find_cautions(encoder, self.X, codes.astype(np.float64), self.target, classes=is_class))

    def quality_documents(self) -> list[dict[str, Any]]:
        """Return the qualities as plain values."""
        return [asdict(quality) for quality in self.qualities]

    def to_frame(self) -> Any:
        """Return the qualities as a pandas data frame, one row for each model."""
        return import_optional("pandas", "to_frame() of a study").DataFrame(self.quality_documents())

    def write_report(self, path: str | os.PathLike[str], **options: Any) -> Any:
        """Write the report of the model that is kept; the options are those of `ecsel.report.write_report`.

        Where that model has not seen the held-out rows, its figures are those of these rows.
        """
        from ecsel.report import write_report  # noqa: PLC0415 - the page is above this room

        if self.model is not self.validation_model:
            return write_report(self.model, path, self.X, self.y, **options)
        kept, held_out_rows = np.setdiff1d(np.arange(len(self.y)), self.held_out), self.held_out
        unseen = {"X_test": self.X.iloc[held_out_rows], "y_test": self.y[held_out_rows]}
        return write_report(self.model, path, self.X.iloc[kept], self.y[kept], **unseen, **options)

    def __str__(self) -> str:
        lines = [self.model.summary()]
        if self.qualities:
            lines += ["", f"Quality on {len(self.held_out)} held-out rows"]
            lines += [f"  {quality}" for quality in self.qualities]
        for heading, texts in (
            ("Strongest drivers", [each.text for each in self.drivers]),
            ("Look twice", [each.text for each in self.cautions]),
        ):
            lines += ["", heading, *(f"  {format_name(text)}" for text in texts)] if texts else []
        return "\n".join(lines)

    def __repr__(self) -> str:
        return f"Study of {self.target}: {len(self.y)} rows, {len(self.held_out)} held out; print() shows it"


STAGES = 4


@dataclass(frozen=True, eq=False)
class _Rows:
    """A table, as it is and as rivals read it, with the rows that are fitted and those that are held out."""

    X: Any
    plain: Any
    y: Labels
    kept: Places
    held_out_rows: Places


def _data_frame(pd: Any, X: Any) -> Any:
    """Return an array, or a frame of another library, as a pandas data frame."""
    if isinstance(X, np.ndarray):
        return pd.DataFrame(X, columns=[f"x{j}" for j in range(X.shape[1])])
    import narwhals as nw  # noqa: PLC0415 - only for frames of other libraries

    return nw.from_native(X).to_pandas()


def _default_model(y: Any) -> Any:
    return ECSELClassifier() if detect_task(y).kind == "classification" else ECSELRegressor(criterion="prediction")


def _plain(X: Any) -> Any:
    """Return the columns that tell anything, read by the rules that models read them by, as numbers and levels."""
    encoder = TableEncoder.fit(X, scaling="raw")
    used = {feature.column for feature in encoder.features}
    return plain_table(X, encoder.read(X))[[column.name for column in encoder.columns if column.name in used]]


def hold_out(codes: Labels | None, n: int, share: float, seed: int) -> tuple[Labels, Labels]:
    """Return the rows to fit and those to evaluate on, each class in proportion; a class of one row is fitted.

    >>> kept, held_out = hold_out(np.array([0] * 8 + [1] * 4 + [2]), 13, 0.25, 0)
    >>> len(kept), [int(i) // 8 for i in held_out]
    (10, [0, 0, 1])
    """
    rng = np.random.default_rng(seed)
    groups = [np.arange(n)] if codes is None else [np.flatnonzero(codes == c) for c in np.unique(codes)]
    held_out_rows = [rng.permutation(rows)[: min(round(share * rows.size), rows.size - 1)] for rows in groups]
    left_out = np.sort(np.concatenate(held_out_rows))
    return np.setdiff1d(np.arange(n), left_out), left_out


def with_missing_values(plain: Any, kept: Labels, held_out: Labels) -> tuple[Labels, Labels]:
    """Return the same rows, but those with a missing value in a column without any among the kept are kept.

    A model refuses missing values in a column that had none in training, so that these rows would stop it.

    >>> import pandas as pd
    >>> frame = pd.DataFrame({"a": [1, None, 3, 4], "b": [None, None, 1, 2]})
    >>> with_missing_values(frame, np.array([0, 2]), np.array([1, 3]))
    (array([0, 1, 2]), array([3]))
    """
    missing = plain.isna().to_numpy()
    strange = (missing[held_out] & ~missing[kept].any(axis=0)).any(axis=1)
    return np.sort(np.concatenate([kept, held_out[strange]])), held_out[~strange]


def n_numbers(model: Any) -> int:
    """Return of how many numbers the equations are made: coefficients, exponents other than 1, shifts."""
    equations = model.equations_.values() if hasattr(model, "equations_") else (model.equation_,)
    terms = [term for equation in equations for term in equation.terms]
    factors = [factor for term in terms for factor in term.factors]
    return len(terms) + sum(int(f.exponent != 1) + int(f.shift != 0) for f in factors)


def _class_qualities(rows: _Rows, model: Any, beside: dict[str, Any]) -> tuple[ClassQuality, ...]:
    known, codes = np.unique(rows.y, return_inverse=True)
    kept, held_out_rows, labels = rows.kept, rows.held_out_rows, known.tolist()
    X = rows.X.iloc[held_out_rows]
    places = [labels.index(label) for label in model.classes_.tolist()]
    p = np.zeros((len(held_out_rows), len(labels)))
    p[:, places] = model.predict_proba(X)
    decided = np.array([labels.index(label) for label in model.predict(X).tolist()])
    own = _class_quality("ECSEL", labels, codes[held_out_rows], p, decided, n_numbers(model))
    found = [replace(own, threshold=model.threshold_)]
    frame = rival_frame(rows.plain.iloc[held_out_rows])
    for name, rival in beside.items():
        p = rival.predict_proba(frame)
        decided, threshold = p.argmax(axis=1), None
        if model.threshold_ is not None and p.shape[1] == 2:  # the same rule for everybody, or the figures mislead
            threshold = rival_threshold(model.threshold, rival, rows.plain.iloc[kept], codes[kept])
            decided = (p[:, 1] >= threshold).astype(np.intp)
        quality = _class_quality(name, labels, codes[held_out_rows], p, decided, size_of(rival))
        found.append(replace(quality, threshold=threshold))
    return tuple(found)


def _class_quality(
    name: str,
    labels: list[Any],
    codes: Labels,
    p: Labels,
    decided: Labels,
    numbers: int | None,
) -> ClassQuality:
    loss = float(-np.log(np.clip(p[np.arange(len(codes)), codes], 1e-15, 1)).mean())
    q = measure(codes, np.asarray(p, dtype=np.float64), decided, np.ones(len(codes)), loss)
    return ClassQuality(name, q.accuracy, q.log_loss, q.auc, labels[q.minority], q.minority_recall, numbers)


def _value_qualities(rows: _Rows, model: Any, beside: dict[str, Any]) -> tuple[ValueQuality, ...]:
    X, y = rows.X.iloc[rows.held_out_rows], rows.y[rows.held_out_rows]
    found = [_value_quality("ECSEL", y, model.predict(X), n_numbers(model))]
    frame = rival_frame(rows.plain.iloc[rows.held_out_rows])
    found += [_value_quality(name, y, rival.predict(frame), size_of(rival)) for name, rival in beside.items()]
    return tuple(found)


def _value_quality(name: str, y: Labels, predicted: Labels, numbers: int | None) -> ValueQuality:
    error = y - predicted
    total_squares = float(((y - y.mean()) ** 2).sum())
    r2 = 1 - float((error**2).sum()) / total_squares if total_squares > 0 else float("nan")
    return ValueQuality(name, r2, float(np.sqrt((error**2).mean())), float(np.abs(error).mean()), numbers)


def unstable_columns(model: Any, X: Any, y: Labels, seed: int) -> tuple[str, ...]:
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
