"""A fitted law in words, as a table, and as LaTeX, with simple numbers called by their names."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from ecsel.discovery.fitted import FittedLaw, number_latex, number_text
from ecsel.discovery.noise import LOGNORMAL, PER_ROW, RELATIVE
from ecsel.discovery.ranking import TERM_EVIDENCE
from ecsel.discovery.residual_tests import MIN_ROWS
from ecsel.signomial import Signomial, Term
from ecsel.signomial.text import join_signed, print_name

MAX_ROWS_LISTED = 20
OPEN = 0.05
"""p-value below which tests that do not object do not rule a variable out either."""


def _monomial(term: Term) -> Signomial:
    return Signomial([Term.from_factors(1.0, term.factors)])


def error_text(value: float) -> str:
    """Return a standard error for people; a number that the data do not determine has none."""
    return f"{value:.2g}" if math.isfinite(value) else "—"


def formula_text(law: FittedLaw) -> str:
    """Return the right-hand side with simple numbers by name and all others in six digits, for people."""
    parts = []
    for term in law.equation.terms:
        number = number_text(term.coefficient)
        body = format(_monomial(term), ".6g")
        if term.is_constant:
            parts.append(number)
        else:
            body = body.removeprefix("1") if body.startswith("1/") else f"·{body}"  # 17/x, but 17·x/y
            parts.append((number + body).replace("1·", "", 1) if number in ("1", "-1") else number + body)
    return join_signed(parts or ["0"])


def formula_latex(
    equation: Signomial, digits: int | None = 6, name: Callable[[float], str | None] = number_latex
) -> str:
    r"""Return an equation as LaTeX in which coefficients that have a name are called by it.

    >>> print(formula_latex(Signomial.parse("0.5*m*v**2")))
    \frac{1}{2}\,m\,v^{2}
    """
    parts = []
    for term in equation.terms:
        named = name(term.coefficient)
        if named is None or term.is_constant:
            parts.append(named if named is not None else Signomial([term]).to_latex(digits))
        elif named in ("1", "-1"):
            parts.append(named.removesuffix("1") + _monomial(term).to_latex(digits))
        else:
            parts.append(named + r"\," + _monomial(term).to_latex(digits))
    return join_signed(parts or ["0"])


@dataclass(frozen=True, slots=True)
class Verdict:
    """What is said of a law beside its numbers: whether there is one, how it passed the tests, and what was left out.

    ``outliers`` are rows counted from ``first_row``; ``n_rows`` is the number of rows that the tests saw.
    """

    found: bool = True
    complete: bool = True
    p_value: float = 1.0
    column: str | None = None
    outliers: tuple[int, ...] = ()
    first_row: int = 0
    n_rows: int | None = None

    def _nothing_found(self) -> str:
        """Return what rows without a law and without an objection say; few rows or weak tests do not say no."""
        if self.n_rows is not None and self.n_rows < MIN_ROWS:
            return f"No law was found: {self.n_rows} rows are too few to tell whether a variable explains the target."
        if self.p_value < OPEN:
            return (
                "No law was found, and the residual tests leave it open whether a variable explains the target "
                f"(p = {self.p_value:.1g})."
            )
        return (
            "No law was found: neither a sum of products of powers nor the residual tests find that a variable "
            "explains the target better than a constant does."
        )

    def sentences(self) -> list[str]:
        """Return what a reader must know before using the law."""
        lines = []
        if self.column is not None and self.found:
            lines.append(
                f"This is an approximation, not a law: the residuals still depend on {self.column} "
                f"(p = {self.p_value:.1g})."
            )
        if not self.found and self.column is None:
            lines.append(self._nothing_found())
        elif not self.found:
            lines.append(
                f"No law was found, although the target depends on {self.column} (p = {self.p_value:.1g}): "
                "no sum of products of powers describes how."
            )
        if self.outliers:
            listed = ", ".join(map(str, self.outliers[:MAX_ROWS_LISTED]))
            more = "" if len(self.outliers) <= MAX_ROWS_LISTED else f" and {len(self.outliers) - MAX_ROWS_LISTED} more"
            rows = f"{'row' if len(self.outliers) == 1 else 'rows'} {listed}{more}, counted from {self.first_row}"
            lines.append(f"Left out as outliers, which no noise explains: {rows}.")
        return lines


def noise_text(law: FittedLaw) -> str:
    """Return what the noise is taken to be."""
    sigma, kind = law.noise.sigma, law.noise.kind
    if kind == RELATIVE:
        return f"The noise is {100 * sigma:.3g} % of the value."
    if kind == LOGNORMAL:
        return f"The noise is lognormal, a factor of exp(± {sigma:.3g}); the law is the median of the target."
    if kind == PER_ROW:
        return "The noise of each row was given."
    return f"The noise is the same for all rows, with a standard deviation of {sigma:.3g}."


def errors_text(law: FittedLaw) -> str:
    """Return the errors of a law: that of `predict`, and that of the fit where it weighs rows by their noise."""
    training, left_out = f"{law.mse**0.5:.4g}", f"{law.validation_mse**0.5:.4g}"
    plain = law.plain_mse**0.5
    if not law.is_weighted:
        return f"Root mean squared error {training}; {left_out} where each row is left out of the fit in turn."
    return (
        f"Root mean squared error {plain:.4g}. The fit weighs rows by their noise, and with these weights it is "
        f"{training}; {left_out} where each row is left out of the fit in turn."
    )


def describe(law: FittedLaw, near_ties: Sequence[FittedLaw], verdict: Verdict, target: str = "y") -> str:
    """Return the law in words: formula, signs, accuracy of its numbers, and the laws that explain the data as well."""
    left = print_name(target)
    lines = [f"{left} = {formula_text(law)}", *verdict.sentences()]
    absolute = sorted({name for term in law.terms for name in term.absolute})
    if absolute:
        lines.append(f"The law takes the absolute value of {', '.join(absolute)}.")
    lines += [f"The constant {c.name} is {c.value:.6g} ± {error_text(c.standard_error)}." for c in law.constants]
    for p in () if law.constants else law.parameters:
        what = f"coefficient of {_monomial(law.terms[p.term])}" if p.feature is None else f"exponent of {p.feature}"
        if p.rounded:
            near = f"{p.estimate:.6g} ± {error_text(p.standard_error)}"
            lines.append(f"The {what} is {number_text(p.value)}, a simple number compatible with the data ({near}).")
        else:
            lines.append(f"The {what} is {p.value:.6g} ± {p.standard_error:.2g}.")
    for e in law.exponent_estimates:
        value, near = law.terms[e.term].exponents[e.feature], f"{e.estimate:.6g} ± {error_text(e.standard_error)}"
        lines.append(f"The exponent of {e.feature} is {value}, a simple number compatible with the data ({near}).")
    lines += [noise_text(law), errors_text(law)]
    if near_ties:
        lines.append("The data cannot decide between this law and these:")
        lines += [f"  {left} = {formula_text(tie)}  ({_compared(tie, law)})" for tie in near_ties]
        lines.append(
            "Nats measure how long it takes to describe the law and what it leaves unexplained: each is a factor of "
            f"2.7 in the odds. A law with one more term or real exponent must save {TERM_EVIDENCE:g} of them."
        )
    if not verdict.complete:
        lines.append("The search was stopped before its end; this is the best law so far. time_limit= lets it go on.")
    return "\n".join(lines)


def _compared(tie: FittedLaw, law: FittedLaw) -> str:
    """Return how much longer the description by another law is than that by the chosen one."""
    nats = tie.code_length - law.code_length
    return f"{abs(nats):.1f} nats {'longer' if nats >= 0 else 'shorter'}"


def summary(law: FittedLaw, verdict: Verdict) -> str:
    """Return a table of the estimated numbers with standard errors, conditional on the monomials."""
    rows = [("term", "parameter", "value", "std. error", "")]
    for p in law.parameters:
        what = "coefficient" if p.feature is None else f"exponent of {p.feature}"
        term, mark = str(_monomial(law.terms[p.term])), f"rounded from {p.estimate:.6g}" if p.rounded else ""
        rows.append((term, what, f"{p.value:.8g}", error_text(p.standard_error), mark))
    for e in law.exponent_estimates:
        value, error = law.terms[e.term].exponents[e.feature], error_text(e.standard_error)
        term = str(_monomial(law.terms[e.term]))
        rows.append((term, f"exponent of {e.feature}", str(value), error, f"rounded from {e.estimate:.6g}"))
    rows += [("", f"constant {c.name}", f"{c.value:.8g}", error_text(c.standard_error), "") for c in law.constants]
    widths = [max(len(row[i]) for row in rows) for i in range(5)]
    table = ["  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows]
    weighted = " with rows weighed by their noise" if law.is_weighted else ""
    foot = f"residual variance {law.noise_variance:.4g}{weighted}, code length {law.code_length:.1f} nats"
    tests = f"residual tests: p = {verdict.p_value:.3g}"
    conditional = "Standard errors are conditional on the monomials, before rounding."
    return "\n".join([*table, foot, tests, noise_text(law), *verdict.sentences(), conditional])
