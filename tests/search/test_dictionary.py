"""Pieces: what they are worth, what they are called, what they cost."""

import numpy as np
import pytest

from ecsel import _compiled
from ecsel.search.dictionary import (
    MAX_LEVERAGE,
    SINGLES,
    PieceValues,
    SearchColumn,
    make_atoms,
    pair_pieces,
    piece_factors,
    single_pieces,
    standardised,
)
from ecsel.signomial import Signomial, Term


def test_values_are_those_of_the_printed_terms(make_columns):
    columns = make_columns()
    table = {column.name: column.values for column in columns}
    known = PieceValues(columns)
    pieces = single_pieces(columns) + pair_pieces(columns, range(4), more=True)
    assert len(pieces) > 100
    centred = [piece for piece in pieces if any(part.function.centre is not None for part in piece)]
    assert {len(piece) for piece in centred} == {1, 2}
    for piece in pieces:
        term = Term.from_factors(1.0, piece_factors(piece, columns))
        read = Signomial.parse(str(Signomial([term])))
        np.testing.assert_allclose(read.evaluate(table), known.piece(piece), rtol=1e-9, atol=1e-12)


def test_atoms_are_standardised_under_the_weights(make_columns):
    columns = make_columns()
    w = np.random.default_rng(1).uniform(0, 2, 300)
    atoms = make_atoms(columns, single_pieces(columns), w)
    np.testing.assert_allclose(atoms.values @ w / w.sum(), 0, atol=1e-5)
    np.testing.assert_allclose(atoms.values**2 @ w / w.sum(), 1, atol=1e-4)
    assert np.abs(atoms.values).max() <= MAX_LEVERAGE


def test_what_hangs_on_single_rows_or_is_constant_is_left_out():
    spike = np.ones(2000)
    spike[7] = 1e6
    columns = [SearchColumn("spike", 0, spike), SearchColumn("same", 1, np.full(2000, 3.0))]
    assert not len(
        make_atoms(columns, [p for p in single_pieces(columns) if not p[0].function.is_shifted], np.ones(2000))
    )


def test_pairs_never_multiply_one_column_with_itself():
    rng = np.random.default_rng(2)
    columns = [SearchColumn(str(j), j // 2, rng.uniform(1, 2, 20)) for j in range(4)]
    groups = {tuple(columns[part.column].group for part in p) for p in pair_pieces(columns, range(4), more=False)}
    assert groups == {(0, 1)}


def test_cuts_take_part_in_no_product():
    rng = np.random.default_rng(3)
    columns = [
        SearchColumn("x", 0, rng.uniform(1, 2, 20)),
        SearchColumn("[y > 1]", 1, rng.random(20), straight=True, cut=True),
    ]
    assert not pair_pieces(columns, range(2), more=False)


def test_simple_pieces_cost_less(make_columns):
    columns = make_columns()
    pair = pair_pieces(columns, [0, 1], more=False)[0]
    atoms = make_atoms(columns, [*single_pieces(columns), pair], np.ones(len(columns[0].values)))
    costs = dict(zip(atoms.pieces, atoms.costs, strict=True))
    singles = {p[0].function: cost for p, cost in costs.items() if len(p) == 1 and p[0].column == 0}
    by_name = {("log" if f.log else str(f.exponent)): c for f, c in singles.items() if f.centre is None}
    assert (
        by_name["1"] < by_name["log"] < by_name["-1"] < by_name["2"] < by_name["3"] < by_name["1/2"] < by_name["-1/2"]
    )
    assert costs[pair] > by_name["1"]
    assert min(cost for f, cost in singles.items() if f.centre is not None) > by_name["1"]


@pytest.mark.parametrize("function", SINGLES, ids=str)
def test_only_allowed_functions_are_used(function):
    column = SearchColumn("x", 0, np.linspace(1, 2, 9), functions=frozenset([function]))
    assert [piece[0].function for piece in single_pieces([column])] == [function]
    centred = SearchColumn("x", 0, np.linspace(1, 2, 9), functions=frozenset([function]), centres=(1.5, 1.2, 1.8))
    assert [piece[0].function for piece in single_pieces([centred])] == [function]


@pytest.mark.needs_kernel
@pytest.mark.parametrize("n", [1, 7, 8, 300, 1031])
def test_the_kernel_standardises_as_numpy_does(monkeypatch, n):
    rng = np.random.default_rng(n)
    parts = np.vstack([rng.lognormal(0, 1, (4, n)), np.full(n, 2.0)])
    share = rng.uniform(0, 1, n) * (rng.random(n) < 0.8)
    share[0] = 1.0
    share /= share.sum()
    pairs = np.array([[0, -1], [1, 2], [3, 3], [4, -1]])
    fast = standardised(parts, pairs, share)
    monkeypatch.setattr(_compiled, "compiled", None)
    slow = standardised(parts, pairs, share)
    assert fast[2][3] == slow[2][3] == 0  # what does not vary has no width
    varied = slow[2] > 0
    assert varied.tolist() == [n > 1] * 3 + [False]
    for a, b in zip(fast, slow, strict=True):
        np.testing.assert_allclose(a[varied], b[varied], rtol=1e-6, atol=1e-6)
