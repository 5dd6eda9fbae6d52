"""Screening: one dictionary holds what every training may use, and no more."""

from dataclasses import replace

import numpy as np

from ecsel.search.dictionary import PieceValues, SearchColumn, make_atoms, pair_pieces
from ecsel.search.losses import Logistic
from ecsel.search.screening import marginal_gains, screened_atoms, steep_corners


def test_what_an_atom_gains_alone_is_its_score_statistic():
    rng = np.random.default_rng(2)
    n = 300
    columns = [SearchColumn(f"x{j}", j, rng.lognormal(size=n)) for j in range(3)]
    y = (rng.random(n) < 0.2 + 0.4 * (columns[1].values > 1)) * 1.0
    weights = rng.integers(1, 4, n) * 1.0
    atoms = make_atoms(columns, pair_pieces(columns, range(3), more=False), weights)
    p = np.average(y, weights=weights)
    score = atoms.values.astype(float) @ (weights * (y - p))
    expected = 0.5 * score**2 / (weights.sum() * p * (1 - p))
    np.testing.assert_allclose(marginal_gains(atoms, Logistic(), y, weights), expected, rtol=1e-4, atol=1e-6)


def test_every_training_screens_for_itself():
    rng = np.random.default_rng(0)
    n, m = 400, 40
    columns = [SearchColumn(f"x{j}", j, rng.uniform(1, 3, n)) for j in range(m)]
    first = np.arange(n) < n // 2
    # one column matters in the first half, another one in the second
    z = np.where(first, columns[3].values, columns[30].values)
    y = (z > 2) * 1.0
    weights = [np.ones(n), first * 1.0, ~first * 1.0]
    atoms, masks = screened_atoms(columns, Logistic(), y, weights)
    assert all(mask.any() and not mask.all() for mask in masks)
    multiplied = [
        {
            part.column
            for piece, used in zip(atoms.pieces, mask[0], strict=True)
            if used and len(piece) == 2
            for part in piece
        }
        for mask in masks
    ]
    assert 3 in multiplied[1]
    assert 30 in multiplied[2]
    assert multiplied[1] != multiplied[2]
    alone, (mask,) = screened_atoms(columns, Logistic(), y, weights[:1])
    assert mask.all()
    assert set(alone.pieces) == {piece for piece, used in zip(atoms.pieces, masks[0][0], strict=True) if used}


def test_products_that_leave_the_table_at_a_corner_are_reported():
    """x and y rise together, so x/y and x²/y stay small on all rows, but not where x is large and y small."""
    x = np.exp(np.linspace(0, 9, 80))
    columns = [SearchColumn("x", 0, x), SearchColumn("y", 1, x * np.exp(np.sin(np.arange(80))))]
    atoms = make_atoms(columns, pair_pieces(columns, range(2), more=False), np.ones(80))
    steep = steep_corners(atoms, columns, np.ones(80), 20.0)
    ends = [replace(column, values=np.array([column.values.min(), column.values.max()])) for column in columns]
    values = PieceValues(ends)
    for piece, mean, scale, steep_piece in zip(atoms.pieces, atoms.mean, atoms.scale, steep, strict=True):
        largest = max(abs(a * b - mean) for a in values.part(piece[0]) for b in values.part(piece[1]))
        assert steep_piece == (largest > 20 * scale)
    assert 0 < steep.sum() < len(steep)
