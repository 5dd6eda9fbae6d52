r"""Shapley values of products: group i has the factor a_i where present and b_i where absent, v(S) = Π_S a · Π_∖S b.

Two exact forms of the same average over a background, of which the cheaper one is taken. With d_p = a_p − b_p,

    coalitions   φ_p = Σ_{T ∌ p} |T|!(m−1−|T|)!/m! · a_T · E[d_p · b_{∖T∖p}]       a_T, b_T: products over T
    quadrature   φ_p = E[ ∫₀¹ d_p · Π_{i≠p} (q·a_i + (1 − q)·b_i) dq ]

The expectations of the first do not depend on the row: they are computed once, and every row is a matrix product with
its 2^m products a_T, whatever the size of the background. That is best for few groups. The integrand of the second is
a polynomial of degree m − 1, which ⌈m/2⌉ Gauss–Legendre nodes integrate exactly. Its groups come in twos (i, j): the
quadratic (q·a_i + (1 − q)·b_i)(q·a_j + (1 − q)·b_j) is the matrix product of (1, a_i, a_j, a_i·a_j) with a matrix of
the background, the product of all other twos is a prefix times a suffix, and what the first two need of it are its two
moments Σ_q w_q·q·(…) and Σ_q w_q·(1 − q)·(…).

d_p = (a_p − c_p) − (b_p − c_p): both offsets from a point c_p are given with all their digits, so that small changes
keep theirs and a group whose factors are all equal to c_p gets exactly zero. Nothing is divided, so factors may have
any sign and may vanish.
"""

from __future__ import annotations

from functools import lru_cache
from math import factorial
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ecsel._typing import Floats

_BLOCK_PAIRS = 1600
"""Pairs of a row and a background row that are worked on at once: with some tens of groups they stay in cache."""
_BLOCK_PRODUCTS = 65_536
"""Products a_T or b_T that are held at once."""
_QUADRATURE_START = 50_000
"""What quadrature costs before the first pair, in factors at a node."""


class Factors(NamedTuple):
    """The factors of all groups (rows, groups) and their offsets from a point per group."""

    values: Floats
    offsets: Floats

    @classmethod
    def around(cls, centre: Floats, values: Floats) -> Factors:
        """Return factors whose offsets are plain differences."""
        return cls(values, values - centre)


def product_shapley(x: Factors, background: Factors) -> Floats:
    """Return the Shapley values (rows, groups) of the product, averaged over the background rows.

    The offsets of both must be from the same points.

    Examples
    --------
    >>> product_shapley(Factors.around(np.zeros(2), np.array([[3.0, -2.0]])), Factors.around(0.0, np.ones((1, 2))))
    array([[-1., -6.]])
    """
    n_rows, n_groups = x.values.shape
    n_pairs = n_rows * len(background.values)
    # measured: of about the same cost are a product of the background, half a product of a row, and a factor at a node
    coalitions = 2**n_groups * (len(background.values) + 2 * n_rows)
    quadrature = n_pairs * n_groups * ((n_groups + 1) // 2) + _QUADRATURE_START
    return _by_coalitions(x, background) if coalitions <= quadrature else _by_quadrature(x, background)


def slices(length: int, step: int) -> Iterator[slice]:
    """Cut a length into slices of at most a step, at least of one."""
    step = max(step, 1)
    return (slice(start, min(start + step, length)) for start in range(0, length, step))


@lru_cache
def unit_nodes(n_groups: int) -> tuple[Floats, Floats]:
    """Return the Gauss–Legendre nodes and weights on [0, 1] that integrate the game of so many groups exactly."""
    nodes, weights = np.polynomial.legendre.leggauss(-(-n_groups // 2))
    nodes, weights = (nodes + 1) / 2, weights / 2
    for each in (nodes, weights):
        each.setflags(write=False)
    return nodes, weights


def _by_coalitions(x: Factors, background: Factors) -> Floats:
    n_rows, n_groups = x.values.shape
    moments = _absent_moments(background)
    coalitions = np.arange(2**n_groups)
    bits = 1 << np.arange(n_groups)
    outside = (coalitions[:, None] & bits) == 0
    size = n_groups - outside.sum(axis=1)
    weights = [factorial(t) * factorial(n_groups - 1 - t) / factorial(n_groups) for t in range(n_groups)]
    weight = np.where(outside, np.array([*weights, 0.0])[size][:, None], 0.0)
    others = np.where(outside, coalitions[::-1, None] ^ bits, 0)  # all groups but T and p
    plain = weight * moments[others, 0]
    with_offset = weight * moments[others, np.arange(1, n_groups + 1)]
    per_coalition = np.concatenate([plain, with_offset], axis=1).T.copy()
    values, offsets = x.values.T.copy(), x.offsets.T
    result = np.empty((n_groups, n_rows))
    for rows in slices(n_rows, _BLOCK_PRODUCTS >> n_groups):
        gain = per_coalition @ _subset_products(values[:, rows])
        result[:, rows] = offsets[:, rows] * gain[:n_groups] - gain[n_groups:]
    return result.T


def _absent_moments(background: Factors) -> Floats:
    """Return E[b_T] and E[b_T·(b_p − c_p)] for every set T and group p, (sets, 1 + groups)."""
    n_background, n_groups = background.values.shape
    total = np.zeros((2**n_groups, n_groups + 1))
    for rows in slices(n_background, _BLOCK_PRODUCTS >> n_groups):
        offsets = background.offsets[rows]
        total += _subset_products(background.values[rows].T) @ np.insert(offsets, 0, 1.0, axis=1)
    total /= n_background
    return total


def _subset_products(factors: Floats) -> Floats:
    """Return the products over all sets of groups (sets, rows) of factors (groups, rows); a set is its bits."""
    n_groups, n_rows = factors.shape
    products = np.empty((2**n_groups, n_rows))
    products[0] = 1.0
    for p, factor in enumerate(factors):
        np.multiply(products[: 1 << p], factor, out=products[1 << p : 2 << p])
    return products


def _by_quadrature(x: Factors, background: Factors) -> Floats:
    n_rows, n_groups = x.values.shape
    n_background = len(background.values)
    nodes, weights = unit_nodes(n_groups)
    moments = np.stack([weights * (1 - nodes), weights * nodes]) / n_background
    i, j, offset_i, offset_j = _twos(x)
    present = np.stack([np.ones_like(i), i, j, i * j], axis=2)
    result = np.zeros((2, len(i), n_rows))
    width = min(n_background, _BLOCK_PAIRS)
    work = _Work.allocate(len(i), len(nodes), min(n_rows, max(1, _BLOCK_PAIRS // width)) * width)
    for behind in slices(n_background, width):
        absent = _Absent.of(Factors(background.values[behind], background.offsets[behind]), nodes)
        for rows in slices(n_rows, _BLOCK_PAIRS // width):
            low, high = work.other_moments(present[:, None, rows], absent.quadratics, moments)
            low, high = low @ absent.low, high @ absent.high
            for own, offset, other, at in ((0, offset_i, j, 1), (1, offset_j, i, 2)):
                there = other[:, rows]
                result[own, :, rows] += offset[:, rows] * (low[..., own] + there * high[..., 0])
                result[own, :, rows] -= low[..., 2 + own] + there * high[..., at]
    return result.transpose(2, 1, 0).reshape(n_rows, 2 * len(i))[:, :n_groups]


class _Absent(NamedTuple):
    """What the background contributes, per two of groups (i, j)."""

    quadratics: Floats
    """(twos, nodes, 4, background): the coefficients of 1, a_i, a_j and a_i·a_j."""
    low: Floats
    """(twos, background, 4): b_j, b_i, and each times its partner's offset; they go with the moment of 1 − q."""
    high: Floats
    """(twos, background, 3): 1 and both offsets; they go with the moment of q."""

    @classmethod
    def of(cls, background: Factors, nodes: Floats) -> _Absent:
        i, j, offset_i, offset_j = _twos(background)
        q = nodes[:, None]
        b_i, b_j = i[:, None], j[:, None]
        quadratics = np.broadcast_arrays((1 - q) ** 2 * b_i * b_j, q * (1 - q) * b_j, q * (1 - q) * b_i, q**2)
        low = np.stack([j, i, j * offset_i, i * offset_j], axis=2)
        return cls(np.stack(quadratics, axis=2), low, np.stack([np.ones_like(i), offset_i, offset_j], axis=2))


def _twos(factors: Factors) -> tuple[Floats, Floats, Floats, Floats]:
    """Return values and offsets of the first and of the second groups, (twos, rows) each.

    A group without influence makes the last two complete.
    """
    values, offsets = factors.values.T, factors.offsets.T
    if len(values) % 2:
        values = np.append(values, np.ones((1, values.shape[1])), axis=0)
        offsets = np.append(offsets, np.zeros((1, values.shape[1])), axis=0)
    return values[::2].copy(), values[1::2].copy(), offsets[::2].copy(), offsets[1::2].copy()


class _Work(NamedTuple):
    """Room for one block, asked for once: fresh memory would cost more than the arithmetic."""

    factors: Floats
    prefix: Floats
    suffix: Floats
    moments: Floats

    @classmethod
    def allocate(cls, n_twos: int, n_nodes: int, n_pairs: int) -> _Work:
        sizes = (n_twos * n_nodes, n_twos * n_nodes, n_nodes, 2 * n_twos)
        return cls(*(np.empty(size * n_pairs) for size in sizes))

    def other_moments(self, present: Floats, quadratics: Floats, moments: Floats) -> tuple[Floats, Floats]:
        """Return the two moments of the product of all other twos, each (twos, rows, background)."""
        n_twos, n_nodes, _, n_background = quadratics.shape
        n_rows = present.shape[2]
        n_pairs = n_rows * n_background
        factors, prefix = (each[: n_twos * n_nodes * n_pairs].reshape(n_twos, n_nodes, n_pairs) for each in self[:2])
        suffix = self.suffix[: n_nodes * n_pairs].reshape(n_nodes, n_pairs)
        result = self.moments[: 2 * n_twos * n_pairs].reshape(n_twos, 2, n_pairs)
        np.matmul(present, quadratics, out=factors.reshape(n_twos, n_nodes, n_rows, n_background))
        prefix[0] = 1.0
        for k in range(1, n_twos):
            np.multiply(prefix[k - 1], factors[k - 1], out=prefix[k])
        suffix.fill(1.0)
        for k in reversed(range(n_twos)):
            prefix[k] *= suffix
            np.matmul(moments, prefix[k], out=result[k])
            suffix *= factors[k]
        low, high = result.reshape(n_twos, 2, n_rows, n_background).transpose(1, 0, 2, 3)
        return low, high
