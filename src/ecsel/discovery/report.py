"""A fitted law in words, as a table, and as LaTeX, with simple numbers called by their names."""

import math
from collections.abc import Sequence

from ecsel.discovery.criterion import STRONG_EVIDENCE
from ecsel.discovery.fitted import FittedLaw, number_latex, number_text
from ecsel.discovery.noise import RELATIVE
from ecsel.signomial import Signomial, Term


def _monomial(term: Term) -> Signomial:
    return Signomial([Term.from_factors(1.0, term.factors)])


def _error(value: float) -> str:
    """Return a standard error for people; a number that the data do not determine has none."""
    return f"{value:.2g}" if math.isfinite(value) else "—"


def _joined(parts: Sequence[str]) -> str:
    if not parts:
        return "0"
    return parts[0] + "".join(f" - {p[1:]}" if p.startswith("-") else f" + {p}" for p in parts[1:])


def formula_text(law: FittedLaw) -> str:
    """Return the right-hand side with simple numbers by name, for people."""
    parts = []
    for term in law.equation.terms:
        number = number_text(term.coefficient)
        body = str(_monomial(term))
        if term.is_constant:
            parts.append(number)
        else:
            body = body.removeprefix("1") if body.startswith("1/") else f"·{body}"  # 17/x, but 17·x/y
            parts.append((number + body).replace("1·", "", 1) if number in ("1", "-1") else number + body)
    return _joined(parts)


def formula_latex(law: FittedLaw, digits: int = 6) -> str:
    """Return the right-hand side as LaTeX with simple numbers by name."""
    parts = []
    for term in law.equation.terms:
        named = number_latex(term.coefficient)
        if named is None or term.is_constant:
            parts.append(named if named is not None else Signomial([term]).to_latex(digits))
        elif named in ("1", "-1"):
            parts.append(named.removesuffix("1") + _monomial(term).to_latex(digits))
        else:
            parts.append(named + r"\," + _monomial(term).to_latex(digits))
    return _joined(parts)


def describe(law: FittedLaw, near_ties: Sequence[FittedLaw], *, found: bool, complete: bool) -> str:
    """Return the law in words: formula, signs, accuracy of its numbers, and the laws that explain the data as well."""
    lines = [f"y = {formula_text(law)}"]
    if not found:
        lines.append("No law was found: no variable explains the target better than a constant does.")
    absolute = sorted({name for term in law.terms for name in term.absolute})
    if absolute:
        lines.append(f"Through their absolute value enter: {', '.join(absolute)}.")
    lines += [f"The constant {c.name} is {c.value:.6g} ± {_error(c.standard_error)}." for c in law.constants]
    for p in () if law.constants else law.parameters:
        what = f"coefficient of {_monomial(law.terms[p.term])}" if p.feature is None else f"exponent of {p.feature}"
        if p.rounded:
            lines.append(f"The {what} is {number_text(p.value)}, a simple number that the data support.")
        else:
            lines.append(f"The {what} is {p.value:.6g} ± {p.standard_error:.2g}.")
    if law.noise.kind == RELATIVE:
        lines.append(f"The noise is {100 * law.noise.sigma:.3g} % of the value.")
    # errors are divided by the predicted values where the noise grows with them
    what = "Root mean squared relative error" if law.noise.kind == RELATIVE else "Root mean squared error"
    lines.append(f"{what} {law.mse**0.5:.4g}, left-out rows {law.validation_mse**0.5:.4g}.")
    if near_ties:
        lines.append(f"Within {STRONG_EVIDENCE:g} nats, too close for the data to decide, are also:")
        lines += [f"  y = {formula_text(tie)}  ({tie.code_length - law.code_length:+.1f} nats)" for tie in near_ties]
    if not complete:
        lines.append("The search was stopped before its end; this is the best law so far.")
    return "\n".join(lines)


def summary(law: FittedLaw) -> str:
    """Return a table of the estimated numbers with standard errors, conditional on the monomials."""
    rows = [("term", "parameter", "value", "std. error", "")]
    for p in law.parameters:
        what = "coefficient" if p.feature is None else f"exponent of {p.feature}"
        term, mark = str(_monomial(law.terms[p.term])), "rounded" if p.rounded else ""
        rows.append((term, what, f"{p.value:.8g}", _error(p.standard_error), mark))
    rows += [("", f"constant {c.name}", f"{c.value:.8g}", _error(c.standard_error), "") for c in law.constants]
    widths = [max(len(row[i]) for row in rows) for i in range(5)]
    table = ["  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows]
    foot = f"residual variance {law.noise_variance:.4g}, code length {law.code_length:.1f} nats"
    return "\n".join([*table, foot, "Standard errors are conditional on the monomials, before rounding."])
