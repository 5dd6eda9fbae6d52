"""The section on the equation: typeset, what its pieces mean, how it reads its columns, its sizes, one row by hand."""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ecsel.estimators.guarantees import guarantee_lines
from ecsel.estimators.odds import odds_phrases
from ecsel.estimators.odds_product import is_product_of_powers
from ecsel.estimators.readable_summary import repeated_columns
from ecsel.estimators.summary import remarks
from ecsel.report.front import Front, FrontPoint
from ecsel.report.html import Html, element
from ecsel.report.mathml import (
    all_digits,
    equation,
    four_digits,
    odds_product,
    piece,
    score_of,
    simple_number,
    symbol,
    typeset_number,
)
from ecsel.report.pieces import equation_text
from ecsel.report.rules import ColumnRule, column_rules
from ecsel.report.wording import DASH, MINUS, number, percent
from ecsel.signomial.text import counted, format_name

if TYPE_CHECKING:
    from ecsel.estimators.piece_stability import PieceStability
    from ecsel.report.evidence import Evidence
    from ecsel.tables import Feature, TableEncoder


@dataclass(frozen=True, slots=True)
class Formula:
    """One equation: typeset, exact, and what there is to say about it."""

    typeset: Html
    exact: str
    remarks: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class ScaleLine:
    """How a name of the equations is read off a column."""

    name: str
    meaning: str


@dataclass(frozen=True, slots=True)
class PieceLine:
    """One piece of a readable equation: typeset, its coefficient, and what it does to the odds."""

    label: str
    """The class of its score."""
    typeset: Html
    coefficient: Html
    error: str
    """The standard error of the coefficient."""
    chosen: str
    """In which share of the bootstrap draws the search chose it again; a dash where nothing was drawn."""
    meaning: str


@dataclass(frozen=True, slots=True)
class FrontLine:
    """One candidate of the search."""

    n_factors: int
    error: str
    standard_error: str
    smoothed: str
    """The error by which the size was chosen; empty where `error` itself decided."""
    equations: tuple[Html, ...]
    is_chosen: bool


@dataclass(frozen=True, slots=True)
class Formulas:
    """The section on the equation."""

    formulas: tuple[Formula, ...]
    link: Html | None
    decision: str | None
    scales: tuple[ScaleLine, ...]
    """Of the paper's model: how a name is read off a column."""
    promises: tuple[str, ...]
    size: str
    label: str | None
    """Of two classes the one whose odds the pieces move; None where every class has a score of its own."""
    pieces: tuple[PieceLine, ...]
    rules: tuple[ColumnRule, ...]
    """Of a readable equation: how it reads its columns."""
    front: tuple[FrontLine, ...]
    measure: str = "log-loss"
    """What the front measures."""
    n_draws: int = 0
    """Bootstrap draws that the stability of pieces rests on."""
    repeated: str = ""
    """Columns in several pieces."""
    n_sizes: int = 0
    """Sizes of the whole front, of which `front` has the telling ones."""
    product: Html | None = None
    """The odds as a product of powers, where every piece is a logarithm or a level."""


FRONT_OF_NUMBERS = "root mean squared error"
MAX_SIZES = 9
"""Sizes whose equations are written out: a long front of long equations would bury the model."""


def formulas(evidence: Evidence, draws: PieceStability | None = None) -> Formulas:
    """Typeset the model; bootstrap draws tell how stable its pieces are."""
    model, view = evidence.view.estimator, evidence.view
    if not view.has_classes:
        return _of_number(evidence)
    readable = model.encoder_.is_raw
    equations = list(model.equations_.values())
    found = tuple(
        Formula(equation(score_name(evidence, label), each, all_digits), equation_text(each), ())
        if readable
        else Formula(equation(score_of(label), each, four_digits), str(each), tuple(remarks(each, model.encoder_)))
        for label, each in model.equations_.items()
    )
    promises = guarantee_lines(model.monotone, equations, model.encoder_, list(view.classes))
    return Formulas(
        found,
        _link(evidence),
        _decision(evidence),
        () if readable else _scales(model),
        tuple(promises),
        _readable_size(evidence) if readable else _size(equations),
        format_name(view.classes[1]) if evidence.is_log_odds else None,
        _pieces(evidence, draws) if readable else (),
        column_rules(view),
        _front(evidence),
        n_draws=0 if draws is None else len(draws.draws),
        n_sizes=len(Front.of(model).points),
        repeated=_repeated(equations, model.encoder_) if readable else "",
        product=_product(evidence),
    )


def _repeated(equations: list[Any], encoder: TableEncoder) -> str:
    lines = repeated_columns(equations, encoder)
    return f"{'; '.join(lines)}. The curves below add them up.".replace("`", "") if lines else ""


def _of_number(evidence: Evidence) -> Formulas:
    """Typeset a law, or a readable equation that predicts a number."""
    view, right = evidence.view, evidence.view.estimator.equation_
    left, readable = symbol(evidence.target_symbol), view.encoder is not None
    formula = Formula(equation(left, right, all_digits if readable else simple_number), equation_text(right), ())
    size = _readable_size(evidence) if readable else _law_size(evidence)
    front = _front(evidence) if readable else ()
    return Formulas(
        (formula,),
        None,
        None,
        (),
        (),
        size,
        None,
        (),
        column_rules(view),
        front,
        FRONT_OF_NUMBERS,
        n_sizes=len(Front.of(view.estimator).points) if readable else 0,
    )


def score_name(evidence: Evidence, label: Any) -> Html:
    """Return the left-hand side of an equation."""
    if not evidence.view.has_classes:
        return symbol(evidence.target_symbol)
    if evidence.view.encoder is not None and evidence.view.encoder.is_raw:
        name = f"{'log-odds' if evidence.is_log_odds else 'score'} of {format_name(label)} ="
        return element("span", name, class_="left")
    return score_of(label)


def _product(evidence: Evidence) -> Html | None:
    """Return the odds of the second class as a product of powers, where they are one."""
    if not evidence.is_log_odds:
        return None
    ((label, right),) = evidence.view.estimator.equations_.items()
    if not is_product_of_powers(right, evidence.view.estimator.encoder_):
        return None
    return odds_product(element("mtext", f"odds of {format_name(label)}"), right)


def _pieces(evidence: Evidence, draws: PieceStability | None) -> tuple[PieceLine, ...]:
    """Return every piece, score by score, with what is known of it; errors and draws have the pieces in that order."""
    model, found = evidence.view.estimator, evidence.standard_errors
    pieces = [
        (label, term) for label, right in model.equations_.items() for term in right.terms if not term.is_constant
    ]
    errors = [DASH] * len(pieces)
    if found is not None:
        known = [each.standard_error for each in found.numbers if each.parameter == "coefficient"]
        errors = [DASH if error is None else f"± {number(error, 2)}" for error in known]
    return tuple(
        PieceLine(
            format_name(label),
            piece(term),
            typeset_number(term.coefficient),
            error,
            chosen,
            # names are typeset beside it, so that the quotes of text are not needed
            "; ".join(odds_phrases(term, model.encoder_)).replace("`", ""),
        )
        for (label, term), error, chosen in zip(pieces, errors, _chosen(draws, len(pieces)), strict=True)
    )


def _chosen(draws: PieceStability | None, n_pieces: int) -> list[str]:
    """Return how often bootstrap draws chose each piece, and in brackets it or another piece of its columns."""
    if draws is None:
        return [DASH] * n_pieces
    own = draws.piece_frequency
    return [
        f"{percent(share, 0)} ({percent(share + other, 0)})"
        for share, other in zip(own.tolist(), draws.other_shapes.mean(axis=0).tolist(), strict=True)
    ]


def _front(evidence: Evidence) -> tuple[FrontLine, ...]:
    """Return the telling ones of the sizes that the folds have measured, with their equations."""
    view = evidence.view
    front, labels = Front.of(view.estimator), view.score_classes
    written = (lambda value: f"{value:.4f}") if view.has_classes else number
    return tuple(
        FrontLine(
            point.n_factors,
            written(point.error),
            f"± {point.standard_error:.4f}" if view.has_classes else f"± {number(point.standard_error, 2)}",
            written(point.smoothed) if point.smoothed_text else "",
            tuple(
                equation(score_name(evidence, label), right, all_digits)
                for label, right in zip(labels, point.equations, strict=True)
            ),
            point.is_chosen,
        )
        for point in telling(front.points)
    )


def telling(points: tuple[FrontPoint, ...]) -> tuple[FrontPoint, ...]:
    """Return all points where they are few, else the ends, the chosen one with its neighbours, and some between."""
    n = len(points)
    if n <= MAX_SIZES:
        return points
    chosen = next((i for i, point in enumerate(points) if point.is_chosen), n - 1)
    kept = {0, max(chosen - 1, 0), chosen, min(chosen + 1, n - 1), n - 1}
    while len(kept) < MAX_SIZES:  # the middle of the widest gap
        ends = sorted(kept)
        before, after = max(itertools.pairwise(ends), key=lambda pair: pair[1] - pair[0])
        kept.add((before + after) // 2)
    return tuple(points[i] for i in sorted(kept))


def _scales(model: Any) -> tuple[ScaleLine, ...]:
    used = {name for each in model.equations_.values() for name in each.names}
    return tuple(ScaleLine(format_name(f.name), _meaning(f)) for f in model.encoder_.features if f.name in used)


def _readable_size(evidence: Evidence) -> str:
    """Return how large a readable model is."""
    model = evidence.view.estimator
    equations = model.equations_.values() if evidence.view.has_classes else (model.equation_,)
    terms = [term for each in equations for term in each.terms if not term.is_constant]
    n_factors = sum(len(term.factors) for term in terms)
    # most pieces have one factor; only products need both counts
    products = "" if n_factors == len(terms) else f" with {counted(n_factors, 'factor')}"
    return f"{counted(len(terms), 'piece')}{products} from {counted(len(evidence.used), 'column')}"


def _law_size(evidence: Evidence) -> str:
    """Return how large a law is."""
    n_terms = len(evidence.view.estimator.equation_.terms)
    return f"{counted(n_terms, 'term')} from {counted(len(evidence.used), 'column')}"


def _size(equations: list[Any]) -> str:
    n_terms = sum(len(each.terms) for each in equations)
    n_numbers = sum(1 + len(term.factors) for each in equations for term in each.terms)
    return f"{counted(n_terms, 'term')} and {counted(n_numbers, 'number')}"


def _link(evidence: Evidence) -> Html:
    """Return how scores become probabilities."""
    p, exp, classes = element("mi", "p"), element("mi", "e"), evidence.view.classes
    if evidence.view.link.has_reference:
        left = element("msub", p, element("mtext", format_name(classes[1])))
        name = element("mtext", "log-odds") if evidence.is_log_odds else score_of(classes[1])
        power = element("msup", exp, element("mrow", element("mo", MINUS), name))
        below = element("mrow", element("mn", "1"), element("mo", "+"), power)
        right = element("mfrac", element("mn", "1"), below)
    else:
        left = element("msub", p, element("mi", "c"))
        score, other = (_any_score(evidence, letter) for letter in "cr")
        total = element("munder", element("mo", "∑"), element("mi", "r"))
        below = element("mrow", total, element("msup", exp, other))
        right = element("mfrac", element("msup", exp, score), below)
    return element("math", left, element("mo", "="), right, display="block")


def _any_score(evidence: Evidence, letter: str) -> Html:
    """Return the score of a class that a letter stands for."""
    if evidence.view.encoder is not None and evidence.view.encoder.is_raw:
        return element("mtext", f"score of {letter}")
    return element("msub", element("mi", "z"), element("mi", letter))


def _decision(evidence: Evidence) -> str:
    view = evidence.view
    if view.threshold is not None:
        return (
            f"It decides for {format_name(view.classes[1])} where its probability is at least {number(view.threshold)}."
        )
    return "It decides for the class with the highest probability."


def _meaning(feature: Feature) -> str:
    column = format_name(feature.column)
    if feature.kind == "level":
        return f"{number(feature.ceiling)} where {column} is {format_name(feature.level)}, else 1"
    if feature.kind == "missing":
        return f"{number(feature.ceiling)} where {column} is missing, else 1"
    sign = MINUS if feature.offset < 0 else "+"
    offset = f" {sign} {number(abs(feature.offset))}" if feature.offset else ""
    what = f"the position of {column} in its order, from 0" if feature.kind == "ordinal" else column
    mirror = ", the mirror image" if feature.kind == "mirror" else ""
    return f"{number(feature.scale)} · ({what}){offset}{mirror}"
