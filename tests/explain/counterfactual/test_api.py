from importlib import import_module
from itertools import product

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ecsel import Signomial, explain
from ecsel.explain import ModelView

pytestmark = pytest.mark.filterwarnings("ignore:.*training")

EXAMPLES = settings(max_examples=8, deadline=None)


def distance_of(answer, X):
    """Weighted ℓ1 over MAD, and one for a changed level, by its definition."""
    total = 0.0
    for name, (before, after) in answer.changes.items():
        if isinstance(before, str):
            total += 1.0
        else:
            values = X[name].dropna()
            mad = (values - values.median()).abs()
            total += abs(after - before) / (mad.median() or mad.mean())
    return total


@EXAMPLES
@given(st.integers(0, 2**32 - 1), st.sampled_from(["sigmoid", "softmax2", "softmax3"]))
def test_every_answer_is_confirmed_and_keeps_to_the_limits(make_model, seed, kind):
    model, X = make_model(seed, kind)
    row = X.iloc[[0]]
    answers = explain.counterfactual(
        model, row, data=X, immutable=["balance"], directions={"income": "increase"}, ranges={"purpose": ["car"]}
    )
    sets = [frozenset(answer.changes) for answer in answers]
    assert len(set(sets)) == len(sets)
    assert [a.distance for a in answers] == sorted(a.distance for a in answers)
    for answer in answers:
        table = pd.DataFrame([answer.row])[list(X.columns)].astype({"gap": float})
        assert model.predict(table)[0] == answer.prediction != model.predict(row)[0]
        assert answer.probability == pytest.approx(model.predict_proba(table)[0].max(), abs=0.5)
        assert "balance" not in answer.changes
        assert answer.row["income"] >= row["income"].iloc[0]
        assert X["income"].min() <= answer.row["income"] <= X["income"].max()
        assert answer.row["purpose"] in {"car", row["purpose"].iloc[0]}
        assert isinstance(answer.row["children"], (int, np.integer))
        assert answer.distance == pytest.approx(distance_of(answer, X), rel=1e-9)


PINNED = (
    304,
    972,
    1610,
    2438,
    3083,
    3445,
    4485,
    4766,
    5233,
    5458,
    6436,
    6457,
    6653,
    6842,
    6930,
    7011,
    7311,
    7399,
    7417,
)
"""Of the seeds below 8 500 those in which the search once missed, found one column alone, or stopped short."""


@pytest.mark.parametrize("seed", PINNED)
def test_no_point_of_a_grid_is_nearer_in_hard_cases(seed):
    assert_no_point_of_a_grid_is_nearer(seed)


@EXAMPLES
@given(st.integers(0, 2**32 - 1))
def test_no_point_of_a_grid_is_nearer(seed):
    assert_no_point_of_a_grid_is_nearer(seed)


def assert_no_point_of_a_grid_is_nearer(seed):
    rng = np.random.default_rng(seed)
    a, b, c, d = rng.uniform(-1.5, 1.5, 4).tolist()
    yes = Signomial.parse(f"0.7*x**({a!r})*y**({b!r}) - 0.5*x**({c!r})*y**({d!r})")
    view = ModelView.of_equations({"no": Signomial.constant(float(rng.normal(0, 0.3))), "yes": yes}, ["x", "y"])
    row = rng.uniform(0.5, 2, (1, 2))
    target = "yes" if view.probabilities(row)[0, 1] < 0.5 else "no"
    side = np.linspace(0.1, 5, 301)
    grid = np.stack(np.meshgrid(side, side), axis=-1).reshape(-1, 2)
    good = grid[view.decisions(view.probabilities(grid)) == view.class_position(target)]
    costs = {"x": 1.0, "y": float(rng.uniform(0.5, 2))}
    answers = explain.counterfactual(view, row, target, costs=costs, ranges={"x": (0.1, 5), "y": (0.1, 5)}, n=1)
    assert bool(answers) == bool(len(good))
    if not answers:
        return
    nearest = (np.abs(good - row) @ list(costs.values())).min()
    assert answers[0].distance <= nearest + 1e-9


@pytest.mark.parametrize("beta", [1.5, -0.8])
def test_one_term_has_the_closed_form_of_g2(beta):
    """With z = α x^β y the factor that brings z to z* is (z*/z)^(1/β)."""
    view = ModelView.of_equations({"no": Signomial.parse("3"), "yes": Signomial.parse(f"2*x**({beta})*y")}, ["x", "y"])
    (answer,) = explain.counterfactual(view, {"x": 1.2, "y": 0.9}, "yes", immutable=["y"], distance="log")
    z = 2 * 1.2**beta * 0.9
    factor = (3 / z) ** (1 / beta)
    assert answer.changes["x"][1] == pytest.approx(1.2 * factor, rel=1e-8)
    assert answer.distance == pytest.approx(abs(np.log(factor)), rel=1e-8)


def test_a_probability_can_be_asked_for(make_model):
    model, X = make_model(4, "softmax3")
    p = model.predict_proba(X.iloc[[2]])[0]
    c = int(p.argmin())
    label = model.classes_[c]
    probability = float(p[c]) + 0.05
    for answer in explain.counterfactual(model, X.iloc[[2]], label, probability=probability, data=X):
        assert probability <= answer.probability < probability + 0.2
    with pytest.raises(ValueError, match="probability must lie between"):
        explain.counterfactual(model, X.iloc[[2]], label, probability=1.0)
    (already,) = explain.counterfactual(model, X.iloc[[2]], label, probability=float(p[c]) / 2)
    assert (already.changes, already.distance) == ({}, 0.0)


def test_levels_alone_may_do_it(make_model):
    reached = 0
    for seed in range(6):
        model, X = make_model(seed)
        for i in range(4):
            row = X.iloc[[i]]
            answers = explain.counterfactual(
                model, row, immutable=["income", "balance", "gap", "children"], costs={"purpose": 2.5}
            )
            assert all(set(a.changes) == {"purpose"} and a.distance == 2.5 for a in answers)
            decisions = {model.predict(row.assign(purpose=level))[0] for level in ("car", "house", "trip")}
            assert bool(answers) == (len(decisions) == 2)
            reached += bool(answers)
    assert reached


def test_thresholds_are_the_models_own(make_model):
    model, X = make_model(0)
    row = X.iloc[[int(model.predict_proba(X)[:, 1].argmin())]]
    model.threshold_ = 0.8
    for answer in explain.counterfactual(model, row, "yes", data=X):
        assert answer.probability >= 0.8


def test_a_regression_reaches_a_range():
    equation = Signomial.parse("x**2*y")
    answers = explain.counterfactual(equation, [2.0, -3.0], (None, -24.0), distance="log")
    assert answers[0].changes == {"x": (2.0, pytest.approx(8**0.5))}
    assert answers[0].prediction == pytest.approx(-24)
    assert answers[1].changes == {"y": (-3.0, pytest.approx(-6.0))}
    with pytest.raises(ValueError, match="pair"):
        explain.counterfactual(equation, [2.0, -3.0], 5.0, distance="log")
    with pytest.raises(ValueError, match="needs data=, costs= or distance='log'"):
        explain.counterfactual(equation, [2.0, -3.0], (20, None))


def test_integers_stay_whole_and_are_the_best_whole_numbers():
    view = ModelView.of_equations({"no": Signomial.parse("20.5"), "yes": Signomial.parse("x*y")}, ["x", "y"])
    answers = explain.counterfactual(
        view, [3.0, 4.0], "yes", costs={"x": 1.0, "y": 1.1}, integers=["x", "y"], ranges={"x": (1, 9), "y": (1, 9)}
    )
    best = min((abs(x - 3) + 1.1 * abs(y - 4), x, y) for x in range(1, 10) for y in range(1, 10) if x * y >= 20.5)
    assert answers[0].distance == pytest.approx(best[0])
    assert all(isinstance(after, int) for a in answers for _, after in a.changes.values())


def test_wrong_options_are_named(make_model):
    model, X = make_model(0)
    row = X.iloc[[0]]
    for options, message in [
        ({"target": "maybe"}, "'maybe' is not a class"),
        ({"immutable": ["wealth"]}, "no column 'wealth'"),
        ({"directions": {"income": "up"}}, "must be 'increase' or 'decrease'"),
        ({"directions": {"purpose": "increase"}}, "has no order"),
        ({"ranges": {"income": 3}}, "must be a pair"),
        ({"ranges": {"income": (5, 1)}}, "is empty"),
        ({"ranges": {"purpose": ["boat"]}}, "no level 'boat'"),
        ({"costs": {"income": -1}}, "at least 0"),
        ({"distance": "l2"}, "distance must be"),
    ]:
        with pytest.raises(ValueError, match=message):
            explain.counterfactual(model, row, **options)
    with pytest.raises(ValueError, match="for one row, not 2"):
        explain.counterfactual(model, X.iloc[:2])
    with pytest.raises(ValueError, match="no value for column 'balance'"):
        explain.counterfactual(model, {"income": 3.0})


def test_two_runs_give_the_same_answers(make_model):
    model, X = make_model(2, "softmax3")
    first, second = (explain.counterfactual(model, X.iloc[[1]], data=X) for _ in range(2))
    assert first == second


@pytest.mark.parametrize("seed", range(4))
def test_a_column_at_its_training_minimum_can_still_rise(make_model, seed):
    """There the encoder's clip begins: the derivative is one-sided, and the search must take the side that moves."""
    model, X = make_model(seed)
    row = X[X["income"] == X["income"].min()]
    others = [name for name in X.columns if name != "income"]
    grid = pd.concat([row] * 2000).assign(income=np.linspace(X["income"].min(), X["income"].max(), 2000))
    flips = model.predict(grid) != model.predict(row)[0]
    answers = explain.counterfactual(model, row, immutable=others, costs={"income": 1.0})
    assert bool(answers) == bool(flips.any())
    if answers:
        assert answers[0].distance <= (grid["income"][flips] - row["income"].iloc[0]).min() + 1e-9


def test_ordinal_columns_keep_to_their_direction(make_model):
    levels = ["trip", "car", "house"]
    others = ["income", "balance", "gap", "children"]
    for seed in range(4):
        model, X = make_model(seed, ordinal={"purpose": levels})
        row = X[X["purpose"] == "car"].iloc[[0]]
        answers = explain.counterfactual(model, row, immutable=others, directions={"purpose": "increase"})
        up = model.predict(row.assign(purpose="house"))[0] != model.predict(row)[0]
        assert [answer.changes for answer in answers] == ([{"purpose": ("car", "house")}] if up else [])


def same(first, second):
    """Whether two lists of answers are the same changes at the same distances, to the last bit."""
    assert [repr((a.changes, a.distance)) for a in first] == [repr((b.changes, b.distance)) for b in second]
    assert [a.prediction for a in first] == pytest.approx([b.prediction for b in second])
    return True


@EXAMPLES
@given(st.integers(0, 2**32 - 1), st.sampled_from(["sigmoid", "softmax2", "softmax3"]), st.sampled_from(["mad", "log"]))
def test_many_rows_have_the_answers_of_each_row_alone(make_model, seed, kind, distance):
    """Rows with missing cells, whole numbers and mirrored columns, decided either way, in one call."""
    model, X = make_model(seed, kind, missing="factor")
    options = {"data": X, "distance": distance, "immutable": ["balance"], "directions": {"income": "increase"}}
    together = explain.counterfactuals(model, X.iloc[:7], n=2, **options)
    assert len(together) == 7
    for i, answers in enumerate(together):
        assert same(answers, explain.counterfactual(model, X.iloc[[i]], n=2, **options))


def test_rows_of_different_signs_keep_them():
    """Each row is on an orthant of its own, where terms have signs of their own; a zero stays zero."""
    equation = Signomial.parse("x**2*y + 0.5*y + 0.1*x")
    rows = [[2.0, -3.0], [-1.5, 2.0], [1.0, 1.0], [0.0, 4.0], [-2.0, -2.0]]
    together = explain.counterfactuals(equation, rows, (None, -6.5), distance="log", n=2)
    for row, answers in zip(rows, together, strict=True):
        assert same(answers, explain.counterfactual(equation, row, (None, -6.5), distance="log", n=2))
        for answer in answers:
            assert answer.prediction <= -6.5
            assert np.sign(list(answer.row.values())).tolist() == np.sign(row).tolist()
    assert [bool(answers) for answers in together] == [True, False, False, False, True]


def test_many_rows_are_taken_in_blocks(make_model, monkeypatch):
    model, X = make_model(3)
    whole = explain.counterfactuals(model, X, n=1)
    monkeypatch.setattr(import_module("ecsel.explain.counterfactual.api"), "ROWS_AT_ONCE", 7)
    assert all(map(same, whole, explain.counterfactuals(model, X, n=1)))


@pytest.mark.parametrize("library", ["polars", "pyarrow", "numpy"])
def test_tables_of_every_kind(make_model, library):
    model, X = make_model(5)
    X = X.assign(gap=X["gap"].fillna(1.0))[:6]
    table = {
        "polars": lambda: pytest.importorskip("polars").from_pandas(X),
        "pyarrow": lambda: pytest.importorskip("pyarrow").Table.from_pandas(X, preserve_index=False),
        "numpy": lambda: X.to_numpy(dtype=object),
    }[library]()
    if library == "numpy":
        del model.feature_names_in_
    assert all(map(same, explain.counterfactuals(model, table), explain.counterfactuals(model, X)))


def test_data_give_the_deviation_of_columns_by_name(make_model):
    model, X = make_model(4)
    expected = explain.counterfactuals(model, X[:3], data=X)
    shuffled = X[list(reversed(X.columns))].assign(another=1.0)
    assert all(map(same, expected, explain.counterfactuals(model, X[:3], data=shuffled)))
    with pytest.raises(ValueError, match="data has no column 'gap'"):
        explain.counterfactuals(model, X[:3], data=X[["balance"]])


def test_two_runs_over_many_rows_give_the_same_bits(make_model):
    model, X = make_model(2, "softmax3")
    first, second = (repr(explain.counterfactuals(model, X[:10], data=X)) for _ in range(2))
    assert first == second
    with pytest.raises(ValueError, match="no row"):
        explain.counterfactuals(model, X[:0])


@EXAMPLES
@given(st.integers(0, 2**32 - 1))
def test_no_combination_of_levels_and_whole_numbers_is_nearer(random_model, seed):
    rng = np.random.default_rng(seed)
    X = pd.DataFrame({name: rng.choice(list("pqr"), 60) for name in "abc"}).assign(k=rng.integers(0, 9, 60))
    model = random_model(rng, X)
    everything = pd.DataFrame(list(product("pqr", "pqr", "pqr", range(9))), columns=list("abck"))
    costs = {"a": 1.0, "b": 1.3, "c": 0.8, "k": 0.45}
    decided = model.predict(everything)
    for row, answers in zip(
        X[:6].itertuples(index=False), explain.counterfactuals(model, X[:6], costs=costs), strict=True
    ):
        now = model.predict(pd.DataFrame([row]))[0]
        price = sum(cost * (everything[name] != getattr(row, name)) for name, cost in costs.items() if name != "k")
        price += costs["k"] * (everything["k"] - row.k).abs()
        nearest = price[decided != now].min()
        assert bool(answers) == bool(np.isfinite(nearest))
        if answers:
            assert answers[0].distance == pytest.approx(nearest)
