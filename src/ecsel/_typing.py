"""The names of array types, for the whole package."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.floating]
"""Numbers in single or double precision."""
Floats = NDArray[np.float64]
Singles = NDArray[np.float32]
Places = NDArray[np.intp]
Mask = NDArray[np.bool_]
