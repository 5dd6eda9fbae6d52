import numpy as np
import pytest

from ecsel import Signomial, explain
from ecsel.explain import ModelView


@pytest.mark.parametrize("kind", ["sigmoid", "softmax2", "softmax3"])
def test_contributions_add_up_to_the_margin_of_the_decision(make_model, kind):
    model, X = make_model(3, kind)
    result = explain.reasons(model, X)
    view = ModelView.of(model)
    z = view.scores_of(view.rows(X))
    if kind == "sigmoid":
        z = np.hstack([np.zeros_like(z), z])
    chosen = view.decisions(model.predict_proba(X))
    at = np.arange(len(X))
    others = z.copy()
    others[at, chosen] = -np.inf
    margin = z[at, chosen] - others.max(axis=1)
    np.testing.assert_allclose(result.base_values + result.values.sum(axis=1), margin, atol=1e-10)
    assert list(result.toward) == model.predict(X).tolist()


def test_reasons_are_the_largest_pushes_in_words(make_model):
    model, X = make_model(3)
    result = explain.reasons(model, X, n=2, toward="no")
    for i, ranked in enumerate(result.ranked):
        pushes = np.sort(result.values[i][result.values[i] > 0])[::-1][:2]
        np.testing.assert_array_equal(result.values[i, list(ranked)], pushes)
        assert len(result.texts[i]) == len(ranked)
        for j, text in zip(ranked, result.texts[i], strict=True):
            assert text.startswith(X.columns[j])
            assert "to the log-odds of 'no'" in text
    missing = [t for texts in explain.reasons(model, X, n=5).texts for t in texts if t.startswith("gap is missing")]
    assert missing
    frame = result.to_frame()
    assert list(frame.columns) == ["row", "rank", "toward", "feature", "contribution", "reason"]
    assert len(str(result).splitlines()) == len(X)
    with pytest.raises(ValueError, match="at least 1"):
        explain.reasons(model, X, n=0)


def test_a_regression_has_reasons_for_being_high_or_low():
    result = explain.reasons(Signomial.parse("x*y"), [[1.0, 2.0], [4.0, 2.0]], baseline=[2.0, 2.0])
    assert result.toward == ("a lower value", "a higher value")
    assert result.texts[0] == ("x = 1 (reference: 2) lowers the prediction by 2 (100 %)",)


def test_readable_models_name_typical_numbers_and_levels(make_raw_model):
    model, X = make_raw_model(0)
    often = X["purpose"].mode()[0]
    other = "car" if often != "car" else "trip"
    equation = f"[purpose = {other}] - [purpose = {often}] + log(income) - 3*[gap missing]"
    model.equations_ = {"yes": Signomial.parse(equation)}
    income = float(model.encoder_.features[0].baseline)
    row = X.iloc[[0]].assign(purpose=other, gap=np.nan, income=X["income"].max())
    ((first, second),) = explain.reasons(model, row, toward="yes").texts
    assert first.startswith(f"purpose = {other} (typical: {often}) adds 2 to the log-odds of 'yes'")
    assert second.startswith(f"income = {X['income'].max():.6g} (typical: {income:.4g}) adds")
    ((missing,),) = explain.reasons(model, row, toward="no").texts
    gap = next(feature for feature in model.encoder_.features if feature.name == "gap")
    assert missing == f"gap is missing (typical: {gap.baseline:.4g}) adds 3 to the log-odds of 'no' (100 %)"


def test_no_number_is_minus_zero():
    result = explain.reasons(Signomial.parse("x + y"), [[-0.0, 3.0]], baseline=[[2.0, -0.0]])
    assert result.texts[0][0].startswith("y = 3 (reference: 0)")
    assert "x = 0 (reference: 2)" in str(explain.reasons(Signomial.parse("-x"), [[-0.0]], baseline=[[2.0]]))


def test_the_repr_is_short_however_many_rows():
    view = ModelView.of_equations({"no": Signomial.parse("4"), "yes": Signomial.parse("x*y")}, ["x", "y"])
    found = explain.reasons(view, np.full((500, 2), 2.0), baseline=[3.0, 2.0])
    assert repr(found) == "Reasons(500 rows, 2 columns; print() tells them)"
