"""Values of NumPy and pandas as plain JSON: the shortest exact numbers, null for what is missing or not finite."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np


def plain(value: Any) -> Any:
    """Return a value as JSON holds it.

    >>> plain({"p": np.array([0.5, np.nan]), "label": np.str_("yes"), 3: (True, None)})
    {'p': [0.5, None], 'label': 'yes', '3': [True, None]}
    """
    if isinstance(value, Mapping):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, np.ndarray | np.generic):
        return plain(value.tolist())
    if isinstance(value, (list, tuple)):
        return [plain(item) for item in value]
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if value is None or isinstance(value, (str, bool, int)):
        return str(value) if isinstance(value, str) else value
    from pandas import isna

    return None if isna(value) else str(value)
