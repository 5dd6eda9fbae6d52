"""Bootstrap of the whole search: strong columns every time, shapes now and then, the same draws whoever makes them."""

import numpy as np
import pandas as pd
import pytest
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import GroupKFold

from ecsel import ECSELClassifier
from ecsel.estimators import piece_stability as module
from ecsel.estimators.guarantees import proven, slope_signs
from ecsel.tables import TableEncoder

pytestmark = pytest.mark.filterwarnings("ignore:.*rows lie:UserWarning")


@pytest.fixture(scope="module")
def table():
    rng = np.random.default_rng(0)
    n = 200
    X = pd.DataFrame(
        {
            "dose": np.exp(rng.uniform(0, 3, n)).round(2),
            "age": np.where(rng.random(n) < 0.1, np.nan, rng.integers(20, 80, n)),
            "kind": rng.choice(["a", "b"], n),
            "noise": rng.normal(size=n),
        }
    )
    z = 2.5 * np.log(X["dose"]) - 3.5 - 2 * (X["kind"] == "a")
    return X, np.where(rng.random(n) < 1 / (1 + np.exp(-z)), "yes", "no")


@pytest.fixture(scope="module")
def model(table):
    return ECSELClassifier(n_jobs=1).fit(*table)


@pytest.fixture(scope="module")
def result(table, model):
    return model.stability(*table, n_bootstrap=12)


def test_columns_are_stable_and_shapes_are_reported(result, model):
    frequency = dict(zip(result.feature_names, result.frequency[0], strict=True))
    agreement = dict(zip(result.feature_names, result.sign_agreement[0], strict=True))
    assert result.feature_names == ("dose", "age", "kind", "noise")
    assert frequency["dose"] == frequency["kind"] == 1
    assert frequency["noise"] < 1
    assert agreement["dose"] == agreement["kind"] == 1
    used = {feature.column for feature in model.encoder_.features}
    assert {name for name, value in agreement.items() if not np.isnan(value)} == used
    low, high = result.interval(0.9)
    assert low[0, 0] > 0  # what the draws have of the model's own part of the column
    assert (low[0] <= result.effect[0]).all()
    assert (result.effect[0] <= high[0] * 1.5).all()


def test_every_piece_of_the_model_has_a_line(result, model):
    frame = result.to_frame()
    (equation,) = model.equations_.values()
    pieces = [term for term in equation.terms if not term.is_constant]
    assert frame["coefficient"].tolist() == [term.coefficient for term in pieces]
    assert frame["class"].tolist() == ["yes"] * len(pieces)
    assert frame["piece"].tolist() == list(result.pieces)
    assert ((frame["frequency"] + frame["other_shapes"]) <= 1).all()
    for k, term in enumerate(pieces):
        chosen = [drawn for (drawn,) in result.draws if any(t.factors == term.factors for t in drawn.terms)]
        assert frame["frequency"][k] == len(chosen) / 12
        found = [t.coefficient for drawn in chosen for t in drawn.terms if t.factors == term.factors]
        if found:
            assert frame["low"][k] == pytest.approx(np.quantile(found, 0.025))
            assert frame["high"][k] == pytest.approx(np.quantile(found, 0.975))
            assert frame["sign_agreement"][k] == np.mean(np.sign(found) == np.sign(term.coefficient))
    columns = result.columns_to_frame()
    assert columns["column"].tolist()[0] in {"dose", "kind"}
    assert columns["frequency"].is_monotonic_decreasing


def test_the_effect_is_the_spread_of_the_column_s_part(table, model, result):
    X, _ = table
    typical = X.assign(dose=next(f.baseline for f in model.encoder_.features if f.name == "dose"))
    part = model.decision_function(X) - model.decision_function(typical)
    assert result.effect[0, 0] == pytest.approx(part.std(), rel=1e-9)
    for (drawn,), effect in zip(result.draws, result.effects[:, 0, 0], strict=True):
        encoder = TableEncoder.fit(X, scaling="raw")
        values = [
            drawn.evaluate(dict(zip(encoder.feature_names, encoder.feature_rows(rows), strict=True)))
            for rows in (X, typical)
        ]
        other = values[0] - values[1]
        expected = np.mean((other - other.mean()) * (part - part.mean())) / part.std()
        assert effect == pytest.approx(expected, rel=1e-9)


def test_the_same_seed_gives_the_same_draws_on_any_number_of_threads(table, model, result):
    threads = ECSELClassifier(n_jobs=3).fit(*table).stability(*table, n_bootstrap=4, random_state=0)
    assert threads.draws == result.draws[:4]
    assert threads.effects.tobytes() == result.effects[:4].tobytes()
    other = model.stability(*table, n_bootstrap=4, random_state=1)
    assert other.draws != threads.draws


def test_a_draw_is_a_search_on_the_drawn_rows(table, result):
    X, y = table
    seed = np.random.RandomState(0).randint(2**31 - 1)
    counts = module.resample((y == "yes").astype(int), np.ones(len(y)), np.random.default_rng([seed, 0]))
    (drawn,) = result.draws[0]
    encoder = TableEncoder.fit(X, scaling="raw")
    columns = dict(zip(encoder.feature_names, encoder.feature_rows(X), strict=True))
    p = 1 / (1 + np.exp(-drawn.evaluate(columns)))
    # the intercept is optimal on the drawn rows, which have the class weights of the table
    assert counts @ (p - (y == "yes")) == pytest.approx(0, abs=1e-4)
    assert counts.sum() == len(y)


def test_three_classes_and_all_options():
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"a": rng.uniform(0, 4, 150), "b": rng.uniform(0, 4, 150)})
    z = np.stack([np.zeros(150), 2 * X["a"] - 4, 2 * X["b"] - 4])
    y = (z + rng.gumbel(size=z.shape)).argmax(axis=0)
    splits = list(GroupKFold(3).split(X, y, np.arange(150) // 3))
    options = {"cv": splits, "class_weight": "balanced", "calibrate": True, "thresholds": True, "max_terms": 2}
    model = ECSELClassifier(monotone={"a": {1: 1}}, **options).fit(X, y)
    result = model.stability(X, y, n_bootstrap=3, sample_weight=rng.integers(0, 3, 150))
    assert result.used.shape == (3, 3, 2)
    assert result.classes == (0, 1, 2)
    assert set(result.piece_classes) <= {0, 1, 2}
    for drawn in result.draws:
        assert max(sum(not t.is_constant for t in equation.terms) for equation in drawn) <= 2
        names = {name for equation in drawn for name in equation.names if name.startswith("[")}
        encoder = TableEncoder.fit(X, scaling="raw").with_cuts({c: cuts(names, c) for c in "ab"})
        assert proven(drawn, encoder, slope_signs(model.monotone, encoder, [0, 1, 2], 3))


def cuts(names, column):
    """The thresholds of a column that occur in some names."""
    kinds = {">": "step", "above": "above", "below": "below"}
    found = [name[1:-1].split(" ") for name in sorted(names)]
    return [(kinds[relation], float(cut)) for owner, relation, cut in found if owner == column]


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_an_interrupt_keeps_the_draws_that_are_done(interrupt_draw, table, result, n_jobs):
    model = ECSELClassifier(n_jobs=n_jobs).fit(*table)
    with (
        interrupt_draw(module, 2),
        pytest.warns(UserWarning, match=r"interrupted after 2 of 8 draws, which were kept"),
    ):
        found = model.stability(*table, n_bootstrap=8)
    assert found.draws == result.draws[:2]


def test_progress_is_reported(table, capsys):
    model = ECSELClassifier(max_terms=1, cv=2).fit(*table)
    model.set_params(verbose=1).stability(*table, n_bootstrap=2)
    assert "bootstrap 2 of 2" in capsys.readouterr().err


def test_a_loaded_model_can_be_looked_at(table, model, result, tmp_path):
    import ecsel

    model.save(tmp_path / "model.json")
    again = ecsel.load(tmp_path / "model.json").stability(*table, n_bootstrap=2)
    assert again.draws == result.draws[:2]


def test_what_cannot_be_is_named(table, model, result):
    X, y = table
    with pytest.raises(NotFittedError):
        ECSELClassifier().stability(X, y)
    with pytest.raises(ValueError, match="n_bootstrap=0"):
        model.stability(X, y, n_bootstrap=0)
    with pytest.raises(ValueError, match="label 'maybe', which is none"):
        model.stability(X, np.where(y == "yes", "maybe", y))
    with pytest.raises(ValueError, match="2 features, but"):
        model.stability(X.iloc[:, :2], y)
    with pytest.raises(ValueError, match="level=3"):
        result.to_frame(3)
    with pytest.raises(ValueError, match="are not the rows of training: they give no feature"):
        model.stability(X.assign(kind="b"), y)
