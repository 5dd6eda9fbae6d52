"""Options of the estimator, checked and turned into what the search takes."""

import numbers
from collections.abc import Iterable, Mapping, Sequence
from fractions import Fraction
from typing import Any

import numpy as np

from ecsel._typing import Floats
from ecsel.discovery.lattice import LARGEST_EXPONENT, default_exponents

MAX_TERMS = 10


def allowed_exponents(requested: Any) -> tuple[tuple[Fraction, ...] | None, bool]:
    """Return the lattice (``None`` is the default one) and whether free real exponents are allowed.

    >>> allowed_exponents([1, "1/2"])
    ((Fraction(1, 2), Fraction(1, 1)), False)
    """
    if requested is None:
        return None, True
    if isinstance(requested, str):
        kinds = {
            "integers": (tuple(b for b in default_exponents() if b.denominator == 1), False),
            "halves": (tuple(Fraction(p, 2) for p in range(-12, 13) if p), False),
            "rational": (None, False),
            "real": ((), True),
        }
        if requested not in kinds:
            raise ValueError(
                f"allowed_exponents={requested!r}: use {', '.join(map(repr, kinds))}, a list of exponents or None"
            )
        return kinds[requested]
    if not isinstance(requested, Iterable):
        raise TypeError(f"allowed_exponents={requested!r} is neither a name nor a list of exponents")
    found = []
    for value in requested:
        try:
            found.append(Fraction(value).limit_denominator(10_000))
        except (TypeError, ValueError, ZeroDivisionError) as error:
            raise ValueError(f"allowed_exponents holds {value!r}, which is not a number") from error
    return tuple(sorted({b for b in found if b})), False


def exponent_bounds(requested: Any, names: Sequence[str]) -> tuple[Floats | None, Floats | None]:
    """Return lower and upper bounds per column from one pair or from a mapping of columns to pairs."""
    if requested is None:
        return None, None
    lower, upper = np.full(len(names), -LARGEST_EXPONENT), np.full(len(names), LARGEST_EXPONENT)
    pairs = dict(requested) if isinstance(requested, Mapping) else dict.fromkeys(names, requested)
    unknown = [name for name in pairs if name not in names]
    if unknown:
        raise ValueError(f"exponent_bounds names columns that X does not have: {', '.join(map(repr, unknown))}")
    for name, pair in pairs.items():
        try:
            low, high = (float(v) for v in pair)
        except (TypeError, ValueError) as error:
            raise ValueError(f"exponent_bounds of {name!r} must be a pair (low, high), got {pair!r}") from error
        if not low <= high:
            raise ValueError(f"exponent_bounds of {name!r}: {low} is above {high}")
        j = list(names).index(name)
        lower[j], upper[j] = max(low, -LARGEST_EXPONENT), min(high, LARGEST_EXPONENT)
    return lower, upper


def largest_number_of_terms(max_terms: Any) -> int:
    """Return the most terms to try."""
    if max_terms is None:
        return MAX_TERMS
    if not isinstance(max_terms, numbers.Integral) or max_terms is True or max_terms < 1:
        raise ValueError(f"max_terms must be a positive whole number, got {max_terms!r}")
    return int(max_terms)


def number_of_terms(n_terms: Any, n_rows: int) -> int | None:
    """Return the exact number of terms, ``None`` for "auto"."""
    if n_terms == "auto":
        return None
    if not isinstance(n_terms, numbers.Integral) or n_terms is True or int(n_terms) < 1:
        raise ValueError(f"n_terms must be 'auto' or a positive whole number, got {n_terms!r}")
    wanted = int(n_terms)
    if n_rows < wanted + 2:
        raise ValueError(f"n_terms={wanted} needs at least {wanted + 2} rows, got {n_rows}")
    return wanted


def check_numbers(time_limit: Any, l1: Any) -> None:
    """Refuse options that are no numbers of their kind."""
    if time_limit is not None and not (isinstance(time_limit, numbers.Real) and float(time_limit) > 0):
        raise ValueError(f"time_limit must be a positive number of seconds, got {time_limit!r}")
    if not (isinstance(l1, numbers.Real) and float(l1) >= 0):
        raise ValueError(f"l1 must be a number that is not negative, got {l1!r}")
