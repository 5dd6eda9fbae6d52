"""The front of size against held-out error: what more factors would bring, and what fewer would cost.

Sizes are compared by the errors by which the size was chosen. These are the held-out ones, smoothed over the sizes:
what a held-out error does from one size to the next is mostly luck of the folds.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import isfinite, sqrt
from typing import TYPE_CHECKING, Any

from ecsel.estimators.summary import held_out_name
from ecsel.signomial.text import counted

if TYPE_CHECKING:
    from collections.abc import Iterable

    from ecsel.signomial import Signomial


@dataclass(frozen=True, slots=True)
class FrontPoint:
    """One candidate of a search: its error is the log-loss of classes, of numbers the root mean squared error."""

    n_factors: int
    error: float
    standard_error: float
    text: str
    """The error as it is printed."""
    equations: tuple[Signomial, ...]
    is_chosen: bool
    smoothed: float = float("nan")
    """The error by which the size was chosen; NaN where `error` itself decided."""
    smoothed_text: str = ""

    @property
    def compared(self) -> str:
        """The error by which this size is compared with others, as it is printed."""
        return self.smoothed_text or self.text


@dataclass(frozen=True, slots=True)
class Front:
    """The candidates that the folds have measured, smallest first, and whether a limit of factors cut them short."""

    points: tuple[FrontPoint, ...]
    measure: str
    limit: int | None
    """`max_factors`, where the best candidate reaches it."""
    where: str = "held-out folds"
    """What the errors were measured on."""

    @classmethod
    def of(cls, model: Any) -> Front:
        """Return the front of a model; it has no points where no folds have chosen a size."""
        classes = hasattr(model, "equations_")
        size = n_factors(model.equations_.values() if classes else (model.equation_,))
        measured = [each for each in model.path_ if isfinite(getattr(each, "loss", float("nan")))]
        points = tuple(_point(each, each.size == size, classes=classes) for each in measured)
        measure = "log-loss" if classes else "root mean squared error"
        if not points:
            return cls((), measure, None)
        best = min(points, key=lambda point: point.error)
        widest = max(equation.n_factors for equation in best.equations)
        limit = model.max_factors if widest >= model.max_factors else None
        return cls(points, measure, limit, held_out_name(model))

    @property
    def chosen(self) -> FrontPoint | None:
        """The candidate that is the model."""
        return next((point for point in self.points if point.is_chosen), None)

    @property
    def larger(self) -> FrontPoint | None:
        """The best of the larger candidates, where it is better than the chosen one: what cannot be seen is no gain."""
        chosen = self.chosen
        more = [p for p in self.points if chosen and p.n_factors > chosen.n_factors]
        better = [p for p in more if chosen and float(p.compared) < float(chosen.compared)]
        return min(better, key=lambda point: float(point.compared), default=None)

    @property
    def smaller(self) -> FrontPoint | None:
        """The best candidate of at most half the factors, or of fewer at all where one has the smaller error."""
        chosen = self.chosen
        fewer = [p for p in self.points if chosen and 0 < p.n_factors < chosen.n_factors]
        half = [p for p in fewer if chosen and p.n_factors <= chosen.n_factors // 2]
        better = [p for p in fewer if chosen and float(p.compared) < float(chosen.compared)]
        return min(better or half, key=lambda point: float(point.compared), default=None)

    def sentence(self, *, other_sizes: bool = True) -> str:
        """Return the front in one line, empty where there is none; `other_sizes` names the options that choose them."""
        if (chosen := self.chosen) is None:
            return ""
        parts = [f"{factors(chosen.n_factors)}: {self.measure} {chosen.text} on {self.where}"]
        others = [point for point in (self.smaller, self.larger) if point is not None]
        if others and chosen.smoothed_text:
            parts.append(f"smoothed over the sizes, by which the size is chosen, {chosen.smoothed_text}")
        parts += [
            f"{factors(point.n_factors)} would give {point.compared} (--select {point.n_factors})" for point in others
        ]
        if self.limit is not None:
            parts.append(f"--max-factors {2 * self.limit} would try larger ones")
        return "; ".join(parts if other_sizes else parts[:1])


def _point(candidate: Any, is_chosen: bool, *, classes: bool) -> FrontPoint:
    expected = candidate.smoothed_loss
    if classes:
        error, standard_error, text = candidate.loss, candidate.loss_se, f"{candidate.loss:.3f}"
        smoothed, smoothed_text = expected, f"{expected:.3f}"
    else:
        error, smoothed = sqrt(candidate.loss), sqrt(max(expected, 0.0)) if isfinite(expected) else expected
        standard_error, text = candidate.loss_se / (2 * error) if error else 0.0, f"{error:.4g}"
        smoothed_text = f"{smoothed:.4g}"
    known = smoothed_text if isfinite(smoothed) else ""
    return FrontPoint(candidate.size, error, standard_error, text, candidate.equations, is_chosen, smoothed, known)


def n_factors(equations: Iterable[Signomial]) -> int:
    """Return the factors of some equations together."""
    return sum(equation.n_factors for equation in equations)


def factors(n: int) -> str:
    """Return a number of factors in words.

    >>> factors(1), factors(7)
    ('1 factor', '7 factors')
    """
    return counted(n, "factor")
