"""Signomials approximate any continuous function: one smooth function with a growing number of terms.

The target ln(x + 1) + ln(x^2 + 1) is no signomial. With each further term the error on fresh points falls, as the
universal approximation theorem promises. Run it with ``python examples/growing_terms.py``.
"""

from __future__ import annotations

import numpy as np

from ecsel import ECSELRegressor


def target(x: np.ndarray) -> np.ndarray:
    """Return the function to approximate."""
    return np.asarray(np.log(x + 1.0) + np.log(x**2 + 1.0))


def errors(largest: int = 5) -> list[tuple[int, float, str]]:
    """Return the number of terms, the largest error on fresh points in [0.1, 5], and the equation, for each size."""
    x = np.linspace(0.1, 5.0, 120)
    fresh = np.linspace(0.1, 5.0, 1999)
    found = []
    for k in range(1, largest + 1):
        model = ECSELRegressor(n_terms=k).fit(x[:, None], target(x))
        worst = float(np.abs(model.predict(fresh[:, None]) - target(fresh)).max())
        found.append((k, worst, format(model.equation_, ".4g")))
    return found


if __name__ == "__main__":
    for k, worst, equation in errors():
        print(f"K = {k}: largest error {worst:.2e}   y = {equation}")
