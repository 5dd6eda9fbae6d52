"""A loss from outside the package, Poisson counts, runs through the search and through the paper's model."""

from dataclasses import dataclass

import numpy as np
import pytest

from ecsel.fitting import L1, fit_scores
from ecsel.search.dictionary import SearchColumn
from ecsel.search.search import SearchOptions, search
from ecsel.signomial import FeatureRows, scores
from ecsel.signomial.links import Link


class LogMean(Link):
    """One score, the logarithm of the expected count."""

    __slots__ = ()

    def __init__(self):
        super().__init__("log-mean")

    def outputs(self, scores):
        return np.exp(scores)


class PoissonOfSearch:
    """Counts with the mean e^z, for the search: the methods of `ecsel.search.losses.Loss`."""

    n_scores = 1
    name = "poisson"

    def values(self, scores, target):
        return np.exp(scores[0]) - target * scores[0]

    def means(self, scores):
        return np.exp(scores)

    def residuals(self, means, target):
        return target - means

    def curvature(self, means, c, d):
        del c, d
        return means[0]

    def start(self, target, weights):
        return np.array([np.log(np.average(target, weights=weights))])

    def dispersion(self, scores, target, weights, n_parameters):
        del scores, target, weights, n_parameters
        return 1.0


@dataclass(frozen=True)
class Poisson:
    """The same for the paper's model: the methods of `ecsel.fitting.objective.losses.Loss`."""

    n_classes: int
    link = LogMean()
    n_scores = 1
    shift_invariant = False

    def encode(self, codes, dtype):
        return codes.astype(dtype)[None, :]

    def value(self, z, target, w):
        return float(w @ (np.exp(z[0]) - target[0] * z[0]))

    def value_and_residual(self, z, target, w):
        means = np.exp(z)
        return self.value(z, target, w), w * (means - target), means

    def errors(self, probabilities, target):
        return np.abs(probabilities[0] - target[0])

    def curvature(self, jacobian, probabilities, w):
        scaled = jacobian[0] * np.sqrt(w * probabilities[0])
        return scaled @ scaled.T

    def empty_scores(self, class_shares):
        return np.log([class_shares @ np.arange(self.n_classes)])


def counts(n=400):
    rng = np.random.default_rng(0)
    x, u = rng.uniform(1, 9, n), rng.uniform(1, 5, n)
    truth = 0.2 + 1.1 * np.log(x) - 0.3 * u
    return x, u, truth, rng.poisson(np.exp(truth))


def test_the_search_finds_what_made_the_counts():
    x, u, truth, y = counts(1000)  # with 400 the folds have 4.5 nats for a logarithm, and it needs 5
    columns = [SearchColumn("x", 0, x), SearchColumn("u", 1, u)]
    fold = np.arange(len(y)) % 3
    folds = [((fold != k).astype(float), (fold == k).astype(float)) for k in range(3)]
    found = search(columns, y.astype(float), np.ones(len(y)), PoissonOfSearch(), folds, SearchOptions())
    (equation,) = found.front[found.chosen].equations.signomials(columns)
    assert {"x", "u"} == set(equation.names)
    error = equation.evaluate({"x": x, "u": u}) - truth
    assert np.sqrt(np.mean(error**2)) < 0.1  # 1000 counts leave a standard error of about .03 in the score


@pytest.mark.parametrize("n_terms", [1, 2])
def test_the_papers_model_fits_counts(n_terms):
    rng = np.random.default_rng(1)
    logs = np.log(rng.uniform(1, 9, (2, 400)))
    truth = 0.2 + 1.2 * logs[0] - 0.6 * logs[1]  # the log-linear limit of a term
    y = rng.poisson(np.exp(truth))
    result = fit_scores(logs, y, np.ones(len(y)), Poisson(int(y.max()) + 1), L1(1e-3), n_terms)
    assert result.report.converged
    means = np.exp(scores(result.terms, FeatureRows.from_logs(logs.T))[:, 0])
    # The intercept is free, so its score equation holds: the expected counts add up to the counts.
    assert means.sum() == pytest.approx(y.sum(), rel=1e-4)
    assert np.sqrt(np.mean((np.log(means) - truth) ** 2)) < 0.1
    np.testing.assert_allclose(Poisson.link.outputs(np.log(means)), means)
