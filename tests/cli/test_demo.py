"""The demo: its figures are its own, its row is worked out exactly, and the same every time."""

import numpy as np
import pandas as pd
import pytest

from ecsel.cli.demo import bundled_table, demo_study
from ecsel.cli.explained_row import least_sure_row
from ecsel.cli.wording import sentence


@pytest.fixture(scope="module")
def demo():
    return demo_study(*bundled_table())


@pytest.fixture(scope="module")
def row(demo):
    return least_sure_row(demo)


def test_the_equation_fits_on_a_line_and_the_row_is_worked_out(demo, row):
    (equation,) = demo.model.equations_.values()
    assert equation.n_factors <= 3
    assert len(str(equation)) < 80
    p = dict(row.example.outcomes)
    assert p[row.predicted] == pytest.approx(row.probability)


def test_reasons_multiply_to_the_odds_of_the_model(demo, row):
    assert row.base + sum(r.log_odds for r in row.reasons) == pytest.approx(row.margin, abs=1e-12)
    X, _ = bundled_table()
    at = {r.column: r.value for r in row.reasons}
    found = X[(X[list(at)] == pd.Series(at)).all(axis=1)]
    p = demo.model.predict_proba(found)[0]
    a, b = (demo.model.classes_.tolist().index(label) for label in (row.predicted, row.rival))
    assert np.log(p[a] / p[b]) == pytest.approx(row.margin, abs=1e-9)
    assert p[a] == pytest.approx(row.probability)


def test_reasons_come_strongest_first_and_only_where_a_column_matters(demo, row):
    sizes = [abs(r.log_odds) for r in row.reasons]
    assert sizes == sorted(sizes, reverse=True)
    used = {name for equation in demo.model.equations_.values() for name in equation.names}
    assert {r.column for r in row.reasons} <= used


def test_quality_is_evaluated_on_held_out_rows_beside_logistic_regression(demo):
    assert [q.model for q in demo.qualities][:2] == ["ECSEL", "logistic regression"]
    assert demo.model is demo.validation_model
    assert len(demo.held_out) == round(0.3 * 212) + round(0.3 * 357)  # malignant, benign
    for quality in demo.qualities:
        assert quality.accuracy > 0.9
        assert 0 < quality.log_loss < 0.3
    assert demo.qualities[0].numbers < demo.qualities[1].numbers


def test_is_deterministic(demo, row):
    again = demo_study(*bundled_table())
    assert again.model.equations_ == demo.model.equations_
    assert least_sure_row(again) == row
    assert again.qualities == demo.qualities


def test_explains_two_classes_and_levels():
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"size": rng.uniform(1, 5, 80), "count": rng.integers(0, 9, 80)})
    y = np.where(X["size"] + rng.normal(0, 0.5, 80) > 3, "large", "small")
    row = least_sure_row(demo_study(X, y))
    assert row.base + sum(r.log_odds for r in row.reasons) == pytest.approx(row.margin, abs=1e-12)
    assert 1 / (1 + np.exp(-row.margin)) == pytest.approx(row.probability)


def two_skewed_columns():
    rng = np.random.default_rng(5)
    X = pd.DataFrame({"income": rng.lognormal(8, 1.2, 600).round(), "debts": rng.pareto(1.5, 600).round(2)})
    z = 1.1 * np.log(X["income"]) - 0.7 * X["debts"] - 8
    return X, np.where(rng.random(600) < 1 / (1 + np.exp(-z)), "good", "bad")


@pytest.mark.filterwarnings("ignore:.*of the training range|.*the training m")  # a row of its own may lie outside
@pytest.mark.parametrize("make", [bundled_table, two_skewed_columns])
@pytest.mark.parametrize("seed", [0, 1, 2])
def test_every_sentence_of_the_demo_is_true(make, seed, assert_true_sentence):
    """A value above the typical one once spoke against the sign of its piece: two baselines in one sentence."""
    found = demo_study(*make(), seed=seed)
    X, model, row = found.X.drop(found.X.index[found.held_out]), found.model, least_sure_row(found)
    typical = X.quantile(0.5, interpolation="lower").to_dict()
    at = {r.column: r.value for r in row.reasons}
    unseen = found.X.iloc[found.held_out]
    one = unseen[(unseen[list(at)] == pd.Series(at)).all(axis=1)].head(1)
    labels = model.classes_.tolist()

    def margin(rows, side):
        p = model.predict_proba(rows)[0]
        return float(np.log(p[labels.index(side)] / p[1 - labels.index(side)]))

    def alone(column):
        terms = [term for equation in model.equations_.values() for term in equation.terms]
        return not any(len(term.factors) > 1 and any(f.name == column for f in term.factors) for term in terms)

    checked = [
        assert_true_sentence(sentence(r, row.predicted, row.rival), one, typical, margin, alone=alone(r.column))
        for r in row.reasons
    ]
    assert any(checked)
