"""What happened to rows that do not look like the training rows: counted while encoding, reported once per call."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal, TypeAlias, get_args

if TYPE_CHECKING:
    from ecsel.tables.features import Level

OutOfRange: TypeAlias = Literal["clip", "extrapolate", "error"]
OUT_OF_RANGE: tuple[str, ...] = get_args(OutOfRange)


@dataclass(frozen=True, slots=True)
class ColumnReport:
    """The counts of one raw column.

    Examples
    --------
    >>> (ColumnReport("age", n_above=2) + ColumnReport("age", n_above=1)).n_above
    3
    """

    column: str
    low: float | None = None
    high: float | None = None
    n_below: int = 0
    n_above: int = 0
    n_unknown: int = 0
    unknown: tuple[Level, ...] = ()

    def __add__(self, other: ColumnReport) -> ColumnReport:
        """Add the counts of two blocks of rows of the same column."""
        return ColumnReport(
            self.column,
            self.low,
            self.high,
            self.n_below + other.n_below,
            self.n_above + other.n_above,
            self.n_unknown + other.n_unknown,
            self.unknown or other.unknown,
        )


@dataclass(frozen=True, slots=True)
class TransformReport:
    """How many rows of a table lie outside the training range or have levels that training never saw.

    Positive features are clipped below only, raw ones on both sides (`clips_above`).

    Examples
    --------
    >>> print(TransformReport(200, "clip", (ColumnReport("income", 12.0, 90.0, n_below=3),)))
    3 of 200 rows lie below the training minimum of 'income' (12.0); they were set to it.
    """

    n_rows: int
    out_of_range: OutOfRange
    columns: tuple[ColumnReport, ...] = field(default=())
    clips_above: bool = False

    def __bool__(self) -> bool:
        return any(column.n_below or column.n_above or column.n_unknown for column in self.columns)

    def __str__(self) -> str:
        return "\n".join(sentence for column in self.columns for sentence in self._sentences(column))

    def _sentences(self, column: ColumnReport) -> list[str]:
        clipped, beyond = "they were set to it.", "the equation extrapolates there."
        sentences = []
        if column.n_below:
            outcome = clipped if self.out_of_range == "clip" else beyond
            where = f"below the training minimum of {column.column!r} ({column.low})"
            sentences.append(f"{column.n_below} of {self.n_rows} rows lie {where}; {outcome}")
        if column.n_above:
            where = f"above the training maximum of {column.column!r} ({column.high})"
            outcome = clipped if self.out_of_range == "clip" and self.clips_above else beyond
            sentences.append(f"{column.n_above} of {self.n_rows} rows lie {where}; {outcome}")
        if column.n_unknown:
            examples = ", ".join(map(repr, column.unknown))
            sentences.append(
                f"{column.n_unknown} of {self.n_rows} rows have a level of {column.column!r} that training never saw "
                f"({examples}); it contributes nothing."
            )
        return sentences
