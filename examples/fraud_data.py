"""Mobile payments in the shape of the PaySim log: a simulated table with its columns, and the paper's eleven features.

PaySim (Lopez-Rojas et al. 2016) is itself simulated. Its log may be neither kept here nor downloaded; `read` takes a
sample from ``FOLDER/paysim_real_sample.csv.gz``, and `draw` makes payments of the same kind: a fraud empties an account
by a transfer or a cash-out, and so do some honest people.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

if TYPE_CHECKING:
    from pathlib import Path

FILE = "paysim_real_sample.csv.gz"
TARGET = "isFraud"
TYPES = ["CASH_IN", "CASH_OUT", "DEBIT", "PAYMENT", "TRANSFER"]


def read(folder: Path) -> pd.DataFrame:
    """Return the sample of the log from a folder."""
    path = folder / FILE
    if not path.is_file():
        raise FileNotFoundError(f"{folder} has no {FILE}, a sample of the PaySim log.")
    return pd.read_csv(path)


def draw(n_rows: int = 4000, seed: int = 0, fraud: float = 0.03) -> pd.DataFrame:
    """Return simulated payments with the columns of the log."""
    rng = np.random.default_rng(seed)
    is_fraud = rng.random(n_rows) < fraud
    kind = np.where(
        is_fraud,
        rng.choice(["CASH_OUT", "TRANSFER"], n_rows),
        rng.choice(TYPES, n_rows, p=[0.22, 0.35, 0.01, 0.34, 0.08]),
    )
    old = np.where(rng.random(n_rows) < 0.35, 0.0, rng.lognormal(9.5, 1.8, n_rows))
    old = np.where(is_fraud & (old == 0), rng.lognormal(12.0, 1.5, n_rows), old)
    drained = is_fraud & (rng.random(n_rows) < 0.97) | (~is_fraud & (old > 0) & (rng.random(n_rows) < 0.04))
    amount = np.where(drained, old, rng.lognormal(10.5, 1.5, n_rows))
    new = np.where(kind == "CASH_IN", old + amount, np.maximum(old - amount, 0.0))
    merchant = kind == "PAYMENT"
    there = np.where(merchant, 0.0, rng.lognormal(12.0, 1.5, n_rows))
    return pd.DataFrame(
        {
            "step": rng.integers(1, 744, n_rows),
            "type": kind,
            "amount": amount,
            "nameOrig": "C" + pd.Series(rng.integers(10**8, 10**9, n_rows)).astype(str),
            "oldbalanceOrg": old,
            "newbalanceOrig": new,
            "nameDest": np.where(merchant, "M", "C") + pd.Series(rng.integers(10**8, 10**9, n_rows)).astype(str),
            "oldbalanceDest": there,
            "newbalanceDest": np.where(merchant, 0.0, there + amount),
            "isFlaggedFraud": 0,
            TARGET: is_fraud.astype(int),
        }
    )


def features(log: pd.DataFrame) -> pd.DataFrame:
    """Return the paper's eleven features, with the type of payment as one column of four levels and the rest."""
    old, amount = log["oldbalanceOrg"], log["amount"]
    return pd.DataFrame(
        {
            "amount": amount,
            "oldbalanceOrg": old,
            "newbalanceOrig": log["newbalanceOrig"],
            "hour_of_day": log["step"] % 24,
            "pct_balance_taken": (amount / old.where(old > 0)).clip(upper=1.0).fillna(0.0),
            "externalOrig": ((old == 0) & (log["newbalanceOrig"] == 0)).astype(int),
            "externalDest": log["nameDest"].str.startswith("M").astype(int),
            "type": log["type"],
        }
    )
