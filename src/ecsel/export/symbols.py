"""The symbols of a program for algebra, which knows numbers alone: quantities, and indicators that are 0 or 1.

A quantity is called like its column; ``column=level`` is 1 where the column has that level, and ``column=?`` where it
is missing. Names that are taken get a ``_`` at their end.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from ecsel.tables.levels import MISSING, level_codes
from ecsel.tables.quantities import is_missing

if TYPE_CHECKING:
    from ecsel._typing import Floats
    from ecsel.export.program import InputColumn, Program
    from ecsel.tables import Level
    from ecsel.tables.raw import RawColumn


@dataclass(frozen=True, slots=True)
class ColumnSymbols:
    """The names of the symbols of one input column.

    Attributes
    ----------
    column
        The input column.
    quantity
        The symbol of its value; None for a column of levels.
    missing
        The indicator of a missing value.
    levels
        The indicator of each level.
    """

    column: InputColumn
    quantity: str | None
    missing: str
    levels: dict[Level, str] = field(default_factory=dict)

    def read(self, raw: RawColumn) -> dict[str, Floats]:
        """Return the values of the symbols; where a quantity is missing it is 0, and not looked at."""
        codes = self.column.missing_codes
        if self.quantity is not None:
            values = np.asarray(raw.numbers(), dtype=np.float64)
            missing = is_missing(values, codes)
            return {self.quantity: np.where(missing, 0.0, values), self.missing: missing.astype(np.float64)}
        found, _ = level_codes(raw, tuple(self.levels), codes)
        indicators = {name: found == place for place, name in enumerate(self.levels.values())}
        indicators[self.missing] = found == MISSING
        return {name: flags.astype(np.float64) for name, flags in indicators.items()}


def symbols_of_program(program: Program) -> tuple[ColumnSymbols, ...]:
    """Return the symbols of every input column, all of them different.

    Examples
    --------
    >>> from ecsel import Signomial
    >>> from ecsel.export.lowering import lower
    >>> [(each.quantity, each.missing) for each in symbols_of_program(lower(Signomial.parse("3*x**2/y")))]
    [('x', 'x=?'), ('y', 'y=?')]
    """
    taken = {column.name for column in program.inputs if column.levels is None}

    def free(name: str) -> str:
        while name in taken:
            name += "_"
        taken.add(name)
        return name

    return tuple(
        ColumnSymbols(
            column,
            column.name if column.levels is None else None,
            free(f"{column.name}=?"),
            {level: free(f"{column.name}={level}") for level in column.levels or ()},
        )
        for column in program.inputs
    )
