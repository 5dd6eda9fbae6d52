"""Tables that people know, small enough to be kept here, and two simulated ones with the columns of well-known tables.

==============  =========  ==========================================================================================
table           rows       where it comes from
==============  =========  ==========================================================================================
`penguins`      344        ``examples/data/penguins.csv``: K. Gorman, T. Williams, W. Fraser (2014), as published by
                           A. Horst, A. Hill and K. Gorman in *palmerpenguins*, CC0
`mammals`       62         ``examples/data/mammals.csv``: T. Allison and D. Cicchetti, Science 194 (1976), 732-734;
                           published measurements, as in most textbooks of statistics
`titanic`       2201       the British Board of Trade's count of 1912, by class, sex and age (R. Dawson, Journal of
                           Statistics Education 3 (1995)): published counts, written out as rows
`telco_churn`   simulated  columns and rough proportions of the well-known table of a telephone company; no row is real
`heart_clinic`  simulated  columns and rough proportions of the Cleveland heart disease data; no row is real
==============  =========  ==========================================================================================

A simulated table shows how it was simulated, which its function states, and nothing about real customers or patients.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from ecsel import Signomial

DATA = Path(__file__).parent / "data"

TITANIC = {
    ("first", "male", "adult"): (118, 57),
    ("first", "male", "child"): (0, 5),
    ("first", "female", "adult"): (4, 140),
    ("first", "female", "child"): (0, 1),
    ("second", "male", "adult"): (154, 14),
    ("second", "male", "child"): (0, 11),
    ("second", "female", "adult"): (13, 80),
    ("second", "female", "child"): (0, 13),
    ("third", "male", "adult"): (387, 75),
    ("third", "male", "child"): (35, 13),
    ("third", "female", "adult"): (89, 76),
    ("third", "female", "child"): (17, 14),
    ("crew", "male", "adult"): (670, 192),
    ("crew", "female", "adult"): (3, 20),
}
"""Class, sex and age, with the number of people who died and who survived."""


def penguins() -> pd.DataFrame:
    """Return the penguins of the Palmer archipelago, missing values and all."""
    return pd.read_csv(DATA / "penguins.csv")


def mammals() -> pd.DataFrame:
    """Return the mass of body and brain of 62 mammals."""
    return pd.read_csv(DATA / "mammals.csv")


def titanic() -> pd.DataFrame:
    """Return everyone on board of the Titanic, one row each."""
    rows = [
        (*who, fate)
        for who, counts in TITANIC.items()
        for fate, count in zip(("died", "survived"), counts, strict=True)
        for _ in range(count)
    ]
    return pd.DataFrame(rows, columns=["cabin", "sex", "age", "fate"])


def telco_churn(n_rows: int = 3000, seed: int = 0) -> pd.DataFrame:
    """Return simulated customers of a telephone company; who leaves follows a stated law.

    As in the table that everybody knows, ``TotalCharges`` is text, and blank for customers of the first month.
    """
    rng = np.random.default_rng(seed)
    contract = rng.choice(["Month-to-month", "One year", "Two year"], n_rows, p=[0.55, 0.21, 0.24])
    longest = np.select([contract == "Month-to-month", contract == "One year"], [40.0, 65.0], 73.0)
    tenure = np.floor(rng.beta(0.8, 1.1, n_rows) * longest).astype(int)
    internet = rng.choice(["DSL", "Fiber optic", "No"], n_rows, p=[0.34, 0.44, 0.22])
    base = np.select([internet == "DSL", internet == "No"], [55.0, 20.0], 88.0)
    monthly = np.round(base + rng.normal(0, 1, n_rows) * np.where(internet == "No", 0.7, 11.0), 2)
    z = 0.6 - 0.75 * np.log(tenure + 1) + 1.0 * (internet == "Fiber optic") - 0.7 * (internet == "No")
    z += -0.9 * (contract == "One year") - 1.8 * (contract == "Two year")
    payment = rng.choice(["Electronic check", "Mailed check", "Bank transfer", "Credit card"], n_rows)
    z += 0.5 * (payment == "Electronic check")
    total = np.round(monthly * tenure * rng.uniform(0.97, 1.03, n_rows), 2)
    return pd.DataFrame(
        {
            "customerID": [f"{number:04d}-{'ABCDEFGH'[number % 8]}XQ" for number in rng.permutation(n_rows)],
            "SeniorCitizen": (rng.random(n_rows) < 0.16).astype(int),
            "tenure": tenure,
            "InternetService": internet,
            "Contract": contract,
            "PaymentMethod": payment,
            "MonthlyCharges": monthly,
            "TotalCharges": ["" if months == 0 else str(sum_) for months, sum_ in zip(tenure, total, strict=True)],
            "Churn": np.where(rng.random(n_rows) < 1 / (1 + np.exp(-z)), "Yes", "No"),
        }
    )


def heart_clinic(n_rows: int = 600, seed: int = 0) -> pd.DataFrame:
    """Return simulated patients of a heart clinic; who is ill follows a stated law."""
    rng = np.random.default_rng(seed)
    age = np.clip(np.round(rng.normal(54, 9, n_rows)), 29, 77).astype(int)
    sex = rng.choice(["male", "female"], n_rows, p=[0.68, 0.32])
    pain = rng.choice(["typical", "atypical", "not anginal", "none"], n_rows, p=[0.08, 0.17, 0.28, 0.47])
    vessels = rng.choice([0, 1, 2, 3], n_rows, p=[0.59, 0.22, 0.13, 0.06])
    depression = np.round(np.maximum(0.0, rng.gamma(0.9, 1.15, n_rows) - 0.1), 1)
    heart_rate = np.clip(np.round(208 - 0.85 * age - 4 * depression + rng.normal(0, 18, n_rows)), 71, 202).astype(int)
    z = -0.6 + 1.2 * (pain == "none") + 1.1 * vessels + 0.6 * depression - 0.025 * (heart_rate - 150)
    z += 1.1 * (sex == "male") - 1.3
    return pd.DataFrame(
        {
            "age": age,
            "sex": sex,
            "chest_pain": pain,
            "resting_pressure": np.round(rng.normal(131, 17, n_rows)).astype(int),
            "cholesterol": np.where(rng.random(n_rows) < 0.03, np.nan, np.round(rng.normal(246, 51, n_rows))),
            "max_heart_rate": heart_rate,
            "exercise_pain": rng.choice(["no", "yes"], n_rows, p=[0.67, 0.33]),
            "st_depression": depression,
            "vessels": vessels,
            "disease": np.where(rng.random(n_rows) < 1 / (1 + np.exp(-z)), "ill", "healthy"),
        }
    )


def by_hand(model: Any, row: pd.DataFrame) -> str:
    """Return one row worked out with the equations of a classifier: what each piece adds, scores and probabilities."""
    read = dict(zip(model.encoder_.feature_names, model.to_model_features(row)[0].tolist(), strict=True))
    lines, scores = [], {}
    for label, equation in model.equations_.items():
        pieces = {str(Signomial([term])): Signomial([term]).evaluate(read).item() for term in equation.terms}
        scores[label] = sum(pieces.values())
        lines.append(f"score of {label}")
        lines += [f"  {value:+10.4f}   {piece}" for piece, value in pieces.items()]
        lines.append(f"  {scores[label]:+10.4f}   together")
    if len(scores) == 1:
        ((label, score),) = scores.items()
        lines.append(f"probability of {label}: 1 / (1 + exp({-score:.4f})) = {1 / (1 + np.exp(-score)):.4f}")
        return "\n".join(lines)
    largest = max(scores.values())
    parts = {label: np.exp(score - largest) for label, score in scores.items()}
    lines += [f"probability of {label}: {part / sum(parts.values()):.4f}" for label, part in parts.items()]
    return "\n".join(lines)
