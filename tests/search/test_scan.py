"""One look at a dictionary: the compiled products and gains are NumPy's, and rows without weight do not count."""

import numpy as np
import pytest

from ecsel import _compiled
from ecsel.search import glm
from ecsel.search.losses import Logistic, Softmax, Squared
from ecsel.search.scan import Candidates, Current, scan


def fitted_set(loss, n=403, n_atoms=37, seed=0, weights=None):
    rng = np.random.default_rng(seed)
    values = rng.normal(size=(n_atoms, n)).astype(np.float32)
    y = rng.integers(0, max(2, loss.n_scores), n).astype(float)
    w = rng.uniform(0.5, 2, n) if weights is None else weights
    atoms = np.array([3, 11, 20])
    owners = np.arange(3) % loss.n_scores
    fitted = glm.fit(loss, values[atoms], owners, y, w, np.ones(3))
    current = Current(atoms, owners, fitted.coefficients, fitted.scores, np.ones(3), np.full(3, 2.0))
    places = np.arange(0, n_atoms, 2)
    candidates = Candidates(
        places,
        np.ones(len(places)),
        np.full(len(places), 2.5),
        rng.random((loss.n_scores, len(places))) < 0.9,
        rng.integers(-1, 2, (loss.n_scores, len(places))).astype(float),
    )
    return values, y, w, current, candidates


@pytest.mark.needs_kernel
@pytest.mark.parametrize("loss", [Logistic(), Softmax(3)], ids=lambda loss: loss.name)
def test_the_kernel_and_numpy_agree(monkeypatch, loss):
    values, y, w, current, candidates = fitted_set(loss)
    fast = scan(loss, values, y, w, current, candidates)
    monkeypatch.setattr(_compiled, "compiled", None)
    slow = scan(loss, values, y, w, current, candidates)
    np.testing.assert_allclose(fast.additions, slow.additions, rtol=1e-4, atol=1e-4)
    np.testing.assert_allclose(fast.best, slow.best, rtol=1e-3, atol=1e-3)
    np.testing.assert_allclose(fast.variances(), slow.variances(), rtol=1e-6)
    for mine, others in zip(fast.swaps, slow.swaps, strict=True):
        assert mine
        assert [(s, p) for _, s, p in mine] == [(s, p) for _, s, p in others]
        np.testing.assert_allclose([gain for gain, *_ in mine], [gain for gain, *_ in others], rtol=1e-3, atol=1e-3)
    np.testing.assert_allclose(fast.addition(0, 5)[1], slow.addition(0, 5)[1], rtol=1e-3, atol=1e-5)


@pytest.mark.parametrize("rows", [slice(0, 300), slice(100, 400), slice(0, 900, 2)], ids=str)
def test_rows_without_weight_do_not_count(rows):
    """A scan skips whole blocks of them, which must not be seen."""
    loss, n = Logistic(), 900
    w = np.zeros(n)
    w[rows] = 1.5
    values, y, w, current, candidates = fitted_set(loss, n=n, weights=w)
    everything = scan(loss, values, y, w, current, candidates)
    kept = w > 0
    some = Current(
        current.atoms, current.owners, current.coefficients, current.scores[:, kept], current.ridge, current.prices
    )
    alone = scan(loss, np.ascontiguousarray(values[:, kept]), y[kept], w[kept], some, candidates)
    np.testing.assert_allclose(everything.additions, alone.additions, rtol=1e-4, atol=1e-4)


def test_a_member_of_the_set_is_no_candidate_for_it():
    values, y, w, current, candidates = fitted_set(Logistic())
    found = scan(Logistic(), values, y, w, current, candidates)
    assert 20 in candidates.places
    assert np.isneginf(found.additions[0, list(candidates.places).index(20)])
    assert np.isneginf(found.best[list(candidates.places).index(20)])


@pytest.mark.parametrize("n", [1, 8, 255, 256, 257, 1000])
@pytest.mark.parametrize("count", [1, 2, 5])
def test_gains_follow_from_inner_products(n, count):
    """Without members an addition gains g²/(2q), where q is what the intercept leaves of x'hx, ridge included."""
    rng = np.random.default_rng(n)
    values = rng.normal(size=(6, n)).astype(np.float32)
    y, w = rng.normal(size=n), rng.uniform(0.5, 2, n)
    none = np.zeros(0, dtype=np.intp)
    current = Current(none, none, np.zeros(0), np.full((1, n), 0.3), np.zeros(0), np.zeros(0))
    candidates = Candidates(np.arange(6)[:count], np.ones(count), np.full(count, 0.5), np.ones((1, count), dtype=bool))
    found = scan(Squared(), values, y, w, current, candidates)
    x, r = values[:count].astype(float), y - 0.3
    q = x**2 @ w + 1 - (x @ w) ** 2 / (w.sum() * (1 + glm.INTERCEPT_RIDGE))
    expected = 0.5 * (x @ (w * r)) ** 2 / q - 0.5
    np.testing.assert_allclose(found.additions[0], expected, rtol=1e-3, atol=1e-3)
    np.testing.assert_array_equal(found.best, found.additions[0])
    assert found.swaps == [[]]


@pytest.mark.needs_kernel
def test_the_kernel_refuses_what_does_not_fit():
    x, empty = np.zeros((2, 3), dtype=np.float32), np.zeros(0)
    row, none = np.ones((1, 3)), np.zeros(0, dtype=np.int64)

    def look(sizes, places):
        _compiled.compiled.piece_scan(
            sizes,
            (1e-3, 1e-8, 0.0),
            x,
            places,
            row,
            row,
            (none, none, empty, empty, empty),
            (np.ones(1), np.ones(1), np.ones((1, 1), dtype=np.uint8), None),
            (np.zeros((1, 3, 4)), np.zeros(1), np.zeros((1, 1)), np.zeros((1, 1)), np.zeros(1), np.zeros((1, 1, 3))),
        )

    look((2, 3, 1, 1, 0, 1), np.array([1]))
    with pytest.raises(ValueError, match="places"):
        look((2, 3, 1, 1, 0, 1), np.array([2]))
    with pytest.raises(ValueError, match="sizes"):
        look((-2, 3, 1, 1, 0, 1), np.array([0]))
    with pytest.raises(ValueError, match="contiguous"):
        look((2, 3, 1, 2, 0, 1), np.array([0]))
    with pytest.raises(ValueError, match="pairs"):
        _compiled.compiled.standardise_pieces(
            2, 1, 3, x.astype(float), np.array([[5, -1]]), np.ones(3) / 3, x[:1], np.zeros((1, 3))
        )
