"""Equations as text for people: all their digits and no more, whole on a line or a piece a line.

The text is that of `str(equation)` and reads back as the same equation.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ecsel.signomial.term import Term
from ecsel.signomial.text import print_term

if TYPE_CHECKING:
    from ecsel.signomial import Signomial


def piece_text(term: Term) -> str:
    """Return a term without its coefficient, as the equation writes it; empty for a constant.

    >>> from ecsel import Signomial
    >>> [piece_text(term) for term in Signomial.parse("2*sqrt(y) - 38/(x + 10) + 7").terms]
    ['sqrt(y)', '1/(x + 10)', '']
    """
    if term.is_constant:
        return ""
    return print_term(Term.from_factors(1.0, term.factors)).removeprefix("1*")


def equation_text(equation: Signomial) -> str:
    """Return an equation on one line.

    >>> from ecsel import Signomial
    >>> equation_text(Signomial.parse("-2*log(x) + 17/Age + 5"))
    '-2*log(x) + 17/Age + 5'
    """
    return " ".join(_signed_terms(equation))


def equation_lines(equation: Signomial, width: int) -> list[str]:
    """Return an equation on one line where it fits, else a piece a line.

    >>> from ecsel import Signomial
    >>> equation_lines(Signomial.parse("-2*log(x) + 17/Age + 5"), 12)
    ['- 2*log(x)', '+ 17/Age', '+ 5']
    """
    whole = equation_text(equation)
    if len(whole) <= width:
        return [whole]
    first, *others = _signed_terms(equation)
    lead = f"- {first[1:]}" if first.startswith("-") else f"  {first}"
    return [lead, *others]


def _signed_terms(equation: Signomial) -> list[str]:
    first, *others = [print_term(term) for term in equation.terms] or ["0"]
    return [first, *(f"- {text[1:]}" if text.startswith("-") else f"+ {text}" for text in others)]
