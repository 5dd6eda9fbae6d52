"""Names, numbers and equations as a person reads them; shared by the terminal and the page."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ecsel.signomial.text import for_people, format_name, term_pieces

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ecsel.cli.explained_row import Reason
    from ecsel.signomial import Signomial, Term

DIGITS = ".3g"
UNNAMED = "y"
"""What a regressor calls a target that has no name."""


def number(value: Any) -> str:
    """Return a value of a table, numbers rounded to four digits."""
    return for_people(value) if isinstance(value, (int, float)) and not isinstance(value, bool) else format_name(value)


def score_name(model: Any, label: Any) -> str:
    """Return what an equation of a model computes: of two classes the log-odds of the second, else a score."""
    if not hasattr(model, "equations_"):
        return "prediction" if model.target_name_ == UNNAMED else format_name(model.target_name_)
    return f"{'log-odds' if is_log_odds(model) else 'score'} of {format_name(label)}"


def law_in_words(model: Any, row_numbers: Any = None) -> str:
    """Return what a law says of itself, rows counted from 1 as all commands do; by default those of the fit."""
    from ecsel.discovery.report import Verdict, describe

    rows = tuple(i + 1 if row_numbers is None else int(row_numbers[i]) for i in model.outliers_)
    tests = model.misfit_p_value_, model.misfit_column_
    verdict = Verdict(model.law_found_, model.search_completed_, *tests, rows, first_row=1, n_rows=model.law_.n_rows)
    return describe(model.law_, model.near_ties_, verdict, model.target_name_)


def link_line(model: Any) -> str:
    """Return how the scores of a classifier become probabilities."""
    if is_log_odds(model):
        return f"probability of {format_name(model.classes_.tolist()[1])} = 1 / (1 + exp(-log-odds))"
    if _has_reference(model):
        return "probability = 1 / (1 + exp(-score))"
    return "probability of a class = exp(its score) / sum of exp(score) over all classes"


def _has_reference(model: Any) -> bool:
    from ecsel.signomial.links import LINKS  # SciPy is left until a model is there

    return LINKS[model.link_].has_reference


def is_log_odds(model: Any) -> bool:
    """Tell a readable equation of two classes, which is read as log-odds, from the scores of other models."""
    return bool(_has_reference(model) and model.encoder_.is_raw)


def wrapped_equation(equation: Signomial, width: int) -> list[str]:
    """Return ``format(equation, ".3g")`` in lines of at most `width`, broken between terms and between factors.

    A name that is longer than a line has a line of its own.

    >>> from ecsel import Signomial
    >>> wrapped_equation(Signomial.parse("2*height**0.5*width**1.5 - 3"), 18)
    ['2*height**0.5', '  *width**1.5', '- 3']
    """
    lines: list[str] = []
    for k, term in enumerate(equation.terms):
        lead, *factors = _pieces(term, first=k == 0)
        line = lead
        for factor in factors:
            if len(line) + len(factor) > width:
                lines.append(line)
                line = "  " + factor
            else:
                line += factor
        lines.append(line)
    return lines or [format(equation, DIGITS)]


def _pieces(term: Term, *, first: bool) -> Iterator[str]:
    """Yield the sign with the coefficient and the first factor, then the other factors."""
    lead, *others = term_pieces(term, DIGITS)
    yield lead if first else f"- {lead[1:]}" if lead.startswith("-") else f"+ {lead}"
    yield from others


def factor_of_odds(odds: float) -> str:
    """Return a multiplication or division that a person can picture.

    >>> factor_of_odds(2.5), factor_of_odds(0.4)
    ('multiplied by 2.5', 'divided by 2.5')
    """
    return f"multiplied by {odds:.3g}" if odds >= 1 else f"divided by {1 / odds:.3g}"


def sentence(reason: Reason, predicted: Any, rival: Any) -> str:
    """Return one reason in words."""
    typical = f" (typical: {format_name(reason.typical)})" if reason.typical is not None else ""
    side = predicted if reason.log_odds > 0 else rival
    return (
        f"{format_name(reason.column)} = {number(reason.value)}{typical} speaks for {format_name(side)}: "
        f"the odds of {format_name(predicted)} are {factor_of_odds(reason.odds)}"
    )
