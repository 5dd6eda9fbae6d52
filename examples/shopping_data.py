"""Sessions of an online shop: the table, its 14 features, and a small table simulated with the same columns.

The real table is *Online Shoppers Purchasing Intention* (Sakar et al. 2018, UCI Machine Learning Repository): 12 330
sessions, of which 15.5 % end with a purchase. It is read from ``FOLDER/osi.csv.gz``; it may be neither kept here nor
downloaded, so without a folder `draw` makes sessions that look alike. Its purchases are random draws from a stated law,
so nothing that is learnt from them is about real shoppers.

The paper's appendix fixes the 14 features up to five choices. Ours, all learnt from training rows alone:

- *ShopIntensity*: 10·(0.3·ProductRelated + 0.5·PageValues + 0.2·ProductFocusRatio), each divided by its largest value.
- *TrafficType_Grouped*, *Browser_Grouped*: the rank of the three (two) most frequent codes, one more for all others.
- *IsMobile*: operating system 3. The codes are not published; nearly all of its sessions use one browser, as phones do.
- *Month*: 1 to 12. *IsReturning*: returning visitors against new and other ones.
- *PageValue_per_ExitRate* where the exit rate is 0: 1000 (the upper clip) if the page value is positive, else 0.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from sklearn.model_selection import train_test_split

if TYPE_CHECKING:
    from pathlib import Path

FILE = "osi.csv.gz"
TARGET = "Revenue"
MONTHS = ["Jan", "Feb", "Mar", "Apr", "May", "June", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]
KEPT = ["ProductRelated", "Administrative", "Informational", "ExitRates", "PageValues", "SpecialDay"]
MOBILE = 3
SEED = 42


def read(folder: Path) -> pd.DataFrame:
    """Return the real table from a folder that holds ``osi.csv.gz``."""
    path = folder / FILE
    if not path.is_file():
        raise FileNotFoundError(f"{folder} has no {FILE}, the table of the Online Shoppers Purchasing Intention data.")
    return pd.read_csv(path)


def draw(n_rows: int = 1500, seed: int = 0) -> pd.DataFrame:
    """Return simulated sessions with the columns of the real table; purchases follow a power law of page value."""
    rng = np.random.default_rng(seed)
    pages = {name: np.floor(rng.lognormal(mean, 1.0, n_rows)).astype(int) for name, mean in _PAGES.items()}
    seconds = {f"{name}_Duration": count * rng.gamma(2.0, 18.0, n_rows) for name, count in pages.items()}
    exits = np.clip(rng.lognormal(-3.6, 0.8, n_rows), 0.0, 0.2)
    page_values = np.where(rng.random(n_rows) < 0.25, rng.lognormal(2.8, 1.0, n_rows), 0.0)
    month = rng.choice(["Feb", "Mar", "May", "June", "Sep", "Nov", "Dec"], n_rows)
    z = -2.6 + 1.6 * np.log1p(page_values / 4) - 12 * exits + 0.6 * (month == "Nov")
    return pd.DataFrame(
        {
            **{name: values for pair in zip(pages.items(), seconds.items(), strict=True) for name, values in pair},
            "BounceRates": exits * rng.uniform(0.0, 1.0, n_rows),
            "ExitRates": exits,
            "PageValues": page_values,
            "SpecialDay": np.where(month == "May", rng.choice([0.0, 0.2, 0.6, 1.0], n_rows), 0.0),
            "Month": month,
            "OperatingSystems": rng.choice([1, 2, 3, 4], n_rows, p=[0.2, 0.5, 0.2, 0.1]),
            "Browser": rng.choice([1, 2, 4, 5, 8], n_rows, p=[0.2, 0.6, 0.1, 0.05, 0.05]),
            "Region": rng.integers(1, 10, n_rows),
            "TrafficType": rng.choice([1, 2, 3, 4, 13], n_rows, p=[0.2, 0.35, 0.2, 0.15, 0.1]),
            "VisitorType": rng.choice(["Returning_Visitor", "New_Visitor", "Other"], n_rows, p=[0.85, 0.14, 0.01]),
            "Weekend": rng.random(n_rows) < 0.23,
            TARGET: rng.random(n_rows) < 1 / (1 + np.exp(-z)),
        }
    )


_PAGES = {"Administrative": 0.4, "Informational": -0.8, "ProductRelated": 2.8}


@dataclass(frozen=True)
class Recipe:
    """What the 14 features need to know of the training rows."""

    largest: dict[str, float]
    traffic: tuple[Any, ...]
    browsers: tuple[Any, ...]

    @classmethod
    def learn(cls, frame: pd.DataFrame) -> Recipe:
        """Learn the largest values and the most frequent codes."""
        return cls(
            {name: max(float(frame[name].max()), 1e-9) for name in ("ProductRelated", "PageValues")},
            tuple(frame["TrafficType"].value_counts().index[:3]),
            tuple(frame["Browser"].value_counts().index[:2]),
        )

    def features(self, frame: pd.DataFrame) -> pd.DataFrame:
        """Return the 14 features."""
        pages = frame["ProductRelated"] + frame["Administrative"] + frame["Informational"]
        focus = (frame["ProductRelated"] / pages.where(pages > 0)).fillna(0.0)
        exits, value = frame["ExitRates"], frame["PageValues"]
        per_exit = (value / exits.where(exits > 0)).fillna(pd.Series(np.where(value > 0, 1000.0, 0.0), frame.index))
        share = {name: frame[name] / largest for name, largest in self.largest.items()}
        intensity = 0.3 * share["ProductRelated"] + 0.5 * share["PageValues"] + 0.2 * focus
        return frame[KEPT].assign(
            Month=frame["Month"].map({name: number for number, name in enumerate(MONTHS, 1)}),
            TrafficType_Grouped=_rank(frame["TrafficType"], self.traffic),
            Browser_Grouped=_rank(frame["Browser"], self.browsers),
            IsMobile=(frame["OperatingSystems"] == MOBILE).astype(int),
            IsReturning=(frame["VisitorType"] == "Returning_Visitor").astype(int),
            ProductFocusRatio=focus,
            PageValue_per_ExitRate=per_exit.clip(0.0, 1000.0),
            ShopIntensity=10 * intensity,
        )


def _rank(codes: pd.Series, frequent: tuple[Any, ...]) -> pd.Series:
    """Return 1, 2, … for the frequent codes and one more for all others."""
    places = {code: place for place, code in enumerate(frequent, 1)}
    return codes.map(lambda code: places.get(code, len(frequent) + 1))


def split(frame: pd.DataFrame, seed: int = SEED) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Return 70 % of the rows for training and 30 % for testing, stratified; the index is the row of the table."""
    train, test = train_test_split(frame, test_size=0.3, random_state=seed, stratify=frame[TARGET])
    return train, test
