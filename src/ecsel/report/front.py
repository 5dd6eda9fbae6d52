"""The front of size against held-out loss: what more factors would bring, and what fewer would cost."""

from __future__ import annotations

from dataclasses import dataclass
from math import isfinite
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ecsel.signomial import Signomial


@dataclass(frozen=True, slots=True)
class FrontPoint:
    """One candidate of a search."""

    n_factors: int
    loss: float
    loss_se: float
    equations: tuple[Signomial, ...]
    is_chosen: bool


@dataclass(frozen=True, slots=True)
class Front:
    """The candidates that the folds have measured, smallest first, and whether a limit of factors cut them short."""

    points: tuple[FrontPoint, ...]
    limit: int | None
    """`max_factors`, where the best candidate reaches it."""

    @classmethod
    def of(cls, model: Any) -> Front:
        """Return the front of a classifier; it has no points where no folds have chosen a size."""
        size = n_factors(model.equations_.values())
        points = tuple(
            FrontPoint(each.size, each.loss, each.loss_se, each.equations, each.size == size)
            for each in model.path_
            if isfinite(each.loss)
        )
        if not points:
            return cls((), None)
        best = min(points, key=lambda point: point.loss)
        widest = max(equation.n_factors for equation in best.equations)
        return cls(points, model.max_factors if widest >= model.max_factors else None)

    @property
    def chosen(self) -> FrontPoint | None:
        """The candidate that is the model."""
        return next((point for point in self.points if point.is_chosen), None)

    @property
    def larger(self) -> FrontPoint | None:
        """The best of the larger candidates, where it is better than the chosen one."""
        chosen = self.chosen
        more = [p for p in self.points if chosen and p.n_factors > chosen.n_factors and _shown(p) < _shown(chosen)]
        return min(more, key=lambda point: point.loss, default=None)

    @property
    def smaller(self) -> FrontPoint | None:
        """The best candidate of at most half the factors."""
        chosen = self.chosen
        fewer = [p for p in self.points if chosen and 0 < p.n_factors <= chosen.n_factors // 2]
        return min(fewer, key=lambda point: point.loss, default=None)

    def sentence(self, *, other_sizes: bool = True) -> str:
        """Return the front in one line, empty where there is none; `other_sizes` names the options that choose them."""
        if (chosen := self.chosen) is None:
            return ""
        parts = [f"{factors(chosen.n_factors)}: log-loss {chosen.loss:.3f} on held-out folds"]
        if self.smaller is not None:
            n = self.smaller.n_factors
            parts.append(f"{factors(n)} would have {self.smaller.loss:.3f} (--select {n})")
        if self.larger is not None:
            n = self.larger.n_factors
            parts.append(f"{factors(n)} would bring {self.larger.loss:.3f} (--select {n})")
        if self.limit is not None:
            parts.append(f"--max-factors {2 * self.limit} would look further")
        return "; ".join(parts if other_sizes else parts[:1])


def _shown(point: FrontPoint) -> float:
    """Return the loss as it is printed: what cannot be seen is no gain."""
    return round(point.loss, 3)


def n_factors(equations: Any) -> int:
    """Return the factors of some equations together."""
    return sum(equation.n_factors for equation in equations)


def factors(n: int) -> str:
    """Return a number of factors in words.

    >>> factors(1), factors(7)
    ('1 factor', '7 factors')
    """
    return f"{n} factor{'' if n == 1 else 's'}"
