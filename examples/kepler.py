r"""
Kepler's third law from noisy observations
==========================================

A *simulated* table of moons: the semi-major axis *a* of each orbit, the gravitational parameter *μ = GM* of the planet
in the middle, and the period *T*, measured to one per cent. Two more columns have nothing to do with it. The law is

.. math:: T = 2\pi \sqrt{a^3 / \mu}.

The search is told the units of the columns, not the number of terms, not the exponents, not the columns that matter.
"""

from __future__ import annotations

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

from ecsel import ECSELRegressor

rng = np.random.default_rng(3)
n = 60
table = pd.DataFrame(
    {
        "a": rng.uniform(0.2, 20.0, n),  # gigametres
        "mu": rng.choice([0.127, 0.0379, 0.0069, 0.0058, 0.000399], n) * rng.uniform(0.9, 1.1, n),  # Gm³/h²
        "radius": rng.uniform(0.001, 0.06, n),  # of the moon, gigametres
        "discovered": rng.uniform(0.0, 4e6, n),  # hours ago
    }
)
noise = 1 + 0.01 * rng.standard_normal(n)
period = (2 * np.pi * np.sqrt(table["a"] ** 3 / table["mu"]) * noise).rename("T")  # hours

# %%
# Units are a hard constraint: only products of powers that give hours are tried. The noise grows with the target, which
# ``noise="relative"`` says.

units = {"a": "Gm", "mu": "Gm**3/hour**2", "radius": "Gm", "discovered": "hour"}
model = ECSELRegressor(units=units, target_unit="hour", noise="relative").fit(table, period)
print(model.describe())

# %%
# In words: an orbit four times as wide takes eight times as long, since 4 to the power of 3/2 is 8, and around a planet
# four times as heavy it takes half as long. The exponents are exact fractions, 3/2 and −1/2, and the coefficient was
# recognised as 2π. ``summary()`` has the standard error of every number as the data determine it, before rounding.

print(model.summary())
(term,) = model.equation_.terms
assert {name: str(power) for name, power in term.exponents.items()} == {"a": "3/2", "mu": "-1/2"}
assert abs(term.coefficient - 2 * np.pi) < 1e-12

# %%
# One moon by hand
# ----------------

moon = table.iloc[[0]]
a, mu = moon["a"].item(), moon["mu"].item()
print(f"2π * {a:.6g}**(3/2) / sqrt({mu:.6g}) = {2 * np.pi * a**1.5 / mu**0.5:.1f} h")
print(f"predict says {model.predict(moon)[0]:.1f} h; it was measured as {period[0]:.1f} h")

# %%
# A law extrapolates as a formula does: the period of an orbit ten times as wide as any in the table.

far = pd.DataFrame({"a": [200.0], "mu": [0.127], "radius": [0.01], "discovered": [0.0]})
print(f"T = {model.predict(far)[0]:.0f} h; by Kepler {2 * np.pi * np.sqrt(200**3 / 0.127):.0f} h")

figure, axes = plt.subplots(layout="constrained")
axes.loglog(table["a"] ** 3 / table["mu"], period, "o", color="#0072B2", label="observed")
line = np.array([1.0, 1e8])
axes.loglog(line, 2 * np.pi * np.sqrt(line), color="#E69F00", label="law")
axes.set(xlabel="a³/μ in h²", ylabel="period T in h", title="T = 2π·√(a³/μ)")
_ = axes.legend()

# %%
# The report
# ----------

model.report(table, period, title="Kepler's third law", purpose="A law from noisy observations.")
