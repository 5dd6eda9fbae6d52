"""The features that equations speak of, and the way back to raw columns.

The features of the paper's model are positive: each is an affine image x' = scale·t + offset of a number t that can be
read off a raw column.

==============  =====================  ==============================================================
kind            name                   t
==============  =====================  ==============================================================
``numeric``     ``column``             the value itself
``mirror``      ``column~``            the value itself, with a negative scale: the image of low + high − x
``level``       ``column=level``       1 where the column has this level, else 0
``missing``     ``column=?``           1 where the value is missing, else 0
``ordinal``     ``column``             the position of the level in the given order, from 0
==============  =====================  ==============================================================

The features of a raw encoder are what their names say, so that scale is 1 and offset 0. A number x is first clipped to
the training range; a missing one counts as the training median.

==============  ======================  =============================================================
kind            name                    value
==============  ======================  =============================================================
``number``      ``column``              x
``level``       ``[column = level]``    1 where the column has this level, else 0
``missing``     ``[column missing]``    1 where the value is missing, else 0
``ordinal``     ``column``              the position of the level in the given order, from 0
``step``        ``[column > cut]``      1 where x > cut, else 0
``above``       ``[column above cut]``  max(0, x − cut)
``below``       ``[column below cut]``  max(0, cut − x)
==============  ======================  =============================================================
"""

from __future__ import annotations

import math
import numbers
import operator
from dataclasses import dataclass
from decimal import Decimal
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, TypeVar, get_args

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

CutKind: TypeAlias = Literal["step", "above", "below"]
CUT_KINDS: tuple[str, ...] = get_args(CutKind)

FeatureKind: TypeAlias = Literal["numeric", "mirror", "level", "missing", "ordinal", "number", CutKind]
FEATURE_KINDS: tuple[str, ...] = get_args(FeatureKind)

Level: TypeAlias = str | bool | int | float
"""A category as the user wrote it."""

Number = TypeVar("Number", float, "NDArray[np.float64]")


def canonical_level(value: Any) -> Level:
    """Make a level a plain Python value, so that 1, 1.0 and NumPy's 1 are one level with one name.

    Examples
    --------
    >>> canonical_level(1.0), canonical_level(2.5), canonical_level("1"), canonical_level(True)
    (1, 2.5, '1', True)
    """
    if isinstance(value, str):
        return str(value)
    if type(value).__name__ in {"bool", "bool_"}:
        return bool(value)
    if not isinstance(value, (numbers.Real, Decimal)) or not math.isfinite(value):
        raise ValueError(f"A level must be text, a boolean or a finite number, but is {value!r}.")
    # Not by way of float, which would round integers beyond 2^53.
    whole = operator.index(math.floor(value))
    return whole if value == whole else float(value)


@dataclass(frozen=True, slots=True)
class Feature:
    """One feature: x' = scale·t + offset.

    Attributes
    ----------
    name
        The name in the equations.
    column
        The raw column it comes from.
    kind
        What t is: see the tables at the top of this module.
    scale, offset
        The affine map; 1 and 0 for raw features.
    low, high
        The training range of t.
    baseline
        Of a positive feature the weighted mean of log x' over the training rows. Of a raw one its value in a typical
        row, in which every number is the weighted median of its column, every level the most frequent, and nothing is
        missing.
    level
        The category of a ``level`` feature.
    fill
        The value of x' where the column is missing; None where missing values are refused.
    cut
        The threshold of a ``step``, ``above`` or ``below`` feature.

    Examples
    --------
    >>> age = Feature("age", "age", "numeric", scale=0.5, offset=-9.0, low=20.0, high=38.0, baseline=1.5)
    >>> age.positive(24.0), age.raw_value(3.0)
    (3.0, 24.0)
    """

    name: str
    column: str
    kind: FeatureKind
    scale: float
    offset: float
    low: float
    high: float
    baseline: float
    level: Level | None = None
    fill: float | None = None
    cut: float | None = None

    @property
    def is_raw(self) -> bool:
        """Whether the feature is what its name says: a positive level or position starts at 1, a raw one at 0."""
        return self.kind not in {"numeric", "mirror"} and self.offset == 0

    @property
    def floor(self) -> float:
        """The smallest x' of the training range."""
        return self.positive(self.low if self.scale > 0 else self.high)

    @property
    def ceiling(self) -> float:
        """The largest x' of the training range."""
        return self.positive(self.high if self.scale > 0 else self.low)

    def positive(self, t: Number) -> Number:
        """Return x' = scale·t + offset, without any clipping."""
        return self.scale * t + self.offset

    def raw_value(self, positive: Number) -> Number:
        """Return the t that has the given x': the inverse of `positive`."""
        return (positive - self.offset) / self.scale

    def of_number(self, x: ArrayLike) -> NDArray[np.float64]:
        """Return the value of a raw feature where its column is the number x, not missing and inside its range.

        Examples
        --------
        >>> hinge = Feature("[age above 40]", "age", "above", 1.0, 0.0, 0.0, 50.0, baseline=0.0, cut=40.0)
        >>> hinge.of_number([18.0, 40.0, 90.0])
        array([ 0.,  0., 50.])
        """
        number: NDArray[np.float64] = np.asarray(x, dtype=np.float64)
        if self.kind == "number":
            return number
        if self.kind == "missing":
            return np.zeros_like(number)
        if self.kind == "level":
            return np.asarray(number == self.level, dtype=np.float64)
        if self.cut is None:
            raise TypeError(f"{self.name!r} is no raw feature of a numeric column.")
        if self.kind == "step":
            return (number > self.cut).astype(np.float64)
        return np.maximum(0.0, number - self.cut if self.kind == "above" else self.cut - number)
