"""Two-sided factors: chosen where the middle counts, left out where it does not, and told in words."""

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
    return ECSELClassifier(max_terms=1, random_state=0).fit(X, y)


def test_a_middle_is_found_and_told(model):
    assert "dose~" in model.encoder_.feature_names
    assert "sex~" not in model.encoder_.feature_names  # of two values the mirror image tells nothing new
    (where,) = [value for column, value, word in turns(_term(model), model.encoder_) if column == "dose"]
    assert where == pytest.approx(4, abs=0.7)
    assert "near 'dose' = " in model.summary()


def _term(model):
    (equation,) = model.equations_.values()
    return next(term for term in equation.terms if term.exponents)


def test_without_mirrors_the_same_table_is_told_worse():
    X, y = middle()
    plain = ECSELClassifier(max_terms=1, two_sided=False, random_state=0).fit(X, y)
    auto = ECSELClassifier(max_terms=1, random_state=0).fit(X, y)
    within, without = (min(c.loss for c in model.path_ if c.n_terms == 1) for model in (auto, plain))
    assert within < 0.8 * without


def test_a_monotone_table_stays_plain():
    rng = np.random.default_rng(1)
    X = pd.DataFrame({"a": rng.uniform(1, 9, 400), "b": rng.uniform(1, 9, 400)})
    y = (rng.random(400) < 1 / (1 + np.exp(-3 * np.log(X["a"] / X["b"])))).astype(int)
    model = ECSELClassifier(max_terms=1, random_state=0).fit(X, y)
    assert model.encoder_.feature_names == ("a", "b")
    assert model.path_encoder_.feature_names == ("a", "a~", "b", "b~")


def test_every_candidate_can_be_selected_also_after_a_round_trip(model, tmp_path):
    X, _ = middle()
    model.save(tmp_path / "model.json")
    again = load(tmp_path / "model.json")
    assert again.encoder_ == model.encoder_
    np.testing.assert_array_equal(again.predict_proba(X), model.predict_proba(X))
    mirrored = 0
    for i, candidate in enumerate(model.path_):
        one, other = model.select(i), again.select(i)
        np.testing.assert_array_equal(one.predict_proba(X), other.predict_proba(X))
        used = {name for equation in candidate.equations for name in equation.names}
        assert {f.name for f in one.encoder_.features if f.kind == "mirror"} == {n for n in used if n.endswith("~")}
        mirrored += any(name.endswith("~") for name in used)
    assert 0 < mirrored < len(model.path_)


def test_fixed_sizes_take_no_mirrors_by_themselves():
    X, y = middle()
    assert ECSELClassifier(n_terms=1, l1=0.01).fit(X, y).encoder_.feature_names == ("dose", "age", "sex")


def test_a_taken_name_is_left_alone():
    X, y = middle()
    X = X.rename(columns={"age": "dose~"})
    model = ECSELClassifier(max_terms=1, random_state=0).fit(X, y)
    assert model.path_encoder_.feature_names.count("dose~") == 1


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
