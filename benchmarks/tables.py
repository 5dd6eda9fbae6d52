"""Real tables, read from a folder of gzipped CSV files whose last column is the class.

A table is used as its file has it, with these exceptions:

- ``compas``: ProPublica's two-year file with ProPublica's own filter (screening within 30 days of the arrest, a known
  outcome, no ordinary traffic offence), African-American and Caucasian defendants: 5278 rows, the target is
  ``two_year_recid``. Kept are sex, age, race, the three juvenile counts, the prior count and the degree of the charge;
  the scores of COMPAS and the columns that tell the outcome are left out.
- ``loan``: LendingClub loans, 119 987 rows; the three columns that are coarser copies of others are left out.
- ``paysim_sample``: an excerpt of genuine PaySim rows, in which frauds are over-represented; of the two account names
  the letter that tells customers from merchants is kept for the receiver (every sender is a customer).

ECSEL gets columns of text as they are, because it encodes them itself; the others get them one-hot.
"""

from __future__ import annotations

import argparse
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn

import numpy as np
import pandas as pd

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray


@dataclass(frozen=True, slots=True)
class Columns:
    """A data frame of raw columns with a name."""

    name: str
    X: pd.DataFrame

    @property
    def numbers(self) -> NDArray[np.float64]:
        """The columns as numbers, text one-hot: what the other libraries get."""
        return as_numbers(self.X)


@dataclass(frozen=True, slots=True)
class Table(Columns):
    """Columns and the class codes 0, 1, … of their rows."""

    y: NDArray[np.intp]


def text_columns(X: pd.DataFrame) -> list[str]:
    """Return the names of the columns that are no numbers."""
    return [str(name) for name, dtype in X.dtypes.items() if not pd.api.types.is_numeric_dtype(dtype)]


def as_numbers(X: pd.DataFrame) -> NDArray[np.float64]:
    """Return the columns as numbers, text one-hot; missing numbers stay missing, missing text is no level."""
    return np.asarray(pd.get_dummies(X, columns=text_columns(X)).to_numpy(np.float64))


@dataclass(frozen=True, slots=True)
class _Source:
    file: str
    rows: int
    prepare: Callable[[pd.DataFrame], pd.DataFrame] = lambda frame: frame


def _compas(frame: pd.DataFrame) -> pd.DataFrame:
    kept = frame[
        frame["days_b_screening_arrest"].between(-30, 30)
        & (frame["is_recid"] != -1)
        & (frame["c_charge_degree"] != "O")
        & frame["race"].isin(["African-American", "Caucasian"])
    ]
    juvenile = ["juv_fel_count", "juv_misd_count", "juv_other_count"]
    return kept[["sex", "age", "race", *juvenile, "priors_count", "c_charge_degree", "two_year_recid"]]


def _loan(frame: pd.DataFrame) -> pd.DataFrame:
    return frame.drop(columns=["purpose_", "home_", "emp_len_"])


def _paysim(frame: pd.DataFrame) -> pd.DataFrame:
    return frame.drop(columns="nameOrig").assign(nameDest=frame["nameDest"].str[0])


SOURCES = {
    "iris": _Source("iris", 150),
    "seeds": _Source("seeds", 210),
    "hearts": _Source("hearts", 303),
    "ilpd": _Source("ilpd", 579),
    "ilpd583": _Source("ilpd583", 583),
    "transfusion": _Source("transfusion", 748),
    "contraceptive": _Source("contraceptive", 1473),
    "compas": _Source("compas_propublica7214", 5278, _compas),
    "mammography": _Source("mammography", 11183),
    "osi": _Source("osi", 12330),
    "paysim_sample": _Source("paysim_real_sample", 29967, _paysim),
    "default": _Source("default", 30000),
    "loan": _Source("loan_lendingclub119987", 119987, _loan),
    "skinnonskin": _Source("skinnonskin", 245057),
}


def in_order(rows: list[dict[str, str]]) -> list[dict[str, str]]:
    """Return result rows in the order of the tables, by size."""
    order = list(SOURCES)
    return sorted(rows, key=lambda row: order.index(row["table"]))


def load(folder: Path, name: str) -> Table:
    """Read one table."""
    source = SOURCES[name]
    frame = source.prepare(pd.read_csv(folder / f"{source.file}.csv.gz"))
    y = np.unique(frame.iloc[:, -1].to_numpy(), return_inverse=True)[1]
    return Table(name, frame.iloc[:, :-1].reset_index(drop=True), y.astype(np.intp))


def add_table_options(parser: argparse.ArgumentParser, default: list[str]) -> None:
    """Add --data and --tables."""
    parser.add_argument("--data", type=_folder, required=True, metavar="DIR", help="folder of the .csv.gz files")
    parser.add_argument(
        "--tables",
        type=_names,
        default=default,
        metavar="A,B",
        help=f"tables to use, of {', '.join(SOURCES)} (default: {', '.join(default)})",
    )


def check_files(options: argparse.Namespace, parser: argparse.ArgumentParser) -> None:
    """Refuse to start where a file is missing, rather than to fail after an hour."""
    files = [options.data / f"{SOURCES[name].file}.csv.gz" for name in options.tables]
    missing = [file.name for file in files if not file.is_file()]
    if missing:
        parser.error(f"{options.data} has no {', '.join(missing)}; leave them out with --tables.")


def _folder(text: str) -> Path:
    path = Path(text)
    return path if path.is_dir() else _refuse(f"{text} is not a folder.")


def _names(text: str) -> list[str]:
    names = text.split(",")
    unknown = [name for name in names if name not in SOURCES]
    return _refuse(f"no table is named {unknown[0]!r}; there are {', '.join(SOURCES)}.") if unknown else names


def _refuse(message: str) -> NoReturn:
    raise argparse.ArgumentTypeError(message)
