r"""
Brain against body: a law of mammals
====================================

How heavy is the brain of an animal of a given mass? 62 mammals, from the shrew to the elephant, in a table that most
textbooks of statistics have. Nothing is said about logarithms, about the number of terms, or about the kind of noise.

*Data*: T. Allison and D. Cicchetti, *Sleep in Mammals: Ecological and Constitutional Correlates*, Science 194 (1976),
732-734; ``examples/data/mammals.csv``. Published measurements, which are facts and free to use.
"""

from __future__ import annotations

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from familiar_data import mammals

from ecsel import ECSELRegressor

animals = mammals()
X, y = animals[["body_kg"]], animals["brain_g"]
model = ECSELRegressor().fit(X, y)
print("brain_g =", model.equation_)

# %%
# In words: an animal that is sixteen times as heavy has a brain that is eight times as heavy, since 16 to the power of
# 3/4 is 8. At one kilogram the brain weighs 8 g.

assert str(model.equation_) == "8*body_kg**(3/4)"

# %%
# How sure is that?
# -----------------
# The search chose the kind of noise too: brains are off by a *factor*, the same for a mouse and for an elephant. The
# exponent 3/4 is that of many laws of metabolism; with these 62 animals an exponent that is free to be any number is as
# good, and is named.

print(model.describe())

# %%
# What each number rests on
# -------------------------

print(model.summary())

# %%
# One animal by hand
# ------------------
# The law for a cow of 465 kg, and what was weighed.

cow = animals[animals["species"] == "Cow"]
(term,) = model.equation_.terms
mass = cow["body_kg"].item()
print(f"{term.coefficient:g} * {mass:g}**(3/4) = {term.coefficient * mass**0.75:.1f} g")
print(f"predict says {model.predict(cow[['body_kg']])[0]:.1f} g; it was {cow['brain_g'].item():.0f} g")

# %%
# Who is above the line?
# ----------------------
# The ratio of a brain to what the law says of the body: the encephalisation that biologists speak of.

ratio = (y / model.predict(X)).rename("times the law")
reported = animals.assign(ratio=ratio.round(2)).sort_values("ratio", ascending=False)
print(reported[["species", "brain_g", "ratio"]].iloc[[0, 1, 2, 3, -3, -2, -1]].to_string(index=False))

figure, axes = plt.subplots(layout="constrained")
axes.loglog(X["body_kg"], y, "o", color="#0072B2")
line = np.array([0.004, 8000.0])
axes.loglog(line, model.predict(pd.DataFrame({"body_kg": line})), color="#E69F00", label=f"{model.equation_}")
for species in ("Human", "African elephant", "Water opossum", "Mouse"):
    point = animals[animals["species"] == species].iloc[0]
    across, up, side = (6, -13, "left") if species == "Water opossum" else (-6, 6, "right")  # where there is room
    axes.annotate(species, (point["body_kg"], point["brain_g"]), (across, up), textcoords="offset points", ha=side)
axes.set(xlabel="body, kg", ylabel="brain, g")
_ = axes.legend(loc="lower right")

# %%
# The report
# ----------

model.report(X, y, title="Brain against body", purpose="A law of 62 mammals.")
