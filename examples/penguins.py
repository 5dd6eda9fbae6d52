"""
Three penguins, three equations
===============================

344 penguins of three species on the islands of the Palmer archipelago. With more than two classes each has an equation
of its own, and the probability of a species is e to its score, divided by the sum over all three.

*Data*: K. Gorman, T. Williams and W. Fraser (2014), as published by A. Horst, A. Hill and K. Gorman in
*palmerpenguins*, under CC0; ``examples/data/penguins.csv``.
"""

from __future__ import annotations

import matplotlib.pyplot as plt
import numpy as np
from familiar_data import by_hand, penguins
from matplotlib.colors import ListedColormap

from ecsel import ECSELClassifier

birds = penguins()
X = birds[["bill_length_mm", "bill_depth_mm", "flipper_length_mm", "body_mass_g"]]
y = birds["species"]
model = ECSELClassifier(max_factors=2).fit(X, y)
for species, equation in model.equations_.items():
    print(f"score of {species} = {equation}")
print(f"right on held-out rows: {model.out_of_fold_.accuracy:.1%}")

# %%
# What it says
# ------------
# The summary says what a millimetre or a gram does to the odds of a species against the others. Two birds were never
# measured; they stay in the table, and the summary says what a missing number counts as.

print(model.summary())

# %%
# One bird by hand
# ----------------
# The bird that the model is least sure of. The scores are compared with each other: only their differences count.

seen = X.dropna()
bird = seen.iloc[[model.predict_proba(seen).max(axis=1).argmin()]]
print(bird.to_string(index=False))
print(by_hand(model, bird))
print("predict_proba says", dict(zip(model.classes_, model.predict_proba(bird)[0].round(4).tolist(), strict=True)))

# %%
# The same in a picture
# ---------------------
# Bills tell most of it. The ground is coloured by what the model says of a bird of middling size with such a bill;
# beyond the birds that were measured it takes the nearest value that was.

length, depth = np.meshgrid(np.linspace(31, 61, 301), np.linspace(12.5, 22, 191))
grid = X.median().to_frame().T.loc[[0] * length.size].reset_index(drop=True)
grid["bill_length_mm"], grid["bill_depth_mm"] = length.ravel(), depth.ravel()
grid = grid.clip(lower=X.min(), upper=X.max(), axis="columns")
decided = np.searchsorted(model.classes_, model.predict(grid)).reshape(length.shape)
colours = ["#0072B2", "#E69F00", "#009E73"]
figure, axes = plt.subplots(layout="constrained")
axes.pcolormesh(length, depth, decided, cmap=ListedColormap(colours), alpha=0.2, linewidth=0, rasterized=True)
for species, colour in zip(model.classes_, colours, strict=True):
    axes.plot(*X.loc[y == species, ["bill_length_mm", "bill_depth_mm"]].to_numpy().T, "o", color=colour, label=species)
axes.set(xlabel="length of the bill, mm", ylabel="depth of the bill, mm")
_ = axes.legend(loc="lower left")

# %%
# The report
# ----------

model.report(X, y, title="Three penguins", purpose="An example with three classes.")
