"""The data of the live part of the page: one control per column in use, and a sample of rows to start from.

Numbers are kept to the last bit, as JSON numbers or, where that is shorter, as the bytes of doubles. Levels are
positions among those that the model knows; the levels themselves stand in the script, written as the export writes
them, so that the page hands the model the very same values.

A slider moves evenly in x, and in log x where the column spans two powers of ten; in the paper's model in log x' of the
column's positive feature, the scale on which its equation is a power law.
"""

from __future__ import annotations

import base64
import json
from typing import TYPE_CHECKING, Any

import numpy as np

from ecsel.explain.counterfactual.options import grain_of, typical_deviation
from ecsel.explain.frames import some_rows
from ecsel.export.program.lowering import lower
from ecsel.signomial.text import format_name
from ecsel.tables.levels import level_codes

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable

    from numpy.typing import NDArray

    from ecsel.export.program.program import InputColumn
    from ecsel.report.evidence import Evidence, Rows

    Floats = NDArray[np.float64]

MAX_BYTES = 1_200_000
"""The sample takes fewer rows if it would be longer than this."""

WIDE = 100.0


def controls(evidence: Evidence, fixed: Collection[Any]) -> list[dict[str, Any]]:
    """Return the description of every control, in the order of the exported program's inputs."""
    return [_control(evidence, column, is_fixed=column.name in fixed) for column in lower(evidence.view).inputs]


def _control(evidence: Evidence, column: InputColumn, *, is_fixed: bool) -> dict[str, Any]:
    view, j = evidence.view, evidence.view.column_position(column.name)
    common = {
        "name": column.name,
        "text": format_name(column.name),
        "missing": not column.refuses_missing and view.encoder is not None,
        "fixed": is_fixed,
    }
    if column.levels is not None:
        # a truth value has no third level that training did not see
        return {**common, "levels": [format_name(level) for level in column.levels], "open": column.kind != "boolean"}
    values = evidence.training.numbers(j)
    present = values[~np.isnan(values)]
    low, high = float(present.min()), float(present.max())
    if (known := view.numeric_column(j)) is not None:
        low, high = known.low, known.high
    kind = evidence.training.columns[j].kind_and_dtype()[1]
    grain = grain_of(present)
    return {
        **common,
        "low": low,
        "high": high,
        "whole": kind == "integer",
        "unit": 0.0 if grain is None else grain.unit,
        "origin": 0.0 if grain is None else grain.origin * 10.0**-grain.digits,
        "deviation": typical_deviation(present),
        **_scale(evidence, j, low, high),
    }


def _scale(evidence: Evidence, j: int, low: float, high: float) -> dict[str, float]:
    """Return the affine map whose logarithm the slider moves in; the scale 0 means the value itself."""
    encoder = evidence.view.encoder
    if encoder is None or encoder.is_raw:
        return {"scale": 1.0 if low > 0 and high / low >= WIDE else 0.0, "offset": 0.0}
    own = next((f for f in encoder.features if f.column == evidence.view.raw_names[j] and f.kind == "numeric"), None)
    return {"scale": 0.0, "offset": 0.0} if own is None else {"scale": own.scale, "offset": own.offset}


def sample(evidence: Evidence, must: Iterable[int], most: int) -> tuple[NDArray[np.intp], dict[str, Any]]:
    """Return the positions of the sampled rows, some of them for certain, and the sample itself."""
    rows, wanted = evidence.evaluated, sorted(set(must))
    while True:
        positions = np.union1d(some_rows(len(rows), most), np.array(wanted, dtype=np.intp))
        columns = [_column(evidence, column, positions) for column in lower(evidence.view).inputs]
        size = sum(len(json.dumps(column)) for column in columns)
        if size <= MAX_BYTES or most == 0:
            break
        most = int(most * min(0.95 * MAX_BYTES / size, 0.9))
    document = {
        "labels": [format_name(label) for label in rows.labels[positions].tolist()],
        "truth": _truth(rows, positions),
        "columns": columns,
        "of": len(rows),
    }
    return positions, document


def _truth(rows: Rows, positions: NDArray[np.intp]) -> list[str]:
    truth = rows.truth[positions].tolist()
    return [format_name(rows.view.classes[t]) for t in truth] if rows.view.has_classes else [f"{t:.6g}" for t in truth]


def _column(evidence: Evidence, column: InputColumn, positions: NDArray[np.intp]) -> dict[str, Any]:
    """Return the values of a column: positions of levels (−1 missing, −2 unknown), numbers, or bytes of doubles."""
    rows = evidence.evaluated
    j = evidence.view.column_position(column.name)
    if column.levels is not None:
        codes = level_codes(rows.columns[j], column.levels, column.missing_codes).codes
        return {"levels": codes[positions].tolist()}
    values = rows.numbers(j)[positions]
    plain = [None if np.isnan(v) else int(v) if v.is_integer() and abs(v) < 2**53 else v for v in values.tolist()]
    packed = base64.b64encode(values.astype("<f8").tobytes()).decode("ascii")
    return {"numbers": plain} if len(json.dumps(plain, separators=(",", ":"))) <= len(packed) else {"doubles": packed}
