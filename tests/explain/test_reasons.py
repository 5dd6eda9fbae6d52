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
            assert "towards 'no'" in text
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
    assert result.texts[0] == ("x = 1 (typical: 2) adds 2 towards a lower value (100 %)",)
