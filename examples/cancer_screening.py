"""A toy cancer screening model with every number worked out: two classes, two terms each, three features.

The scores of "no cancer" (0) and "cancer" (1) are signomials in tumour size x1, biomarker level x2 and imaging
irregularity x3. Four profiles show how the same formula gives different reasons: where the tumour is large its size has
the largest elasticity, where the biomarker is high the biomarker has.

Run it with ``python examples/cancer_screening.py``.
"""

from __future__ import annotations

import numpy as np

from ecsel.signomial import ScoreTerms, Signomial, scores
from ecsel.signomial.properties import attribution, elasticity, probabilities, scaled_scores

FEATURES = ("x1", "x2", "x3")
NO_CANCER = Signomial.parse("0.8*x1**-1.2*x3**-0.6 + 0.6*x2**-1.5*x3**-0.4")
CANCER = Signomial.parse("0.7*x1**1.6*x3**0.8 + 0.5*x2**1.8*x3**0.4")

# The mixed profile is a positive case: its margin is about +1.557 and p = 0.826. Only the first margin is negative.
PROFILES = {
    "no cancer": (0.7, 0.7, 0.8),
    "mixed": (1.4, 1.4, 1.2),
    "size-driven": (3.0, 1.0, 2.0),
    "biomarker-driven": (1.0, 3.0, 2.0),
}


def main() -> None:
    """Print the equations and, for the four profiles, scores, margin, probability and elasticities."""
    terms = ScoreTerms.from_signomials([NO_CANCER, CANCER], FEATURES)
    log_x = np.log(list(PROFILES.values()))
    z = scores(terms, log_x)
    p = probabilities(z, "softmax")
    cancer_elasticity = elasticity(terms, log_x).values[:, 1]

    print(f"z0 (no cancer) = {NO_CANCER}")
    print(f"z1 (cancer)    = {CANCER}\n")
    print(
        f"{'profile':<17}{'z0':>8}{'z1':>8}{'margin':>9}{'p(cancer)':>11}   elasticities of z1 ({', '.join(FEATURES)})"
    )
    for name, (z0, z1), (_, p1), e in zip(PROFILES, z, p, cancer_elasticity, strict=True):
        print(f"{name:<17}{z0:8.3f}{z1:8.3f}{z1 - z0:9.3f}{p1:11.3f}   " + "  ".join(f"{value:6.3f}" for value in e))

    mixed = log_x[[1]]
    halved = scaled_scores(terms, mixed, np.log([0.5, 1.0, 1.0]))
    print("\nThe mixed profile with half the tumour size:", end=" ")
    print(f"margin {halved[0, 1] - halved[0, 0]:.3f}, p(cancer) {probabilities(halved, 'softmax')[0, 1]:.3f}")
    parts = attribution(terms, mixed, np.zeros(3))
    print("First-order attributions to z1 at the baseline (1, 1, 1):", end=" ")
    print(", ".join(f"{name} {value:.3f}" for name, value in zip(FEATURES, parts.values[0, 1], strict=True)))


if __name__ == "__main__":
    main()
