"""A distance is offered where a score turns, and not where it levels off."""

import numpy as np
import pytest
from scipy import stats

from ecsel import ECSELClassifier
from ecsel.search.dictionary import SearchColumn
from ecsel.search.losses import Logistic, Softmax
from ecsel.search.screening import screened_atoms
from ecsel.search.turning import MIN_SLOPE, turns

CENTRES = (5.0, 2.0, 8.0)


def sides(x, r, centre):
    """Pearson's t without its correction for two lost degrees of freedom, on either side."""
    for side in (x <= centre, x > centre):
        n = side.sum()
        yield np.sqrt(n) * stats.pearsonr(x[side], r[side]).statistic


def test_slopes_are_those_of_two_regressions():
    rng = np.random.default_rng(0)
    x = rng.uniform(0, 10, 400).round(1)
    r = np.stack([-np.abs(x - 5) + rng.normal(size=400), x + rng.normal(size=400), rng.normal(size=400)])
    found = turns(x, CENTRES, r, np.ones(400))
    for s in range(3):
        for k, centre in enumerate(CENTRES):
            left, right = sides(x, r[s], centre)
            assert found[s, k] == (left * right < 0 and min(abs(left), abs(right)) >= MIN_SLOPE)
    assert found[0, 0]
    assert not found[1].any()


def test_a_weight_is_that_many_rows():
    rng = np.random.default_rng(1)
    x, r = rng.normal(size=60), rng.normal(size=(4, 60))
    w = rng.integers(0, 4, 60)
    many = turns(np.repeat(x, w), (0.0, 0.5), np.repeat(r, w, axis=1), np.ones(w.sum()))
    np.testing.assert_array_equal(turns(x, (0.0, 0.5), r, w.astype(float)), many)


@pytest.mark.parametrize("scale", [1e-9, 1.0, 1e12])
def test_units_do_not_matter_and_a_constant_side_does_not_turn(scale):
    x = np.concatenate([np.arange(50.0), np.full(50, 60.0)]) * scale
    r = np.concatenate([np.arange(50.0), -np.arange(50.0)])[None, :]
    assert not turns(x, (55.0 * scale,), r, np.ones(100)).any()
    peak = -np.abs(np.arange(100.0) - 50)[None, :]
    assert turns(np.arange(100.0) * scale, (50.0 * scale,), peak, np.ones(100)).all()


def dictionary(probability, loss, n=3000):
    rng = np.random.default_rng(2)
    x = rng.uniform(0, 10, n)
    y = (rng.random(n)[None, :] > np.cumsum(probability(x), axis=0)).sum(axis=0).astype(float)
    columns = [SearchColumn("x", 0, x, shift=1.0, centres=CENTRES)]
    atoms, (mask,) = screened_atoms(columns, loss, y, [np.ones(n)])
    distances = [a for a, (part,) in enumerate(atoms.pieces) if part.function.centre == 5.0]
    assert len(distances) == 2
    assert mask[:, [a for a in range(len(atoms)) if atoms.pieces[a][0].function.centre is None]].all()
    return mask[:, distances]


def test_what_levels_off_gets_no_distance():
    def rises(x):
        p = 1 - 0.95 * np.minimum(x / 5, 1)
        return np.stack([p, 1 - p])

    assert not dictionary(rises, Logistic()).any()


def test_each_class_turns_for_itself():
    def middle(x):
        e = np.exp(np.stack([-x, 4 - np.abs(x - 5) - 5, x - 10]))
        return e / e.sum(axis=0)

    assert dictionary(middle, Softmax(3)).all(axis=1).tolist() == [False, True, False]


def test_more_is_never_less_where_the_data_only_rise():
    """A risk that levels off is not turned back by a distance, whatever the row beyond the bulk."""
    rng = np.random.default_rng(3)
    x = rng.gamma(2.0, 1.0, (600, 1))
    y = (rng.random(600) < 1 / (1 + np.exp(4 - 3 * np.minimum(x[:, 0], 2.5)))).astype(int)
    model = ECSELClassifier().fit(x, y)
    (equation,) = model.equations_.values()
    assert "abs(" not in str(equation)
