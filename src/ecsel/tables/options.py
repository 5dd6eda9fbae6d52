"""The options of an encoder, checked and spread over the columns of a table."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from ecsel.tables.errors import short
from ecsel.tables.features import canonical_level
from ecsel.tables.observed import MISSING_RULES, ColumnOptions
from ecsel.tables.reading import refuse_other_arrays
from ecsel.tables.report import OUT_OF_RANGE
from ecsel.tables.scaling import SCALING_KINDS

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from ecsel.tables.features import Level

MAX_ORDER = 1000
"""Levels that an order may list."""

ColumnKey: TypeAlias = str | int
"""A column's name, or its position."""


def column_options(
    names: Sequence[str],
    *,
    scaling: str | Mapping[ColumnKey, str],
    missing: str,
    missing_codes: Mapping[ColumnKey, Sequence[Level]] | Sequence[Level] | str | None,
    categorical: Collection[ColumnKey] | None,
    ordinal: Mapping[ColumnKey, Sequence[Level]] | None,
    two_sided: Collection[ColumnKey] | bool,
    keep: Collection[ColumnKey] | None = None,
    drop: Collection[ColumnKey] | None = None,
) -> list[ColumnOptions]:
    """Return the options of every column; a column that does not exist or an unknown word is refused by name."""
    checked = _one_of("missing", missing, MISSING_RULES)
    scalings = _per_column("scaling", scaling, names, default="auto")
    for kind in scalings:
        _one_of("scaling", kind, ("auto", *SCALING_KINDS))
    if "raw" in scalings and (scaling != "raw" or two_sided):
        raise ValueError("scaling='raw' is for all columns at once, and without two_sided: raw values have no mirrors.")
    finds_codes = isinstance(missing_codes, str) and missing_codes == "auto"
    given = {} if finds_codes or missing_codes is None else missing_codes
    codes = _per_column("missing_codes", given, names, default=())
    nominal = _positions("categorical", categorical or (), names)
    orders = {_position("ordinal", key, names): _order(key, levels) for key, levels in (ordinal or {}).items()}
    if both := sorted(nominal & orders.keys()):
        raise ValueError(f"Column {names[both[0]]!r} is listed in categorical and in ordinal; choose one.")
    kept, dropped = _positions("keep", keep or (), names), _positions("drop", drop or (), names)
    if both := sorted(kept & dropped):
        raise ValueError(f"Column {names[both[0]]!r} is listed in keep and in drop; choose one.")
    free = {j for j, name in enumerate(names) if f"{name}~" not in names}
    mirrored = free if two_sided is True else _positions("two_sided", two_sided or (), names)
    by_name = {
        "scaling": _positions("scaling", scaling, names) if isinstance(scaling, Mapping) else set(),
        "two_sided": set() if two_sided is True else mirrored,
    }
    return [
        ColumnOptions(
            scaling=scalings[j],
            missing=checked,
            missing_codes=_codes(codes[j]),
            finds_codes=finds_codes,
            nominal=j in nominal,
            order=orders.get(j),
            two_sided=j in mirrored,
            asked_of_numbers=tuple(option for option, columns in by_name.items() if j in columns),
            kept=j in kept,
            dropped=j in dropped,
        )
        for j in range(len(names))
    ]


def check_out_of_range(out_of_range: str) -> Any:
    """Return the option if it is one of the three words."""
    return _one_of("out_of_range", out_of_range, OUT_OF_RANGE)


def check_weights(sample_weight: ArrayLike | None, n_rows: int) -> NDArray[np.float64] | None:
    """Return row weights as an array if they can be weights."""
    if sample_weight is None:
        return None
    refuse_other_arrays(sample_weight=sample_weight)
    weights = np.asarray(sample_weight, dtype=np.float64)
    if weights.shape != (n_rows,):
        raise ValueError(
            f"sample_weight must have one number per row, shape ({n_rows},), but has shape {weights.shape}."
        )
    if not np.isfinite(weights).all() or (weights < 0).any():
        raise ValueError("sample_weight must be finite and not negative.")
    if not weights.any():
        raise ValueError("sample_weight is zero in every row; at least one weight must be positive.")
    return weights


def _one_of(option: str, value: Any, allowed: Sequence[str]) -> Any:
    if not isinstance(value, str) or value not in allowed:
        raise ValueError(f"{option} must be one of {', '.join(map(repr, allowed))}, but is {value!r}.")
    return value


def _per_column(option: str, given: Any, names: Sequence[str], default: Any) -> list[Any]:
    if not isinstance(given, Mapping):
        return [given] * len(names)
    by_position = {_position(option, key, names): value for key, value in given.items()}
    return [by_position.get(j, default) for j in range(len(names))]


def _positions(option: str, keys: Any, names: Sequence[str]) -> set[int]:
    if isinstance(keys, str) or not isinstance(keys, Collection):
        raise TypeError(f"{option} must be a list of column names or positions, but is {keys!r}.")
    return {_position(option, key, names) for key in keys}


def _position(option: str, key: Any, names: Sequence[str]) -> int:
    if isinstance(key, str) and key in names:
        return names.index(key)
    if not isinstance(key, (str, bool)) and hasattr(key, "__index__") and 0 <= int(key) < len(names):
        return int(key)
    listed = ", ".join(map(repr, names[:10])) + (", …" if len(names) > 10 else "")
    raise ValueError(f"{option} names the column {key!r}, but X has {len(names)} columns: {listed}.")


def _order(key: ColumnKey, levels: Sequence[Level]) -> tuple[Level, ...]:
    if isinstance(levels, str) or not 0 < len(set(levels)) == len(levels) <= MAX_ORDER:
        raise ValueError(
            f"ordinal[{key!r}] must list each level once, lowest first, at most {MAX_ORDER}, but is {short(levels)}."
        )
    return tuple(map(canonical_level, levels))


def _codes(codes: Any) -> tuple[Level, ...]:
    if isinstance(codes, str) or not isinstance(codes, Collection):
        raise TypeError(
            f"missing_codes must be 'auto', None, a list of codes, or a dict of lists per column, but holds {codes!r}."
        )
    return tuple(map(canonical_level, codes))
