"""The nearest change that flips the decision or reaches a probability.

The distance is a weighted ℓ1 norm, Σ_j |Δ_j|/MAD_j over numbers and a price per changed category, or the user's costs,
or |Δ log x'|. Combinations of levels are tried from the cheapest gain on; for each the numbers are solved for as in
`ecsel.explain.nearest`; integer columns get whole numbers; and the model itself has the last word: an answer that it
does not confirm is never returned. Several answers change different sets of columns.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import narwhals.stable.v2 as nw
import numpy as np
import numpy.typing as npt

from ecsel.explain.candidates import Candidate, diverse, search
from ecsel.explain.frames import native_frame
from ecsel.explain.goals import Goal, decision_goal, probability_goal, range_goal
from ecsel.explain.view import ModelView
from ecsel.explain.wishes import Wishes, build_space
from ecsel.tables.reading import RawTable

if TYPE_CHECKING:
    from ecsel.explain.search_space import Space
    from ecsel.signomial.columns import FloatArray

SLACKS = (1e-10, 1e-7, 1e-4)
"""How far beyond the boundary answers are put, relative to the score: more only if the model does not confirm less."""


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
        chance = "" if self.probability is None else f", p = {self.probability:.3f}"
        return f"{'; '.join(parts) or 'no change'} (predicts {self.prediction!r}{chance}, distance {self.distance:.3g})"


class _Row(NamedTuple):
    """The row in three forms: cells (1, columns), columns, and plain values by name."""

    cells: npt.NDArray[Any]
    columns: RawTable
    values: dict[str, Any]

    @classmethod
    def read(cls, view: ModelView, x: Any) -> _Row:
        """Take a table of one row, a dict or a list of values."""
        if isinstance(x, Mapping):
            if absent := [name for name in view.raw_names if name not in x]:
                raise ValueError(f"the row has no value for column {absent[0]!r}")
            rows = [tuple(x[name] for name in view.raw_names)]
        else:
            # the cells of pandas are taken at once; other libraries give rows of Python values themselves
            frame = None if nw.dependencies.is_pandas_dataframe(x) else native_frame(x)
            table = x if frame is not None or np.ndim(x) == 2 else [list(x)]
            view.check_table(table)
            rows = [tuple(row) for row in np.asarray(table, dtype=object).tolist()] if frame is None else frame.rows()
        if len(rows) != 1:
            raise ValueError(f"a counterfactual is for one row, not {len(rows)}")
        cells = np.empty((1, len(rows[0])), dtype=object)
        cells[0] = rows[0]
        return cls(cells, RawTable.of_cells(cells), dict(zip(view.raw_names, rows[0], strict=True)))


def counterfactual(
    model: Any,
    x: Any,
    target: Any = None,
    *,
    probability: float | None = None,
    n: int = 3,
    immutable: Collection[Any] = (),
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
    immutable : list of columns
        Columns that stay as they are.
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
    view = ModelView.of(model)
    wishes = Wishes(immutable, ranges or {}, directions or {}, costs or {}, integers, distance, data)
    wishes.check(view)
    row = _Row.read(view, x)
    logs = view.cell_rows(row.columns)
    now = view.outputs_of(view.scores_of(logs))
    found: list[tuple[Counterfactual, frozenset[int]]] = []
    for label, goal in _goals(view, target, probability, now):
        if goal.holds(now)[0]:
            return [_answer(view, row, now[0], label, {}, 0.0)]
        space = build_space(view, row.columns, logs, wishes, goal)
        found += _confirmed_answers(view, space, row, label, n)
    found.sort(key=lambda pair: pair[0].distance)
    return [answer for answer, _ in diverse(found, n)]


def _goals(view: ModelView, target: Any, probability: float | None, now: FloatArray) -> list[tuple[Any, Goal]]:
    """Return the wished class (None for a regression) and the goal, one for each class that would do."""
    if not view.has_classes:
        if probability is not None or not (isinstance(target, tuple) and len(target) == 2):
            raise ValueError("the target of a regression is a pair (low, high), None for an open end")
        return [(None, range_goal(*target))]
    decided = view.classes[int(view.decisions(now)[0])]
    labels = [label for label in view.classes if label != decided] if target is None else [target]
    if probability is None:
        return [(label, decision_goal(view, label)) for label in labels]
    return [(label, probability_goal(view, label, probability)) for label in labels]


def _confirmed_answers(
    view: ModelView, space: Space, row: _Row, label: Any, n: int
) -> list[tuple[Counterfactual, frozenset[int]]]:
    own = space.fixed(np.full((1, len(space.categories)), -1, dtype=np.intp))
    scale = 1.0 + abs(float(space.margin(space.numbers.start[None], own)[0]))
    for slack in SLACKS:
        chosen = search(space, slack * scale, n)
        if chosen and (answers := _confirm(view, space, row, label, chosen)):
            return answers
    return []


def _confirm(
    view: ModelView, space: Space, row: _Row, label: Any, candidates: list[Candidate]
) -> list[tuple[Counterfactual, frozenset[int]]]:
    """Put the candidates to the model, from raw values on, and return those that it confirms."""
    values = space.numbers.values(np.array([candidate.point for candidate in candidates]))
    new: dict[int, npt.NDArray[Any]] = {}
    for position, j in enumerate(space.numbers.columns.tolist()):
        moved = np.array([j in candidate.changed for candidate in candidates])
        if moved.any():
            new[j] = np.where(moved, values[:, position], float(row.columns.columns[j].numbers()[0]))
    for position, category in enumerate(space.categories):
        picked = [candidate.choice[position] for candidate in candidates]
        if max(picked) >= 0:
            own = row.values[view.raw_names[category.column]]
            levels = np.empty(len(candidates), dtype=object)
            levels[:] = [own if level < 0 else category.levels[level] for level in picked]
            new[category.column] = levels
    cells = np.repeat(row.cells, len(candidates), axis=0)
    for j, changed in new.items():
        cells[:, j] = changed
    outputs = view.outputs_of(view.scores_of(view.cell_rows(RawTable.of_cells(cells))))
    good = space.goal.holds(outputs)
    whole = {j: bool(is_integer) for j, is_integer in zip(space.numbers.columns, space.numbers.integer, strict=True)}
    return [
        (
            _answer(
                view,
                row,
                outputs[i],
                label,
                {j: _plain(new[j][i], whole=whole.get(j, False)) for j in sorted(candidate.changed)},
                candidate.distance,
            ),
            candidate.changed,
        )
        for i, candidate in enumerate(candidates)
        if good[i]
    ]


def _answer(
    view: ModelView, row: _Row, output: FloatArray, label: Any, new: dict[int, Any], distance: float
) -> Counterfactual:
    after = {view.raw_names[j]: value for j, value in new.items()}
    if view.has_classes:
        probability: float | None = float(output[view.class_position(label)])
        prediction: Any = view.classes[int(view.decisions(output[None])[0])]
    else:
        probability, prediction = None, float(output[0])
    changes = {name: (row.values[name], value) for name, value in after.items()}
    return Counterfactual(changes, {**row.values, **after}, probability, prediction, distance)


def _plain(value: Any, *, whole: bool) -> Any:
    if isinstance(value, (float, np.floating)):
        return round(value) if whole and float(value).is_integer() else float(value)
    return value.item() if isinstance(value, np.generic) else value


def _short(value: Any) -> str:
    return f"{value:.6g}" if isinstance(value, (int, float)) and not isinstance(value, bool) else str(value)
