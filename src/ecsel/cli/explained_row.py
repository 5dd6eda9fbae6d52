"""One row of `ecsel demo`, explained in odds. The explanation is exact.

For the predicted class a and its strongest rival b the margin z_a − z_b is the logarithm of the odds of a against b,
and its Shapley values against a typical row (medians and most frequent levels) add up, so

    odds(x) = odds(typical row) · Π_columns exp(φ_column).

Every column is one group of features, whatever its number of features. The value that a sentence calls typical is the
one that the row is compared with.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from ecsel.explain import ModelView
from ecsel.explain import reasons as explain_reasons
from ecsel.explain.baseline import resolve_baseline
from ecsel.explain.reasons import reference_text
from ecsel.report.worked import worked_example

if TYPE_CHECKING:
    from ecsel.report.worked import WorkedExample
    from ecsel.study import Study


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


def least_sure_row(study: Study) -> ExplainedRow:
    """Return the held-out row with the smallest highest probability: the one that most deserves an explanation."""
    model = study.validation_model
    with warnings.catch_warnings():
        # held-out rows may lie a little outside the training range; the reader of a demo need not hear of it
        warnings.simplefilter("ignore", UserWarning)
        p = model.predict_proba(study.X.iloc[study.held_out])
        return _explained(study, int(study.held_out[p.max(axis=1).argmin()]))


def _explained(study: Study, at: int) -> ExplainedRow:
    model, one = study.validation_model, study.X.iloc[[at]]
    p = model.predict_proba(one)[0]
    view = ModelView.of(model)
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
        truth=study.y[at],
        probability=float(p[a]),
        example=worked_example(model, one),
        base=base,
        margin=base + float(log_odds.sum()),
        reasons=tuple(sorted(reasons, key=lambda r: -abs(r.log_odds))),
    )
