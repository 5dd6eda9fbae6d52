"""Small generated tables and the problems that they pose."""

import numpy as np
import pytest
import sklearn
from sklearn.linear_model import LogisticRegression
from sklearn.utils.fixes import parse_version

from ecsel.fitting import L1, ArrayBlocks, Logistic, Problem, Softmax, kernel
from ecsel.fitting.rows.blocks import Coordinates


def table(seed=0, n=200, m=3, n_classes=2):
    """Logs (features × rows), classes drawn from a softmax of signomial scores, and uneven weights."""
    rng = np.random.default_rng(seed)
    u = rng.normal(size=(m, n)) * rng.uniform(0.4, 1.2, (m, 1)) + rng.normal(size=(m, 1))
    curvatures, slopes = rng.normal(0, 0.8, (n_classes, m)), rng.normal(0, 1.5, (n_classes, m))
    z = np.exp(np.clip(curvatures @ u, -3, 3)) + slopes @ u
    codes = (z + rng.gumbel(size=z.shape)).argmax(axis=0)
    codes[:n_classes] = np.arange(n_classes)
    return u, codes, rng.integers(1, 4, n).astype(float)


def loss_of(name, n_classes=2):
    return Logistic() if name == "sigmoid" else Softmax(n_classes)


def problem(data, loss="sigmoid", penalty=None, n_terms=1, *, intercept=True, dtype=np.float64, n_threads=1):
    """The problem that `fit_scores` would pose for the table, with its coordinates."""
    u, codes, w = data
    centred = Coordinates.of(u, w)
    blocks = ArrayBlocks.standardised(u.astype(dtype), codes, w, centred, n_threads=n_threads)
    return Problem(
        blocks, loss_of(loss, codes.max() + 1), penalty or L1(1e-2), n_terms, intercept, centred.std
    ), centred


@pytest.fixture
def make_table():
    return table


@pytest.fixture
def make_elastic_net():
    """Return scikit-learn's elastic net of logistic regression, whose penalty has no name from 1.8 on."""
    named = {} if parse_version(sklearn.__version__) >= parse_version("1.8") else {"penalty": "elasticnet"}

    def make(l1_ratio, C):
        options = {"solver": "saga", "tol": 1e-8, "max_iter": 20_000, "random_state": 0}
        return LogisticRegression(l1_ratio=l1_ratio, C=C, **options, **named)

    return make


@pytest.fixture
def make_problem():
    return problem


@pytest.fixture(params=["compiled", "numpy"])
def either_path(request, monkeypatch):
    """Run a test with the compiled kernel and with its NumPy twin."""
    if request.param == "numpy":
        monkeypatch.setattr(kernel, "compiled", None)
    elif kernel.compiled is None:
        pytest.skip("the package was installed without a compiler")
