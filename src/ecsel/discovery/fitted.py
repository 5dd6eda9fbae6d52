"""A fitted law as a plain value: its equation, how well its numbers are known, and how well it fits."""

import json
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Any

import numpy as np
from scipy import stats

from ecsel._typing import Floats
from ecsel.discovery.law import Law
from ecsel.discovery.noise import LOGNORMAL, Noise
from ecsel.discovery.numbers import name_number
from ecsel.signomial import Parity, Signomial, Term
from ecsel.signomial.columns import base_values

_MEASURES = ("noise_variance", "degrees_of_freedom", "code_length", "mse", "validation_mse", "plain_mse")


@dataclass(frozen=True, slots=True)
class Parameter:
    """One estimated number of a law: a coefficient (``feature`` is None) or an exponent of a term.

    ``estimate`` is what the data say before any rounding, which ``standard_error`` speaks of.
    """

    term: int
    feature: str | None
    value: float
    standard_error: float
    rounded: bool
    """Whether the value is a simpler number near the estimate."""
    estimate: float
    """As the data have it, before any rounding."""


@dataclass(frozen=True, slots=True)
class ExponentEstimate:
    """What the data say of an exponent that is a simple fraction, with all exponents of the law free."""

    term: int
    feature: str
    estimate: float
    standard_error: float


@dataclass(frozen=True, slots=True)
class Constant:
    """A constant of a given form; its standard error is infinite where the data do not determine it by itself."""

    name: str
    """As the form has it."""
    value: float
    standard_error: float


@dataclass(frozen=True, eq=False)
class FittedLaw:
    """A law with its uncertainty and its errors.

    Attributes
    ----------
    terms
        The terms, in the order that ``parameters`` and ``covariance`` speak of.
    rounded
        Which coefficients were rounded to simple numbers.
    free
        (term, feature) of the exponents that are estimated real numbers.
    inner
        (term, factor, what) of the other numbers that constants of a given form stand for: the exponent of a factor
        that is no plain power, the "shift" of a column, the "rate" of an exponential.
    covariance
        Covariance of the coefficients followed by the free exponents and the inner numbers, as the data determine them
        before any rounding, conditional on the monomials.
    noise_variance, degrees_of_freedom
        Residual variance, of a row of mean weight, and its degrees of freedom.
    noise
        The noise that a new row must expect.
    code_length
        Nats that the law and the data given the law take; smaller is better, only differences have a meaning.
    mse, validation_mse
        Mean squared error on the training rows, weighted as they are, and of leaving out each row in turn with the
        monomials held.
    plain_mse
        Mean squared error of the law's values on the training rows, each row alike and in the target's own unit.
    estimates
        The coefficients before any rounding.
    exponent_estimates
        Of a law that was searched: its fractions before any rounding, with all exponents free.
    known
        A part of the law that was given, not estimated.
    constants, constant_covariance
        The constants of a given form, in order of appearance, and their joint covariance; ``covariance`` then follows
        from it, and a constant that occurs twice is one number.
    """

    terms: tuple[Term, ...]
    rounded: tuple[bool, ...]
    free: tuple[tuple[int, str], ...]
    covariance: Floats
    noise_variance: float
    degrees_of_freedom: float
    code_length: float
    mse: float
    validation_mse: float
    noise: Noise = field(default_factory=Noise)
    known: Signomial = field(default_factory=Signomial)
    constants: tuple[Constant, ...] = ()
    constant_covariance: Floats = field(default_factory=lambda: np.zeros((0, 0)))
    plain_mse: float = math.nan
    estimates: tuple[float, ...] = ()
    inner: tuple[tuple[int, int, str], ...] = ()
    exponent_estimates: tuple[ExponentEstimate, ...] = ()

    @classmethod
    def from_law(
        cls,
        law: Law,
        names: Sequence[str],
        exact: Callable[[float], Fraction | None],
        *,
        validation_mse: float,
        never_negative: Sequence[bool],
    ) -> "FittedLaw":
        """Put names to a law; a non-integer power of a column that was ever negative is that of its absolute value."""
        s = law.structure
        terms = []
        for k in range(len(s)):
            exponents: dict[str, Fraction | float] = {}
            odd, absolute = [], []
            for j in np.flatnonzero((s.exponents[k] != 0) | s.free[k]).tolist():
                value = float(s.exponents[k, j])
                rational = None if s.free[k, j] else exact(value)
                exponents[names[j]] = value if rational is None else rational
                if s.parity[k, j]:
                    odd.append(names[j])
                elif not never_negative[j]:
                    absolute.append(names[j])
            terms.append(Term(float(law.coefficients[k]), exponents, odd=odd, absolute=absolute))
        free = tuple((int(k), names[int(j)]) for k, j in zip(*np.nonzero(s.free), strict=True))
        left = max(law.n_rows - s.n_parameters, 1.0)
        return cls(
            tuple(terms),
            tuple(bool(r) for r in law.rounded),
            free,
            law.covariance,
            law.rss / left,
            left,
            law.code_length,
            law.rss / max(law.n_rows, 1.0),
            validation_mse,
            estimates=tuple(law.estimates.tolist()),
        )

    @property
    def equation(self) -> Signomial:
        """The law as a signomial, its known part included."""
        return Signomial(self.terms) + self.known

    def plus(self, known: Signomial) -> "FittedLaw":
        """Return the law with a known part, whose numbers are not estimated."""
        return replace(self, known=self.known + known) if known.terms else self

    @property
    def is_weighted(self) -> bool:
        """Whether the errors of the fit weigh rows, so that they are not those of `predict`."""
        return not (math.isnan(self.plain_mse) or f"{self.plain_mse**0.5:.3g}" == f"{self.mse**0.5:.3g}")

    @property
    def mse_text(self) -> str:
        """The mean squared error in words, that of weighted rows called so."""
        return f"mse {self.plain_mse:.4g} ({self.mse:.4g} weighted)" if self.is_weighted else f"mse {self.mse:.4g}"

    @property
    def n_rows(self) -> int:
        """Number of rows that were fitted."""
        numbers = len(self.constants) if self.constants else self.size
        return round(self.degrees_of_freedom) + numbers

    @property
    def n_terms(self) -> int:
        """Number of terms."""
        return len(self.terms)

    @property
    def size(self) -> int:
        """Number of terms and free exponents."""
        return len(self.terms) + len(self.free)

    @property
    def parameters(self) -> tuple[Parameter, ...]:
        """The coefficients, then the free exponents, with standard errors conditional on the monomials."""
        errors = np.sqrt(np.maximum(np.diag(self.covariance), 0.0))
        estimates = self.estimates or [t.coefficient for t in self.terms]
        found = [
            Parameter(k, None, t.coefficient, float(errors[k]), self.rounded[k], estimates[k])
            for k, t in enumerate(self.terms)
        ]
        of_exponents = errors[len(self.terms) : len(self.terms) + len(self.free)]
        for (k, name), error in zip(self.free, of_exponents, strict=True):
            value = float(self.terms[k].exponents[name])
            found.append(Parameter(k, name, value, float(error), rounded=False, estimate=value))
        return tuple(found)

    def interval(
        self, columns: Mapping[str, Floats], n_rows: int, coverage: float, sigma: Floats | None = None
    ) -> tuple[Floats, Floats]:
        """Return the ends of prediction intervals; under lognormal noise they are factors of the law's value."""
        centre = np.broadcast_to(self.equation.evaluate(columns), n_rows)
        half = self.half_width(columns, n_rows, coverage, sigma)
        if self.noise.kind != LOGNORMAL or sigma is not None:
            return centre - half, centre + half
        with np.errstate(over="ignore", divide="ignore", invalid="ignore"):
            factor = np.exp(half / np.abs(centre))
            ends = np.where(centre == 0.0, 0.0, centre / factor), np.where(centre == 0.0, 0.0, centre * factor)
        return np.minimum(*ends), np.maximum(*ends)

    def half_width(
        self, columns: Mapping[str, Floats], n_rows: int, coverage: float, sigma: Floats | None = None
    ) -> Floats:
        """Return half the width of a prediction interval for each row: noise and the uncertainty of the parameters.

        The noise of the rows is what the training rows tell of it, or has the standard deviation ``sigma``.
        """
        values = [np.broadcast_to(t.evaluate(columns), n_rows) for t in self.terms]
        design = [np.divide(v, t.coefficient) for v, t in zip(values, self.terms, strict=True)]
        for k, name in self.free:
            with np.errstate(divide="ignore"):
                logs = np.log(np.abs(np.asarray(columns[name], dtype=float)))
            design.append(np.where(np.isfinite(logs), values[k] * logs, 0.0))
        design += [inner_slope(self.terms[k], i, what, columns, values[k]) for k, i, what in self.inner]
        if sigma is None:
            sigma = self.noise.at(np.broadcast_to(self.equation.evaluate(columns), n_rows))
        # Where squares leave the floating-point range the interval says so by being infinite.
        with np.errstate(over="ignore", invalid="ignore"):
            variance = np.broadcast_to(sigma, n_rows) ** 2
            if design:
                matrix = np.column_stack(design)
                variance = variance + np.einsum("np,pq,nq->n", matrix, self.covariance, matrix)
        variance = np.where(np.isnan(variance), np.inf, np.maximum(variance, 0.0))
        freedom = self.degrees_of_freedom if self.noise.estimated else np.inf
        return np.asarray(stats.t.ppf(0.5 + coverage / 2, freedom) * np.sqrt(variance))

    def to_plain(self) -> dict[str, Any]:
        """Return the numbers beside the equation as plain JSON values."""
        fractions = [[e.term, e.feature, e.estimate, _finite(e.standard_error)] for e in self.exponent_estimates]
        return {
            "known": str(self.known),
            "terms": [str(Signomial([t])) for t in self.terms],
            "rounded": list(self.rounded),
            "free": [[k, name] for k, name in self.free],
            **({"inner": [list(each) for each in self.inner]} if self.inner else {}),
            "covariance": self.covariance.tolist(),
            "noise": [self.noise.kind, _finite(self.noise.sigma), self.noise.estimated],
            "estimates": list(self.estimates),
            **({"exponent_estimates": fractions} if fractions else {}),
            "constants": [[c.name, c.value, _finite(c.standard_error)] for c in self.constants],
            "constant_covariance": self.constant_covariance.tolist(),
            **{name: _finite(getattr(self, name)) for name in _MEASURES},
        }

    @classmethod
    def from_plain(cls, values: Mapping[str, Any]) -> "FittedLaw":
        """Return the law that :meth:`to_plain` wrote."""
        inner = tuple((int(k), int(i), str(what)) for k, i, what in values.get("inner", ()))
        size = len(values["terms"]) + len(values["free"]) + len(inner)
        constants = tuple(
            Constant(str(name), float(value), float("inf") if error is None else float(error))
            for name, value, error in values.get("constants", ())
        )
        joint = np.array(values.get("constant_covariance", ()), dtype=float)
        # Files of earlier versions have neither plain errors nor estimates before rounding.
        measures = {n: float("nan") if values.get(n) is None else float(values[n]) for n in _MEASURES}
        # A file without it was written when noise was always taken to be constant.
        kind, sigma, estimated = values.get("noise", ("constant", measures["noise_variance"] ** 0.5, True))
        return cls(
            terms=tuple(Signomial.parse(text).terms[0] for text in values["terms"]),
            rounded=tuple(bool(r) for r in values["rounded"]),
            free=tuple((int(k), str(name)) for k, name in values["free"]),
            covariance=np.array(values["covariance"], dtype=float).reshape(size, size),
            noise=Noise(str(kind), float("nan") if sigma is None else float(sigma), bool(estimated)),
            known=Signomial.parse(values["known"]),
            constants=constants,
            constant_covariance=joint.reshape(len(constants), len(constants)),
            estimates=tuple(float(v) for v in values.get("estimates", ())),
            inner=inner,
            exponent_estimates=tuple(
                ExponentEstimate(int(k), str(name), float(value), float("inf") if error is None else float(error))
                for k, name, value, error in values.get("exponent_estimates", ())
            ),
            **measures,
        )


def inner_slope(term: Term, i: int, what: str, columns: Mapping[str, Floats], value: Floats) -> Floats:
    """Return the derivative of a term's value by the exponent, shift or rate of its i-th factor.

    >>> term = Signomial.parse("3*exp(-2*t)").terms[0]
    >>> inner_slope(term, 0, "rate", {"t": np.array([0.5])}, np.array([1.1]))
    array([0.55])
    """
    factor = term.factors[i]
    x = np.asarray(columns[factor.name], dtype=float)
    if what == "rate":
        return np.asarray(value * x)
    g = base_values(factor, x)
    with np.errstate(divide="ignore", invalid="ignore"):
        if what == "exponent":
            return np.asarray(value * np.log(np.abs(g), out=np.zeros_like(g), where=g != 0))
        b = float(factor.exponent)
        sign = 1.0 if factor.parity is Parity.ODD or factor.refuses_negative else np.sign(g)  # of an even function
        step = 1.0 / (x + factor.shift) if factor.log else 1.0
        others = Term.from_factors(term.coefficient, (f for k, f in enumerate(term.factors) if k != i))
        return np.asarray(others.evaluate(columns) * b * np.abs(g) ** (b - 1.0) * sign * step)


def _finite(value: float) -> float | None:
    return value if np.isfinite(value) else None


class LawPath(tuple[FittedLaw, ...]):
    """The front of size against error: laws from small to large, each fitting better than all smaller ones."""

    __slots__ = ()

    def __repr__(self) -> str:
        rows = [f"  [{i}] size {law.size}, {law.mse_text}: {law.equation:.4g}" for i, law in enumerate(self)]
        return "\n".join([f"LawPath of {len(self)} laws", *rows])

    def to_frame(self) -> Any:
        """Return a pandas data frame, one row per law; ``plain_mse`` counts all rows alike, the others weigh them."""
        try:
            import pandas as pd  # noqa: PLC0415 - an optional dependency
        except ImportError as error:
            raise ImportError("path_.to_frame() needs pandas: pip install pandas.") from error
        columns = ("n_terms", "size", "code_length", "mse", "validation_mse", "plain_mse", "equation")
        return pd.DataFrame([{c: getattr(law, c) for c in columns} for law in self], columns=list(columns))


def as_plain(option: Any) -> Any:
    """Return an option as JSON would give it back, ``None`` where it cannot be written."""
    try:
        return json.loads(json.dumps(option, allow_nan=False))
    except (TypeError, ValueError):
        return None


def _pieces(value: float, pi: str, pi_squared: str) -> tuple[str, str, str] | None:
    """Return sign, numerator and denominator of a simple number, ``None`` for any other."""
    named = name_number(value)
    if named is None:
        return None
    ratio, power = named
    symbol = {0: "", 1: pi, 2: pi_squared}[abs(power)]
    above, below = (symbol, "") if power > 0 else ("", symbol)

    def side(number: int, name: str) -> str:
        return name if name and number == 1 else f"{number}{name}"

    return "-" if ratio < 0 else "", side(abs(ratio.numerator), above), side(ratio.denominator, below)


def number_text(value: float, digits: int = 6) -> str:
    """Return a number for people, simple fractions and multiples of pi by name.

    >>> import math
    >>> number_text(0.5), number_text(4 * math.pi), number_text(1 / (4 * math.pi)), number_text(1.23)
    ('1/2', '4π', '1/(4π)', '1.23')
    """
    pieces = _pieces(value, "π", "π²")
    if pieces is None:
        return f"{value:.{digits}g}"
    sign, above, below = pieces
    if below == "1":
        return sign + above
    return f"{sign}{above}/({below})" if below[0].isdigit() and "π" in below else f"{sign}{above}/{below}"


def number_latex(value: float) -> str | None:
    r"""Return the LaTeX of a simple fraction or multiple of pi, ``None`` for any other number.

    >>> import math
    >>> print(number_latex(1 / (4 * math.pi)), number_latex(0.5), number_latex(2.0), number_latex(0.123))
    \frac{1}{4\pi} \frac{1}{2} 2 None
    """
    pieces = _pieces(value, r"\pi", r"\pi^{2}")
    if pieces is None:
        return None
    sign, above, below = pieces
    return sign + (above if below == "1" else rf"\frac{{{above}}}{{{below}}}")
