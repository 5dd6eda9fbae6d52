"""Formulas in raw units are the model: scaling substituted, levels as multipliers, missing values as stated."""

import numpy as np
import pandas as pd
import pytest

from ecsel import ECSELClassifier, Signomial
from ecsel.explain import ModelView, importance
from ecsel.export import formula_inputs
from ecsel.export.readable.formula import Base
from ecsel.export.readable.raw_units import formula_of, positive_encoder


def test_the_formula_equals_the_model(paper_case, make_frame):
    case, view = paper_case, paper_case.view
    symbols = formula_inputs(case.model, make_frame(case.rows, view.raw_names))
    with np.errstate(all="ignore"):
        outputs = view.outputs_of(formula_of(view, view.encoder).evaluate(symbols))
    np.testing.assert_allclose(outputs, case.outputs, rtol=1e-9, atol=1e-9)


def test_inputs_of_other_models_are_their_features(value_case, make_frame):
    case, view = value_case, value_case.view
    symbols = formula_inputs(case.model, make_frame(case.rows, view.raw_names))
    z = [equation.evaluate(symbols) for equation in view.terms.to_signomials(view.feature_names)]
    assert symbols.keys() == {factor.name for factors in view.factors for factor in factors}
    outputs = view.outputs_of(np.column_stack(np.broadcast_arrays(*z, np.zeros(len(case.rows)))[:-1]))
    np.testing.assert_allclose(outputs, case.outputs, rtol=1e-9, atol=1e-9)
    assert positive_encoder(view) is None


def table(n=200):
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"weak": rng.uniform(1, 3, n), "strong": rng.uniform(1, 3, n), "heavy": rng.lognormal(0, 3, n)})
    return X, X["strong"] ** 3 * X["weak"] ** 0.5 * (X["heavy"] + 1) ** 0.2 > 7


def test_ratio_scaling_goes_into_the_coefficient_and_other_scaling_is_substituted():
    X, y = table()
    model = ECSELClassifier(n_terms=1, l1=0.005, out_of_range="extrapolate", two_sided=False).fit(X, y)
    formula = formula_of(ModelView.of(model), model.encoder_)
    bases = {power.base.column: power.base for term in formula.terms for power in term.powers}
    assert bases["strong"] == Base("strong")
    heavy = {f.name: f for f in model.encoder_.features}["heavy"]
    assert bases["heavy"].origin == pytest.approx(X["heavy"].min())
    assert bases["heavy"].unit == pytest.approx(1 / heavy.scale)


def test_columns_come_in_the_order_of_their_importance():
    X, y = table()
    model = ECSELClassifier(n_terms=1, l1=0.005, two_sided=False).fit(X, y)
    view = ModelView.of(model)
    reported = importance(model, X).to_frame().sort_values("value", ascending=False)
    assert reported["feature"].tolist() == ["strong", "weak", "heavy"]
    formula = formula_of(view, model.encoder_)
    assert formula.columns[0] == "strong"
    assert formula_of(view, model.encoder_, view.rows(X)).columns[0] == "strong"
    for term in formula.terms[:1]:
        assert [power.base.column for power in term.powers] == list(formula.columns)


def test_a_column_is_held_where_training_ended():
    X, y = table()
    model = ECSELClassifier(n_terms=1, l1=0.005, two_sided=False).fit(X, y)
    formula = formula_of(ModelView.of(model), model.encoder_)
    assert formula.clipped("strong") == (X["strong"].min(), None)


def test_inputs_of_a_table_without_names():
    X = np.array([[1.0, 2.0], [3.0, 4.0]])
    symbols = formula_inputs(ModelView.of_equations(Signomial.parse("x1"), ["x0", "x1"]), X)
    assert {name: values.tolist() for name, values in symbols.items()} == {"x1": [2.0, 4.0]}
