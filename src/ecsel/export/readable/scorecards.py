"""`ecsel.scorecard`: a classifier as points that add up, as lenders have used them since the 1950s.

With two classes the score z is the logarithm of the odds of the second class. For the class that points speak for,
s = 1 if it is the second and −1 if it is the first, and f = pdo/log 2,

    points P = base + f·(s·z − log base_odds) = offset + Σ_k f·s·z_k,      odds = base_odds·2^((P − base)/pdo)

so that a piece z_k of the equation is worth f·s·z_k points, and `pdo` points more double the odds. With a score for
each class, P_c = base + f·z_c, and the odds of class a against class b are 2^((P_a − P_b)/pdo).

Exact points (``decimals=None``) give the model's probability. Rounded ones are a model of their own: the coefficient of
a piece has so many digits as are printed, the points of a piece are ⌊10^d·points + 1/2⌋/10^d, and the probability is
that of the sum of these. What is printed is what is computed in both cases.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from ecsel.explain.optional import import_optional
from ecsel.explain.view import ModelView
from ecsel.export.readable.description import describe_inputs
from ecsel.export.readable.scorecard_lines import CardLine, card_lines
from ecsel.signomial import term_values
from ecsel.signomial.properties import probabilities
from ecsel.signomial.text import print_shift

if TYPE_CHECKING:
    import os
    from collections.abc import Mapping, Sequence

    from sqlglot import exp

    from ecsel._typing import Floats

MULTIPLIER_DIGITS = 5
"""Digits of a rounded card's coefficients, beside those of `decimals`: within 0.05 points of 1000."""


@dataclass(frozen=True, eq=False, repr=False)
class Scorecard:
    """Points of a classifier; made by `ecsel.scorecard`, which describes the options.

    Attributes
    ----------
    view
        The model.
    pdo, base, base_odds
        How many points double the odds, and how many stand for which odds.
    toward
        The class that more points speak for; None where every class has points of its own.
    decimals
        Digits behind the point that points are rounded to; None where they are exact.
    """

    view: ModelView
    pdo: float
    base: float
    base_odds: float
    toward: Any
    decimals: int | None

    @property
    def labels(self) -> tuple[Any, ...]:
        """The classes that have points: the one in `toward`, or all of them."""
        return self.view.classes if self.toward is None else (self.toward,)

    @property
    def direction(self) -> float:
        """−1 where points speak for the first of two classes, whose odds fall with the score."""
        return -1.0 if self.toward is not None and self.toward == self.view.classes[0] else 1.0

    @property
    def factor(self) -> float:
        """Points for one unit of the score."""
        return self.direction * self.pdo / math.log(2.0)

    @property
    def is_constant(self) -> tuple[bool, ...]:
        """For each term whether it is a constant."""
        return tuple(not factors for factors in self.view.factors)

    @property
    def offsets(self) -> tuple[float, ...]:
        """The points that every row has, for each class that has points."""
        terms = self.view.terms
        constants = np.zeros(terms.n_classes)
        np.add.at(constants, terms.classes, np.where(self.is_constant, terms.coefficients, 0.0))
        exact = self.base + self.factor * constants - math.log(self.base_odds) * abs(self.factor)
        return tuple(self._rounded(exact).tolist())

    @property
    def coefficients(self) -> tuple[float, ...]:
        """The points of each term for one unit of what is printed beside them; those of constants are in `offsets`."""
        exact = (self.factor * self.view.terms.coefficients).tolist()
        if self.decimals is None:
            return tuple(exact)
        switches = set(self.view.indicators.tolist())
        fixed = [all(each.feature in switches for each in placed) for placed in self.view.terms.factors]
        spec = f".{MULTIPLIER_DIGITS + self.decimals}g"
        return tuple(
            float(self._rounded(np.array(each))) if is_fixed else float(format(each, spec))
            for each, is_fixed in zip(exact, fixed, strict=True)
        )

    @property
    def lines(self) -> tuple[CardLine, ...]:
        """The table: what every row has, then what each piece and each level is worth."""
        return tuple(card_lines(self.view, self.labels, self.offsets, self.coefficients))

    @property
    def cutoff(self) -> float | None:
        """The points at which the decision between two classes turns; None where every class has points.

        Sums of rounded points are compared with a limit that is rounded too, in the direction that changes no decision.
        """
        if self.toward is None or self.view.threshold is None:
            return None
        t = self.view.threshold
        if not 0 < t < 1:
            return math.copysign(math.inf, (t - 0.5) * self.direction)
        log_odds = self.direction * math.log(t / (1 - t))
        limit = self.base + abs(self.factor) * (log_odds - math.log(self.base_odds))
        if self.decimals is None:
            return limit
        # where the limit is on the grid already, it may be off by the last bit
        steps = round(limit * 10.0**self.decimals, 9)
        return round((math.ceil if self.direction > 0 else math.floor)(steps) / 10.0**self.decimals, self.decimals)

    def piece_points(self, X: Any) -> Floats:
        """Return the points (rows, pieces) of each piece, in the order of the table; constants are no pieces."""
        values = term_values(self.view.terms, self.view.rows(X))
        keep = ~np.array(self.is_constant, dtype=bool)
        scale = np.asarray(self.coefficients)[keep] / self.view.terms.coefficients[keep]
        return self._rounded(values[:, keep] * scale)

    def points(self, X: Any) -> Floats:
        """Return the points of each row: (rows,), or (rows, classes) where every class has its own."""
        pieces = self.piece_points(X)
        classes = self.view.terms.classes[~np.array(self.is_constant, dtype=bool)]
        total = np.empty((len(pieces), len(self.offsets)))
        for c, offset in enumerate(self.offsets):
            total[:, c] = offset + pieces[:, classes == c].sum(axis=1)
        return total if self.toward is None else total[:, 0]

    def predict_proba(self, X: Any) -> Floats:
        """Return the probabilities (rows, classes) that the points stand for."""
        total = self.points(X)
        per_point = math.log(2.0) / self.pdo
        if self.toward is None:
            return probabilities((total - self.base) * per_point, "softmax")
        log_odds = self.direction * (math.log(self.base_odds) + (total - self.base) * per_point)
        return probabilities(log_odds[:, None], "sigmoid")

    def max_difference(self, X: Any) -> float:
        """Return the largest difference between the card's and the model's probabilities on rows."""
        return float(np.abs(self.predict_proba(X) - self.view.probabilities(X)).max())

    def to_frame(self) -> Any:
        """Return the table as a pandas data frame."""
        pandas = import_optional("pandas", "to_frame() of a scorecard")
        names = ("label", "column", "attribute", "points", "times")
        return pandas.DataFrame([{name: getattr(line, name) for name in names} for line in self.lines])

    def to_sql(self, dialect: str = "duckdb", table: str | exp.Expr = "t", *, keep: Sequence[str] = ()) -> str:
        """Return a query that gives the points of every row of a table; see `ecsel.export.to_sql` for the options.

        The result has the columns in `keep`, ``label`` and ``probability_<class>`` as the points give them, then
        ``base_points``, ``points_<piece>`` for each piece and ``points_total``, with the class before the piece where
        every class has points of its own.
        """
        from ecsel.export.readable.scorecard_program import card_program  # noqa: PLC0415 - only for programs
        from ecsel.export.targets.sql.scoring import check_sql_options, query_of  # noqa: PLC0415

        check_sql_options(dialect, keep)
        return query_of(card_program(self), dialect, table, keep)

    def to_excel(self, path: str | os.PathLike[str], *, rows: int | Sequence[Mapping[str, Any]] = 20) -> None:
        """Write the card as a workbook: the table, and live formulas that add the points of typed rows."""
        from ecsel.export.readable.scorecard_program import card_program  # noqa: PLC0415
        from ecsel.export.targets.excel import workbook_of  # noqa: PLC0415 - only for workbooks

        book = workbook_of(self.view, card_program(self), rows)
        _add_sheet(book, self)
        book.save(path)

    def __repr__(self) -> str:
        how = "exact points" if self.decimals is None else f"points rounded to {self.decimals} decimals"
        return f"Scorecard({len(self.lines)} lines, {how}; print() shows it)"

    def __str__(self) -> str:
        lines = []
        for label in self.labels:
            own = [(line, print_shift(line.points)) for line in self.lines if line.label == label]
            width = max(len(number) for _, number in own)
            lines += [f"points for {label!r}"]
            lines += [f"  {number:>{width}}  {line.says}" for line, number in own]
            lines += [""]
        lines += self.rules()
        encoder = self.view.encoder
        if encoder is not None and encoder.is_raw:
            lines += ["", *describe_inputs(self.view, encoder)]
        return "\n".join(lines)

    def rules(self) -> list[str]:
        """Return what is to be done with points, in words."""
        pdo, base, odds = (print_shift(float(value)) for value in (self.pdo, self.base, self.base_odds))
        lines = []
        if self.decimals is not None:
            unit = print_shift(10.0**-self.decimals)
            lines.append(f"the points of each piece are rounded to the nearest {unit}, halves upwards, then added")
        if self.toward is None:
            lines += [
                f"{pdo} points more than another class double the odds against it",
                f"P(class) = 2**(points/{pdo}), divided by the sum of this over the classes",
            ]
            return lines
        times = "" if self.base_odds == 1 else f"{odds} * "
        lines += [
            f"odds of {self.toward!r} = {times}2**((points - {base})/{pdo}): {pdo} points more double them",
            f"P({self.toward!r}) = odds/(1 + odds)",
        ]
        if self.cutoff is not None:
            first, second = self.view.classes
            sign = ">=" if self.direction > 0 else "<="
            lines.append(f"the label is {second!r} where points {sign} {print_shift(self.cutoff)}, else {first!r}")
        return lines

    def _rounded(self, points: Floats) -> Floats:
        if self.decimals is None:
            return points
        unit = 10.0**self.decimals
        rounded: Floats = np.floor(points * unit + 0.5) / unit
        return rounded


def scorecard(
    model: Any,
    *,
    pdo: float = 20.0,
    base: float = 600.0,
    base_odds: float = 1.0,
    toward: Any = None,
    decimals: int | None = None,
) -> Scorecard:
    """Return a classifier as a scorecard: points for every piece and level, which add up to its probability.

    Parameters
    ----------
    model : ECSELClassifier or ModelView
        The model.
    pdo : float, default=20
        Points that double the odds.
    base, base_odds : float, default=600 and 1
        So many points stand for these odds, so that ``base=600, base_odds=50`` makes 600 points 50 to 1. Where every
        class has points of its own, only differences between them count, and `base_odds` must be 1.
    toward : optional
        With two classes, the one that more points speak for, such as ``"repaid"``; by default the second. With more
        classes each has points of its own.
    decimals : int, optional
        Round the points of each piece to so many decimals, such as 0 for whole points. By default points are exact, and
        the probabilities those of the model; `Scorecard.max_difference` says how far rounding moves them.

    Examples
    --------
    >>> from ecsel import Signomial
    >>> from ecsel.explain import ModelView
    >>> view = ModelView.of_equations({"no": Signomial.parse("1"), "yes": Signomial.parse("0.5*log(x)")}, ["x"])
    >>> card = scorecard(view, decimals=0)
    >>> print(card)
    points for 'no'
      629  every row
    <BLANKLINE>
    points for 'yes'
         600  every row
      14.427  times log(x)
    <BLANKLINE>
    the points of each piece are rounded to the nearest 1, halves upwards, then added
    20 points more than another class double the odds against it
    P(class) = 2**(points/20), divided by the sum of this over the classes
    >>> card.points([[50.0]])
    array([[629., 656.]])
    """
    view = ModelView.of(model)
    if not view.has_classes:
        raise ValueError("a scorecard needs a classifier: a regression has no odds")
    for name, value in (("pdo", pdo), ("base_odds", base_odds)):
        if not (math.isfinite(value) and value > 0):
            raise ValueError(f"{name} must be a positive number, not {value!r}")
    if not math.isfinite(base):
        raise ValueError(f"base must be a finite number, not {base!r}")
    if decimals is not None and not (isinstance(decimals, int) and 0 <= decimals <= 9):
        raise ValueError(f"decimals must be None or a whole number from 0 to 9, not {decimals!r}")
    if view.link.has_reference:
        toward = view.classes[1] if toward is None else view.classes[view.class_position(toward)]
    elif toward is not None:
        raise ValueError("toward is for models with one score: here each class has points of its own")
    elif base_odds != 1:
        raise ValueError("base_odds must be 1 where each class has points of its own: only differences count")
    return Scorecard(view, float(pdo), float(base), float(base_odds), toward, decimals)


def _add_sheet(book: Any, card: Scorecard) -> None:
    """Put the table and the rules of a card before the other sheets."""
    from ecsel.export.targets.excel import put  # noqa: PLC0415 - only for workbooks

    sheet = book.create_sheet("Scorecard", 0)
    for j, heading in enumerate(("class", "column", "value", "points", "times"), start=1):
        put(sheet, 1, j, heading, bold=True)
    lines = card.lines
    for row, line in enumerate(lines, start=2):
        attribute = line.attribute or ("" if line.times else "every row")
        for j, value in enumerate((line.label, line.column, attribute, line.points, line.times), start=1):
            put(sheet, row, j, value)
    for row, text in enumerate(card.rules(), start=len(lines) + 3):
        put(sheet, row, 1, text)
    for letter, width in zip("ABCDE", (12, 24, 24, 22, 40), strict=True):
        sheet.column_dimensions[letter].width = width
    sheet.freeze_panes = "A2"
    book.active = 0
