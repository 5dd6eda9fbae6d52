"""Which signs a term carries: screening by the Walsh-Hadamard transform.

A term sgn(x)^p |x|^b is, as a function of the signs of the columns, a Walsh function with index p. The transform of the
average of sgn(y)|y|^w over the sign patterns has its largest coefficients at the parities of the terms; it costs
O(N + c 2^c) for c columns that change sign.
"""

import numpy as np

from ecsel.discovery.lattice import Parities
from ecsel.discovery.rows import Rows

MAX_COLUMNS = 14


def walsh_hadamard(values: np.ndarray) -> np.ndarray:
    """Return the unnormalised Walsh-Hadamard transform of 2^c values.

    >>> walsh_hadamard(np.array([1.0, -1.0, 1.0, -1.0]))
    array([0., 4., 0., 0.])
    """
    out = np.array(values, dtype=float)
    width = 1
    while width < len(out):
        pairs = out.reshape(-1, 2, width)
        out = np.stack([pairs[:, 0] + pairs[:, 1], pairs[:, 0] - pairs[:, 1]], axis=1).reshape(-1)
        width *= 2
    return out


def likely_parities(rows: Rows, count: int) -> Parities:
    """Return up to ``count`` parities (count, columns), the most likely first; always at least the even one."""
    signed = np.flatnonzero(rows.signed)[:MAX_COLUMNS]
    m = rows.n_columns
    if not len(signed):
        return np.zeros((1, m), dtype=np.int8)
    pattern = rows.negative[:, signed].astype(np.int64) @ (1 << np.arange(len(signed)))
    strength = np.zeros(1 << len(signed))
    for power in (0.5, 0.0):
        signal = np.sign(rows.target) * np.abs(rows.target) ** power
        total = np.bincount(pattern, weights=signal, minlength=len(strength))
        spectrum = np.abs(walsh_hadamard(total))
        strength = np.maximum(strength, spectrum / max(spectrum.max(), 1e-300))
    order = np.argsort(-strength, kind="stable")[:count]
    found = np.zeros((len(order), m), dtype=np.int8)
    found[:, signed] = (order[:, None] >> np.arange(len(signed))) & 1
    return found
