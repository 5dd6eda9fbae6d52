"""Fits with 1, 2 and 8 threads: the same model file, byte for byte."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from ecsel import ECSELClassifier, ECSELRegressor
from fuzz.attack import SERVED

if TYPE_CHECKING:
    import random
    from pathlib import Path

N_JOBS = (1, 2, 8)


class Threads:
    """Random tables, each fitted with several numbers of threads."""

    name = "threads"

    def prepare(self, folder: Path) -> None:
        """Nothing is needed but a place for files."""
        self.path = folder / "model.json"

    def run(self, rng: random.Random) -> str:
        """Fit one table several times."""
        draw = np.random.default_rng(rng.getrandbits(32))
        n, n_columns = int(draw.integers(60, 1500)), int(draw.integers(2, 6))
        X = pd.DataFrame(draw.lognormal(size=(n, n_columns)), columns=[f"x{j}" for j in range(n_columns)])
        X["level"] = draw.choice(["a", "b", "c"], n)
        X.loc[draw.random(n) < 0.05, "x0"] = np.nan
        z = np.log(X["x1"]) + (X["level"] == "a") + draw.logistic(size=n)
        y: Any = np.digitize(z, [0.0] if draw.random() < 0.5 else [-1.0, 1.0])
        kinds = {
            "search": lambda n_jobs: ECSELClassifier(max_factors=4, cv=3, n_jobs=n_jobs),
            "paper": lambda n_jobs: ECSELClassifier(n_terms=2, l1=1e-3, n_jobs=n_jobs),
            "prediction": lambda n_jobs: ECSELRegressor(criterion="prediction", max_factors=3, cv=3, n_jobs=n_jobs),
        }
        make = kinds[rng.choice(sorted(kinds))]
        files = set()
        for n_jobs in N_JOBS:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                make(n_jobs).fit(X, y).set_params(n_jobs=None).save(self.path)
            files.add(self.path.read_bytes())
        if len(files) > 1:
            raise AssertionError(f"{len(files)} different models with {N_JOBS} threads")
        return SERVED
