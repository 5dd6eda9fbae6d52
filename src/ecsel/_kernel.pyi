from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

Double: TypeAlias = NDArray[np.float64]

def solve_on_faces(
    n: int,
    H: Double,
    g: Double,
    x: Double,
    l1: Double,
    lower: Double,
    upper: Double,
    tol: float,
    most_faces: int,
    /,
) -> float: ...
def forward(
    shape: tuple[int, int, int, int, int, int, int, float, float, float],
    theta: Double,
    v: Double,
    codes: NDArray[np.int64],
    w: Double,
    planes: Double,
    residual: Double,
    probabilities: Double,
    /,
) -> float: ...
def derivatives(
    shape: tuple[int, int, int, int, int, int, int, float, float, float],
    theta: Double,
    v: Double,
    codes: NDArray[np.int64],
    w: Double,
    planes: Double,
    residual: Double,
    probabilities: Double,
    gradient: Double,
    matrix: Double | None,
    bend: Double | None,
    /,
) -> None: ...
