"""Two-sided factors of the paper's model: mirror images of columns, whose product peaks in the middle."""

import numpy as np
import pandas as pd
import pytest

from ecsel import ECSELClassifier, Signomial, load
from ecsel.estimators.summary import turns
from ecsel.signomial import Term
from ecsel.tables import TableEncoder


def middle(seed=0, n=400):
    """Class 1 is likely in the middle of `dose`, and likelier for large `age`."""
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame({"dose": rng.uniform(0, 10, n), "age": rng.uniform(20, 80, n), "sex": rng.integers(0, 2, n)})
    z = 3 - 0.4 * (frame["dose"] - 4) ** 2 + 0.03 * (frame["age"] - 50)
    return frame, (rng.random(n) < 1 / (1 + np.exp(-z))).astype(int)


@pytest.fixture(scope="module")
def model():
    X, y = middle()
    return ECSELClassifier(n_terms=1, l1=1e-2, two_sided=["dose"]).fit(X, y)


def test_a_middle_is_found_and_reported(model):
    assert model.encoder_.feature_names == ("dose", "dose~", "age", "sex")
    (equation,) = model.equations_.values()
    term = next(term for term in equation.terms if term.exponents)
    (where,) = [value for column, value, _ in turns(term, model.encoder_) if column == "dose"]
    assert where == pytest.approx(4, abs=0.7)
    assert "near 'dose' = " in model.summary()


def test_without_mirrors_the_same_table_is_reported_worse(model):
    X, y = middle()
    plain = ECSELClassifier(n_terms=1, l1=1e-2).fit(X, y)
    assert plain.encoder_.feature_names == ("dose", "age", "sex")
    assert model.fit_report_.loss < 0.8 * plain.fit_report_.loss


def test_a_round_trip_keeps_the_mirror(model, tmp_path):
    X, _ = middle()
    model.save(tmp_path / "model.json")
    again = load(tmp_path / "model.json")
    assert again.encoder_ == model.encoder_
    np.testing.assert_array_equal(again.predict_proba(X), model.predict_proba(X))
    np.testing.assert_array_equal(again.select(0).predict_proba(X), model.predict_proba(X))


def test_all_columns_are_mirrored_where_the_name_is_free():
    X, y = middle()
    X = X.rename(columns={"age": "dose~"})
    model = ECSELClassifier(n_terms=1, l1=1e-2, two_sided=True).fit(X, y)
    assert model.encoder_.feature_names.count("dose~") == 1


def test_the_search_finds_the_middle_without_mirrors():
    X, y = middle()
    model = ECSELClassifier(max_terms=3).fit(X, y)
    doses = np.linspace(0.2, 9.8, 97)
    p = model.predict_proba(pd.DataFrame({"dose": doses, "age": 50.0, "sex": 0}))[:, 1]
    best = doses[p > 0.99 * p.max()]  # two distances make a plateau
    assert best.mean() == pytest.approx(4, abs=0.7)
    assert best.min() > 2.5
    assert best.max() < 5.5


@pytest.mark.parametrize("sign", [1, -1])
@pytest.mark.parametrize(("a", "b"), [(2.0, 1.0), (0.5, 3.0), (-1.0, -2.0)])
def test_turns_are_where_the_derivative_vanishes(a, b, sign):
    encoder = TableEncoder.fit(np.linspace(2.0, 9.0, 50)[:, None], scaling="spread", two_sided=True)
    term = Term(sign * 1.5, {"x0": a, "x0~": b})
    ((column, at, word),) = turns(term, encoder)
    assert column == "x0"
    x = np.array([at - 1e-3, at, at + 1e-3])[:, None]
    features = encoder.model_features(x)
    below, there, above = Signomial([term]).evaluate(dict(zip(encoder.feature_names, features.T, strict=True)))
    assert (there > max(below, above)) if word == "highest" else (there < min(below, above))
    assert word == ("highest" if sign * a > 0 else "lowest")


def test_opposite_signs_do_not_turn():
    encoder = TableEncoder.fit(np.linspace(2.0, 9.0, 50)[:, None], two_sided=True)
    assert turns(Term(1.0, {"x0": 1.0, "x0~": -1.0}), encoder) == []
