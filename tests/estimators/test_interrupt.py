"""Ctrl-C in the middle of a fit: the best law or equation so far is kept, with a warning, and it predicts.

A real signal is sent to a real process, at the moment its own progress says that the search is under way.
"""

import json
import os
import signal
import subprocess
import sys

import pytest

from ecsel.estimators.readable import STOPPED

pytestmark = pytest.mark.usefixtures("interruptible")

FIT = """
import json, sys, warnings
import numpy as np
from ecsel import ECSELRegressor

rng = np.random.default_rng(0)
X = rng.uniform(1, 5, (100, 4))
y = X[:, 0] ** 2 + np.exp(X[:, 1] / 2) * np.log(1 + X[:, 2]) - np.sin(X[:, 3])
with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    model = ECSELRegressor(verbose=1, max_terms=4, criterion=sys.argv[1]).fit(X, y)
print(json.dumps({
    "complete": model.search_completed_,
    "warnings": [str(w.message) for w in caught],
    "r2": model.score(X, y),
    "path": len(model.path_),
    "words": model.describe(),
}))
"""


SEARCH = """
import json, sys, warnings
import numpy as np
from ecsel import ECSELClassifier

rng = np.random.default_rng(0)
X = rng.lognormal(size=(4000, 8))
y = (X[:, 0] * X[:, 1] + X[:, 2] / X[:, 3] + rng.normal(size=4000) > 2).astype(int)
with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    model = ECSELClassifier(verbose=1, n_jobs=int(sys.argv[1])).fit(X, y)
print(json.dumps({
    "warnings": [str(w.message) for w in caught],
    "path": len(model.path_),
    "status": model.fit_report_.status.name,
    "words": model.summary(),
    "files": {w.filename for w in caught} == {"<string>"},
    "score": model.score(X, y),
}))
"""


def interrupted_at(line, *arguments, fit=FIT):
    """Run the fit, interrupt it as soon as it has told this line, and return what it printed and told."""
    fit = subprocess.Popen(
        [sys.executable, "-c", fit, *arguments],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "OMP_NUM_THREADS": "1"},
    )
    reported = []
    for text in fit.stderr:
        reported.append(text)
        if line in text:
            fit.send_signal(signal.SIGINT)
            break
    out, rest = fit.communicate(timeout=120)
    assert fit.returncode == 0, "".join([*reported, rest])
    return json.loads(out), "".join([*reported, rest])


@pytest.mark.skipif(sys.platform == "win32", reason="Windows cannot send SIGINT to one process")
@pytest.mark.parametrize(
    ("criterion", "line", "never", "warning"),
    [
        ("law", "laurent", "polishing", "The search was interrupted; the best law so far was kept."),
        ("prediction", "walk 1 of", "walk 6 of", STOPPED),
    ],
)
def test_an_interrupt_keeps_the_best_law_so_far(criterion, line, never, warning):
    model, reported = interrupted_at(line, criterion)
    assert line in reported
    assert never not in reported
    assert model["warnings"] == [warning]
    assert not model["complete"]
    assert "stopped before its end" in model["words"]
    assert model["path"] >= 1
    assert model["r2"] > 0.9


@pytest.mark.skipif(sys.platform == "win32", reason="Windows cannot send SIGINT to one process")
@pytest.mark.parametrize("n_jobs", ["1", "2"])
def test_an_interrupted_search_takes_the_best_that_was_measured(n_jobs):
    model, reported = interrupted_at("walk 1 of", n_jobs, fit=SEARCH)
    assert "walk 1 of" in reported
    assert model["warnings"] == [STOPPED]
    assert model["files"]
    assert model["path"] >= 1
    assert model["status"] == "INTERRUPTED"
    assert "it was stopped before its end" in model["words"]
    assert model["score"] > 0.8
