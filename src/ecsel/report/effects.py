"""What each column does: its effect on the score over the range of training, all other columns as in one row.

    f_j(v) = z(x with x_j = v) − z(x with x_j typical)

The typical value is the median, or the most frequent level. Where no piece multiplies two columns the curve does not
depend on the row. Scores of several classes matter only against each other, so their mean over the classes is taken
off. Ticks below a curve (the rug) are rows of training. Of readable classes the band is f_j(v) ± 1.96 standard errors
(delta method, the pieces taken as given), or where bootstrap draws repeat the whole search, the middle 95 % of their
effects, which also counts that the pieces were chosen. It has no width at the typical value, where f_j is 0.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from ecsel.explain.frames import repeat_row, table_with
from ecsel.report.curves import MAX_CURVES, legend_of
from ecsel.report.html import Html, element
from ecsel.report.svg import BOTTOM, Frame, padded, signed_bar
from ecsel.report.wording import number, value_text
from ecsel.signomial.text import format_name
from ecsel.tables.levels import level_codes

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ecsel.estimators.piece_stability import PieceStability
    from ecsel.report.evidence import Evidence

    Floats = NDArray[np.float64]

STEPS = 200
"""Points of a curve: one for every two units of its picture."""
MAX_COLUMNS = 12
MAX_DISTINCT = 12
"""A column with no more different values is drawn as dots: there is nothing between them."""
MAX_NAMED = 5
"""So many different values are each named below a chart."""
MAX_LEVELS = 12
"""Lines of a column of levels, those of the most frequent ones."""
MAX_TICKS = 300
"""Ticks of the rug below a curve."""
DODGE = 0.035
"""The share of the range by which dots of neighbouring classes stand apart."""
QUANTILE, TAILS = 1.96, (0.025, 0.975)
"""95 %: standard errors on either side of a normal distribution, and shares of bootstrap draws."""


@dataclass(frozen=True, slots=True)
class LevelEffect:
    """The effect of one level, or of a missing value, on each score that is shown."""

    level: str
    effects: tuple[tuple[str, Html], ...]
    """Text and bar."""


@dataclass(frozen=True, slots=True)
class ColumnEffect:
    """The effect of one column: a chart for numbers, a line for each level otherwise."""

    name: str
    chart: Html | None
    levels: tuple[LevelEffect, ...]
    typical: str


@dataclass(frozen=True, slots=True)
class Effects:
    """The section on columns."""

    columns: tuple[ColumnEffect, ...]
    labels: tuple[str, ...]
    """The scores that are shown."""
    legend: Html | None
    other_columns: str
    """The row that the other columns are taken from; empty where it makes no difference."""
    n_left_out: int
    has_bands: bool
    n_draws: int
    """Bootstrap draws that the bands rest on; 0 where they are standard errors."""


@dataclass(frozen=True, slots=True)
class Around:
    """The row around which columns are varied, and bootstrap draws of the search if there are any."""

    evidence: Evidence
    start: int
    draws: PieceStability | None = None

    def scores(self, j: int, values: NDArray[Any]) -> Floats:
        """Return the scores (values, scores) of the row with other values of one column, relative to their mean."""
        view = self.evidence.view
        return _contrast(view.scores_of(view.rows(self._along(j, values), warn=False)))

    def ends(self, j: int, values: NDArray[Any], typical: NDArray[Any], effects: Floats) -> Floats | None:
        """Return between which ends the effects (values, scores) lie, 95 %, where rows determine all of them.

        `typical` is an array of one value.
        """
        rows, reference = self._along(j, values), self._along(j, typical)
        if self.draws is not None:
            drawn = _contrast(self.draws.scores(rows)) - _contrast(self.draws.scores(reference))
            return np.asarray(np.quantile(drawn, TAILS, axis=0))
        errors = self.evidence.standard_errors
        if errors is None:
            return None
        reach: Floats = QUANTILE * errors.score_changes(rows, reference)
        return effects + np.array([-1, 1])[:, None, None] * reach if np.isfinite(reach).all() else None

    def _along(self, j: int, values: NDArray[Any]) -> Any:
        """Return the row as a table with other values of one column."""
        row = self.evidence.evaluated.take(np.array([self.start]))
        return table_with(repeat_row(row, len(values)), {j: values})


def _contrast(scores: Floats) -> Floats:
    return scores - scores.mean(axis=-1, keepdims=True) if scores.shape[-1] > 1 else scores


def effects(evidence: Evidence, ranking: tuple[int, ...], start: int, draws: PieceStability | None = None) -> Effects:
    """Return the effects of the most important columns around a row."""
    view = evidence.view
    chosen = ranking[:MAX_COLUMNS]
    labels = view.score_classes[:MAX_CURVES]
    columns = tuple(_effect(Around(evidence, start, draws), j, len(labels)) for j in chosen)
    together = bool((view.terms.uses @ view.grouping > 0).sum(axis=1).max(initial=0) > 1)
    other_columns = (
        f"row {format_name(evidence.evaluated.labels[start])} of the {evidence.evaluated_name}" if together else ""
    )
    names = tuple(format_name(label) for label in labels) if view.has_classes else (format_name(evidence.target),)
    return Effects(
        columns,
        names,
        legend_of(names),
        other_columns,
        len(ranking) - len(chosen),
        draws is not None or evidence.standard_errors is not None,
        0 if draws is None else len(draws.draws),
    )


def _effect(around: Around, j: int, n_scores: int) -> ColumnEffect:
    evidence = around.evidence
    if (levels := evidence.view.levels(j)) is not None:
        return _of_levels(around, j, levels, n_scores)
    values = evidence.training.numbers(j)
    present = values[~np.isnan(values)]
    typical = float(np.quantile(present, 0.5, method="lower"))
    distinct = np.unique(present)
    few = len(distinct) <= MAX_DISTINCT
    column = evidence.view.numeric_column(j)
    low, high = (float(distinct[0]), float(distinct[-1])) if column is None else (column.low, column.high)
    grid = distinct if few else np.linspace(low, high, STEPS + 1)
    found = around.scores(j, np.append(grid, typical))
    known = around.ends(j, grid, np.array([typical]), found[:-1] - found[-1])
    curves = (found[:-1] - found[-1])[:, :n_scores]
    ends = np.stack([curves, curves]) if known is None else known[..., :n_scores]
    edge = 0.02 if n_scores == 1 else 0.02 + DODGE * n_scores / 2
    frame = Frame(padded(np.array([low, high]), edge), padded(np.append(ends.ravel(), 0.0), 0.08), height=240)
    name = format_name(evidence.view.raw_names[j])
    unit = "effect on the log-odds" if evidence.view.link.has_reference else "effect on the score"
    unit = unit if evidence.view.has_classes else f"effect on {format_name(evidence.target)}"
    lines = [frame.line(np.array(frame.x), np.zeros(2), "reference")]
    # dots of several classes stand side by side: those of classes that do the same would hide each other
    beside = (np.arange(n_scores) - (n_scores - 1) / 2) * (DODGE * (high - low) if few else 0.0)
    if known is not None:
        draw_band = _whiskers if few else _area
        lines += [draw_band(frame, grid + beside[c], ends[:, :, c], f"c{c}") for c in range(n_scores)]
    for c in range(n_scores):
        at, curve = grid + beside[c], curves[:, c]
        lines.append(frame.dots(at, curve, f"c{c}", radius=3.5) if few else frame.line(at, curve, f"c{c}"))
    title = f"Effect of {name} over its training range; 0 at the median {number(typical)}"
    ticks = grid.tolist() if len(distinct) <= MAX_NAMED else None
    chart = frame.figure(title, frame.axes(_short(name), unit, ticks), *lines, _rug(frame, present))
    return ColumnEffect(name, chart, _missing_line(around, j, typical, n_scores), number(typical))


def _area(frame: Frame, grid: Floats, ends: Floats, class_: str) -> Html:
    x = frame.across(np.append(grid, grid[::-1])).tolist()
    y = frame.up(np.append(ends[0], ends[1][::-1])).tolist()
    points = " ".join(f"{a:.1f},{b:.1f}" for a, b in zip(x, y, strict=True))
    return element("polygon", points=points, class_=f"band {class_}")


def _whiskers(frame: Frame, grid: Floats, ends: Floats, class_: str) -> Html:
    x, low, high = (each.tolist() for each in (frame.across(grid), frame.up(ends[0]), frame.up(ends[1])))
    path = "".join(f"M{a:.1f} {b:.1f}V{c:.1f}" for a, b, c in zip(x, low, high, strict=True))
    return element("path", d=path, class_=f"whisker {class_}")


def _rug(frame: Frame, values: Floats) -> Html:
    """Return ticks at the bottom, one for a row of training or, of many rows, for an even choice of them."""
    ordered = np.sort(values)
    if len(ordered) > MAX_TICKS:
        ordered = ordered[np.linspace(0, len(ordered) - 1, MAX_TICKS).round().astype(np.intp)]
    bottom = frame.height - BOTTOM
    path = "".join(f"M{x:.1f} {bottom:.1f}v-6" for x in dict.fromkeys(frame.across(ordered).round(1).tolist()))
    return element("path", d=path, class_="rug")


def _of_levels(around: Around, j: int, levels: tuple[Any, ...], n_scores: int) -> ColumnEffect:
    evidence = around.evidence
    encoder = evidence.view.encoder
    codes = () if encoder is None else getattr(encoder.columns[j], "missing_codes", ())
    counts = np.bincount(level_codes(evidence.training.columns[j], levels, codes).codes + 2, minlength=len(levels) + 2)
    order = np.argsort(-counts[2:], kind="stable")[:MAX_LEVELS].tolist()
    cells = np.empty(len(order), dtype=object)
    cells[:] = [levels[k] for k in order]
    found = around.scores(j, cells)
    found = found - found[0]
    typical = format_name(levels[order[0]])
    names = [format_name(levels[k]) for k in order]
    lines = _lines(names, found, around.ends(j, cells, cells[:1], found), n_scores)
    return ColumnEffect(
        format_name(evidence.view.raw_names[j]),
        None,
        lines + _missing_line(around, j, cells[0], n_scores),
        typical,
    )


def _missing_line(around: Around, j: int, typical: Any, n_scores: int) -> tuple[LevelEffect, ...]:
    """Return the effect of a missing value, where the model has a rule for it."""
    evidence = around.evidence
    encoder = evidence.view.encoder
    if encoder is None or not getattr(encoder.columns[j], "has_missing", False):
        return ()
    is_level = evidence.view.levels(j) is not None
    cells: NDArray[Any] = np.array([typical, None if is_level else np.nan], dtype=object if is_level else np.float64)
    found = around.scores(j, cells)
    found = found[1:] - found[0]
    return _lines(["missing"], found, around.ends(j, cells[1:], cells[:1], found), n_scores)


def _lines(names: list[str], found: Floats, ends: Floats | None, n_scores: int) -> tuple[LevelEffect, ...]:
    """Return a line for each level (levels, scores), with 95 % intervals where they are known."""
    found = found[:, :n_scores]
    low, high = (found, found) if ends is None else ends[..., :n_scores]
    largest = float(np.abs(found).max()) or 1.0
    return tuple(
        LevelEffect(
            name,
            tuple((_signed(v, a, b), signed_bar(v / largest)) for v, a, b in zip(*each, strict=True)),
        )
        for name, *each in zip(names, found.tolist(), low.tolist(), high.tolist(), strict=True)
    )


def _signed(value: float, low: float, high: float) -> str:
    """Return an effect with its interval: ± where it lies in the middle, as of standard errors, else both ends."""
    text = f"{'+' if value > 0 else ''}{value_text(round(value, 3) + 0.0)}"
    if high <= low:
        return text
    if abs(high + low - 2 * value) <= 1e-9 * (high - low):
        return f"{text} ± {number((high - low) / 2, 2)}"
    return f"{text} ({number(low, 2)} to {number(high, 2)})"


def _short(name: str, width: int = 44) -> str:
    return name if len(name) <= width else name[: width - 1] + "…"
