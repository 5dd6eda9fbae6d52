"""Every sentence that compares a value with what is typical is true: the comparison is made again, by the model alone.

`typical` is the median of a column of numbers and the most frequent level of another, computed here from the table.
"""

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_breast_cancer, load_iris, load_wine

from ecsel import ECSELClassifier, ECSELRegressor, Signomial, explain
from ecsel.explain import ModelView


def typical(X):
    """Return the medians and most frequent levels; the lower median, a value that occurs."""
    return {
        name: (
            float(X[name].dropna().quantile(0.5, interpolation="lower"))
            if pd.api.types.is_numeric_dtype(X[name])
            else X[name].mode()[0]
        )
        for name in X
    }


def columns_alone(model):
    """Return the columns that no piece multiplies with another one."""
    encoder = model.encoder_
    column = {feature.name: feature.column for feature in encoder.features}
    together = [{column[f.name] for f in t.factors} for e in model.equations_.values() for t in e.terms]
    return {c for c in column.values() if all(len(each) == 1 for each in together if c in each)}


def margin_of(model):
    """Return the log-odds of a class against its strongest rival, from probabilities alone."""
    labels = [str(label) for label in model.classes_]

    def margin(row, side):
        p = model.predict_proba(row)[0]
        a = labels.index(side)
        rival = max((c for c in range(len(p)) if c != a), key=lambda c: p[c]) if len(p) > 2 else 1 - a
        return float(np.log(p[a] / p[rival]))

    return margin


def levels_and_gaps():
    rng = np.random.default_rng(3)
    n = 500
    X = pd.DataFrame(
        {
            "tenure": rng.integers(1, 72, n).astype(float),
            "charge": rng.gamma(9, 7, n).round(1),
            "contract": rng.choice(["month", "one year", "two year"], n, p=[0.55, 0.25, 0.2]),
            "age": np.where(rng.random(n) < 0.2, np.nan, rng.integers(18, 90, n)),
        }
    )
    z = 2 - np.log(X["tenure"]) + 0.02 * X["charge"] - 2 * (X["contract"] == "two year") + 0.8 * X["age"].isna()
    return X, np.where(rng.random(n) < 1 / (1 + np.exp(-z)), "leaves", "stays")


def skewed():
    """Return a table whose means and medians lie on different sides of many rows."""
    rng = np.random.default_rng(5)
    X = pd.DataFrame({"income": rng.lognormal(8, 1.2, 600).round(), "debts": rng.pareto(1.5, 600).round(2)})
    z = 1.1 * np.log(X["income"]) - 0.7 * X["debts"] - 8
    return X, np.where(rng.random(600) < 1 / (1 + np.exp(-z)), "good", "bad")


def bundled(load):
    table = load(as_frame=True)
    return table.data.rename(columns=lambda name: name.replace(" ", "_")), table.target_names[table.target]


TABLES = {
    "tumours": lambda: bundled(load_breast_cancer),
    "iris": lambda: bundled(load_iris),
    "wine": lambda: bundled(load_wine),
    "churn": levels_and_gaps,
    "skewed": skewed,
}


@pytest.fixture(scope="module", params=TABLES)
def fitted(request):
    X, y = TABLES[request.param]()
    return ECSELClassifier(max_factors=5, cv=3).fit(X, y), X


def test_every_sentence_of_the_reasons_is_true(fitted, assert_true_sentence):
    model, X = fitted
    found = explain.reasons(model, X.head(60), n=20)
    reference, alone, margin = typical(X), columns_alone(model), margin_of(model)
    two = len(model.classes_) == 2
    checked = 0
    for i, texts in enumerate(found.texts):
        for j, text in zip(found.ranked[i], texts, strict=True):
            name = found.feature_names[j]
            # against a rival among many the sentence holds the rival fixed, which probabilities alone need not
            checked += assert_true_sentence(text, X.iloc[[i]], reference, margin, alone=two and name in alone)
    assert checked > 30 or not two


def test_the_contributions_lead_from_the_typical_row_to_the_row(fitted):
    model, X = fitted
    found = explain.reasons(model, X.head(60))
    assert found.reference == "a typical row"
    view = ModelView.of(model)
    middle = pd.DataFrame([typical(X)]).astype(X.dtypes.to_dict())
    z, start = (view.scores_of(view.rows(rows)) for rows in (X.head(60), middle))
    explained = explain.shapley(model, X.head(60), middle)
    parts = np.asarray(explained.values)
    np.testing.assert_allclose(start + parts.sum(axis=2), z, atol=1e-9)
    if view.link.has_reference:
        sign = np.where(np.array(found.toward) == model.classes_[1], 1.0, -1.0)
        np.testing.assert_allclose(found.values, sign[:, None] * parts[:, 0], atol=1e-9)
        np.testing.assert_allclose(found.base_values, sign * start[0, 0], atol=1e-9)


def test_a_value_beyond_the_typical_one_speaks_with_the_sign_of_its_piece(fitted):
    model, X = fitted
    if model.link_ != "sigmoid":
        return
    ((label, equation),) = model.equations_.items()
    found, middle = explain.reasons(model, X, n=20, toward=label), typical(X)
    column = {feature.name: feature.column for feature in model.encoder_.features}
    pieces = [(t, {column[f.name] for f in t.factors}) for t in equation.terms if not t.is_constant]
    for term, names in pieces:
        (name,) = names if len(names) == 1 else (None,)
        if sum(name in other for _, other in pieces) != 1 or name is None or isinstance(middle[name], str):
            continue
        (factor,) = term.factors
        if factor.shift or not factor.is_natural or factor.exponent < 0 or factor.name != name:
            continue  # only pieces that grow with their column
        above = (X[name] > middle[name]).to_numpy()
        values = found.values[:, found.feature_names.index(name)]  # noqa: PD011 - no data frame
        assert (np.sign(values[above]) == np.sign(term.coefficient)).all(), name


def test_what_is_not_a_median_is_not_called_typical():
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"a": rng.lognormal(0, 1, 80), "b": rng.lognormal(1, 1, 80)})
    model = ECSELClassifier(n_terms=1, l1=0.01).fit(X, np.where(X["a"] > X["b"] / 2, "yes", "no"))
    text = str(explain.reasons(model, X.head(5)))
    assert "typical" not in text
    centre = next(f for f in model.encoder_.features if f.name == "a")
    assert f"(reference: {centre.raw_value(np.exp(centre.baseline)):.4g})" in text
    assert explain.reasons(model, X.head(5)).reference == "the centre of the training rows"
    given = explain.reasons(model, X.head(5), baseline={"a": 1.0, "b": 1.0})
    assert "(reference: 1)" in str(given)
    assert "typical" not in str(given)
    law = explain.reasons(Signomial.parse("x"), [[1.0], [4.0], [2.0]])
    assert str(law).splitlines()[1] == "1: x = 4 (geometric mean: 2) raises the prediction by 2 (100 %)"
    assert law.reference == "the geometric mean of the rows"


def test_a_class_has_a_typical_row_of_its_own(fitted):
    model, X = fitted
    label = model.classes_[0]
    mine = model.predict(X) == label
    start = explain.class_mean(model, X, model.predict(X), label)
    found = explain.reasons(model, X.head(20), n=20, baseline=start)
    reported = {text.partition(" (typical of ")[2].partition("): ")[0] for texts in found.texts for text in texts}
    assert any(reported)
    for i, texts in enumerate(found.texts):
        for j, text in zip(found.ranked[i], texts, strict=True):
            name = found.feature_names[j]
            if f"(typical of {str(label)!r}: " in text and pd.api.types.is_numeric_dtype(X[name]):
                value = float(text.partition(f"(typical of {str(label)!r}: ")[2].partition(")")[0])
                own = X.loc[mine, name].dropna().quantile(0.5, interpolation="lower")
                assert value == pytest.approx(own, rel=6e-4)


def test_a_law_is_compared_with_medians_that_occur():
    from ecsel.explain.baseline import median_row

    X = pd.DataFrame({"a": [1.0, 2.0, 4.0, 9.0], "b": [3.0, 1.0, 2.0, 5.0]})
    model = ECSELRegressor().fit(X, X["a"] ** 2)
    view = ModelView.of(model)
    start = median_row(view, X)
    assert (start.description, start.word) == ("a typical row", "typical")
    text = str(explain.reasons(view, X, baseline=start))
    assert "a = 9 (typical: 2) raises the prediction by 77 (100 %)" in text


def test_your_own_words_replace_the_sentence_of_a_column():
    view = ModelView.of_equations({"no": Signomial.parse("4"), "yes": Signomial.parse("x*y")}, ["x", "y"])
    rows = [[1.0, 1.0], [1.0, 2.0]]
    found = explain.reasons(view, rows, baseline=[3.0, 2.0], column_texts={"x": "Time at the address is short"})
    assert found.texts[1] == ("Time at the address is short",)
    assert found.texts[0][0] == "Time at the address is short"
    assert found.texts[0][1].startswith("y = 1 (reference: 2) adds")
    assert found.to_frame()["reason"].tolist()[0] == "Time at the address is short"
    with pytest.raises(ValueError, match="'z'"):
        explain.reasons(view, rows, baseline=[3.0, 2.0], column_texts={"z": "nothing"})
