"""Checks of an estimator's options: one message that names the option, the value and what is allowed."""

from __future__ import annotations

import numbers
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Collection


def check_choice(name: str, value: Any, allowed: Collection[str]) -> str:
    """Return `value` if it is one of the allowed words."""
    if not isinstance(value, str) or value not in allowed:
        raise ValueError(f"{name}={value!r} is not known: use one of {', '.join(map(repr, allowed))}.")
    return value


def check_flag(name: str, value: Any) -> bool:
    """Return `value` if it is True or False."""
    if isinstance(value, (bool, np.bool_)):
        return bool(value)
    raise ValueError(f"{name}={value!r} must be True or False.")


def check_integer(name: str, value: Any, *, least: int) -> int:
    """Return `value` as an int of at least `least`."""
    if isinstance(value, bool) or not isinstance(value, numbers.Integral) or value < least:
        raise ValueError(f"{name}={value!r} must be a whole number of at least {least}.")
    return int(value)


def is_number(value: Any) -> bool:
    """Tell whether `value` is a finite real number; True and False are none."""
    return not isinstance(value, bool) and isinstance(value, numbers.Real) and bool(np.isfinite(float(value)))


def check_number(name: str, value: Any, *, least: float, strict: bool = False, most: float = np.inf) -> float:
    """Return `value` as a finite float between `least` and `most`."""
    if not is_number(value) or float(value) > most or (float(value) <= least if strict else float(value) < least):
        above = "above" if strict else "of at least"
        limit = "" if np.isinf(most) else f" and at most {most:g}"
        raise ValueError(f"{name}={value!r} must be a finite number {above} {least:g}{limit}.")
    return float(value)
