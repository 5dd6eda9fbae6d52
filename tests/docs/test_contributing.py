"""What CONTRIBUTING says of additions is true: a loss from outside the package runs through the whole search."""

import re
from pathlib import Path

import numpy as np

from ecsel.search.dictionary import SearchColumn
from ecsel.search.search import SearchOptions, search

ROOT = Path(__file__).parents[2]


class Poisson:
    """Counts with the mean e^z."""

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


def test_a_loss_from_outside_finds_what_made_the_counts():
    rng = np.random.default_rng(0)
    n = 400
    x, u = rng.uniform(1, 9, n), rng.uniform(1, 5, n)
    counts = rng.poisson(np.exp(0.2 + 1.1 * np.log(x) - 0.3 * u)).astype(float)
    columns = [SearchColumn("x", 0, x), SearchColumn("u", 1, u)]
    folds = [((np.arange(n) % 3 != k).astype(float), (np.arange(n) % 3 == k).astype(float)) for k in range(3)]
    found = search(columns, counts, np.ones(n), Poisson(), folds, SearchOptions())
    (equation,) = found.front[found.chosen].equations.signomials(columns)
    assert {"x", "u"} == set(equation.names)
    error = equation.evaluate({"x": x, "u": u}) - (0.2 + 1.1 * np.log(x) - 0.3 * u)
    assert np.sqrt(np.mean(error**2)) < 0.1  # 400 counts leave a standard error of about .04 in the score


def test_every_room_has_a_line():
    table = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8").partition("## Where to add what")[0]
    rooms = {path.parent.name for path in (ROOT / "src" / "ecsel").glob("*/__init__.py")}
    assert set(re.findall(r"`(\w+)/`", table)) - {"benchmarks", "examples", "fuzz"} == rooms
