"""What a user may wish of a law, in the words of the estimator's options, as the search understands it."""

import numbers
from collections.abc import Iterable, Mapping, Sequence
from fractions import Fraction
from typing import Any

import numpy as np

from ecsel.discovery.lattice import LARGEST_EXPONENT, Floats, default_exponents


def allowed_exponents(wish: Any) -> tuple[tuple[Fraction, ...] | None, bool]:
    """Return the lattice (``None`` is the default one) and whether free real exponents are allowed.

    >>> allowed_exponents([1, "1/2"])
    ((Fraction(1, 2), Fraction(1, 1)), False)
    """
    if wish is None:
        return None, True
    if isinstance(wish, str):
        kinds = {
            "integers": (tuple(b for b in default_exponents() if b.denominator == 1), False),
            "halves": (tuple(Fraction(p, 2) for p in range(-12, 13) if p), False),
            "rational": (None, False),
            "real": ((), True),
        }
        if wish not in kinds:
            raise ValueError(
                f"allowed_exponents={wish!r}: use {', '.join(map(repr, kinds))}, a list of exponents or None"
            )
        return kinds[wish]
    if not isinstance(wish, Iterable):
        raise TypeError(f"allowed_exponents={wish!r} is neither a name nor a list of exponents")
    found = []
    for value in wish:
        try:
            found.append(Fraction(value).limit_denominator(10_000))
        except (TypeError, ValueError, ZeroDivisionError) as error:
            raise ValueError(f"allowed_exponents holds {value!r}, which is not a number") from error
    return tuple(sorted({b for b in found if b})), False


def exponent_bounds(wish: Any, names: Sequence[str]) -> tuple[Floats | None, Floats | None]:
    """Return lower and upper bounds per column from one pair or from a mapping of columns to pairs."""
    if wish is None:
        return None, None
    lower, upper = np.full(len(names), -LARGEST_EXPONENT), np.full(len(names), LARGEST_EXPONENT)
    pairs = dict(wish) if isinstance(wish, Mapping) else dict.fromkeys(names, wish)
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


def noise_model(wish: Any, y: Floats) -> tuple[Floats | None, float | None]:
    """Return the precision of each row (mean one) and the variance of a row of precision one, ``None`` if unknown.

    ``None`` is constant noise, "relative" is noise in proportion to |y|, a number is a known standard deviation, an
    array gives the known standard deviation of each row.
    """
    if wish is None:
        return None, None
    if isinstance(wish, str):
        if wish != "relative":
            raise ValueError(f"noise={wish!r}: use None, 'relative', a standard deviation, or one per row")
        size = np.abs(y)
        top = float(size.max(initial=0.0))
        # The ratio to the largest target keeps squares of any magnitude within the floating-point range.
        return (None, None) if top == 0.0 else (1.0 / np.maximum(size / top, 1e-140) ** 2, None)
    sigma = np.asarray(wish, dtype=float)
    if sigma.ndim > 1 or (sigma.ndim == 1 and len(sigma) != len(y)):
        raise ValueError(
            f"noise has shape {sigma.shape}; give one standard deviation, or one for each of {len(y)} rows"
        )
    if not (np.isfinite(sigma).all() and (sigma > 0).all()):
        raise ValueError("noise must be positive and finite")
    if sigma.ndim == 0:
        return None, float(sigma) ** 2
    precision = 1.0 / sigma**2
    return precision / precision.mean(), float(1.0 / precision.mean())


def number_of_terms(n_terms: Any, max_terms: Any, n_rows: int) -> int | None:
    """Return the exact number of terms, ``None`` for "auto"."""
    if not isinstance(max_terms, numbers.Integral) or max_terms < 1:
        raise ValueError(f"max_terms must be a positive whole number, got {max_terms!r}")
    if n_terms == "auto":
        return None
    if not isinstance(n_terms, numbers.Integral) or n_terms is True or int(n_terms) < 1:
        raise ValueError(f"n_terms must be 'auto' or a positive whole number, got {n_terms!r}")
    wanted = int(n_terms)
    if n_rows < wanted + 2:
        raise ValueError(f"n_terms={wanted} needs at least {wanted + 2} rows, got {n_rows}")
    return wanted
