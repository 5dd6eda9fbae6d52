r"""
Cancer screening, worked out by hand
====================================

A toy model with two classes, two terms each and three features: tumour size :math:`x_1`, biomarker level :math:`x_2`
and imaging irregularity :math:`x_3`. The scores of "no cancer" (0) and "cancer" (1) are

.. math::

   z_0 = 0.8\, x_1^{-1.2} x_3^{-0.6} + 0.6\, x_2^{-1.5} x_3^{-0.4}, \qquad
   z_1 = 0.7\, x_1^{1.6} x_3^{0.8} + 0.5\, x_2^{1.8} x_3^{0.4},

and a softmax turns them into probabilities. Four profiles show how the same formula gives different reasons: where the
tumour is large its size has the largest elasticity, where the biomarker is high the biomarker has.
"""

from __future__ import annotations

import numpy as np

from ecsel.plotting import plot_screening
from ecsel.signomial import FeatureRows, ScoreTerms, Signomial, scores
from ecsel.signomial.properties import attribution, elasticity, probabilities, scaled_scores

FEATURES = ("x1", "x2", "x3")
NO_CANCER = Signomial.parse("0.8*x1**-1.2*x3**-0.6 + 0.6*x2**-1.5*x3**-0.4")
CANCER = Signomial.parse("0.7*x1**1.6*x3**0.8 + 0.5*x2**1.8*x3**0.4")

PROFILES = {
    "no cancer": (0.7, 0.7, 0.8),
    "mixed": (1.4, 1.4, 1.2),
    "size-driven": (3.0, 1.0, 2.0),
    "biomarker-driven": (1.0, 3.0, 2.0),
}

# %%
# Everything is two small matrix products and an exponential: scores, probabilities and the elasticities of the cancer
# score (property G1). The paper says that the margin is positive for the last two profiles alone; it is positive for
# the mixed one too, +1.557, with a probability of 0.826.

terms = ScoreTerms.from_signomials([NO_CANCER, CANCER], FEATURES)
rows = FeatureRows.from_logs(np.log(list(PROFILES.values())))
z = scores(terms, rows)
p = probabilities(z, "softmax")
cancer_elasticity = elasticity(terms, rows).values[:, 1]

print(f"z0 (no cancer) = {NO_CANCER}")
print(f"z1 (cancer)    = {CANCER}\n")
print(f"{'profile':<17}{'z0':>8}{'z1':>8}{'margin':>9}{'p(cancer)':>11}   elasticities of z1 ({', '.join(FEATURES)})")
for name, (z0, z1), (_, p1), e in zip(PROFILES, z, p, cancer_elasticity, strict=True):
    print(f"{name:<17}{z0:8.3f}{z1:8.3f}{z1 - z0:9.3f}{p1:11.3f}   " + "  ".join(f"{value:6.3f}" for value in e))

# %%
# What if the tumour of the mixed profile were half as large (G2)? Every term is multiplied by a power of one half. And
# what does each feature contribute to its score, to first order at the baseline (1, 1, 1) (L2)?

mixed = rows.take([1])
halved = scaled_scores(terms, mixed, np.array([0.5, 1.0, 1.0]))
print("The mixed profile with half the tumour size:", end=" ")
print(f"margin {halved[0, 1] - halved[0, 0]:.3f}, p(cancer) {probabilities(halved, 'softmax')[0, 1]:.3f}")
parts = attribution(terms, mixed, FeatureRows.from_values([[1.0, 1.0, 1.0]]))
print("First-order attributions to z1 at the baseline (1, 1, 1):", end=" ")
print(", ".join(f"{name} {value:.3f}" for name, value in zip(FEATURES, parts.values[0, 1], strict=True)))

# %%
# The four panels of the paper's figure, in one call: (a) elasticities, (b) the exact effect of scaling the tumour size,
# (c) margin and probability, (d) first-order attributions of the mixed profile. `ecsel.plotting.plot_screening` draws
# them for any classifier of a few columns of numbers.

figure = plot_screening()
