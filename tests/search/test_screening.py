"""Screening: one dictionary holds what every training may use, and no more."""

import numpy as np

from ecsel.search.dictionary import SearchColumn
from ecsel.search.losses import Logistic
from ecsel.search.screening import screened_atoms


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
