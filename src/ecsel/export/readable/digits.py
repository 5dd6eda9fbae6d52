"""How many digits a formula needs: the fewest with which its predictions stay within a stated tolerance.

Fractions and multiples of π are names rather than decimals, and are never rounded in a law.
"""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

import numpy as np

from ecsel.discovery.numbers import name_number
from ecsel.export.readable.raw_rows import symbols_of
from ecsel.export.readable.raw_units import formula_of
from ecsel.signomial import ScoreTerms, Signomial, Term, scores
from ecsel.tables import CategoricalColumn, NumericColumn, OrdinalColumn
from ecsel.tables.reading import RawTable

if TYPE_CHECKING:
    from collections.abc import Callable

    from ecsel._typing import Floats
    from ecsel.explain.view import ModelView
    from ecsel.export.readable.formula import Formula
    from ecsel.tables import TableEncoder

Digits: TypeAlias = int | Literal["auto"] | None

ROWS = 512
EXACT_DIGITS = 17
"""So many significant digits tell every double from all others."""


def readable_formula(view: ModelView, encoder: TableEncoder, digits: Digits, tolerance: float, X: Any) -> Formula:
    """Return the formula of the paper's model with rounded numbers.

    Parameters
    ----------
    view, encoder
        The model, and its encoder.
    digits
        How many significant digits numbers have; None keeps them all; ``"auto"`` is the fewest that are enough.
    tolerance
        What ``"auto"`` allows: the largest change of a probability, or of a prediction relative to the root mean square
        of all predictions.
    X
        Rows on which that is measured, and on which the importance of columns is; None for rows spread over the
        training ranges.
    """
    check_digits(digits)
    formula = formula_of(view, encoder, None if X is None else view.rows(X, warn=False))

    def rounded(digits: int) -> Formula:
        return formula.rounded(lambda value: float(f"{value:.{digits}g}"))

    if digits is None:
        return formula
    if digits == "auto":
        table = training_table(view) if X is None else X
        digits = fewest_digits(
            view, lambda n: (short := rounded(n)).evaluate(symbols_of(view, encoder, short, table)), tolerance
        )
    return rounded(digits)


def readable_equations(view: ModelView, digits: Digits, tolerance: float, X: Any) -> tuple[Signomial, ...]:
    """Return the equations of any other model with rounded numbers; see `readable_formula`.

    Exact exponents and shifts stay as they are.
    """
    check_digits(digits)
    equations = view.terms.to_signomials(view.feature_names)
    if digits is None:
        return equations

    def rounded(digits: int) -> tuple[Signomial, ...]:
        return tuple(_rounded(each, digits, is_law=not view.has_classes) for each in equations)

    if digits == "auto":
        rows = view.cell_rows(training_table(view)) if X is None else view.rows(X, warn=False)

        def scores_at(digits: int) -> Floats:
            return scores(ScoreTerms.from_signomials(rounded(digits), view.feature_names), rows)

        digits = fewest_digits(view, scores_at, tolerance)
    return rounded(digits)


def check_digits(digits: Digits) -> None:
    """Refuse a number of digits that makes no sense."""
    if not (digits is None or digits == "auto" or (isinstance(digits, int) and 1 <= digits <= EXACT_DIGITS)):
        raise ValueError(f"digits must be None, 'auto' or an integer from 1 to {EXACT_DIGITS}, not {digits!r}")


def check_complete(digits: Digits, X: Any) -> None:
    """Refuse options that a complete export has no use for."""
    if digits is not None or X is not None:
        raise ValueError("complete=True keeps all digits and reads no rows: leave out digits and X")


def fewest_digits(view: ModelView, scores_at: Callable[[int], Floats], tolerance: float) -> int:
    """Return the smallest number of digits with which no prediction changes by more than the tolerance.

    `scores_at` returns the scores of some rows from so many digits.
    """
    if not tolerance > 0:
        raise ValueError(f"tolerance must be positive, not {tolerance!r}")
    with np.errstate(all="ignore"):
        exact = view.outputs_of(scores_at(EXACT_DIGITS))
        allowed = tolerance * (1.0 if view.has_classes else float(np.sqrt(np.mean(exact**2))))
        for digits in range(1, EXACT_DIGITS):
            if np.abs(view.outputs_of(scores_at(digits)) - exact).max() <= allowed:
                return digits
    return EXACT_DIGITS


def _rounded(equation: Signomial, digits: int, *, is_law: bool) -> Signomial:
    def short(value: float) -> float:
        return value if is_law and exact_name(value) else float(f"{value:.{digits}g}")

    return Signomial(
        Term.from_factors(
            short(term.coefficient),
            [f if isinstance(f.exponent, Fraction) else f._replace(exponent=short(f.exponent)) for f in term.factors],
        )
        for term in equation.terms
    )


def exact_name(value: float) -> tuple[Fraction, int] | None:
    """Return (r, e) where a value is r·π^e exactly and a decimal would not say so; None for other values.

    Examples
    --------
    >>> import math
    >>> exact_name(2 * math.pi), exact_name(1 / 3), exact_name(0.25), exact_name(0.1234)
    ((Fraction(2, 1), 1), (Fraction(1, 3), 0), None, None)
    """
    name = name_number(value) if value else None
    if name is None or (name[1] == 0 and float(f"{value:.4g}") == value):
        return None
    return name


def training_table(view: ModelView) -> RawTable:
    """Return rows that are spread over the training ranges and levels, with missing values where training had some."""
    if view.encoder is None:
        raise ValueError("the model does not remember its training rows: give X to find the digits, or their number")
    rng = np.random.default_rng(0)
    cells = np.empty((ROWS, len(view.raw_names)), dtype=object)
    for j, column in enumerate(view.encoder.columns):
        if isinstance(column, NumericColumn):
            values = rng.uniform(column.low, column.high, ROWS)
            # the square of a share leaves more rows where logarithms change fast
            values[::2] = column.low + (column.high - column.low) * rng.random(ROWS // 2) ** 2
            cells[:, j] = np.rint(values) if column.dtype == "integer" else values
        elif isinstance(column, (CategoricalColumn, OrdinalColumn)):
            cells[:, j] = [column.levels[place] for place in rng.integers(0, len(column.levels), ROWS)]
        if getattr(column, "has_missing", False):
            cells[rng.random(ROWS) < 0.1, j] = None
    return RawTable.of_cells(cells)
