"""The rows that the report speaks of: those of training, and those on which the model is evaluated.

Without held-out rows the model is evaluated on its training rows, and the page says so.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.stats import rankdata

from ecsel.explain import ModelView
from ecsel.explain.baseline import median_row, resolve_baseline
from ecsel.explain.frames import MAX_EXPLAINED, row_labels, some_rows, take_rows
from ecsel.quality.inputs import class_codes, score_column
from ecsel.report.rules import used_columns
from ecsel.tables.quantities import is_missing
from ecsel.tables.reading import read_table

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ecsel.estimators.errors import StandardErrors
    from ecsel.estimators.piece_stability import PieceStability
    from ecsel.explain.baseline import Baseline
    from ecsel.tables.raw import RawColumn

    Floats = NDArray[np.float64]
    Positions = NDArray[np.intp]


MAX_ERROR_ROWS = 200_000
"""Rows up to which standard errors are computed: they take a pass over all rows, and more rows make them tiny."""
UNNAMED = "the outcome"
"""What is predicted, where it has no name."""


@dataclass(frozen=True, eq=False)
class Rows:
    """A table with its truth and what the model says of it.

    Attributes
    ----------
    table
        The raw columns.
    truth
        The position of each row's class, or the value to be predicted.
    outputs
        Probabilities (rows, classes) or predictions (rows, 1).
    """

    view: ModelView
    table: Any
    truth: NDArray[Any]
    outputs: Floats

    @classmethod
    def read(cls, view: ModelView, X: Any, y: Any, name: str) -> Rows:
        """Check a table and its outcomes, and predict."""
        X = view.plain(X)
        outputs = view.outputs_of(view.scores_of(view.rows(X)))
        outcomes = np.asarray(y)
        if outcomes.shape != (len(outputs),):
            raise ValueError(
                f"{name} must have one outcome per row, shape ({len(outputs)},), but its shape is {outcomes.shape}."
            )
        if view.has_classes:
            truth: NDArray[Any] = class_codes(outcomes, len(view.classes), np.array(view.classes, dtype=object))
        else:
            truth = score_column(outcomes, len(outputs), name)
        return cls(view, X, truth, outputs)

    def __len__(self) -> int:
        return len(self.truth)

    @cached_property
    def decided(self) -> Positions:
        """The position of the predicted class."""
        return self.view.decisions(self.outputs)

    @cached_property
    def labels(self) -> NDArray[Any]:
        """The names of the rows: the table's own index, or positions."""
        return row_labels(self.table, len(self))

    def take(self, positions: Positions) -> Any:
        """Return the table of some rows."""
        return take_rows(self.table, positions)

    @cached_property
    def columns(self) -> tuple[RawColumn, ...]:
        """The raw columns."""
        return tuple(read_table(self.table).columns)

    def numbers(self, j: int) -> Floats:
        """Return a column of numbers; NaN where a value is missing, codes for missing ones included."""
        values = np.asarray(self.columns[j].numbers(), dtype=np.float64)
        column = self.view.numeric_column(j)
        return values if column is None else np.where(is_missing(values, column.missing_codes), np.nan, values)

    def cells(self, j: int) -> list[Any]:
        """Return the values of a column as Python objects."""
        source = self.columns[j].source
        return list(source.tolist() if isinstance(source, np.ndarray) else source.to_list())

    def some(self, most: int) -> Rows:
        """Return at most so many of the rows, in order, the same ones in every run."""
        at = some_rows(len(self), most)
        return Rows(self.view, self.take(at), self.truth[at], self.outputs[at])


@dataclass(frozen=True, eq=False)
class Evidence:
    """What a report is made of: the model, its training rows, and the rows it is evaluated on."""

    view: ModelView
    training: Rows
    evaluated: Rows
    target: str
    """What is predicted, as the outcomes are called."""

    @classmethod
    def read(cls, model: Any, X: Any, y: Any, X_test: Any, y_test: Any) -> Evidence:
        """Check the tables; both or neither of the held-out ones are given."""
        view = ModelView.of(model)
        if view.estimator is None:
            raise TypeError(f"a report needs a fitted ECSELClassifier or ECSELRegressor, not {type(model).__name__}")
        if (X_test is None) != (y_test is None):
            raise ValueError("X_test and y_test belong together: give both or neither.")
        training = Rows.read(view, X, y, "y")
        evaluated = training if X_test is None else Rows.read(view, X_test, y_test, "y_test")
        name = getattr(y, "name", None)
        return cls(view, training, evaluated, UNNAMED if name in (None, "") else str(name))

    @property
    def target_symbol(self) -> str:
        """The left-hand side of a law: the name of the outcome, or y."""
        return "y" if self.target == UNNAMED else self.target

    @property
    def held_out(self) -> bool:
        """Whether the model is evaluated on rows that it was not fitted on."""
        return self.evaluated is not self.training

    @property
    def evaluated_name(self) -> str:
        """The rows of the judgement in words."""
        return "held-out rows" if self.held_out else "training rows"

    @cached_property
    def used(self) -> Positions:
        """The positions of the raw columns that the equations use."""
        return used_columns(self.view)

    @cached_property
    def baseline(self) -> Baseline:
        """The row that explanations start from: the one that the model remembers, for a law that of the medians."""
        if self.view.encoder is None:
            return median_row(self.view, self.training.table)
        return resolve_baseline(self.view, self.training.table, None)

    @cached_property
    def is_log_odds(self) -> bool:
        """Whether the model is a readable equation of two classes, which is read as log-odds."""
        encoder = self.view.encoder
        return self.view.link.has_reference and encoder is not None and encoder.is_raw

    @cached_property
    def standard_errors(self) -> StandardErrors | None:
        """Standard errors of readable classes; None for other models, many rows, and where rows determine none."""
        rows, model = self.training, self.view.estimator
        if not (self.view.has_classes and model.encoder_.is_raw) or len(rows) > MAX_ERROR_ROWS:
            return None
        found: StandardErrors = model.standard_errors(rows.table, model.classes_[rows.truth])
        return found if found.converged else None

    def bootstrap(self, n_bootstrap: int) -> PieceStability | None:
        """Return the search repeated on so many draws of the rows; None of none, and of models without a search."""
        model, rows = self.view.estimator, self.training
        if n_bootstrap == 0 or not (self.view.has_classes and model.encoder_.is_raw):
            return None
        found: PieceStability = model.stability(rows.table, model.classes_[rows.truth], n_bootstrap=n_bootstrap)
        return found

    @cached_property
    def explained(self) -> Rows:
        """The evaluated rows over which explanations are averaged."""
        return self.evaluated.some(MAX_EXPLAINED)


def typical_row(evidence: Evidence) -> int:
    """Return the position of the evaluated row whose numbers lie nearest to the medians, in ranks."""
    rows = evidence.evaluated
    distance = np.zeros(len(rows))
    for j in evidence.used.tolist():
        if evidence.view.levels(j) is None:
            values = rows.numbers(j)
            missing = np.isnan(values)
            distance += np.where(missing, 1.0, np.abs(rankdata(np.where(missing, -np.inf, values)) / len(rows) - 0.5))
    return int(np.argmin(distance))
