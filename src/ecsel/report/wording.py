"""Numbers and names as a reader of the page sees them."""

from __future__ import annotations

import math
from typing import Any

from ecsel.signomial.text import format_name

MINUS = "\N{MINUS SIGN}"
DASH = "\N{EM DASH}"


def number(value: float | None, digits: int = 4) -> str:
    r"""Return a number to so many significant digits, with a real minus sign; a dash where there is none.

    >>> number(-0.01236), number(1234567.0), number(float("nan")), number(1e-9)
    ('−0.01236', '1\u202f235\u202f000', '—', '1e−9')
    """
    if value is None or not math.isfinite(value):
        return DASH
    text = f"{value:.{digits}g}"
    mantissa, _, power = text.partition("e")
    if power and 0 < int(power) <= 6:
        text, power = f"{float(text):.0f}", ""
    if power:
        text = f"{mantissa}e{int(power)}"
    elif abs(value) >= 10_000:
        whole, dot, decimals = text.partition(".")
        text = f"{int(whole):,}".replace(",", "\N{NARROW NO-BREAK SPACE}") + dot + decimals
    return text.replace("-", MINUS)


def count(value: float) -> str:
    r"""Return a whole number with its thousands apart.

    >>> count(12345)
    '12\u202f345'
    """
    return f"{value:,.0f}".replace(",", "\N{NARROW NO-BREAK SPACE}").replace("-", MINUS)


def percent(share: float | None, digits: int = 1) -> str:
    r"""Return a share as a percentage.

    >>> percent(0.1234), percent(None)
    ('12.3\u202f%', '—')
    """
    if share is None or not math.isfinite(share):
        return DASH
    return f"{100 * share:.{digits}f}\N{NARROW NO-BREAK SPACE}%".replace("-", MINUS)


def unbroken(text: str) -> str:
    r"""Return a sentence whose lines do not break before a per cent sign or around an equals sign.

    >>> unbroken("cp = 2 raises the odds by 63 %")
    'cp\xa0=\xa02 raises the odds by 63\u202f%'
    """
    return text.replace(" %", "\N{NARROW NO-BREAK SPACE}%").replace(" = ", "\N{NO-BREAK SPACE}=\N{NO-BREAK SPACE}")


def exact(value: Any) -> str:
    """Return a cell of a table with all its digits, to be typed into a calculator.

    >>> exact(104.29), exact(3.0), exact("own"), exact(None)
    ('104.29', '3', 'own', 'missing')
    """
    if value is None or value != value or type(value).__name__ == "NAType":  # noqa: PLR0124  # NaN is not itself
        return "missing"
    return repr(value).removesuffix(".0") if type(value) in {int, float} else format_name(value)


def value_text(value: Any) -> str:
    """Return a cell of a table.

    >>> value_text(2.5), value_text(None), value_text("Rome"), value_text(True)
    ('2.5', 'missing', 'Rome', 'True')
    """
    if value is None or value != value or type(value).__name__ == "NAType":  # noqa: PLR0124  # NaN is not itself
        return "missing"
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        return number(float(value), 6)
    return format_name(value)
