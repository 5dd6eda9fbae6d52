"""From points of grids to the boundary: one number is solved for while another one is varied.

With all columns but q fixed, the nearest number of q with g ≥ 0 is found between two points of its grid by regula
falsi, and is given the digits that the column holds. What that costs is a function of each other number p that is
moved. p is varied around where it is, at first by the width of its grid, then by less and less around the vertex of the
parabola through the three best tries; all pairs take turns, each in both roles: a number that reaches the goal only
between two points of its grid cannot be solved for, but can be varied. There is one constraint, so that a point which
no pair can improve is a local optimum wherever g is smooth. At last one more number is tried.
"""

from __future__ import annotations

from itertools import combinations
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ecsel.explain.counterfactual.columns import TINY, NumberColumn, nearer
from ecsel.explain.counterfactual.crossing import WIDTH, crossing
from ecsel.explain.counterfactual.space import States, crossings, rank_within

if TYPE_CHECKING:
    from ecsel._typing import Floats, Places
    from ecsel.explain.counterfactual.space import Candidates, Space

STEPS = np.array([-1.0, -0.6, -0.3, -0.1, 0.0, 0.1, 0.3, 0.6, 1.0])
"""Where the varied number is tried, in widths."""
MIN_STEP = 0.02
"""The least first width, as a share of how far a number has moved."""
NARROWER = 0.2
"""What becomes of a width when the best place is not at its end."""
ROUNDS = 60
ENOUGH = 1e-6
"""A turn that saves less than this share of the cost is idle; a state ends with one more of them than it has pairs."""
COARSE = 1e4
"""A column that holds fewer numbers than this may overshoot by more than nothing."""
KEPT = 2
"""So many states of a row more than answers are wanted have further turns."""
ONE_MORE = 0.1
"""How far a number that has not moved is tried, as a share of its range."""
NOTHING = 1e-9
"""A number that saves less than this share of the cost is not moved."""
LARGE = 1e300


class Moved(NamedTuple):
    """New numbers (states, tries), what they do and cost."""

    values: Floats
    phi: Floats
    cost: Floats


class Pair(NamedTuple):
    """For each state the number p that is varied, by what, and the number q that is solved for."""

    p: Places
    q: Places
    shift: Floats
    """Where p is tried first, from where it is."""
    width: Floats


class Turn(NamedTuple):
    """The next shifts and widths of pairs, and the share of the cost that was saved."""

    shift: Floats
    width: Floats
    saved: Floats


def polish(space: Space, candidates: Candidates, n_answers: int) -> States:
    """Return the candidates moved to the boundary and as cheap as they get around there."""
    row, picks = candidates.row, candidates.picks
    states, step = space.at(row, picks), _steps(space, row, picks)
    moved = [[p for p in space.numbers if at[p] > 0] for at in picks]  # the finest comes last, to be solved for first
    alone = np.flatnonzero([len(each) == 1 for each in moved])
    q = np.array([moved[i][0] for i in alone], dtype=np.intp)
    _turn(space, states, alone, Pair(q, q, np.zeros(q.size), np.zeros(q.size)))
    _take_turns(space, states, moved, step, n_answers)
    joined = _with_one_more(space, states, moved, step)
    if joined is not None:
        _take_turns(space, *joined, n_answers)
        states = States(*(np.concatenate(both) for both in zip(states, joined[0], strict=True)))
    return _with_steps_back(space, states, n_answers)


def _take_turns(space: Space, states: States, moved: list[list[int]], step: Floats, n_answers: int) -> None:
    """Move the numbers of states, all pairs in turns, as long as that saves something."""
    row = states.row
    turns = [[*combinations(each, 2), *combinations(each[::-1], 2)] for each in moved]
    n_turns = np.array([len(each) for each in turns], dtype=np.intp)
    shift, width = np.zeros((2, row.size, int(n_turns.max(initial=0))))
    for i, each in enumerate(turns):
        width[i, : len(each)] = [step[i, p] for p, _ in each]
    going, idle = np.flatnonzero(n_turns), np.zeros(row.size, dtype=np.intp)
    for attempt in range(ROUNDS):
        if not going.size:
            break
        turn = attempt % n_turns[going]
        p, q = np.array([turns[i][t] for i, t in zip(going, turn, strict=True)], dtype=np.intp).T
        result = _turn(space, states, going, Pair(p, q, shift[going, turn], width[going, turn]))
        shift[going, turn], width[going, turn] = result.shift, result.width
        idle[going] = np.where(result.saved > ENOUGH, 0, idle[going] + 1)
        rank = rank_within(row, states.cost.sum(axis=1))
        going = going[(idle[going] <= n_turns[going]) & (rank[going] < n_answers + KEPT)]


def _with_one_more(
    space: Space, states: States, moved: list[list[int]], step: Floats
) -> tuple[States, list[list[int]], Floats] | None:
    """Return the cheapest state of each row with one more number moved, for each that saves something at once.

    What points of grids cost is known about; whether a second number saves a percent shows only at the boundary.
    """
    best = np.flatnonzero(rank_within(states.row, states.cost.sum(axis=1)) == 0)
    jobs = [(i, p, q) for i in best.tolist() for q in moved[i] for p in space.numbers if p not in moved[i]]
    if not jobs:
        return None
    at, p, q = np.array(jobs, dtype=np.intp).T
    found = states.take(at)
    ranges = np.stack([np.ptp(grid.values, axis=1) for grid in space.grids], axis=1)
    width = ONE_MORE * ranges[found.row, p]
    saved = _turn(space, found, np.arange(at.size), Pair(p, q, np.zeros(at.size), width)).saved
    kept = np.flatnonzero(saved > ENOUGH)
    if not kept.size:
        return None
    steps = step[at[kept]]
    steps[np.arange(kept.size), p[kept]] = width[kept]
    return found.take(kept), [sorted([*moved[at[k]], int(p[k])]) for k in kept], steps


def _with_steps_back(space: Space, states: States, n_answers: int) -> States:
    """Add what is cheaper with a number of few digits one unit nearer to the row and another one making up for it.

    Such numbers overshoot: 61 years may be too few and 62 more than enough.
    """
    total, numbers = states.cost.sum(axis=1), np.array(space.numbers, dtype=np.intp)
    limit, last = np.full(len(space.fixed), np.inf), rank_within(states.row, total) == n_answers - 1
    limit[states.row[last]] = total[last]
    coarse = np.array([p for p in space.numbers if _number(space, p).n_values < COARSE], dtype=np.intp)
    at, place = np.nonzero((states.values != space.own[states.row])[:, coarse])
    found, p = states.take(at), coarse[place]
    _step_back(space, found, p)
    able = np.flatnonzero(found.cost.sum(axis=1) < np.minimum(limit[found.row], (1 - ENOUGH) * total[at]))
    job, place = np.nonzero(p[able, None] != numbers)
    at, q, found = at[able[job]], numbers[place], found.take(able[job])
    solved = _solve(space, found.row, q, _rest(space, found, q)[:, None])
    _write(found, np.arange(q.size), q, solved, np.zeros(q.size, dtype=np.intp))
    cost = found.cost.sum(axis=1)
    cheaper = np.flatnonzero(cost < (1 - ENOUGH) * total[at])
    added = found.take(cheaper[rank_within(at[cheaper], cost[cheaper]) == 0])
    return States(*(np.concatenate(both) for both in zip(states, added, strict=True)))


def _step_back(space: Space, states: States, p: Places) -> None:
    """Move one number of each state by a unit towards the row."""
    units = np.zeros(len(space.columns))
    grains = [_number(space, each).grain for each in space.numbers]
    units[space.numbers] = [1.0 if grain is None else grain.unit for grain in grains]
    at = np.arange(p.size)
    now, own = states.values[at, p], space.own[states.row, p]
    back = now - np.sign(now - own) * np.minimum(units[p], np.abs(now - own))
    _write(states, at, p, _move(space, states.row, p, back[:, None]), np.zeros(p.size, dtype=np.intp))


def _rest(space: Space, states: States, *left_out: Places) -> Floats:
    """Return the product (states, terms) of coefficients and factors, some columns of each state left out."""
    phi, at = states.phi.copy(), np.arange(states.row.size)
    for columns in left_out:
        phi[at, columns] = 1.0
    with np.errstate(over="ignore", invalid="ignore"):
        result: Floats = space.fixed[states.row] * phi.prod(axis=1)
    return result


def _write(states: States, at: Places, columns: Places, moved: Moved, tries: Places) -> None:
    """Put the chosen tries of moved numbers into states."""
    place = np.arange(at.size)
    for own, new in zip(states[1:], moved, strict=True):
        own[at, columns] = new[place, tries]


def _number(space: Space, p: int) -> NumberColumn:
    column = space.columns[p]
    assert isinstance(column, NumberColumn)  # noqa: S101  # levels are chosen before
    return column


def _steps(space: Space, row: Places, picks: Places) -> Floats:
    """Return the steps of the grids at the picks, (states, columns)."""
    step = np.zeros(picks.shape)
    for p in space.numbers:
        values, at = space.grids[p].values[row], picks[:, p]
        half = (values.shape[1] - 1) // 2
        ends = np.where(at % half == 0, at, np.minimum(at + 1, 2 * half)), nearer(at, values.shape[1])
        place = np.arange(row.size)
        step[:, p] = np.maximum(*(np.abs(values[place, end] - values[place, at]) for end in ends))
        # two points of a grid may be as good as one, at the end of a range
        step[:, p] = np.maximum(step[:, p], MIN_STEP * np.abs(values[place, at] - values[place, 0]))
    return step


def _turn(space: Space, states: States, going: Places, pair: Pair) -> Turn:
    """Vary numbers p, solve for numbers q and keep what is cheapest; where both are one it is solved for alone."""
    p, q, at = pair.p, pair.q, np.arange(going.size)
    now, alone = states.take(going), p == q
    tries = np.empty((going.size, STEPS.size + 1))
    tries[:, :-1] = (now.values[at, p] + pair.shift)[:, None] + pair.width[:, None] * STEPS
    tries[:, -1] = space.own[now.row, p]  # p may not be needed at all
    varied = _move(space, now.row, p, tries[:, -1:] if alone.all() else tries)
    varied.cost[alone], varied.phi[alone] = 0.0, 1.0
    solved = _solve(space, now.row, q, _rest(space, now, p, q)[:, None] * varied.phi)
    before = now.cost.sum(axis=1)
    kept = before - now.cost[at, q] - np.where(alone, 0.0, now.cost[at, p])
    total = kept[:, None] + varied.cost + solved.cost
    total[:, -1] *= 1 - NOTHING
    best = total.argmin(axis=1)
    cheaper = np.flatnonzero(total[at, best] < before)
    for columns, moved in ((p, varied), (q, solved)):  # where both are one, the solved number is written last
        chosen = Moved(*(each[cheaper] for each in moved))
        _write(states, going[cheaper], columns[cheaper], chosen, best[cheaper])
    inside = (best > 0) & (best < STEPS.size - 1) & ~alone
    shift = np.where(inside, _vertex(varied.values, total, best) - states.values[going, p], 0.0)
    with np.errstate(invalid="ignore", divide="ignore"):
        saved = np.nan_to_num(np.maximum(0.0, 1.0 - total[at, best] / before))
    return Turn(shift, np.where(inside, NARROWER, 1.0) * pair.width, saved)


def _vertex(values: Floats, cost: Floats, best: Places) -> Floats:
    """Return where the parabola through the best try and its neighbours is lowest, else the best try."""
    at, middle = np.arange(best.size), np.clip(best, 1, STEPS.size - 2)
    if values.shape[1] == 1:
        return values[:, 0]
    x, y = (np.stack([each[at, middle + i] for i in (-1, 0, 1)]) for each in (values, cost))
    with np.errstate(divide="ignore", invalid="ignore"):
        slopes = (y[1] - y[0]) / (x[1] - x[0]), (y[2] - y[1]) / (x[2] - x[1])
        vertex = (x[0] + x[1]) / 2 - slopes[0] * (x[2] - x[0]) / (2 * (slopes[1] - slopes[0]))
    smooth = np.isfinite(vertex) & np.isfinite(y).all(axis=0)  # beside what cannot be reached there is no parabola
    return np.where(smooth, np.clip(vertex, x[0], x[2]), values[at, best])


def _move(space: Space, row: Places, columns: Places, values: Floats) -> Moved:
    """Return numbers (states, tries) of columns (states,), as the columns hold them."""
    result = Moved(values.copy(), np.empty((*values.shape, space.fixed.shape[1])), np.empty_like(values))
    for p in np.unique(columns).tolist():
        at, column = np.flatnonzero(columns == p), _number(space, p)
        result.values[at] = column.constrained(row[at], values[at])
        result.cost[at] = column.cost(row[at], result.values[at])
        result.phi[at] = column.phi(result.values[at])
    return result


def _solve(space: Space, row: Places, columns: Places, rest: Floats) -> Moved:
    """Return the nearest numbers (states, tries) of columns (states,) that reach the goal, at no cost but ∞ if none."""
    shape = rest.shape[:2]
    bad, good, g_bad, g_good, width = np.empty((5, *shape))
    slack = np.broadcast_to(space.slack[row][:, None], shape)
    for q in np.unique(columns).tolist():
        at, grid = np.flatnonzero(columns == q), space.grids[q]
        g = space.scan(row[at], rest[at], q)
        cost, span = (each[row[at]][:, None] for each in (grid.cost, grid.span))
        pick = crossings(g, cost, span, slack[at]).argmin(axis=2)
        before = nearer(pick, g.shape[2])
        bad[at], good[at] = (np.take_along_axis(grid.values[row[at]], each, axis=1) for each in (before, pick))
        g_bad[at], g_good[at] = (np.take_along_axis(g, each[..., None], axis=2)[..., 0] for each in (before, pick))
        grain = _number(space, q).grain
        unit = 0.0 if grain is None else grain.unit
        width[at] = np.maximum(WIDTH, unit / 4 / np.maximum(np.abs(good[at] - bad[at]), TINY))
    g_bad, g_good = (np.clip(g - slack, -LARGE, LARGE) for g in (g_bad, g_good))
    reached = g_good >= 0
    where = reached & (g_bad < 0)
    step, columns_at = (good - bad)[where], np.broadcast_to(columns[:, None], shape)[where]
    rest_at, slack_at, bad_at = rest[where], slack[where], bad[where]

    def beyond(share: Floats) -> Floats:
        phi = _phi(space, columns_at, bad_at + share * step)
        g: Floats = np.clip(space.margin(rest_at * phi) - slack_at, -LARGE, LARGE)
        return g

    values = good.copy()
    values[where] = bad_at + crossing(beyond, g_bad[where], g_good[where], width[where]) * step
    found = _move(space, row, columns, values)
    missed = reached & (space.margin(rest * found.phi) < slack)
    if missed.any():  # what the digits spoil
        found = _move(space, row, columns, np.where(missed, good, found.values))
    found.cost[~reached] = np.inf
    return found


def _phi(space: Space, columns: Places, values: Floats) -> Floats:
    """Return φ (points, terms) of numbers of columns (points,)."""
    phi = np.empty((values.size, space.fixed.shape[1]))
    for p in np.unique(columns).tolist():
        at = np.flatnonzero(columns == p)
        phi[at] = _number(space, p).phi(values[at])
    return phi
