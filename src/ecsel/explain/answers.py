"""Answers: candidates that the model itself has confirmed, from raw values on, and the choice among them.

Candidates are put a little beyond the boundary. Where the model confirms none of a row's, they are looked for again a
little farther out.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ecsel.explain.candidates import Candidates, search
from ecsel.explain.wishes import Wishes, build_space
from ecsel.signomial import term_values

if TYPE_CHECKING:
    import numpy.typing as npt

    from ecsel.explain.goals import Goal
    from ecsel.explain.raw_rows import RawRows
    from ecsel.explain.search_space import IntArray, Space
    from ecsel.explain.view import ModelView
    from ecsel.signomial import FeatureRows, ScoreTerms
    from ecsel.signomial.columns import FloatArray

SLACKS = (1e-10, 1e-7, 1e-4)
"""How far beyond the boundary answers are put, relative to the score: more only if the model does not confirm less."""


class Answer(NamedTuple):
    """What a row may become."""

    row: int
    label: Any
    distance: float
    new: dict[int, Any]
    """The changed values by the positions of their columns."""
    output: FloatArray
    """What the model then says."""


@dataclass(frozen=True, eq=False)
class Question:
    """The rows that answers are wanted for, what may be changed, and how many answers."""

    view: ModelView
    rows: RawRows
    logs: FeatureRows
    wishes: Wishes
    n: int

    def answers(self, todo: IntArray, label: Any, goal: Goal) -> list[Answer]:
        """Return confirmed answers, more than are wanted, to those rows that have any."""
        found: list[Answer] = []
        for slack in SLACKS:
            refused = [todo[:0]]
            for at, terms in _by_signs(self.view, self.logs.take(todo)) if todo.size else ():
                where = todo[at]
                table, logs = self.rows.take(where).table, self.logs.take(where)
                space = build_space(self.view, table, logs, terms, self.wishes, goal)
                candidates = search(space, slack * (1.0 + np.abs(space.margin_of_logs(space.own_logs))), self.n)
                if candidates.row.size:
                    confirmed = self._confirmed(space, candidates, where[candidates.row], label)
                    found += confirmed
                    refused.append(np.setdiff1d(where[candidates.row], [answer.row for answer in confirmed]))
            todo = np.concatenate(refused)
        return found

    def _confirmed(self, space: Space, candidates: Candidates, row: IntArray, label: Any) -> list[Answer]:
        """Put candidates to the model and return those that it confirms."""
        before = self.rows.take(row)
        new = _new_columns(space, before, candidates)
        outputs = self.view.outputs_of(self.view.scores_of(self.view.cell_rows(before.with_columns(new))))
        columns = [*space.numbers.columns.tolist(), *(category.column for category in space.categories)]
        whole = space.numbers.integer[candidates.row].tolist()
        answers = []
        for i in np.flatnonzero(space.goal.holds(outputs)).tolist():
            changed = np.flatnonzero(candidates.changed[i]).tolist()
            is_whole = [position < len(whole[i]) and whole[i][position] for position in changed]
            positions = [columns[position] for position in changed]
            values = {j: _plain(new[j][i], whole=w) for j, w in sorted(zip(positions, is_whole, strict=True))}
            answers.append(Answer(int(row[i]), label, float(candidates.distance[i]), values, outputs[i]))
        return answers


def _by_signs(view: ModelView, rows: FeatureRows) -> list[tuple[Any, ScoreTerms]]:
    """Return (rows, terms) for each set of rows on which every term keeps its sign, in its coefficient."""
    if not view.terms.is_power_law.all():
        raise ValueError("counterfactuals are searched for in products of powers, not with logarithms and shifts")
    if rows.is_log:
        return [(slice(None), view.terms)]
    alone = replace(view.terms, coefficients=np.ones(view.terms.n_terms))
    patterns, member = np.unique(np.sign(term_values(alone, rows)), axis=0, return_inverse=True)
    return [
        (np.flatnonzero(member.reshape(-1) == i), replace(view.terms, coefficients=view.terms.coefficients * signs))
        for i, signs in enumerate(patterns)
    ]


def _new_columns(space: Space, rows: RawRows, candidates: Candidates) -> dict[int, npt.NDArray[Any]]:
    """Return the columns that some candidate changes, one value for each of them."""
    numbers, new = space.numbers, dict[int, "npt.NDArray[Any]"]()
    values = numbers.sign[candidates.row] * numbers.values(candidates.points)
    for position in np.flatnonzero(candidates.changed.any(axis=0)).tolist():
        moved = candidates.changed[:, position]
        if position < numbers.columns.size:
            j = int(numbers.columns[position])
            new[j] = np.where(moved, values[:, position], rows.table.columns[j].numbers())
        else:
            category = space.categories[position - numbers.columns.size]
            levels = rows.cells[:, category.column].copy()
            for i in np.flatnonzero(moved).tolist():
                levels[i] = category.levels[candidates.levels[i, position - numbers.columns.size]]
            new[category.column] = levels
    return new


def _plain(value: Any, *, whole: bool) -> Any:
    if isinstance(value, (float, np.floating)):
        return round(value) if whole and float(value).is_integer() else float(value)
    return value.item() if isinstance(value, np.generic) else value


def diverse(pool: list[Answer], n: int) -> list[Answer]:
    """Return up to n answers to a row, nearest first, each of another set of columns.

    Sets that neither contain an earlier one nor are contained in it go first: to change age and income is no news
    where income alone will do.
    """
    pool = sorted(pool, key=lambda answer: answer.distance)
    chosen: list[Answer] = []
    for answer in pool:
        columns = answer.new.keys()
        if len(chosen) < n and not any(columns <= each.new.keys() or columns >= each.new.keys() for each in chosen):
            chosen.append(answer)
    for answer in pool:
        if len(chosen) < n and answer.new.keys() not in [each.new.keys() for each in chosen]:
            chosen.append(answer)
    return sorted(chosen, key=lambda answer: answer.distance)
