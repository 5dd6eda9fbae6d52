"""Names of array types that the search shares."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Singles = NDArray[np.float32]
Places = NDArray[np.intp]
Mask = NDArray[np.bool_]
