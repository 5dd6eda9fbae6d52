"""Both exact forms of the Shapley values of a product, against its definition and against each other."""

import itertools
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ecsel.signomial.properties import product_game
from ecsel.signomial.properties.product_game import Factors, product_shapley

FORMS = {"coalitions": product_game._by_coalitions, "quadrature": product_game._by_quadrature}


def random_factors(seed, n_groups, n_rows=3, n_background=5):
    """Factors of either sign, some of them zero."""
    rng = np.random.default_rng(seed)
    a, b = (rng.normal(0, 1.5, (n, n_groups)) * (rng.random((n, n_groups)) < 0.9) for n in (n_rows, n_background))
    centre = rng.normal(0, 1, n_groups)
    return Factors.around(centre, a), Factors.around(centre, b)


def by_orders(x, background):
    """The definition: what a group adds when it joins, averaged over all orders of joining."""
    n_groups = x.values.shape[1]
    values = np.zeros(x.values.shape)
    for order in itertools.permutations(range(n_groups)):
        for i, row in enumerate(x.values):
            mixed = background.values.copy()
            for p in order:
                before = mixed.prod(axis=1).mean()
                mixed[:, p] = row[p]
                values[i, p] += mixed.prod(axis=1).mean() - before
    return values / math.factorial(n_groups)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("n_groups", [1, 2, 3, 4, 5])
def test_agreement_with_the_definition(form, n_groups):
    x, background = random_factors(n_groups, n_groups)
    expected = by_orders(x, background)
    np.testing.assert_allclose(FORMS[form](x, background), expected, atol=1e-12 * (1 + np.abs(expected).max()))


@given(st.integers(0, 2**32 - 1), st.integers(1, 12), st.integers(0, 20), st.integers(1, 20))
@settings(max_examples=40, deadline=None)
def test_the_forms_agree_and_add_up(seed, n_groups, n_rows, n_background):
    x, background = random_factors(seed, n_groups, n_rows, n_background)
    a, b = (form(x, background) for form in FORMS.values())
    largest = np.prod(np.maximum(np.abs(x.values).max(0, initial=0), np.abs(background.values).max(0)))
    size = 1e-11 * (1 + largest)
    np.testing.assert_allclose(a, b, rtol=0, atol=size)
    gain = x.values.prod(axis=1) - background.values.prod(axis=1).mean()
    np.testing.assert_allclose(product_shapley(x, background).sum(axis=1), gain, rtol=0, atol=size)


@pytest.mark.parametrize("form", FORMS)
def test_blocks_do_not_change_the_values(form, monkeypatch):
    x, background = random_factors(1, 5, n_rows=7, n_background=9)
    whole = FORMS[form](x, background)
    for size in (1, 4, 20):
        monkeypatch.setattr(product_game, "_BLOCK_PAIRS", size)
        monkeypatch.setattr(product_game, "_BLOCK_PRODUCTS", 32 * size)
        np.testing.assert_allclose(FORMS[form](x, background), whole, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("form", FORMS)
def test_small_changes_keep_their_digits_and_no_change_is_zero(form):
    log_a, log_b = np.array([[1e-14, 0.0, 0.3]]), np.array([[0.0, 0.0, 0.1]])
    x, background = (Factors(np.exp(u), np.expm1(u)) for u in (log_a, log_b))
    values = FORMS[form](x, background)[0]
    mean_of_others = (np.exp(0.1) + np.exp(0.3)) / 2
    np.testing.assert_allclose(values[0], 1e-14 * mean_of_others, rtol=1e-12)
    assert values[1] == 0.0


def test_the_cheaper_form_is_taken(monkeypatch):
    """Few groups and many rows: coalitions; many groups, or a single pair of many: quadrature."""
    taken = []
    for name in FORMS:
        monkeypatch.setattr(product_game, f"_by_{name}", lambda *_, name=name: taken.append(name))
    for n_groups, n_rows, n_background in ((10, 1000, 100), (22, 1000, 100), (14, 1, 100_000), (3, 1, 1)):
        product_shapley(*random_factors(0, n_groups, n_rows, n_background))
    assert taken == ["coalitions", "quadrature", "quadrature", "coalitions"]
