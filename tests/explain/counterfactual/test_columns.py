"""What single columns do, cost and hold, against terms that are evaluated as a whole."""

# ruff: noqa: PD011 -- the values of grids, not of data frames

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ecsel import Signomial
from ecsel.explain import ModelView
from ecsel.explain.counterfactual.building import build_space
from ecsel.explain.counterfactual.columns import ColumnFactors, Grain, NumberColumn, nearer
from ecsel.explain.counterfactual.goals import decision_goal
from ecsel.explain.counterfactual.options import Options
from ecsel.explain.counterfactual.raw_rows import RawRows
from ecsel.explain.counterfactual.space import crossings
from ecsel.signomial import term_values
from ecsel.tables import TableEncoder

pytestmark = pytest.mark.filterwarnings("ignore:.*training")

EXAMPLES = settings(max_examples=12, deadline=None)
MODELS = st.tuples(st.integers(0, 2**32 - 1), st.sampled_from(["sigmoid", "softmax3"]))


def space_of(model, X, **options):
    view = ModelView.of(model)
    rows = RawRows.read(view, X)
    goal = decision_goal(view, view.classes[-1])
    return view, build_space(view, rows.table, view.cell_rows(rows.table), Options(**options).settled(view), goal, 0.0)


def raw_table(space, X, values):
    """Return rows whose movable columns have the given values, (rows, columns)."""
    table = X.copy()
    for p, column in enumerate(space.columns):
        name = X.columns[column.position]
        if isinstance(column, NumberColumn):
            moved = values[:, p] != column.start
            table[name] = np.where(moved, values[:, p], X[name].astype(float))
        else:
            cells = [X[name].iloc[i] if code < 0 else column.levels[int(code)] for i, code in enumerate(values[:, p])]
            table[name] = pd.Series(cells, index=X.index, dtype=object)
    return table


@EXAMPLES
@given(st.booleans(), MODELS, st.integers(0, 2**32 - 1))
def test_terms_are_products_of_what_their_columns_do(make_model, make_raw_model, raw, drawn, seed):
    """Anywhere on the grids: missing numbers, levels, steps, hinges and clips included."""
    model, X = (make_raw_model if raw else make_model)(*drawn)
    X = X.iloc[:10]
    view, space = space_of(model, X, ranges={"income": (-5.0, 200.0)})
    rng = np.random.default_rng(seed)
    picks = np.column_stack([rng.integers(0, grid.values.shape[1], len(X)) for grid in space.grids])
    states = space.at(np.arange(len(X)), picks)
    expected = term_values(view.terms, view.rows(raw_table(space, X, states.values), warn=False))
    np.testing.assert_allclose(space.rest(states), expected, rtol=1e-9, atol=1e-12)
    for p in range(len(space.columns)):
        np.testing.assert_allclose(space.others(states)[p], space.rest(states, p), rtol=1e-13)
        g = space.scan(states.row, space.rest(states, p), p)
        np.testing.assert_allclose(g[np.arange(len(X)), picks[:, p]], space.margin(expected), rtol=1e-9, atol=1e-9)


@EXAMPLES
@given(MODELS)
def test_grids_begin_with_the_row_and_leave_no_jump_between_neighbours(make_raw_model, drawn):
    model, X = make_raw_model(*drawn)
    view, space = space_of(model, X)
    for p in space.numbers:
        column, grid = space.columns[p], space.grids[p]
        name = X.columns[column.position]
        known = X[name].notna().to_numpy()
        np.testing.assert_array_equal(grid.values[known, 0], X[name][known])
        assert (grid.values[~known] == grid.values[~known, :1]).all()
        n_points = grid.values.shape[1]
        before = nearer(np.arange(n_points), n_points)
        way = np.abs(grid.values - grid.values[:, :1])
        assert (way >= way[:, before]).all()
        assert X[name].min() <= grid.values.min()
        assert grid.values.max() <= X[name].max()
        constrained = column.grain.upward(grid.values[:, 1:])
        at_home = grid.values[:, 1:] == grid.values[:, :1]
        np.testing.assert_array_equal(grid.values[:, 1:][~at_home], constrained[~at_home])
        for feature in (view.encoder.features[f] for f in column.factors.features):
            if feature.kind not in ("step", "level"):
                continue
            jump = feature.of_number(grid.values) != feature.of_number(grid.values[:, before])
            gap = np.abs(grid.values - grid.values[:, before])[jump]
            off_grid = column.grain.unit * (1 + 1e-6)
            assert (gap <= np.where(before == 0, np.inf, off_grid)[np.nonzero(jump)[1]]).all()


@pytest.mark.parametrize("text", ["log(x)", "1/log(x)", "sqrt(x + 2)", "x**-2", "(x - 1)**3", "sign(x)*abs(x)**0.5"])
def test_factors_are_nan_exactly_outside_their_domain(text):
    equation = Signomial.parse(f"1*{text}")
    factors = ColumnFactors.of(ModelView.of_equations(equation, ["x"]), 0)
    x = np.array([-3.0, -2.0, -0.5, 0.0, 0.5, 1.0, 1.5, 40.0])
    ours = factors.at(x[:, None])[:, 0]
    for value, number in zip(ours, x, strict=True):
        try:
            expected = equation.evaluate({"x": [number]})[0]
        except ValueError:
            assert np.isnan(value)
        else:
            assert value == pytest.approx(expected, rel=1e-14)


def test_numbers_are_held_away_from_the_row_and_inside_the_bounds():
    X = pd.DataFrame({"x": [1.0, 2.5, 4.0, 8.0]})
    view = ModelView.of_equations(Signomial.parse("x"), ["x"])
    encoder = TableEncoder.fit(X, scaling="raw")
    rows = np.arange(2)
    column = NumberColumn(
        position=0,
        factors=ColumnFactors.of(view, 0),
        encode=lambda values: values[..., None],
        start=np.array([2.5, 2.55]),
        low=np.array([1.04, encoder.columns[0].low]),
        high=np.array([7.99, encoder.columns[0].high]),
        grain=Grain(1),
        n_values=70.0,
        is_whole=False,
        price=2.0,
        scale=lambda values: values,
        jumps=np.array([3.0, 3.1]),
    )
    values = column.constrained(rows, np.array([[2.61, 2.39, 2.7, 0.0, 9.0], [2.61, 2.39, 2.7, 0.0, 9.0]]))
    assert values.tolist() == [[2.7, 2.3, 2.7, 1.1, 7.9], [2.7, 2.3, 2.7, 1.0, 8.0]]
    np.testing.assert_allclose(column.cost(rows, values[:, :1])[:, 0], [0.4, 0.3])
    rays = column.rays()
    assert np.isin([3.0, 3.1], rays[0]).all()
    assert (np.diff(np.abs(rays - column.start[:, None, None]), axis=2) >= 0).all()


def test_crossings_are_where_the_line_between_two_points_is():
    g = np.array([[-2.0, -1.0, 1.0, 2.0, -3.0, -1.0, -0.5]])
    cost = np.array([[0.0, 1.0, 2.0, 3.0, 1.0, 2.0, 3.0]])
    span = np.array([[0.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0]])
    about = crossings(g, cost, span, np.zeros(1))
    assert about[0, 2] == 1.5
    assert np.isinf(np.delete(about[0], 2)).all()
    assert crossings(g, cost, 0 * span, np.zeros(1))[0, 2] == 2.0
