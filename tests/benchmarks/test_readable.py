"""The figures of readable equations: each is what its name says, and the page has them all."""

import csv

import numpy as np
import pytest
from sklearn.datasets import load_iris

from benchmarks import readable
from benchmarks.readable_report import nested_losses, write_report
from benchmarks.results import ResultFile
from ecsel import ECSELClassifier


@pytest.fixture(scope="module")
def fitted():
    X, y = load_iris(as_frame=True, return_X_y=True)
    return ECSELClassifier(max_terms=3, n_jobs=1).fit(X, y), X


def test_the_printed_equation_is_the_model(fitted):
    model, X = fitted
    assert readable.printed_gap(model, X) < 1e-12
    exact = ECSELClassifier(max_terms=3, n_jobs=1, digits=None).fit(X, load_iris().target)
    assert readable.printed_gap(exact, X) > 1e-6  # sixteen digits do not print in three


def test_cancellation_is_one_where_nothing_cancels(fitted):
    model, X = fitted
    assert readable.cancellation(model, X) > 0.5


@pytest.mark.parametrize(("value", "digits"), [(0.033, 2), (190.0, 2), (-1.09, 3), (1e-7, 1), (1 / 3, 16)])
def test_digits_of_a_number(value, digits):
    assert readable.n_digits(value) == digits


def test_overlap():
    assert readable.overlap({1, 2}, {2, 3}) == pytest.approx(1 / 3)
    assert readable.overlap(set(), set()) == 1


def test_columns_and_pieces(fitted):
    model, _ = fitted
    columns, pieces = readable.pieces_of(model)
    assert columns <= set(load_iris(as_frame=True).data.columns)
    assert len(pieces) == sum(not term.is_constant for e in model.equations_.values() for term in e.terms)


def test_the_page_compares_the_folds_that_all_have(tmp_path):
    with (tmp_path / "default_0_1_0.csv").open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["source", "table", "repeat", "fold", "f1", "log_loss", "cpu_seconds"])
        writer.writerows([["unseen", "t", 0, 0, 0.8, 0.5, 1], ["unseen", "t", 0, 1, 0.8, 0.9, 1]])
    cells = ResultFile(tmp_path / "unseen.csv", ("protocol", "table", "method", "repeat", "fold"))
    for method, loss in (("ECSEL (auto)", 0.45), ("logistic regression", 0.6)):
        cells.put(
            {"protocol": "b", "table": "t", "method": method, "repeat": 0, "fold": 0, "status": "ok", "log_loss": loss}
        )
    assert nested_losses(tmp_path) == {"t": {"0.1.0": 0.5, "ECSEL (auto)": 0.45, "logistic regression": 0.6}}
    row = dict.fromkeys(("factors", "digits", "digits_median", "cancellation", "gap", "log_loss"), 1.0)
    row |= {"cpu_seconds": 2.0, "xgboost_cpu_seconds": 0.5, "same_columns": 1.0, "same_pieces": 0.5}
    ResultFile(tmp_path / "readable.csv", ("table",)).put(
        {"table": "t", "rows": 9, "scores": 1, **row, "intercept_digits": 1, "equations": "1: 2.0*x"}
    )
    text = write_report(tmp_path, about="About.")
    assert "0.900" in text  # 0.45 over 0.5
    assert "-25.0% (t)" in text
    assert "4.0 / 4.0" in text
    assert "1: 2.0*x" in text
    assert (tmp_path / "readable.md").read_text(encoding="utf-8") == text


def test_probabilities_of_scores():
    z = np.array([[0.3], [-1.0]])
    np.testing.assert_allclose(readable.probabilities(z)[:, 1], 1 / (1 + np.exp(-z[:, 0])))
    np.testing.assert_allclose(readable.probabilities(np.array([[1.0, 2.0, 3.0]])).sum(axis=1), 1)
