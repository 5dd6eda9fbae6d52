"""The walk: second-order gains are right, sizes improve, limits and signs are kept."""

from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
from scipy.special import expit

from ecsel.search import glm
from ecsel.search.dictionary import SearchColumn, make_atoms, pair_pieces, single_pieces
from ecsel.search.losses import Logistic, Softmax, Squared
from ecsel.search.path import Family, SizeConstraints, Training, Walk
from ecsel.search.scan import CONSIDERED_SWAPS

PAIRS = Family("pairs", price=1.0, ridge=0.3, max_pieces=6)


def training(columns, loss, seed=100, **options):
    rng = np.random.default_rng(seed)
    n = len(columns[0].values)
    atoms = make_atoms(
        columns, single_pieces(columns) + pair_pieces(columns, range(len(columns)), more=False), np.ones(n)
    )
    z = 1.5 * np.log(columns[1].values) - 0.4 * columns[0].values + 1.2 * columns[3].values
    if loss.name == "squared":
        y = z + 0.5 * rng.normal(size=n)
    elif loss.name == "softmax":
        p = np.exp(np.vstack([z, -z, np.zeros(n)]))
        y = (rng.random(n) > np.cumsum(p / p.sum(axis=0), axis=0)).sum(axis=0).astype(float)
    else:
        y = (rng.random(n) < expit(z)) * 1.0
    return Training(loss, atoms, y, np.ones(n), **options)


@pytest.mark.parametrize("loss", [Logistic(), Squared()], ids=lambda loss: loss.name)
def test_gains_agree_with_exact_fits(make_columns, loss, monkeypatch):
    """Where the loss is quadratic the gains are exact; for a likelihood they are close where they are small."""
    data = training(make_columns(), loss)
    walk = Walk(data, PAIRS, SizeConstraints(20))
    current = walk.run()[3]
    walk._rescale(current)
    current = walk._fit(current.atoms, current.owners, None)
    monkeypatch.setattr("ecsel.search.scan.MIN_GAIN", -np.inf)  # swaps that lose are told too
    scan = walk._scan(current, walk._dictionary)
    rng = np.random.default_rng(1)
    tolerance = {"rtol": 1e-3, "atol": 2e-3} if loss.name == "squared" else {"rtol": 0.3, "atol": 0.05}
    finite = np.flatnonzero(np.isfinite(scan.additions[0]))
    some = rng.choice(finite, 12, replace=False)
    exact = [current.total - walk._fit((*current.atoms, int(a)), (*current.owners, 0), None).total for a in some]
    np.testing.assert_allclose(scan.additions[0][some], exact, **tolerance)
    assert len(scan.swaps[0]) == CONSIDERED_SWAPS
    for gain, s, place in scan.swaps[0]:
        kept = [i for i in range(len(current)) if i != s]
        atom = int(scan.places[place])
        swapped = walk._fit((*(current.atoms[i] for i in kept), atom), (0,) * len(current), None)
        np.testing.assert_allclose(gain, current.total - swapped.total, **tolerance)


@pytest.mark.parametrize("loss", [Logistic(), Softmax(3), Squared()], ids=lambda loss: loss.name)
def test_every_size_fits_better_than_the_one_before(make_columns, loss):
    path = Walk(training(make_columns(), loss), PAIRS, SizeConstraints(20)).run()
    assert [len(found) for found in path] == list(range(len(path)))
    if loss.name != "squared":  # squared errors are rescaled on the way
        losses = [found.fitted.objective for found in path]
        assert all(a > b for a, b in pairwise(losses))


def test_a_planted_sum_is_found(make_columns):
    data = training(make_columns(n=2000), Logistic())
    found = Walk(data, PAIRS, SizeConstraints(20)).run()[3]
    pieces = {data.atoms.pieces[a] for a in found.atoms}
    assert {(p[0].column, str(p[0].function.exponent), p[0].function.log) for p in pieces} == {
        (0, "1", False),
        (1, "1", True),
        (3, "1", False),
    }


def test_limits_are_kept(make_columns):
    data = training(make_columns(), Softmax(3))
    for constraints in (SizeConstraints(3), SizeConstraints(20, max_terms=1), SizeConstraints(20, max_columns=2)):
        for found in Walk(data, PAIRS, constraints).run():
            assert data.atoms.count_factors(found.atoms) <= constraints.max_factors
            if constraints.max_terms is not None:
                assert np.bincount(found.owners, minlength=3).max() <= constraints.max_terms
            if constraints.max_columns is not None:
                assert len(np.unique(data.atoms.groups[list(found.atoms)])) <= constraints.max_columns


def test_forbidden_pieces_and_wrong_signs_do_not_enter(make_columns):
    columns = make_columns()
    plain = training(columns, Logistic())
    first = [a for a, p in enumerate(plain.atoms.pieces) if any(part.column == 0 for part in p)]
    signs = np.zeros((1, len(plain.atoms)))
    signs[:, first] = 1.0  # the planted coefficient is negative
    allowed = np.ones_like(signs, dtype=bool)
    allowed[:, [a for a, p in enumerate(plain.atoms.pieces) if any(part.column == 3 for part in p)]] = False
    data = training(columns, Logistic(), allowed=allowed, signs=signs)
    for found in Walk(data, PAIRS, SizeConstraints(20)).run():
        for a, theta in zip(found.atoms, found.fitted.coefficients, strict=True):
            assert allowed[0, a]
            assert signs[0, a] * theta >= 0


def test_a_stopped_walk_returns_what_it_has(make_columns):
    calls = iter([False, False, True, True, True, True])
    path = Walk(training(make_columns(), Logistic()), PAIRS, SizeConstraints(20), lambda: next(calls)).run()
    assert len(path) == 3


def test_no_kernel_no_difference(monkeypatch, make_columns):
    data = training(make_columns(), Logistic())
    one = Walk(data, PAIRS, SizeConstraints(20)).run()
    monkeypatch.setattr(glm._compiled, "compiled", None)
    other = Walk(data, PAIRS, SizeConstraints(20)).run()
    assert [found.atoms for found in one] == [found.atoms for found in other]
    np.testing.assert_allclose([f.total for f in one], [f.total for f in other], rtol=1e-6)


@pytest.mark.parametrize("noise", [0.0, 0.3])
def test_squared_errors_count_in_units_of_their_noise(make_columns, noise):
    """Sets of one size are compared under one dispersion, and a perfect fit ends the walk."""
    columns = make_columns(n=400)
    z = 2 * np.log(columns[1].values) - columns[3].values + noise * np.random.default_rng(5).normal(size=400)
    data = replace(training(columns, Squared()), target=(z - z.mean()) / z.std())
    walk = Walk(data, PAIRS, SizeConstraints(20))
    path = walk.run()
    pieces = {data.atoms.pieces[a] for a in path[2].atoms}
    assert {(p[0].column, p[0].function.log) for p in pieces} == {(1, True), (3, False)}
    for found in path:
        dispersion = walk._dispersions[len(found)]
        assert found.total == pytest.approx(
            found.fitted.loss
            + 0.5 * float(walk._ridge[list(found.atoms)] @ found.fitted.coefficients**2)
            + 0.5 * glm.INTERCEPT_RIDGE * 400 / dispersion * found.fitted.intercepts[0] ** 2
            + walk._prices[list(found.atoms)].sum(),
            rel=1e-9,
        )
        own = 0.5 * ((data.target - found.fitted.scores[0]) ** 2).sum()
        assert found.fitted.loss == pytest.approx(own / dispersion, rel=1e-9)
    assert noise or len(path) == 5  # two more pieces gain nothing


def test_straight_columns_start_from_all_of_them():
    """What two columns say together, as a difference does, is not lost: each alone says next to nothing."""
    rng = np.random.default_rng(3)
    common, own = rng.normal(size=400), rng.normal(size=400)
    values = [common, common + 0.2 * own, *(rng.normal(size=(4, 400)) + 0.4 * own)]
    columns = [SearchColumn(f"x{j}", j, x, shift=9.0) for j, x in enumerate(values)]
    target = (rng.random(400) < expit(2 * own)) * 1.0
    atoms = make_atoms(columns, single_pieces(columns), np.ones(400))
    training = Training(Logistic(), atoms, target, np.ones(400))
    path = Walk(
        training, Family("straight", price=0.0, ridge=0.3, max_pieces=20, straight=True), SizeConstraints(20)
    ).run()
    assert [len(found) for found in path] == list(range(7))
    assert all(atoms.straight[list(found.atoms)].all() for found in path)
    assert {atoms.groups[a, 0] for a in path[2].atoms} == {0, 1}
    # without room for all of them the walk goes up, and every limit is kept
    short = Walk(
        training, Family("straight", price=0.0, ridge=0.3, max_pieces=20, straight=True), SizeConstraints(5)
    ).run()
    assert len(short[-1]) == 5


def test_thresholds_are_not_straight():
    columns = [
        SearchColumn("x", 0, np.arange(9.0), shift=1.0),
        SearchColumn("[x > 3]", 0, (np.arange(9) > 3) * 1.0, straight=True, cut=True),
    ]
    atoms = make_atoms(columns, single_pieces(columns), np.ones(9))
    names = {
        columns[piece[0].column].name for piece, straight in zip(atoms.pieces, atoms.straight, strict=True) if straight
    }
    assert names == {"x"}
