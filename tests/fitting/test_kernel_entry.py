"""The compiled functions check signs, products, dimensions and memory before they touch any of it."""

import numpy as np
import pytest

from ecsel.fitting import kernel

pytestmark = pytest.mark.needs_kernel

SHAPE = (1, 1, 2, 5, 1, 0, 0, 8.0, 60.0, 1e-3)
"""One score, one term, two features, five rows, an intercept, the angle form, a sigmoid."""


def block(**changes):
    """Return the arguments of `forward` for SHAPE, some of them replaced."""
    given = {
        "shape": SHAPE,
        "theta": np.zeros(4),
        "v": np.arange(10.0).reshape(2, 5) / 10,
        "codes": np.array([0, 1, 0, 1, 1]),
        "w": np.ones(5),
        "planes": np.empty((4, 1, 1, 5)),
        "residual": np.empty((1, 5)),
        "probabilities": np.empty((1, 5)),
    }
    return list((given | changes).values())


def test_the_arguments_are_good():
    assert np.isfinite(kernel.compiled.forward(*block()))


@pytest.mark.parametrize(
    ("at", "value"),
    [
        (0, 0),
        (0, -1),
        (0, 2**62),
        (1, -1),
        (1, 2**62),
        (2, -1),
        (2, 2**63 - 1),
        (3, -1),
        (3, 2**62),
        (4, 7),
        (5, 2),
        (6, 3),
    ],
)
def test_a_shape_that_no_problem_has_is_refused(at, value):
    shape = tuple(value if i == at else each for i, each in enumerate(SHAPE))
    with pytest.raises(ValueError, match="the shape of a problem"):
        kernel.compiled.forward(*block(shape=shape))


def misaligned(values):
    raw = np.empty(values.nbytes + 1, dtype=np.uint8)[1:]
    raw[:] = values.view(np.uint8).ravel()
    return raw.view(values.dtype).reshape(values.shape)


V = np.arange(10.0).reshape(2, 5) / 10


@pytest.mark.parametrize(
    "v",
    [
        V.ravel(),
        V[::-1],
        V[:, ::-1],
        V.ravel()[::-1],
        V.reshape(5, 2),
        V.reshape(1, 10),
        V.reshape(1, 2, 5),
        np.asfortranarray(V),
        np.broadcast_to(V[:1], (2, 5)),
        V.astype(np.float32),
        V.astype(">f8"),
        misaligned(V),
    ],
)
def test_rows_in_any_other_memory_are_refused(v):
    with pytest.raises(ValueError, match="contiguous numbers of kind 'd'"):
        kernel.compiled.forward(*block(v=v))


def test_rows_apart_from_each_other_are_served():
    apart = np.zeros((2, 9))
    apart[:, :5] = V
    assert kernel.compiled.forward(*block(v=apart[:, :5])) == kernel.compiled.forward(*block())


def test_derivatives_need_a_gradient_and_both_matrices_or_none():
    arguments = block()
    kernel.compiled.forward(*arguments)
    gradient, matrix, residual_hessian = np.empty(4), np.empty((4, 4)), np.empty((1, 1, 3, 3))
    kernel.compiled.derivatives(*arguments, gradient, None, None)
    kernel.compiled.derivatives(*arguments, gradient, matrix, residual_hessian)
    for wrong in [
        (None, None, None),
        (gradient, matrix, None),
        (gradient, None, residual_hessian),
        (None, matrix, residual_hessian),
    ]:
        with pytest.raises(ValueError, match="a gradient is wanted, and both matrices or none"):
            kernel.compiled.derivatives(*arguments, *wrong)


@pytest.mark.parametrize(("count", "n"), [(2**62, 2), (2, 2**62), (-1, 2), (2, -1), (2**31, 2**31), (-(2**62), -2)])
def test_sizes_whose_product_is_no_size_are_refused(count, n):
    with pytest.raises(ValueError, match="negative or too large"):
        kernel.compiled.positive_parts(count, n, np.zeros(8), np.zeros(8))
    with pytest.raises(ValueError, match=r"negative or too large|contiguous"):
        kernel.compiled.solve_active_set(max(count, n, key=abs), *[np.zeros(4)] * 6, 1e-9, 60)


@pytest.mark.parametrize(("count", "n"), [(0, 2**40), (2**40, 0), (0, 0)])
def test_nothing_is_done_with_no_numbers(count, n):
    assert kernel.compiled.positive_parts(count, n, np.zeros(0), np.zeros(0)) is None


@pytest.mark.parametrize("count", [0, 257])
def test_places_are_bytes(count):
    u, values = np.zeros(3, dtype=np.float32), np.arange(count, dtype=np.float32)
    with pytest.raises(ValueError, match="between 1 and 256 values"):
        kernel.compiled.places(u, values, np.empty(3, np.uint8), np.empty(count, np.int64))


def test_a_part_of_a_chunk_lies_inside_it():
    features, rows = 1, 4
    shape = (1, 1, features, rows, 1, 0, 0, 8.0, 60.0, 1e-3)
    tables, ones = np.zeros((features, 256), np.float32), np.ones(features, np.float32)

    def sweep(n_stored, first):
        data = np.zeros(5 * n_stored, np.uint8)
        return kernel.compiled.sweep(
            shape, np.zeros(3), data, n_stored, first, np.zeros(1, np.uint8), tables, ones, ones, 0, None, None
        )

    assert np.isfinite(sweep(4, 0))
    for n_stored, first in [(4, 1), (4, -1), (3, 0), (4, 2**63 - 1), (4, -(2**63))]:
        with pytest.raises(ValueError, match="fewer rows than are asked for"):
            sweep(n_stored, first)


def test_logs_of_what_has_none_overflow_nothing():
    """Their results are not read; the sanitized build checks that they are computed without undefined behaviour."""
    x = np.array([-1.0, -0.0, 0.0, np.nan, np.inf, -np.inf, -1e300, 1e300, 2.0])
    out = np.empty(x.size, dtype=np.float32)
    kernel.compiled.log_image(x, 1.0, 0.0, out)
    assert out[-1] == pytest.approx(np.log(2.0), rel=1e-6)
