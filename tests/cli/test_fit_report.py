"""What `ecsel fit` says of its figures: whose they are, and by which rule everybody decides."""

import re

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_breast_cancer

from ecsel import ECSELClassifier
from ecsel.cli.fit_report import quality_notes
from ecsel.cli.options import Reading
from ecsel.cli.preparing import ColumnOptions, prepare
from ecsel.cli.reading import read_file
from ecsel.report.drivers import drivers
from ecsel.report.evidence import Evidence
from ecsel.study import Study
from ecsel.study.drivers import strongest_drivers
from ecsel.study.study import n_numbers


@pytest.fixture(scope="module")
def rare(tmp_path_factory):
    rng = np.random.default_rng(0)
    n = 500
    X = pd.DataFrame({"a": rng.normal(size=n), "b": rng.normal(size=n), "c": rng.normal(size=n)})
    z = 1.5 * X["a"] - X["b"] + 0.3 * X["c"] - 2.5
    X["bad"] = np.where(rng.random(n) < 1 / (1 + np.exp(-z)), "yes", "no")
    path = tmp_path_factory.mktemp("rare") / "rare.csv"
    X.to_csv(path, index=False)
    return str(path)


def trained(path, **options):
    table = read_file(path, Reading())
    prepared = prepare(table, "bad", task=None, options=ColumnOptions((), (), (), "auto"), as_law=False)
    model = ECSELClassifier(max_factors=3, cv=3, random_state=0, **options)
    return Study.of(prepared.X, prepared.y, model, plain=prepared.plain, target="bad")


def test_figures_say_whose_they_are(rare):
    training = trained(rare)
    notes = " ".join(quality_notes(training, 375))
    own, published = n_numbers(training.model), training.qualities[0].numbers
    if own == published:
        assert "of the same size as the equation above" in notes
    else:
        assert f"another equation, of {published} numbers, fitted to the other 375 rows" in notes
        assert f"the equation above has {own} numbers" in notes
    quality = training.model.out_of_fold_
    assert f"log-loss {quality.log_loss:.3f}, AUC {quality.auc:.3f}" in notes
    assert "from this probability on" not in notes


def test_rivals_decide_by_the_same_rule_and_thresholds_are_reported(rare):
    training = trained(rare, threshold="f1")
    rival = training.qualities[1]
    assert rival.threshold < 0.45  # a rare class: the best F1 is never at one half
    notes = quality_notes(training, 375)[-1]
    reported = [float(number) for number in re.findall(r"(0\.\d+)", notes)]
    assert reported == pytest.approx([q.threshold for q in training.qualities], abs=5e-4)
    assert rival.rarest_recall > trained(rare).qualities[1].rarest_recall


def test_a_fixed_threshold_is_everybodys(rare):
    assert {quality.threshold for quality in trained(rare, threshold=0.2).qualities} == {0.2}


def test_a_tendency_is_reported_as_one():
    rng = np.random.default_rng(3)
    X = pd.DataFrame({"code": rng.integers(0, 5, 600).astype(float)})
    p = np.array([0.9, 0.5, 0.2, 0.2, 0.7])[X["code"].astype(int)]
    y = np.where(rng.random(600) < p, "yes", "no")
    model = ECSELClassifier(max_factors=5, cv=3).fit(X, y)
    (driver,) = strongest_drivers(model, X)
    found = model.predict_proba(pd.DataFrame({"code": [0.0, 2.0, 4.0]}))[:, 1]
    assert found[0] > found[1] < found[2]  # neither the low nor the high values alone
    assert "code: low values speak" not in driver.text


def test_drivers_have_the_figures_of_the_report():
    """Two figures for one thing, in the terminal and on the page, would make a reader doubt both."""
    table = load_breast_cancer(as_frame=True)
    X, y = table.data.filter(like="mean"), table.target.rename("diagnosis")
    model = ECSELClassifier(max_factors=4, cv=3).fit(X, y)
    reported = strongest_drivers(model, X)
    page = drivers(Evidence.read(model, X, y, None, None)).lines
    assert len(reported) == 3
    for driver, line in zip(reported, page, strict=False):
        assert driver.column == line.name
        assert f"by {line.size} on average" in driver.text
