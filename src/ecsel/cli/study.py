"""`ecsel demo`: what is computed. One table is split, fitted, judged on held-out rows, and one row is explained.

The explanation is exact. For the predicted class a and its strongest rival b the margin z_a − z_b is the logarithm of
the odds of a against b, and its Shapley values against a typical row (medians and most frequent levels) add up, so

    odds(x) = odds(typical row) · Π_columns exp(φ_column).

Every column is one group of features, whatever its number of features. The value that a sentence calls typical is the
one that the row is compared with.
"""

from __future__ import annotations

import time
import warnings
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.datasets import load_breast_cancer
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import accuracy_score, log_loss, roc_auc_score
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from ecsel import ECSELClassifier
from ecsel.cli.training import n_numbers
from ecsel.explain import ModelView
from ecsel.explain import reasons as explain_reasons
from ecsel.explain.baseline import resolve_baseline
from ecsel.explain.reasons import reference_text
from ecsel.report.worked import worked_example

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ecsel.report.worked import WorkedExample


MAX_FACTORS = 3
"""So many factors fit on a line, and a person can keep them in mind."""


@dataclass(frozen=True, slots=True)
class Table:
    """A data frame with its labels, and what to call it."""

    title: str
    X: Any
    y: NDArray[Any]


@dataclass(frozen=True, slots=True)
class Quality:
    """How good one model is on held-out rows, and of how many numbers it is made."""

    model: str
    accuracy: float
    log_loss: float
    auc: float
    numbers: int


@dataclass(frozen=True, slots=True)
class Reason:
    """What one column adds to the log-odds, compared with its typical value: a median, or the most frequent level."""

    column: str
    value: Any
    typical: str | None
    log_odds: float

    @property
    def odds(self) -> float:
        """The factor by which the column multiplies the odds."""
        return float(np.exp(self.log_odds))


@dataclass(frozen=True, slots=True)
class ExplainedRow:
    """Why a row is `predicted` rather than `rival`: base + Σ reasons = margin, the log of the odds."""

    predicted: Any
    rival: Any
    truth: Any
    probability: float
    example: WorkedExample
    base: float
    margin: float
    reasons: tuple[Reason, ...]


@dataclass(frozen=True, slots=True)
class Study:
    """Everything that the demo shows and writes."""

    table: str
    training: Table
    held_out: Table
    model: ECSELClassifier
    seconds: float
    qualities: tuple[Quality, ...]
    row: ExplainedRow


def bundled_table() -> Table:
    """Return the breast cancer table of scikit-learn: it needs no download, and everybody sees why it matters.

    Of each measurement only the value of the largest cell nuclei is taken ("worst"), which tells most.
    """
    try:
        cancer = load_breast_cancer(as_frame=True)
    except ImportError as error:
        raise ModuleNotFoundError("the demo needs pandas", name="pandas") from error
    largest = cancer.data[[name for name in cancer.data if name.startswith("worst ")]]
    X = largest.rename(columns=lambda name: name.removeprefix("worst ").replace(" ", "_"))
    labels = np.array(["malignant", "benign"])[cancer.target]
    return Table("Breast tumours, described by the largest cell nuclei of each (from scikit-learn)", X, labels)


def study(table: Table, *, seed: int = 0) -> Study:
    """Fit, judge and explain; the same table and seed give the same study, but for the seconds."""
    X, held_X, y, held_y = train_test_split(table.X, table.y, test_size=0.3, stratify=table.y, random_state=seed)
    started = time.perf_counter()
    model = ECSELClassifier(max_factors=MAX_FACTORS).fit(X, y)
    seconds = time.perf_counter() - started
    rival = make_pipeline(StandardScaler(), LogisticRegression(max_iter=1000)).fit(X, y)
    with warnings.catch_warnings():
        # held-out rows may lie a little outside the training range; the reader of a demo need not hear of it
        warnings.simplefilter("ignore", UserWarning)
        qualities = (
            _quality("ECSEL", model, n_numbers(model), held_X, held_y),
            _quality("logistic regression", rival, rival[-1].coef_.size + rival[-1].intercept_.size, held_X, held_y),
        )
        row = _explain(model, held_X, held_y, _least_sure(model, held_X))
    training, held_out = Table("training rows", X, y), Table("held-out rows", held_X, held_y)
    return Study(table.title, training, held_out, model, seconds, qualities, row)


def _quality(name: str, model: Any, numbers: int, X: Any, y: NDArray[Any]) -> Quality:
    p = model.predict_proba(X)
    positive = p[:, 1] if p.shape[1] == 2 else p
    return Quality(
        name,
        float(accuracy_score(y, model.predict(X))),
        float(log_loss(y, p, labels=model.classes_)),
        float(roc_auc_score(y, positive, multi_class="ovr", labels=model.classes_)),
        numbers,
    )


def _least_sure(model: ECSELClassifier, X: Any) -> int:
    """Return the row with the smallest highest probability: the one that most deserves an explanation."""
    return int(model.predict_proba(X).max(axis=1).argmin())


def _explain(model: ECSELClassifier, held_X: Any, held_y: NDArray[Any], i: int) -> ExplainedRow:
    one = held_X.iloc[[i]]
    view = ModelView.of(model)
    p = model.predict_proba(one)[0]
    b, a = np.argsort(p)[-2:]
    start = resolve_baseline(view, one, None)
    found = explain_reasons(view, one, toward=view.classes[a], baseline=start)
    assert found.base_values is not None  # noqa: S101 - reasons always have a reference
    base, log_odds = float(found.base_values[0]), found.values[0]
    reasons = tuple(
        Reason(name, one.iloc[0][name], reference_text(view, start, j), float(log_odds[j]))
        for j, name in enumerate(view.raw_names)
        if log_odds[j] != 0
    )
    return ExplainedRow(
        predicted=model.classes_[a],
        rival=model.classes_[b],
        truth=held_y[i],
        probability=float(p[a]),
        example=worked_example(model, one),
        base=base,
        margin=base + float(log_odds.sum()),
        reasons=tuple(sorted(reasons, key=lambda r: -abs(r.log_odds))),
    )
