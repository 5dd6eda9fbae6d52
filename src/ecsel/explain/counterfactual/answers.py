"""Answers: candidates that the model itself has confirmed, from raw values on, and the choice among them.

Candidates are put a little beyond the boundary. Where the model confirms none of a row's, they are looked for again a
little farther out.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ecsel.explain.counterfactual.building import build_space
from ecsel.explain.counterfactual.columns import NumberColumn
from ecsel.explain.counterfactual.polish import polish
from ecsel.explain.counterfactual.search import search

if TYPE_CHECKING:
    import numpy.typing as npt

    from ecsel._typing import Floats, Mask, Places
    from ecsel.explain.counterfactual.goals import Goal
    from ecsel.explain.counterfactual.options import Options
    from ecsel.explain.counterfactual.raw_rows import RawRows
    from ecsel.explain.counterfactual.space import Space, States
    from ecsel.explain.view import ModelView
    from ecsel.signomial import FeatureRows

SLACKS = (1e-10, 1e-7, 1e-4)
"""How far beyond the boundary answers are put, relative to the score: more only if the model does not confirm less."""

AS_WELL = 1e-6
"""An answer that is nearer by less than this share, and changes more columns, is none."""


class Answer(NamedTuple):
    """What a row may become."""

    row: int
    label: Any
    distance: float
    new: dict[int, Any]
    """The changed values by the positions of their columns."""
    output: Floats
    """What the model then says."""


@dataclass(frozen=True, eq=False)
class Question:
    """The rows that answers are wanted for, what may be changed, and how many answers."""

    view: ModelView
    rows: RawRows
    features: FeatureRows
    options: Options
    n: int

    def answers(self, todo: Places, label: Any, goal: Goal) -> list[Answer]:
        """Return confirmed answers, more than are wanted, to those rows that have any."""
        found: list[Answer] = []
        for slack in SLACKS:
            if not todo.size:
                break
            features = self.features.take(todo)
            space = build_space(self.view, self.rows.take(todo).table, features, self.options, goal, slack)
            if not space.columns:
                break
            candidates = search(space, self.n)
            states = polish(space, candidates, self.n)
            confirmed = self._confirmed(space, states, todo[states.row], label)
            found += confirmed
            todo = np.setdiff1d(todo[states.row], [answer.row for answer in confirmed])
        return found

    def _confirmed(self, space: Space, states: States, row: Places, label: Any) -> list[Answer]:
        """Put states to the model and return those that it confirms."""
        before = self.rows.take(row)
        changed = states.values != space.own[states.row]
        new = _new_columns(space, before, states, changed)
        outputs = self.view.outputs_of(self.view.scores_of(self.view.cell_rows(before.with_columns(new))))
        answers = []
        for i in np.flatnonzero(space.goal.holds(outputs) & changed.any(axis=1)).tolist():
            columns = [space.columns[p] for p in np.flatnonzero(changed[i])]
            values = {
                each.position: _plain(new[each.position][i], whole=isinstance(each, NumberColumn) and each.is_whole)
                for each in columns
            }
            answers.append(Answer(int(row[i]), label, float(states.cost[i].sum()), values, outputs[i]))
        return answers


def _new_columns(space: Space, rows: RawRows, states: States, changed: Mask) -> dict[int, npt.NDArray[Any]]:
    """Return the columns that some state changes, one value for each state."""
    new: dict[int, npt.NDArray[Any]] = {}
    for p in np.flatnonzero(changed.any(axis=0)).tolist():
        column, moved = space.columns[p], changed[:, p]
        j = column.position
        if isinstance(column, NumberColumn):
            new[j] = np.where(moved, states.values[:, p], rows.table.columns[j].numbers())
        else:
            new[j] = rows.cells[:, j].copy()
            for i in np.flatnonzero(moved).tolist():
                new[j][i] = column.levels[int(states.values[i, p])]
    return new


def _plain(value: Any, *, whole: bool) -> Any:
    if isinstance(value, (float, np.floating)):
        return round(value) if whole and float(value).is_integer() else float(value)
    return value.item() if isinstance(value, np.generic) else value


def diverse(pool: list[Answer], n: int) -> list[Answer]:
    """Return up to n answers to a row, nearest first, each of another set of columns.

    Sets that neither contain an earlier one nor are contained in it go first: to change age and income is no news
    where income alone will do. A column that saves nothing is not changed.
    """
    nearest: dict[frozenset[int], Answer] = {}
    for answer in sorted(pool, key=lambda answer: answer.distance):
        nearest.setdefault(frozenset(answer.new), answer)
    pool = list(nearest.values())
    pool = [one for one in pool if not any(_does_as_well(other, one) for other in pool)]
    chosen: list[Answer] = []
    for answer in pool:
        columns = answer.new.keys()
        if len(chosen) < n and not any(columns <= each.new.keys() or columns >= each.new.keys() for each in chosen):
            chosen.append(answer)
    for answer in pool:
        if len(chosen) < n and not any(answer is each for each in chosen):
            chosen.append(answer)
    return sorted(chosen, key=lambda answer: answer.distance)


def _does_as_well(other: Answer, one: Answer) -> bool:
    return other.new.keys() < one.new.keys() and other.distance <= (1 + AS_WELL) * one.distance
