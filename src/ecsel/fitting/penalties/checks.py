"""One message for a parameter of a penalty that is out of its range."""

from __future__ import annotations

import numbers
from typing import Any

import numpy as np


def check_between(name: str, value: Any, above: float, most: float = np.inf) -> None:
    """Refuse a number that is not above `above` and at most `most`, or not finite."""
    known = not isinstance(value, bool) and isinstance(value, numbers.Real) and bool(np.isfinite(float(value)))
    if not known or not above < float(value) <= most:
        limit = "" if np.isinf(most) else f" and at most {most:g}"
        raise ValueError(f"{name} must be a finite number above {above:g}{limit}, got {value!r}.")
