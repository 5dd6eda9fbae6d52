"""Odd arguments to the compiled kernel: it computes or raises; a sanitized build shows what it touches besides."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ecsel.fitting import kernel
from fuzz.attack import REFUSED, SERVED

if TYPE_CHECKING:
    import random
    from pathlib import Path

SIZES = (-(2**62), -1, 0, 1, 2, 3, 5, 8, 2**31, 2**62)
KINDS = (np.float64, np.float64, np.float64, np.float32, np.int64, np.uint8, np.int32)
SHAPE = (1, 1, 2, 5, 1, 0, 0, 8.0, 60.0, 1e-3)


class Kernel:
    """Every function, with sizes and arrays of all sorts among its arguments."""

    name = "kernel"

    def prepare(self, folder: Path) -> None:
        """Nothing is needed."""

    def run(self, rng: random.Random) -> str:
        """Call one function."""
        module = kernel.compiled
        if module is None:
            return REFUSED
        name, arguments = rng.choice(list(_good(rng).items()))
        odd = [_odd(each, rng) if rng.random() < 0.25 else each for each in arguments]
        try:
            getattr(module, name)(*odd)
        except (ValueError, TypeError, BufferError, OverflowError, MemoryError):
            return REFUSED
        return SERVED


def _good(rng: random.Random) -> dict[str, list[Any]]:
    """Return arguments that each function accepts."""
    v, w = np.linspace(0.1, 1, 10).reshape(2, 5), np.ones(5)
    codes = np.array([0, 1, 0, 1, 1])
    planes, scored = np.zeros((4, 1, 1, 5)), [np.zeros((1, 5)), np.zeros((1, 5))]
    block = [SHAPE, np.zeros(4), v, codes, w, planes, *scored]
    penalty = [np.ones(4), np.full(4, -9.0), np.full(4, 9.0), 0.1]
    single = np.ones(5, np.float32)
    pieces, places = np.ones((3, 5), np.float32), np.array([0, 2])
    return {
        "standardise_pieces": [2, 3, 5, v, np.array([[0, -1], [1, -1], [0, 1]]), w / 5, pieces, np.zeros((3, 3))],
        "piece_scan": [
            (3, 5, 1, 2, 1, 2),
            (1e-3, 1e-8, 0.0),
            pieces,
            places,
            np.ones((1, 5)),
            np.ones((1, 5)),
            (np.array([1]), np.array([0]), np.ones(1), np.ones(1), np.ones(1)),
            (np.ones(2), np.ones(2), np.ones((1, 2), np.uint8), None),
            (*(np.zeros((2, 4)), np.zeros(4)), *(np.zeros((1, 2)), np.zeros((1, 2)), np.zeros(2), np.zeros((1, 2, 3)))),
        ],
        "forward": block,
        "derivatives": [*block, np.zeros(4), np.zeros((4, 4)), np.zeros((1, 1, 3, 3))],
        "solve_active_set": [3, np.eye(3), *[np.ones(3) for _ in range(5)], 1e-9, 60],
        "positive_parts": [2, 3, np.ones((2, 3, 3)), np.ones((2, 3, 3))],
        "log_image": [np.array([1.0, -1.0, np.nan]), 1.0, 0.0, np.ones(3, np.float32)],
        "places": [single, np.arange(3, dtype=np.float32), np.zeros(5, np.uint8), np.zeros(3, np.int64)],
        "deviations": [single, 0.5],
        "uniforms": [rng.getrandbits(64), np.zeros(5)],
        "draw": [7, single, single, (0.1, 0.2), np.zeros(6, np.int32), np.zeros(6)],
        "minimise": [
            SHAPE,
            v,
            codes,
            w,
            np.zeros(4),
            *penalty,
            (1e-6, 1e-4, 1e-3, 1e9, 1.0, 0.5, 0.1, 1e-12, 5, 60),
            1,
        ],
        "sweep": [
            *(SHAPE, np.zeros(4), np.zeros(45, np.uint8), 5, 0, np.zeros(2, np.uint8), np.zeros((2, 256), np.float32)),
            *(np.ones(2, np.float32), np.ones(2, np.float32), 0, None, None),
        ],
    }


def _odd(value: Any, rng: random.Random) -> Any:
    if isinstance(value, tuple) and rng.random() < 0.7:
        at = rng.randrange(len(value))
        return tuple(rng.choice(SIZES) if i == at and isinstance(each, int) else each for i, each in enumerate(value))
    if isinstance(value, np.ndarray) and rng.random() < 0.8:
        ways = (
            lambda: value[::-1],
            lambda: value.ravel()[1:],
            lambda: np.repeat(value, 2, axis=0),
            lambda: np.repeat(value, 2, axis=0)[::2],
            lambda: value.astype(rng.choice(KINDS)),
            lambda: np.asfortranarray(value),
            lambda: value.reshape(-1),
            lambda: np.broadcast_to(value.ravel()[:1], value.shape),
            lambda: value[:0],
            lambda: np.where(value > 0, rng.choice([np.nan, np.inf, -np.inf, 1e308, -1e300, 2**40]), value).astype(
                value.dtype
            ),
        )
        with np.errstate(all="ignore"):
            return rng.choice(ways)()
    return rng.choice([None, rng.choice(SIZES), "x", np.zeros(rng.randrange(4)), 1e308, float("nan"), ()])
