"""Idle pieces: what goes costs less than half a nat in all, what stays costs more."""

from dataclasses import replace
from itertools import combinations

import numpy as np
import pytest
from scipy.special import expit

from ecsel.search.losses import Logistic, Softmax, Squared
from ecsel.search.path import Family, SizeConstraints, Training, Walk, refit
from ecsel.search.pruning import _rises, without_idle_pieces
from ecsel.search.rounding import NATS
from ecsel.search.screening import screened_atoms


def walked(make_columns, loss, ridge, size):
    columns = make_columns(n=500)
    rng = np.random.default_rng(1)
    z = 1.5 * np.log(columns[1].values) - 0.6 * columns[0].values
    if isinstance(loss, Squared):
        y = z + 0.3 * rng.standard_normal(500)
    elif loss.n_scores == 1:
        y = (rng.random(500) < expit(z)) * 1.0
    else:
        y = np.digitize(z + rng.logistic(size=500), [-1.0, 0.5]) * 1.0
    w = np.ones(500)
    atoms, masks = screened_atoms(columns, loss, y, [w])
    training = Training(loss, atoms, y, w, masks[0])
    # no price and no patience: the last pieces of this walk gain next to nothing
    family = Family("all", price=0.0, ridge=ridge, max_pieces=size, min_addition=-np.inf)
    found = Walk(training, family, SizeConstraints(100)).run()[-1]
    return training, refit(training, found, [ridge], training.dispersion(found))[0]


@pytest.mark.parametrize("loss", [Logistic(), Softmax(3), Squared()])
def test_what_goes_costs_half_a_nat_and_what_stays_more(make_columns, loss):
    training, found = walked(make_columns, loss, 12.0, 25)
    left = without_idle_pieces(training, found, 12.0)
    assert 1 <= len(left) < len(found)
    assert set(zip(left.atoms, left.owners, strict=True)) < set(zip(found.atoms, found.owners, strict=True))
    assert left.fitted.loss - found.fitted.loss <= NATS
    s = int(np.argmin(_rises(training, left, 12.0)))
    assert _without(training, left, s).fitted.loss - found.fitted.loss > NATS


@pytest.mark.parametrize("loss", [Logistic(), Squared()])
def test_rises_are_those_of_fits_without_the_piece(make_columns, loss):
    training, found = walked(make_columns, loss, 0.3, 5)
    rises = _rises(training, found, 0.3)
    exact = [_without(training, found, s).fitted.objective - found.fitted.objective for s in range(5)]
    if isinstance(loss, Squared):
        np.testing.assert_allclose(rises, exact, rtol=1e-3)
    assert all((rises[i] < rises[j]) == (exact[i] < exact[j]) for i, j in combinations(np.argsort(exact), 2))


def test_a_piece_stays_where_another_would_break_its_sign_without_it(make_columns):
    training, found = walked(make_columns, Logistic(), 12.0, 25)
    left = without_idle_pieces(training, found, 12.0)
    signs = np.zeros((1, len(training.atoms)))
    turned = -np.sign(left.fitted.coefficients[0])  # a sign that this coefficient does not have in the end
    signs[0, left.atoms[0]] = turned
    kept = without_idle_pieces(replace(training, signs=signs), found, 12.0)
    assert kept is found  # the first piece that goes would leave a fit that breaks the sign


def test_one_piece_is_left(make_columns):
    training, found = walked(make_columns, Logistic(), 0.3, 1)
    assert without_idle_pieces(training, found, 0.3) is found


def _without(training, found, s):
    rest = replace(
        found,
        atoms=found.atoms[:s] + found.atoms[s + 1 :],
        owners=found.owners[:s] + found.owners[s + 1 :],
        fitted=replace(found.fitted, coefficients=np.delete(found.fitted.coefficients, s)),
    )
    return refit(training, rest, [12.0 if len(found) > 5 else 0.3], found.dispersion)[0]
