"""The nearest change that flips the decision or reaches a probability.

The distance is a weighted ℓ1 norm, Σ_j |Δ_j|/MAD_j over numbers and a price per changed category, or the user's costs,
or |Δ log x'|. Every column moves over a grid of its own raw values (`.space`), alone, in pairs and in larger sets
(`.search`); numbers are then solved for exactly and given the digits that their column holds (`.polish`); and the model
itself has the last word: an answer that it does not confirm is never returned (`.answers`). Several answers change
different sets of columns. Every step is taken for all rows at once.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from ecsel.explain.counterfactual.answers import Answer, Question, diverse
from ecsel.explain.counterfactual.goals import (
    Goal,
    decision_goal,
    other_decision_goal,
    probability_goal,
    range_goals,
)
from ecsel.explain.counterfactual.options import Options, movable_columns
from ecsel.explain.counterfactual.raw_rows import RawRows
from ecsel.explain.view import ModelView
from ecsel.tables.cautions import ColumnWarning

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

    from ecsel._typing import Floats, Mask

ROWS_AT_ONCE = 64
"""Rows are taken in blocks, so that memory stays bounded."""


@dataclass(frozen=True)
class Counterfactual:
    """One confirmed answer.

    Attributes
    ----------
    changes : dict of column to (before, after)
        What has to change.
    row : dict of column to value
        The whole row after the change.
    probability : float or None
        The model's probability of the target class; None for a regression.
    prediction
        What the model predicts for the row.
    distance : float
        The cost of the changes.
    """

    changes: dict[str, tuple[Any, Any]]
    row: dict[str, Any]
    probability: float | None
    prediction: Any
    distance: float

    def __str__(self) -> str:
        parts = [f"{name}: {_short(before)} → {_short(after)}" for name, (before, after) in self.changes.items()]
        if self.probability is None:
            reached = _short(self.prediction)
        else:
            reached = f"{self.prediction!r}, p = {self.probability:.3f}"
        return f"{'; '.join(parts) or 'no change'} (predicts {reached}, distance {self.distance:.3g})"


def counterfactual(
    model: Any,
    x: Any,
    target: Any = None,
    *,
    probability: float | None = None,
    n: int = 3,
    immutable: Collection[Any] | None = None,
    ranges: Mapping[Any, Any] | None = None,
    directions: Mapping[Any, Literal["increase", "decrease"]] | None = None,
    costs: Mapping[Any, float] | None = None,
    integers: Collection[Any] | None = None,
    distance: Literal["mad", "log"] = "mad",
    data: Any = None,
) -> list[Counterfactual]:
    """Return the nearest changes of one row that reach a goal, nearest first; an empty list if there are none.

    Parameters
    ----------
    model : ECSELClassifier, ECSELRegressor, Signomial or ModelView
        The model.
    x : one row
        A table of one row, a dict of column to value, or a list of values.
    target
        The class to be predicted; None means any other class. For a regression a pair (low, high), None for an open
        end.
    probability : float, optional
        Ask for at least this probability of the target instead of the decision.
    n : int, default=3
        Most answers; each changes another set of columns.
    immutable : list of columns, optional
        Columns that stay as they are; by default those whose name is that of a protected attribute (age, sex, race),
        unless `ranges`, `directions` or `costs` name them. ``immutable=[]`` lets every column change.
    ranges : dict of column to (low, high) or list of levels, optional
        Where a column may move; by default the training range and all levels.
    directions : dict of column to "increase" or "decrease", optional
        Limits for numbers and ordinal columns.
    costs : dict of column to number, optional
        The cost of one unit of a number (of log x' with ``distance="log"``), or of a changed level.
    integers : list of columns, optional
        Columns of whole numbers, by default those that were integers in training.
    distance : {"mad", "log"}, default="mad"
        Σ|Δ|/MAD, or Σ|Δ log x'|.
    data : table, optional
        The rows of which the MAD is taken; without them a quarter of the training range stands in.

    Examples
    --------
    >>> from ecsel import Signomial
    >>> view = ModelView.of_equations({"no": Signomial.parse("4"), "yes": Signomial.parse("x*y")}, ["x", "y"])
    >>> for answer in counterfactual(view, [1.0, 2.0], "yes", distance="log", costs={"y": 2.0}):
    ...     print(answer)
    x: 1 → 2 (predicts 'yes', p = 0.500, distance 0.693)
    y: 2 → 4 (predicts 'yes', p = 0.500, distance 1.39)
    """
    rows = RawRows.read(view := ModelView.of(model), x)
    if len(rows) != 1:
        raise ValueError(f"a counterfactual is for one row, not {len(rows)}; counterfactuals() takes many")
    options = Options(immutable, ranges or {}, directions or {}, costs or {}, integers, distance, data).settled(view)
    answers = _answers(view, rows, target, probability, n, options)
    _warn_of_kept(view, immutable, options, answers)
    return answers[0]


def counterfactuals(
    model: Any,
    X: Any,
    target: Any = None,
    *,
    probability: float | None = None,
    n: int = 3,
    immutable: Collection[Any] | None = None,
    ranges: Mapping[Any, Any] | None = None,
    directions: Mapping[Any, Literal["increase", "decrease"]] | None = None,
    costs: Mapping[Any, float] | None = None,
    integers: Collection[Any] | None = None,
    distance: Literal["mad", "log"] = "mad",
    data: Any = None,
) -> list[list[Counterfactual]]:
    """Return for each row of a table what `counterfactual` returns for it; many times faster than row by row.

    What is found for a row does not depend on the other rows, to the last bit.

    Parameters
    ----------
    model : ECSELClassifier, ECSELRegressor, Signomial or ModelView
        The model.
    X : table
        The rows.
    target, probability, n, immutable, ranges, directions, costs, integers, distance, data
        As for `counterfactual`, the same for all rows.

    Examples
    --------
    >>> from ecsel import Signomial
    >>> view = ModelView.of_equations({"no": Signomial.parse("4"), "yes": Signomial.parse("x*y")}, ["x", "y"])
    >>> for answers in counterfactuals(view, [[1.0, 2.0], [4.0, 3.0]], distance="log", costs={"y": 2.0}, n=1):
    ...     print(*answers)
    x: 1 → 2 (predicts 'yes', p = 0.500, distance 0.693)
    x: 4 → 1.33333 (predicts 'no', p = 0.500, distance 1.1)
    """
    rows = RawRows.read(view := ModelView.of(model), X)
    options = Options(immutable, ranges or {}, directions or {}, costs or {}, integers, distance, data).settled(view)
    blocks = (rows.take(slice(start, start + ROWS_AT_ONCE)) for start in range(0, len(rows), ROWS_AT_ONCE))
    answers = [each for block in blocks for each in _answers(view, block, target, probability, n, options)]
    _warn_of_kept(view, immutable, options, answers)
    return answers


def _warn_of_kept(
    view: ModelView, immutable: Collection[Any] | None, options: Options, answers: list[list[Counterfactual]]
) -> None:
    """Say which columns were kept by their names alone, where there might be an answer without that."""
    if immutable is None and options.immutable and not all(answers):
        open_options = replace(options, immutable=())
        kept = sorted({*movable_columns(view, open_options)} - {*movable_columns(view, options)})
        if kept:
            names = ", ".join(repr(view.raw_names[j]) for j in kept)
            rows = "no answer" if len(answers) == 1 else "no answer for some rows"
            warnings.warn(
                f"{rows}: {names} may be protected, and stay as they are; immutable=[] lets every column change.",
                ColumnWarning,
                stacklevel=3,
            )


def _answers(
    view: ModelView, rows: RawRows, target: Any, probability: float | None, n: int, options: Options
) -> list[list[Counterfactual]]:
    features = view.cell_rows(rows.table)
    now = view.outputs_of(view.scores_of(features))
    goals = _goals(view, target, probability, now)
    found: list[list[Answer]] = [[] for _ in range(len(rows))]
    fulfilled = np.zeros(len(rows), dtype=bool)
    for label, goal, asked in goals:
        for i in np.flatnonzero(asked & ~fulfilled & goal.holds(now)).tolist():
            found[i].append(Answer(i, label, 0.0, {}, now[i]))
            fulfilled[i] = True
    question = Question(view, rows, features, options, n)
    for label, goal, asked in goals:
        for answer in question.answers(np.flatnonzero(asked & ~fulfilled), label, goal):
            found[answer.row].append(answer)
    return [[_counterfactual(view, rows, answer) for answer in diverse(pool, n)] for pool in found]


def _goals(view: ModelView, target: Any, probability: float | None, now: Floats) -> list[tuple[Any, Goal, Mask]]:
    """Return the class, the goal and its rows, for each class that would do; None: for a regression, or any class."""
    everyone = np.ones(len(now), dtype=bool)
    if not view.has_classes:
        if probability is not None or not (isinstance(target, tuple) and len(target) == 2):
            raise ValueError("the target of a regression is a pair (low, high), None for an open end")
        from_below, from_above = range_goals(*target)
        below = from_above.margin([now[:, 0]]) >= 0  # or inside
        return [(None, from_below, below), (None, from_above, ~below)]
    if target is None:
        decided = view.decisions(now)
        labels = [(label, decided != c) for c, label in enumerate(view.classes)]
    else:
        labels = [(target, everyone)]
    if probability is None:
        goals = [(label, decision_goal(view, label), asked) for label, asked in labels if asked.any()]
        if target is None and len(view.classes) > 2:
            away = [(label, ~asked) for label, asked in labels if not asked.all()]
            goals += [(None, other_decision_goal(view, label), left) for label, left in away]
        return goals
    return [(label, probability_goal(view, label, probability), asked) for label, asked in labels if asked.any()]


def _counterfactual(view: ModelView, rows: RawRows, answer: Answer) -> Counterfactual:
    before = dict(zip(view.raw_names, rows.cells[answer.row].tolist(), strict=True))
    after = {view.raw_names[j]: value for j, value in answer.new.items()}
    if view.has_classes:
        prediction: Any = view.classes[int(view.decisions(answer.output[None])[0])]
        asked = prediction if answer.label is None else answer.label
        probability: float | None = float(answer.output[view.class_position(asked)])
    else:
        probability, prediction = None, float(answer.output[0])
    changes = {name: (before[name], value) for name, value in after.items()}
    return Counterfactual(changes, {**before, **after}, probability, prediction, answer.distance)


def _short(value: Any) -> str:
    return f"{value:.6g}" if isinstance(value, (int, float)) and not isinstance(value, bool) else str(value)
