"""The reliability figure shows the bins that the measure has, and says on which rows."""

import io

import numpy as np
import pytest

from ecsel import ECSELClassifier
from ecsel.plotting import plot_reliability
from ecsel.quality import reliability

pytestmark = pytest.mark.filterwarnings("ignore:.*rows lie:UserWarning")


@pytest.fixture(scope="module")
def table():
    rng = np.random.default_rng(0)
    X = np.exp(rng.normal(size=(300, 2)))
    return X, np.where(np.log(X[:, 0]) + rng.logistic(size=300) > 0, "$good$", "bad")


def points(figure):
    line = figure.axes[0].containers[0].lines[0]
    return line.get_xdata(), line.get_ydata()


def test_out_of_fold_bins_are_drawn_by_default(table):
    model = ECSELClassifier(n_terms=1, l1=0.01, calibrate=True).fit(*table)
    figure = plot_reliability(model)
    bins = model.out_of_fold_.reliability
    np.testing.assert_allclose(points(figure), [bins.predicted, bins.observed])
    assert figure.axes[0].get_title() == f"Reliability out of fold (5 folds): ECE {bins.error:.3f}"
    assert "bad" in figure.axes[0].get_ylabel()
    heights = [segment[1, 1] for segment in figure.axes[1].collections[0].get_segments()]
    np.testing.assert_allclose(heights, bins.weight)
    figure.savefig(io.BytesIO(), format="png", dpi=50)


def test_given_rows_are_drawn_and_reported(table):
    X, y = table
    model = ECSELClassifier(n_terms=1, l1=0.01).fit(X[:200], y[:200])
    figure = plot_reliability(model, X[200:], y[200:], n_bins=4)
    bins = reliability(y[200:], model.predict_proba(X[200:]), n_bins=4)
    np.testing.assert_allclose(points(figure), [bins.predicted, bins.observed])
    assert "on the rows given" in figure.axes[0].get_title()
    with pytest.raises(ValueError, match="fitted without folds"):
        plot_reliability(model)
    with pytest.raises(ValueError, match="both X and y"):
        plot_reliability(model, X)
