"""Sums over the rows of a large table in memory."""

import numpy as np
import pandas as pd
import pytest

from ecsel import ECSELClassifier
from ecsel.distributed.sources import TableSource
from ecsel.estimators import batches
from ecsel.estimators.batches import RowsInMemory


class Reads:
    """A function of batches that counts how often it reads one."""

    class Reader:
        pieces = (1, 2, 3)

    def __init__(self, reader, factor):
        self.reader, self.factor, self.n_reads = reader, factor, 0

    def read(self, X, labels, weights):
        assert weights is None
        self.n_reads += 1
        return X.sum(axis=1), labels * 1.0

    def one_pass(self, x, y):
        return self.factor * x @ y

    def __call__(self, X, labels, weights):
        return self.one_pass(*self.read(X, labels, weights))


@pytest.fixture
def source():
    rng = np.random.default_rng(0)
    return TableSource(rng.normal(size=(300_000, 2)), rng.integers(0, 2, 300_000), None)


def test_batches_are_read_once_for_all_passes_over_the_same_pieces(source):
    rows, expected = RowsInMemory(source, 2), source.X.sum(axis=1) @ source.labels
    reader = Reads.Reader()
    first, second, other = Reads(reader, 1.0), Reads(reader, -2.0), Reads(Reads.Reader(), 1.0)
    assert rows(first) == pytest.approx(expected)
    assert rows(second) == pytest.approx(-2 * expected)
    assert rows(other) == pytest.approx(expected)
    n_batches = len(list(source.batches()))
    assert n_batches > 1
    assert (first.n_reads, second.n_reads, other.n_reads) == (n_batches, 0, n_batches)


def test_more_numbers_than_are_kept_are_read_in_every_pass(source, monkeypatch):
    monkeypatch.setattr(batches, "KEPT_NUMBERS", 800_000)
    rows, reader = RowsInMemory(source, 1), Reads.Reader()
    for factor in (1.0, 2.0):
        one_pass = Reads(reader, factor)
        assert rows(one_pass) == pytest.approx(factor * source.X.sum(axis=1) @ source.labels)
        assert one_pass.n_reads == len(list(source.batches()))


def test_a_model_is_the_same_whether_batches_are_kept_or_not(monkeypatch):
    monkeypatch.setattr(batches, "LARGE_SEARCH", 500)
    rng = np.random.default_rng(1)
    X = pd.DataFrame({"a": rng.normal(size=2000).round(3), "b": rng.choice(["x", "y"], 2000)})
    y = np.where(X["a"] + (X["b"] == "x") + rng.logistic(size=2000) > 0, "yes", "no")
    kept = ECSELClassifier(digits=None).fit(X, y)
    monkeypatch.setattr(batches, "KEPT_NUMBERS", 0)
    again = ECSELClassifier(digits=None).fit(X, y)
    np.testing.assert_array_equal(kept.predict_proba(X), again.predict_proba(X))
