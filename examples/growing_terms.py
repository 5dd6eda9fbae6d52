r"""
More terms, smaller errors
==========================

Signomials approximate any continuous function. The target :math:`\ln(x + 1) + \ln(x^2 + 1)` is no signomial; with
each further term the error on fresh points falls, as the universal approximation theorem promises.
"""

from __future__ import annotations

import numpy as np

from ecsel import ECSELRegressor


def target(x: np.ndarray) -> np.ndarray:
    """Return the function to approximate."""
    return np.asarray(np.log(x + 1.0) + np.log(x**2 + 1.0))


def errors(largest: int = 4) -> list[tuple[int, float, str]]:
    """Return the number of terms, the largest error on fresh points in [0.1, 5], and the equation, for each size."""
    x = np.linspace(0.1, 5.0, 120)
    fresh = np.linspace(0.1, 5.0, 1999)
    found = []
    for k in range(1, largest + 1):
        model = ECSELRegressor(n_terms=k).fit(x[:, None], target(x))
        worst = float(np.abs(model.predict(fresh[:, None]) - target(fresh)).max())
        found.append((k, worst, format(model.equation_, ".4g")))
    return found


# %%
# One term, two terms, and so on: the number is given here, where `ecsel.ECSELRegressor` would choose it.

if __name__ == "__main__":
    import matplotlib.pyplot as plt

    found = errors()
    for k, worst, equation in found:
        print(f"K = {k}: largest error {worst:.2e}   y = {equation}")
    figure, axes = plt.subplots(layout="constrained")
    axes.semilogy([k for k, _, _ in found], [worst for _, worst, _ in found], "o-", color="#0072B2")
    axes.set(xlabel="number of terms", ylabel="largest error on fresh points", xticks=[k for k, _, _ in found])
