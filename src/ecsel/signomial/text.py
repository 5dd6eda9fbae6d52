"""Signomials as text, with the shortest numbers that read back exactly.

What is printed is read back by :mod:`ecsel.signomial.parse` as an equal signomial. The syntax is Python's, with
``log``, ``exp``, ``sqrt``, ``abs`` and ``sign``: negative whole powers are divisions, square roots are called by their
name, and a shift is written as a sum, ``log(glucose + 50)``, ``2/(x + 1)``.

Names are data. An identifier stands as it is; a name that is itself text in square brackets, ``[contract = two year]``,
too; any other name is put in backticks, ```page value```, and one that backticks cannot hold is written ``col('...')``
with a Python string literal.
"""

from __future__ import annotations

import keyword
import re
import unicodedata
from fractions import Fraction
from typing import TYPE_CHECKING

from ecsel.signomial.factor import Factor, is_integer
from ecsel.signomial.layout import Power, lay_out

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from ecsel.signomial.term import Term

RESERVED_NAMES = frozenset({"abs", "sign", "sqrt", "log", "exp", "col", "__debug__"})
_BRACKETED = re.compile(r"\[[^\[\]`]+\]")


def print_sum(terms: Sequence[Term], spec: str = "") -> str:
    """Return the terms as one expression; ``spec`` formats coefficients and inexact exponents, as in ``format``."""
    if not terms:
        return format(0.0, spec) if spec else "0"
    return join_signed(print_term(term, spec) for term in terms)


def join_signed(terms: Iterable[str]) -> str:
    """Return written terms as a sum: the minus sign of a term takes the place of the plus before it.

    >>> join_signed(["2*x", "-3", "y"])
    '2*x - 3 + y'
    """
    first, *others = terms
    return first + "".join(f" - {term[1:]}" if term.startswith("-") else f" + {term}" for term in others)


def print_term(term: Term, spec: str = "") -> str:
    """Return one term as an expression; a coefficient of 1 is left out where the rest can stand alone."""
    return "".join(term_pieces(term, spec))


def term_pieces(term: Term, spec: str = "") -> list[str]:
    """Return the text of a term in pieces, between which a line may be broken.

    >>> from ecsel.signomial import Signomial
    >>> term_pieces(Signomial.parse("-2*x*log(y)/(v*w)").terms[0])
    ['-2*x', '*log(y)', '/(v*w)']
    """
    coefficient = format(term.coefficient, spec) if spec else print_shift(term.coefficient)
    above, below = lay_out(term.factors)
    divisors = "*".join(_print_power(power, spec) for power in below)
    quotient = [f"/({divisors})" if len(below) > 1 else f"/{divisors}"] if below else []
    if not above:
        return [coefficient, *quotient]
    first, *others = (_print_power(power, spec) for power in above)
    # the first power of a sum is a factor only in a product: alone it would be read as a sum
    alone = len(term.factors) == 1 and above[0].is_sum and above[0].exponent == 1
    if coefficient in {"1", "-1", "1.0", "-1.0"} and not alone:
        first = first if term.coefficient > 0 else f"-{first}"
    else:
        first = f"{coefficient}*{first}"
    return [first, *(f"*{power}" for power in others), *quotient]


def print_name(name: str) -> str:
    """Return the name as it stands in an expression.

    >>> print_name("age"), print_name("page value"), print_name("[x > 4]"), print_name("a`b")
    ('age', '`page value`', '[x > 4]', "col('a`b')")
    """
    # Python reads identifiers in this normal form, so a name in another form would become another name
    plain = name.isidentifier() and unicodedata.normalize("NFKC", name) == name
    if plain and not keyword.iskeyword(name) and name not in RESERVED_NAMES:
        return name
    return name if is_bracketed(name) else quoted_name(name)


def quoted_name(name: str) -> str:
    """Return the name in backticks, or as ``col('...')`` where they cannot hold it."""
    return f"`{name}`" if name and "`" not in name and name.isprintable() else f"col({name!r})"


def is_bracketed(name: str) -> bool:
    """Whether a name is text in square brackets that stands for itself, such as ``[contract = two year]``."""
    return name.isprintable() and _BRACKETED.fullmatch(name) is not None


def print_base(factor: Factor) -> str:
    """Return the base of a factor, a sum without brackets."""
    inner = print_name(factor.name)
    if factor.shift:
        inner += f" {'-' if factor.shift < 0 else '+'} {print_shift(abs(factor.shift))}"
    if factor.exp:
        return f"exp({inner})"
    return f"log({inner})" if factor.log else inner


def print_shift(value: float) -> str:
    """Return a number with all its digits and no more.

    >>> print_shift(50.0), print_shift(0.1)
    ('50', '0.1')
    """
    return repr(value).removesuffix(".0")


def _print_power(power: Power, spec: str) -> str:
    if power.factor.exp:
        return _print_exponential(power.factor, spec)
    inner = print_base(power.factor)
    if power.wrap:
        inner = f"{power.wrap}({inner})"
    if power.is_root:
        return f"sqrt({inner})"
    base = f"({inner})" if power.is_sum else inner
    exponent = power.exponent
    if not isinstance(exponent, Fraction):
        # the ".0" of a float stays: without it the exponent would be read back as an exact whole number
        return f"{base}**{format(exponent, spec) if spec else repr(exponent)}"
    if not is_integer(exponent):
        return f"{base}**({exponent})"
    return base if exponent == 1 else f"{base}**{exponent}"


def _print_exponential(factor: Factor, spec: str) -> str:
    rate = format(float(factor.exponent), spec) if spec else print_shift(float(factor.exponent))
    name = print_name(factor.name)
    if rate in {"1", "-1", "1.0", "-1.0"}:
        return f"exp({'-' if factor.exponent < 0 else ''}{name})"
    return f"exp({rate}*{name})"


def for_people(value: float) -> str:
    """Return a number of a table in four digits, without an exponent where a person would write none.

    Examples
    --------
    >>> [for_people(value) for value in (0.123456, 22641.3, 673.5, 1e-9, 2.5e20)]
    ['0.1235', '22641', '673.5', '1e-09', '2.5e+20']
    """
    return f"{value:.0f}" if 1e4 <= abs(value) < 1e12 else f"{value:.4g}"


def format_name(name: object) -> str:
    r"""Return a name or a label as text that can be seen and stays on one line.

    >>> format_name("page value"), format_name("two\nlines"), format_name(" "), format_name(3)
    ('page value', "'two\\nlines'", "' '", '3')
    """
    text = str(name)
    return text if text.strip() and text.isprintable() else repr(text)


def counted(n: int, what: str) -> str:
    """Return a number of things.

    >>> counted(1, "piece"), counted(3, "class")
    ('1 piece', '3 classes')
    """
    return f"{n} {what}" if n == 1 else f"{n} {what}{'es' if what.endswith('s') else 's'}"
