"""The walk of many scores: batches keep the limits, improve, and give what one piece at a time would give."""

from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest

from ecsel.search import glm
from ecsel.search.batch_path import BatchWalk
from ecsel.search.dictionary import SearchColumn, make_atoms, pair_pieces, single_pieces
from ecsel.search.losses import Softmax
from ecsel.search.path import Family, SizeConstraints, Training, Walk
from ecsel.search.selection import RIDGES_OF_MANY_SCORES, Key, walk_all

CLASSES = 6
FAMILY = Family("pairs", price=1.0, ridge=0.3, max_pieces=24)


def training(seed=0, n=300, columns=4, **options):
    """Classes around points of their own."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, CLASSES, n)
    x = rng.normal(size=(CLASSES, columns))[y] + rng.normal(size=(n, columns))
    found = [SearchColumn(f"x{j}", j, x[:, j], shift=9.0) for j in range(columns)]
    pieces = single_pieces(found) + pair_pieces(found, range(columns), more=False)
    return Training(Softmax(CLASSES), make_atoms(found, pieces, np.ones(n)), y * 1.0, np.ones(n), **options)


def test_a_batch_has_at_most_one_piece_a_score_and_every_batch_fits_better():
    path = BatchWalk(training(), FAMILY, SizeConstraints(200)).run()
    assert len(path) > 3
    assert [len(found) for found in path] == [CLASSES * i for i in range(len(path))]
    assert all(a.fitted.objective > b.fitted.objective for a, b in pairwise(path))
    assert len(set(zip(path[-1].atoms, path[-1].owners, strict=True))) == len(path[-1])


def test_the_best_set_is_as_good_as_that_of_one_piece_at_a_time():
    data = training()
    empty, *batches = (found.total for found in BatchWalk(data, FAMILY, SizeConstraints(200)).run())
    singly = [found.total for found in Walk(data, FAMILY, SizeConstraints(200)).run()]
    assert min(batches) < min(singly) + 0.03 * (empty - min(singly))


def test_a_walk_ends_after_additions_that_gain_too_little():
    data = training()
    (empty, *_) = BatchWalk(data, FAMILY, SizeConstraints(200)).run()
    unreachable = empty.fitted.objective / CLASSES  # a batch would have to take the whole of the objective away
    path = BatchWalk(data, replace(FAMILY, min_addition=unreachable, patience=2), SizeConstraints(200)).run()
    assert [len(found) for found in path] == [0, CLASSES, 2 * CLASSES]


def test_limits_are_kept():
    data = training()
    for constraints in (SizeConstraints(9), SizeConstraints(200, max_terms=2), SizeConstraints(200, max_columns=2)):
        path = BatchWalk(data, FAMILY, constraints).run()
        assert len(path) > 1
        for found in path:
            assert data.atoms.count_factors(found.atoms) <= constraints.max_factors
            if constraints.max_terms is not None and found.atoms:
                assert np.bincount(found.owners).max() <= constraints.max_terms
            if constraints.max_columns is not None:
                assert len(np.unique(data.atoms.groups[list(found.atoms)])) <= constraints.max_columns


def test_every_score_reaches_the_number_of_terms_that_it_may_have():
    path = BatchWalk(training(), Family("pairs", 1.0, 0.3, 2 * CLASSES), SizeConstraints(200, max_terms=2)).run()
    assert np.bincount(path[-1].owners).tolist() == [2] * CLASSES


@pytest.mark.parametrize(("classes", "most"), [(5, 48), (26, 234), (81, 330)])
def test_the_largest_set_grows_with_the_classes_up_to_what_rounding_bears(classes, most):
    data = training()
    many = replace(data, loss=Softmax(classes))
    assert BatchWalk(many, Family("pairs", 1.0, 0.3, 48), SizeConstraints(2000))._max_pieces == most


def test_a_stopped_walk_returns_what_it_has():
    calls = iter([False, False, True, True, True])
    path = BatchWalk(training(), FAMILY, SizeConstraints(200), lambda: next(calls)).run()
    assert [len(found) for found in path] == [0, 6, 12]


def test_exchanges_lower_the_total():
    data = training()
    walk = BatchWalk(data, FAMILY, SizeConstraints(200))
    rng = np.random.default_rng(1)
    atoms = tuple(rng.choice(len(data.atoms), 12, replace=False).tolist())
    poor = walk._fit(atoms, tuple(c for c in range(CLASSES) for _ in range(2)), None)
    better = walk._swap_batch(poor, walk._scan(poor, walk._dictionary))
    assert better is not None
    assert better.total < poor.total - 50
    assert better.owners == poor.owners
    changed = [c for a, b, c in zip(poor.atoms, better.atoms, poor.owners, strict=True) if a != b]
    assert len(changed) == len(set(changed)) == CLASSES  # one piece of every score


@pytest.mark.parametrize("n_scores", [2, CLASSES])
def test_where_exchanges_together_do_not_help_the_best_one_is_tried_alone(monkeypatch, n_scores):
    data = training()
    walk = BatchWalk(data, FAMILY, SizeConstraints(200))
    atoms = tuple(np.random.default_rng(1).choice(len(data.atoms), 12, replace=False).tolist())
    poor = walk._fit(atoms, tuple(c for c in range(CLASSES) for _ in range(2)), None)
    look = walk._scan(poor, walk._dictionary)
    look = replace(look, swaps=look.swaps[:n_scores])
    fit, tried = walk._fit, []

    def fit_alone(atoms, owners, start):
        tried.append([i for i, (a, b) in enumerate(zip(atoms, poor.atoms, strict=True)) if a != b])
        return fit(atoms, owners, start) if len(tried[-1]) == 1 else poor

    monkeypatch.setattr(walk, "_fit", fit_alone)
    better = walk._swap_batch(poor, look)
    assert [len(each) for each in tried] == [n_scores, 1]
    assert better.total < poor.total
    best = max((gain, s) for swaps in look.swaps for gain, s, _ in swaps[:1])
    assert tried[-1] == [best[1]]


def test_the_pieces_that_are_missed_least_leave():
    """Of a batch that leaves no other choice of as many, each alone, would be missed less, to second order."""
    data = training()
    walk = BatchWalk(data, FAMILY, SizeConstraints(200))
    whole = walk.run()[-1]
    smaller = walk._drop_batch(whole, walk._scan(whole, walk._dictionary), 4)
    left = set(zip(whole.atoms, whole.owners, strict=True)) - set(zip(smaller.atoms, smaller.owners, strict=True))
    missed = {}
    for i, piece in enumerate(zip(whole.atoms, whole.owners, strict=True)):
        atoms, owners = (tuple(np.delete(each, i).tolist()) for each in (whole.atoms, whole.owners))
        missed[piece] = walk._fit(atoms, owners, None).total - whole.total
    median = float(np.median(list(missed.values())))
    assert len(left) == 4
    assert all(missed[piece] < median for piece in left)


@pytest.mark.parametrize("signs", [False, True])
def test_many_classes_are_walked_in_batches_unless_signs_are_asked_for(signs):
    data = training()
    if signs:
        data = replace(data, signs=np.zeros((CLASSES, len(data.atoms))))
    walked = walk_all(data, [Family("pairs", 1.0, 0.3, 12)], SizeConstraints(200, max_terms=2))
    assert walked.sizes == ((tuple(range(13)),) if signs else ((0, 6, 12),))
    assert {key.ridge for key in walked.found} == set(RIDGES_OF_MANY_SCORES)
    assert len(walked.nearest(Key(0, 11, RIDGES_OF_MANY_SCORES[0]))) == (11 if signs else 6)
    assert len(walked.nearest(Key(0, 40, RIDGES_OF_MANY_SCORES[0]))) == 12


def test_without_the_kernel_sets_are_as_good(monkeypatch):
    """Pieces that are nearly equal may be exchanged for one another, as rounding decides."""
    data = training(n=200, columns=2)
    one = BatchWalk(data, FAMILY, SizeConstraints(200)).run()
    monkeypatch.setattr(glm._compiled, "compiled", None)
    other = BatchWalk(data, FAMILY, SizeConstraints(200)).run()
    np.testing.assert_allclose([f.total for f in one], [f.total for f in other], rtol=0.02)
