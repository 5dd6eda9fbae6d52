"""What is remembered about each raw column: its kind, its training range or levels, and whether it had missing ones."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Literal, TypeAlias, get_args

if TYPE_CHECKING:
    from ecsel.tables.features import Level
    from ecsel.tables.scaling import ScalingKind

ColumnDtype: TypeAlias = Literal["integer", "float", "boolean", "text"]
COLUMN_DTYPES: tuple[str, ...] = get_args(ColumnDtype)


@dataclass(frozen=True, slots=True)
class NumericColumn:
    """A column of numbers with its training range.

    ``missing_codes`` are values, such as −999, that stand for a missing one. ``scaling`` is None for a constant column,
    which has no numeric feature. ``imputed`` tells whether a raw encoder puts the median in the place of missing values
    altogether, so that indicators see it too; otherwise they are 0 there.

    Examples
    --------
    >>> import pandas as pd
    >>> from ecsel.tables import TableEncoder
    >>> frame = pd.DataFrame({"age": [20.0, 30.0, 41.5] * 10, "home": ["own", "rent", "rent"] * 10})
    >>> age, home = TableEncoder.fit(frame, scaling="raw").columns
    >>> age.low, age.high
    (20.0, 41.5)
    """

    name: str
    dtype: ColumnDtype
    low: float
    high: float
    scaling: ScalingKind | None
    has_missing: bool = False
    missing_codes: tuple[Level, ...] = ()
    imputed: bool = False
    kind: ClassVar[str] = "numeric"


@dataclass(frozen=True, slots=True)
class _LevelColumn:
    name: str
    dtype: ColumnDtype
    levels: tuple[Level, ...]
    has_missing: bool = False
    missing_codes: tuple[Level, ...] = ()


@dataclass(frozen=True, slots=True)
class CategoricalColumn(_LevelColumn):
    """A nominal column with the levels seen in training, sorted.

    ``has_other`` tells that training saw further levels, too many to list: a level that is not listed is then no
    unknown one.

    Examples
    --------
    >>> import pandas as pd
    >>> from ecsel.tables import TableEncoder
    >>> frame = pd.DataFrame({"age": [20.0, 30.0, 41.5] * 10, "home": ["own", "rent", "rent"] * 10})
    >>> age, home = TableEncoder.fit(frame, scaling="raw").columns
    >>> home.levels
    ('own', 'rent')
    """

    has_other: bool = False
    kind: ClassVar[str] = "categorical"


@dataclass(frozen=True, slots=True)
class OrdinalColumn(_LevelColumn):
    """A column whose levels have the order that the user gave.

    Examples
    --------
    >>> import pandas as pd
    >>> from ecsel.tables import TableEncoder
    >>> frame = pd.DataFrame({"size": ["small", "large", "small"] * 10})
    >>> (size,) = TableEncoder.fit(frame, ordinal={"size": ["small", "large"]}).columns
    >>> size.levels
    ('small', 'large')
    """

    kind: ClassVar[str] = "ordinal"


@dataclass(frozen=True, slots=True)
class EmptyColumn:
    """A column that is ignored: it had no value at all in training, or takes no part for a `reason`.

    Examples
    --------
    >>> EmptyColumn("notes").kind
    'empty'
    """

    name: str
    reason: str = ""
    kind: ClassVar[str] = "empty"


Column: TypeAlias = NumericColumn | CategoricalColumn | OrdinalColumn | EmptyColumn
