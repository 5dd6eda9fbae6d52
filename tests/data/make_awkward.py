"""Writes awkward.csv: one table with every awkward kind of column, made up, the same in every run."""

from pathlib import Path

import numpy as np
import pandas as pd

N = 600


def awkward() -> pd.DataFrame:
    """Return a made-up credit table as people have them."""
    rng = np.random.default_rng(7)
    income = rng.lognormal(10.5, 0.5, N).round(2)
    rate = rng.uniform(5, 20, N).round(2)
    term = rng.choice([36, 60], N)
    dti = rng.uniform(2, 40, N).round(1)
    opened = pd.Timestamp("2018-03-01") + pd.to_timedelta(rng.integers(0, 900, N), "D")
    called = opened + pd.to_timedelta(rng.integers(8, 20, N), "h")
    use = rng.choice(["car", "house", "debt", "holiday"], N, p=[0.3, 0.3, 0.3, 0.1])
    z = -2.2 + 0.15 * rate + 0.04 * dti - 0.6 * np.log(income / 36000) + 0.8 * (use == "debt") + 0.4 * (term == 60)
    bad = rng.random(N) < 1 / (1 + np.exp(-z))
    spelled = {"car": ["car", "Car", "car "], "house": ["house"], "debt": ["debt", "DEBT"], "holiday": ["holiday"]}
    towns = [*["Springfield"] * 200, *["Shelbyville"] * 150, *(f"Village {i % 125}" for i in range(250))]
    gap = rng.random(N)
    return pd.DataFrame({
        "row": np.arange(1, N + 1),
        "customer": [f"C{i:07d}" for i in rng.permutation(10**6)[:N]],
        "income": [f"${value:,.2f}" for value in income],
        "rate": [f"{value:.2f}%" for value in rate],
        "term": [f" {value} months" for value in term],
        "score_eu": [f"{value:.2f}".replace(".", ",") for value in rng.uniform(0, 2000, N)],
        "dti": np.where(gap < 0.05, -999.0, dti),
        "accounts": np.where(gap > 0.96, "?", rng.poisson(6, N).astype(str)),
        "opened": opened.strftime("%d/%m/%Y"),
        "called": called.strftime("%Y-%m-%d %H:%M:%S"),
        "use": [rng.choice(spelled[each]) for each in use],
        "town": rng.permutation(towns),
        "married": rng.choice(["Yes", "no"], N),
        "gender": rng.choice(["f", "m"], N),
        "branch": "main",
        "remark": [None] * N,
        "recoveries": np.where(bad, rng.uniform(10, 500, N).round(2), 0.0),
        "bad": np.where(bad, "yes", "no"),
    })  # fmt: skip


if __name__ == "__main__":
    awkward().to_csv(Path(__file__).with_name("awkward.csv"), index=False)
