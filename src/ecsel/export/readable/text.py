"""`to_text`: the model as equations, as `ecsel.signomial` prints them, and in words whatever is no equation.

The paper's model speaks of positive images of its columns: `formula_text.py` writes it in raw units. In a law, a
regression or a bare equation, fractions and multiples of π are called by their names.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ecsel.explain.view import ModelView
from ecsel.export.readable.description import describe_inputs
from ecsel.export.readable.digits import Digits, check_complete, exact_name, readable_equations, readable_formula
from ecsel.export.readable.formula_text import formula_notes, formula_scores
from ecsel.export.readable.raw_units import positive_encoder
from ecsel.export.targets.python import to_python
from ecsel.signomial import Term
from ecsel.signomial.text import print_sum, print_term

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from fractions import Fraction

    from ecsel.signomial import Signomial

WIDTH = 120
"""A sum that is longer is written with one term a line."""


def to_text(
    model: Any, *, digits: Digits = None, tolerance: float = 1e-3, X: Any = None, complete: bool = False
) -> str:
    """Return the model as equations for people.

    First come the scores, each ``str(equation)``, then probabilities and the rule for the label, and then, a line each,
    how the columns are read: their training range and what happens outside of it, what a missing value counts as, and
    what text in brackets means. Fractions and multiples of π in a law are kept exact.

    The paper's model, whose features are positive images of its columns, is written in raw units, the most important
    columns first; a level multiplies its term, ``2.5**(city == 'Oslo')`` is 2.5 in Oslo and 1 elsewhere.

    Parameters
    ----------
    model : ECSELClassifier, ECSELRegressor or Signomial
        The model.
    digits : int, "auto" or None, default=None
        How many significant digits numbers have; None keeps them all; ``"auto"`` is the fewest with which predictions
        stay within the tolerance.
    tolerance : float, default=1e-3
        What ``"auto"`` allows: the largest change of a probability, or of a prediction relative to the root mean square
        of all predictions.
    X : data frame or array, optional
        Rows on which that is measured; by default rows that are spread over the training ranges.
    complete : bool, default=False
        Whether to return the whole program of the model instead, with every rule: the text of `to_python`.

    Examples
    --------
    >>> from ecsel import Signomial
    >>> print(to_text(Signomial.parse("6.283185307179586*x**2/y + 0.12345"), digits=2))
    prediction = 2*pi*x**2/y + 0.12
    """
    view = ModelView.of(model)
    if complete:
        check_complete(digits, X)
        return to_python(view)
    encoder = positive_encoder(view)
    if encoder is not None:
        formula = readable_formula(view, encoder, digits, tolerance, X)
        scores, notes = list(formula_scores(formula)), list(formula_notes(formula))
        name = score_name(view, formula.columns)
    else:
        equations = readable_equations(view, digits, tolerance, X)
        scores = [_terms(equation, is_law=not view.has_classes) for equation in equations]
        notes = [] if view.encoder is None else list(describe_inputs(view, view.encoder))
        name = score_name(view, view.raw_names)
    lines = [_sum(_labelled(view, name, c), terms) for c, terms in zip(view.score_classes, scores, strict=True)]
    lines += _answers(view, name)
    return "\n".join([*lines, "where", *(f"    {note}" for note in notes)] if notes else lines)


def score_name(view: ModelView, columns: Sequence[str]) -> str:
    """Return a name for the score that no column has."""
    name = "z" if view.has_classes else "prediction"
    while name in columns:
        name = "score" if name == "z" else f"{name}_"
    return name


def _labelled(view: ModelView, name: str, label: Any) -> str:
    return f"{name}[{label!r}]" if len(view.score_classes) > 1 else name


def _answers(view: ModelView, name: str) -> Iterator[str]:
    if view.link.has_reference:
        first, second = view.classes
        yield f"P({second!r}) = 1/(1 + exp(-{name}))"
        yield f"P({first!r}) = 1 - P({second!r})"
    elif view.has_classes:
        total = " + ".join(f"exp({_labelled(view, name, label)})" for label in view.classes)
        for label in view.classes:
            yield f"P({label!r}) = exp({_labelled(view, name, label)})/({total})"
    if view.threshold is not None:
        first, second = view.classes
        yield f"the label is {second!r} where P({second!r}) >= {view.threshold!r}, else {first!r}"
    elif view.has_classes:
        yield "the label is the class with the largest P"


def _sum(name: str, terms: Sequence[str]) -> str:
    first, *others = terms
    signed = [f"- {term[1:]}" if term.startswith("-") else f"+ {term}" for term in others]
    line = " ".join([f"{name} = {first}", *signed])
    return line if len(line) <= WIDTH else "\n    ".join([f"{name} = {first}", *signed])


def _terms(equation: Signomial, *, is_law: bool) -> list[str]:
    """Return the terms as they are printed in the sum."""
    return [_law_term(term) if is_law else print_term(term) for term in equation.terms] or [print_sum(())]


def _law_term(term: Term) -> str:
    """Return a term whose coefficient is called by its name where it has one."""
    name = exact_name(term.coefficient)
    if name is None:
        return print_term(term)
    number = _named(*name)
    if term.is_constant:
        return number
    unit = print_term(Term.from_factors(1.0, term.factors)).removeprefix("1*")
    return number + (unit[1:] if unit.startswith("1/") else f"*{unit}")


def _named(ratio: Fraction, power: int) -> str:
    """Return r·π^e.

    >>> from fractions import Fraction
    >>> _named(Fraction(-1, 3), 0), _named(Fraction(2), 1), _named(Fraction(1, 4), -2)
    ('-1/3', '2*pi', '1/(4*pi**2)')
    """
    if power == 0:
        return str(ratio)
    pi = "pi" if abs(power) == 1 else f"pi**{abs(power)}"
    if power > 0:
        numerator = pi if abs(ratio.numerator) == 1 else f"{abs(ratio.numerator)}*{pi}"
        written = numerator if ratio.denominator == 1 else f"{numerator}/{ratio.denominator}"
    else:
        bottom = pi if ratio.denominator == 1 else f"({ratio.denominator}*{pi})"
        written = f"{abs(ratio.numerator)}/{bottom}"
    return f"-{written}" if ratio < 0 else written
