"""An explanation from outside the package: the share of each piece in a score, with names, frame and reasons."""

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer

from ecsel import ECSELClassifier, Signomial
from ecsel.explain.explanation import Explanation, Undefined
from ecsel.explain.view import ModelView
from ecsel.signomial.arrays import term_values


def piece_shares(model, X):
    """Return |z_k| / Σ_l |z_l| of the pieces of a model with one score; a score of zeros alone has no shares."""
    view = ModelView.of(model)
    X = view.plain(X)
    sizes = np.abs(term_values(view.terms, view.rows(X)))
    total = sizes.sum(axis=1, keepdims=True)
    shares = np.divide(sizes, total, out=np.full_like(sizes, np.nan), where=total > 0)
    return Explanation(
        name="piece shares",
        values=shares,
        axes=("row", "term"),
        feature_names=tuple(view.raw_names),
        classes=view.score_classes,
        units="model",
        view=view,
        table=X,
        undefined=(Undefined(total == 0, "every piece is zero"),) if not total.all() else (),
    )


def test_shares_of_a_signomial_are_those_of_its_terms():
    result = piece_shares(Signomial.parse("3*x**2 - y"), [[1.0, 1.0], [0.0, 2.0], [0.0, 0.0]])
    np.testing.assert_allclose(result.values, [[0.75, 0.25], [0.0, 1.0], [np.nan, np.nan]])
    assert result.mask.all(axis=1).tolist() == [True, True, False]


def test_it_has_names_frames_and_reasons_as_ours_have():
    X, y = load_breast_cancer(as_frame=True, return_X_y=True)
    model = ECSELClassifier(max_factors=3).fit(X, y)
    result = piece_shares(model, X.iloc[:5])
    frame = result.to_frame()
    assert frame.columns.tolist() == ["row", "term", "value"]
    assert frame.groupby("row")["value"].sum().tolist() == pytest.approx([1.0] * 5)
    empty = piece_shares(Signomial.parse("x"), [[0.0]]).to_frame()
    assert empty["note"].tolist() == ["— every piece is zero"]
