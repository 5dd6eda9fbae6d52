"""Terms of numeric features: powers, roots and logarithms as products where nothing can overflow, else as exponentials.

With the base g = x + s, log(x + s) or exp(x) of a factor, and the interval in which x lies:

- whole and half powers up to `MAX_REPEATED` are products of g and √g, negative ones divisors, so that an export has
  the digits of the printed equation; other powers are exp(b·log|g|);
- if the intervals show that no product of a term passes exp(600), nor a divisor exp(300), the term is that product.
  Training ranges show it. Columns without a range may hold any double: there a term of several factors is
  Π_i s_i·exp(clip(Σ_i b_i·log|g_i|, ±700)), as `ecsel.signomial` computes it, and of a single power g is clipped.

A factor is defined where its base is; in terms of h = x + s, since log h = 0 at h = 1:
log h needs h > 0, a power that refuses negative bases h ≥ 0 (h ≥ 1 of a logarithm), a negative power h ≠ 0 (h ≠ 1).
"""

from __future__ import annotations

import math
from collections import defaultdict
from fractions import Fraction
from typing import TYPE_CHECKING, NamedTuple

from ecsel.export.program.expr import Abs, Compare, Condition, Const, Exp, Expr, If, Log, Sqrt, add, clamp, minus, mul
from ecsel.export.program.reading import FeatureValue, LogTerm, ProductTerm, Quotient, product
from ecsel.signomial.columns import LOG_LIMIT
from ecsel.signomial.factor import Parity, is_integer

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from ecsel.export.program.reading import ReadTerm, Sheet
    from ecsel.signomial import Factor, ScoreTerms
    from ecsel.signomial.arrays import PlacedFactor

MAX_REPEATED = 4
"""Powers up to this size are written as repeated products; the search uses powers up to 3."""
MAX_PRODUCT, MAX_DIVISOR = 600.0, 300.0
"""Logarithms of the largest product and the largest divisor that are written out: both far from the largest double."""
SMALLEST = 5e-324
"""The smallest positive double."""


class Base(NamedTuple):
    """The base g of a factor, and the interval in which it lies where the factor is defined."""

    value: Expr
    low: float
    high: float

    @classmethod
    def of(cls, factor: Factor, x: FeatureValue) -> Base:
        """Return the base of a factor of a feature."""
        value, low, high = _shifted(x.value, factor.shift), x.low + factor.shift, x.high + factor.shift
        if factor.exp:
            ends = (math.exp(min(max(end, -LOG_LIMIT), LOG_LIMIT)) for end in (low, high))
            return cls(Exp(clamp(value, -LOG_LIMIT, LOG_LIMIT)), *ends)
        if not factor.log:
            return cls(value, low, high)
        return cls(Log(value), math.log(max(low, SMALLEST)), math.log(max(high, SMALLEST)))

    @property
    def size(self) -> Expr:
        """|g|."""
        return Abs(self.value) if self.low < 0 else self.value

    @property
    def sign(self) -> Expr:
        """−1, 0 or 1."""
        below = If(Compare("<", self.value, Const(0.0)), Const(-1.0), Const(0.0))
        return If(Compare(">", self.value, Const(0.0)), Const(1.0), below)

    @property
    def log_limits(self) -> tuple[float, float]:
        """The smallest and the largest log|g|."""
        ends = sorted((abs(self.low), abs(self.high)))
        smallest = 0.0 if self.low <= 0 <= self.high else ends[0]
        return (math.log(smallest) if smallest else -math.inf), (math.log(ends[1]) if ends[1] else -math.inf)


def domain(factors: Iterable[Factor], x: FeatureValue) -> list[Condition]:
    """Return the conditions, beyond those that the interval shows, under which all factors of a feature are defined.

    Examples
    --------
    >>> from ecsel import Signomial
    >>> from ecsel.export.program.expr import Var
    >>> (root,) = Signomial.parse("sqrt(x)").terms[0].factors
    >>> domain([root], FeatureValue(Var("x0"), 0.0, 9.0)), len(domain([root], FeatureValue(Var("x0"), -1.0, 9.0)))
    ([], 1)
    """
    conditions: dict[Condition, None] = {}
    for factor in factors:
        if factor.exp:
            continue
        h, low, high = _shifted(x.value, factor.shift), x.low + factor.shift, x.high + factor.shift
        zero = 1.0 if factor.log else 0.0
        if factor.log and low <= 0:
            conditions[Compare(">", h, Const(0.0))] = None
        if factor.refuses_negative and low < zero:
            conditions[Compare(">=", h, Const(zero))] = None
        if factor.exponent < 0 and low <= zero <= high:
            conditions[Compare(">", Abs(minus(h, Const(1.0)) if factor.log else h), Const(0.0))] = None
    return list(conditions)


def harmless_value(factors: Iterable[Factor]) -> float:
    """Return a number at which all factors of a feature are defined: every x + s is 2 or more."""
    origin = max((-factor.shift for factor in factors), default=0.0)
    return 2.0 + max(0.0, origin * (1 + 1e-9))


def factor_value(factor: Factor, x: FeatureValue) -> Quotient:
    """Return a factor as a product and a divisor; its value must not overflow."""
    if factor.exp:
        return Quotient((Exp(clamp(mul([Const(float(factor.exponent)), x.value]), -LOG_LIMIT, LOG_LIMIT)),))
    base = Base.of(factor, x)
    exponent = abs(Fraction(factor.exponent))
    is_short = exponent.denominator <= 2 and exponent <= MAX_REPEATED
    g = base.value if is_short and factor.is_natural and is_integer(factor.exponent) else base.size
    carries_sign = factor.parity is Parity.ODD and not (is_short and factor.is_natural)
    signs = (base.sign,) if carries_sign and base.low <= 0 else ()
    if not is_short:
        return Quotient((*signs, _real_power(base, float(factor.exponent))))
    powers = (g,) * math.floor(exponent) + (Sqrt(g),) * (exponent.denominator - 1)
    return Quotient((*signs, *powers)) if factor.exponent >= 0 else Quotient(signs, powers)


def read_terms(
    terms: ScoreTerms, features: Mapping[int, FeatureValue], input_of: Mapping[int, int], sheet: Sheet
) -> tuple[ReadTerm, ...]:
    """Write down all terms; features are defined wherever a row is accepted, and harmless elsewhere."""
    logs = _Logs(terms, features, input_of, sheet)
    read: list[ReadTerm] = []
    for alpha, placed, (_, top) in zip(terms.coefficients.tolist(), terms.factors, terms.clip_limits, strict=True):
        if is_bounded(alpha, placed, features):
            read.append(_product(placed, features, input_of))
        elif len(placed) == 1 and _is_short(placed[0].factor):
            read.append(_clipped_power(placed[0], features, input_of, top))
        else:
            read.append(logs.term(placed))
    return tuple(read)


def is_bounded(alpha: float, placed: Sequence[PlacedFactor], features: Mapping[int, FeatureValue]) -> bool:
    """Whether intervals show that neither a product of a term nor a divisor is too large."""
    largest, divisor = max(0.0, _log_size(alpha)), 0.0
    for j, factor in placed:
        b = float(factor.exponent)
        if factor.exp:
            largest += max(0.0, b * features[j].low, b * features[j].high)
            continue
        low, high = Base.of(factor, features[j]).log_limits
        if b < 0:
            largest += max(0.0, b * low)
            divisor += max(0.0, -b * high)
        elif b > 0:
            largest += max(0.0, b * high)
    return largest <= MAX_PRODUCT and divisor <= MAX_DIVISOR and _log_size(alpha) >= -MAX_DIVISOR


def _product(
    placed: Sequence[PlacedFactor], features: Mapping[int, FeatureValue], input_of: Mapping[int, int]
) -> ProductTerm:
    by_input: dict[int, list[Quotient]] = defaultdict(list)
    for j, factor in placed:
        by_input[input_of[j]].append(factor_value(factor, features[j]))
    return ProductTerm({i: product(own) for i, own in by_input.items()})


def _is_short(factor: Factor) -> bool:
    return not factor.exp and factor.is_natural and is_integer(factor.exponent) and 0 < factor.exponent <= MAX_REPEATED


def _clipped_power(
    placed: PlacedFactor, features: Mapping[int, FeatureValue], input_of: Mapping[int, int], top: float
) -> ProductTerm:
    """Return a whole power of any number, clipped at ±exp(top)."""
    j, factor = placed
    g, limit = Base.of(factor, features[j]).value, math.exp(top / int(factor.exponent))
    return ProductTerm({input_of[j]: Quotient((clamp(g, -limit, limit),) * int(factor.exponent))})


class _Logs:
    """The logarithms and signs of all bases, each named when a term first asks for it."""

    def __init__(
        self, terms: ScoreTerms, features: Mapping[int, FeatureValue], input_of: Mapping[int, int], sheet: Sheet
    ) -> None:
        self.features, self.input_of, self.sheet = features, input_of, sheet
        self.sharing: dict[tuple[int, float, bool], list[Factor]] = defaultdict(list)
        for placed in terms.factors:
            for j, factor in placed:
                self.sharing[j, factor.shift, factor.log].append(factor)
        self.known: dict[tuple[int, float, bool], tuple[Expr, Expr | None]] = {}
        self.named: dict[int, int] = defaultdict(int)

    def term(self, placed: Sequence[PlacedFactor]) -> LogTerm:
        parts: dict[int, list[Expr]] = defaultdict(list)
        signs: dict[int, list[Expr]] = defaultdict(list)
        for j, factor in placed:
            u, sign = self.logarithm(j, factor)
            i = self.input_of[j]
            parts[i].append(mul([Const(float(factor.exponent)), u]))
            if sign is not None:
                signs[i].append(sign if factor.parity is Parity.ODD else Abs(sign))
        return LogTerm({i: add(own) for i, own in parts.items()}, {i: mul(own) for i, own in signs.items()})

    def logarithm(self, j: int, factor: Factor) -> tuple[Expr, Expr | None]:
        """Return log|g| and the sign of g, None where it is always 1."""
        if factor.exp:
            return self.features[j].value, None
        key = j, factor.shift, factor.log
        if key not in self.known:
            self.known[key] = self._name(j, factor, self.sharing[key])
        return self.known[key]

    def _name(self, j: int, factor: Factor, sharing: Sequence[Factor]) -> tuple[Expr, Expr | None]:
        base = Base.of(factor, self.features[j])
        i = self.input_of[j]
        self.named[i] += 1
        suffix = f"{i}" if self.named[i] == 1 else f"{i}_{self.named[i] - 1}"
        title = factor.name if factor.is_power else f"base {self.named[i]} of {factor.name}"
        if not factor.is_power:
            base = base._replace(value=self.sheet.let(f"g{suffix}", base.value, "log", title))
        # the other factors of this base may refuse zero and negative numbers, as then does the model
        may_be_zero = base.low <= 0 <= base.high and not any(each.exponent < 0 for each in sharing)
        may_be_negative = base.low < 0 and not any(each.refuses_negative for each in sharing)
        size = Abs(base.value) if may_be_negative else base.value
        if may_be_zero:
            size = If(Compare("==", base.value, Const(0.0)), Const(1.0), size)
        u = self.sheet.let(f"u{suffix}", Log(size), "log", f"log |{title}|")
        if not (may_be_zero or may_be_negative):
            return u, None
        return u, self.sheet.let(f"s{suffix}", base.sign, "log", f"sign of {title}")


def _real_power(base: Base, b: float) -> Expr:
    """Return |g|^b, and 0 at g = 0."""
    size = base.size
    if base.low > 0 or base.high < 0:
        return Exp(clamp(mul([Const(b), Log(size)]), -LOG_LIMIT, LOG_LIMIT))
    is_zero = Compare("==", base.value, Const(0.0))
    power = Exp(clamp(mul([Const(b), Log(If(is_zero, Const(1.0), size))]), -LOG_LIMIT, LOG_LIMIT))
    return If(is_zero, Const(0.0), power)


def _shifted(x: Expr, shift: float) -> Expr:
    return add([x, Const(shift)]) if shift else x


def _log_size(alpha: float) -> float:
    return math.log(abs(alpha)) if alpha else 0.0
