"""Class scores as arrays: the form of one signomial per class that models predict and explain with.

A term is z_k(x) = α_k Π_j φ_kj(x_j), and φ_kj is the product of its factors of feature j. On rows of logarithms,
u = log x of positive features, all terms of plain powers are one matrix product and one exponential,

    z_k(x) = α_k·exp(clip(⟨β_k, u⟩, ±700)),        z_c(x) = Σ_{k of class c} z_k(x);

on rows of values, and for terms with shifts and logarithms, they are products of factor values, which may be negative
or zero. The upper clip is tighter where α_k·exp(700) is too large to be added up (`clip_limits`), so that every score
of a finite row is finite. Where a factor or a product leaves the range of doubles, it is computed by its logarithm as
sgn·exp(clip(Σ_i b_i·log|g_i|)), the form that exports use there.
"""

from __future__ import annotations

import math
import sys
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from itertools import accumulate
from typing import TYPE_CHECKING, NamedTuple, TypeVar

import numpy as np
import numpy.typing as npt

from ecsel.signomial.columns import (
    LOG_LIMIT,
    LogColumns,
    base_values,
    clip_limits,
    refuse_outside_domain,
)
from ecsel.signomial.factor import Factor, Parity, canonical_factor
from ecsel.signomial.factor_values import LARGEST, FeatureJet, bounded_product, factor_values
from ecsel.signomial.signomial import Signomial
from ecsel.signomial.term import Term

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from ecsel._typing import Array, Floats, Mask, Places
    from ecsel.signomial.rows import FeatureRows

_Scalar = TypeVar("_Scalar", bound=np.generic)


class PlacedFactor(NamedTuple):
    """A factor and the position of its feature."""

    feature: int
    """Its row among the features."""
    factor: Factor


@dataclass(frozen=True, eq=False)
class ScoreTerms:
    """The terms of all class scores.

    Parameters
    ----------
    coefficients : array (terms,)
        α.
    exponents : array (terms, features)
        β of the plain powers.
    classes : integer array (terms,)
        The class score that each term belongs to.
    n_classes : int
        The number of scores: one with a sigmoid. A class without terms has score zero.
    factors : for each term its factors with the positions of their features, optional
        By default the plain powers that the exponents say, as Python reads them.

    Examples
    --------
    >>> from ecsel.signomial import FeatureRows
    >>> terms = ScoreTerms.from_signomials([Signomial.parse("2*x - 1"), Signomial.parse("x*log(y)")], ["x", "y"])
    >>> terms.exponents
    array([[1., 0.],
           [0., 0.],
           [1., 0.]])
    >>> scores(terms, FeatureRows.from_values([[2.0, 1.0]]))
    array([[3., 0.]])
    """

    coefficients: Floats
    exponents: Floats
    classes: Places
    n_classes: int
    factors: tuple[tuple[PlacedFactor, ...], ...] = ()

    def __post_init__(self) -> None:
        coefficients = _frozen(self.coefficients, np.float64)
        exponents = _frozen(self.exponents, np.float64)
        classes = _frozen(self.classes, np.intp)
        n_terms = coefficients.size
        if coefficients.ndim != 1 or exponents.ndim != 2 or len(exponents) != n_terms or classes.shape != (n_terms,):
            raise ValueError(
                "coefficients, exponents and classes must have shapes (terms,), (terms, features) and (terms,), not "
                f"{coefficients.shape}, {exponents.shape} and {classes.shape}"
            )
        if not (np.isfinite(coefficients).all() and np.isfinite(exponents).all()):
            raise ValueError("coefficients and exponents must be finite")
        if self.n_classes < 1 or (n_terms and not 0 <= classes.min() <= classes.max() < self.n_classes):
            raise ValueError(f"classes must lie between 0 and n_classes - 1 = {self.n_classes - 1}")
        object.__setattr__(self, "coefficients", coefficients)
        object.__setattr__(self, "exponents", exponents)
        object.__setattr__(self, "classes", classes)
        object.__setattr__(self, "factors", self.factors or tuple(_powers(beta) for beta in exponents))
        if len(self.factors) != n_terms:
            raise ValueError(f"factors must be given for all {n_terms} terms, not for {len(self.factors)}")

    @property
    def n_terms(self) -> int:
        """The number of terms of all classes together."""
        return len(self.coefficients)

    @property
    def n_features(self) -> int:
        """The number of features."""
        return int(self.exponents.shape[1])

    @cached_property
    def clip_limits(self) -> list[tuple[float, float]]:
        """The limits of the exponent of e of each term."""
        return clip_limits(self.coefficients.tolist())

    @cached_property
    def is_power_law(self) -> Mask:
        """Whether a term has plain powers alone, (terms,)."""
        return np.array([all(each.factor.is_power for each in term) for term in self.factors], dtype=bool)

    @cached_property
    def uses(self) -> Mask:
        """Whether a term depends on a feature, (terms, features)."""
        uses = np.zeros((self.n_terms, self.n_features), dtype=bool)
        for k, term in enumerate(self.factors):
            uses[k, [each.feature for each in term]] = True
        return uses

    @classmethod
    def from_signomials(cls, signomials: Sequence[Signomial], names: Sequence[str]) -> ScoreTerms:
        """Return the terms of one signomial per class; ``names`` gives the order of the features."""
        _refuse_repeated(names)
        position = {name: j for j, name in enumerate(names)}
        terms = [(term, c) for c, signomial in enumerate(signomials) for term in signomial.terms]
        if unknown := [name for term, _ in terms for name in term.names if name not in position]:
            raise ValueError(f"the equation uses {unknown[0]!r}, which is not among the {len(names)} features")
        exponents = np.zeros((len(terms), len(names)))
        for k, (term, _) in enumerate(terms):
            for name, exponent in term.exponents.items():
                exponents[k, position[name]] = float(exponent)
        return cls(
            coefficients=np.array([term.coefficient for term, _ in terms], dtype=np.float64),
            exponents=exponents,
            classes=np.array([c for _, c in terms], dtype=np.intp),
            n_classes=len(signomials),
            factors=tuple(tuple(PlacedFactor(position[f.name], f) for f in term.factors) for term, _ in terms),
        )

    @classmethod
    def from_powers(cls, intercepts: Array, coefficients: Array, exponents: Array) -> ScoreTerms:
        """Return the terms of scores with equally many powers each; those that are zero are left out.

        Parameters
        ----------
        intercepts, coefficients, exponents : arrays (classes,), (classes, terms) and (classes, terms, features)
            z_c = intercept_c + Σ_k α_ck exp(⟨β_ck, u⟩).

        Examples
        --------
        >>> powers = ScoreTerms.from_powers(np.array([0.5]), np.array([[2.0, 0.0]]), np.array([[[1.5], [0.0]]]))
        >>> powers.to_signomials(["x"])
        (Signomial.parse('2*x**1.5 + 0.5'),)
        """
        n_classes, _, n_features = exponents.shape
        alpha = np.column_stack([intercepts, coefficients]).astype(np.float64)
        beta = np.concatenate([np.zeros((n_classes, 1, n_features)), exponents], axis=1).astype(np.float64)
        classes, places = np.nonzero((alpha != 0) | beta.any(axis=2))
        return cls(alpha[classes, places], beta[classes, places], classes, n_classes)

    def to_powers(self, n_terms: int | None = None) -> tuple[Floats, Floats, Floats]:
        """Return intercepts, coefficients and exponents as `from_powers` takes them, of scores that are power laws.

        Every class gets `n_terms` terms, or as many as the longest one has; missing ones are zero.

        Examples
        --------
        >>> intercepts, coefficients, exponents = ScoreTerms([0.5, 2.0], [[0.0], [1.5]], [0, 0], 1).to_powers(2)
        >>> intercepts, coefficients
        (array([0.5]), array([[2., 0.]]))
        """
        has_features = self.exponents.any(axis=1)
        counts = np.bincount(self.classes[has_features], minlength=self.n_classes)
        size = max(1, *counts.tolist()) if n_terms is None else n_terms
        intercepts, coefficients = np.zeros(self.n_classes), np.zeros((self.n_classes, size))
        exponents = np.zeros((self.n_classes, size, self.n_features))
        for c in range(self.n_classes):
            own = self.classes == c
            intercepts[c] = self.coefficients[own & ~has_features].sum()
            places = np.flatnonzero(own & has_features)
            coefficients[c, : len(places)] = self.coefficients[places]
            exponents[c, : len(places)] = self.exponents[places]
        return intercepts, coefficients, exponents

    def __truediv__(self, number: float) -> ScoreTerms:
        """Return the terms of all scores divided by a number, such as a temperature."""
        return replace(self, coefficients=self.coefficients / number)

    def to_signomials(self, names: Sequence[str]) -> tuple[Signomial, ...]:
        """Return one signomial per class. Of terms that were given as arrays whole exponents become exact."""
        if len(names) != self.n_features:
            raise ValueError(f"{self.n_features} names are needed, one per feature, not {len(names)}")
        _refuse_repeated(names)
        by_class: list[list[Term]] = [[] for _ in range(self.n_classes)]
        for alpha, term, c in zip(self.coefficients.tolist(), self.factors, self.classes, strict=True):
            factors = (each.factor._replace(name=names[each.feature]) for each in term)
            by_class[c].append(Term.from_factors(alpha, factors))
        return tuple(Signomial(terms) for terms in by_class)

    def refuse_outside_domain(self, rows: FeatureRows) -> None:
        """Refuse rows in which some factor is not defined, by the name of its feature."""
        for feature, factor in dict.fromkeys(placed for term in self.factors for placed in term):
            refuse_outside_domain(factor, base_values(factor, rows.values[:, feature]))

    def feature_values(self, rows: FeatureRows, k: int) -> dict[int, Floats]:
        """Return φ_kj of term k by feature j."""
        parts: dict[int, Floats] = {}
        for j, factor in self.factors[k]:
            value = factor_values(factor, rows.values[:, j])
            parts[j] = value if j not in parts else np.asarray(bounded_product([parts[j], value]))
        return parts

    def feature_jets(self, rows: FeatureRows, k: int) -> dict[int, FeatureJet]:
        """Return φ_kj of term k by feature j, with its derivatives by log|x_j|."""
        jets: dict[int, FeatureJet] = {}
        for j, factor in self.factors[k]:
            jets[j] = jets.get(j, FeatureJet.one(len(rows))).times(factor, rows.values[:, j])
        return jets


def term_values(terms: ScoreTerms, rows: FeatureRows) -> Floats:
    """Return z_k for every row and term, shape (rows, terms).

    Examples
    --------
    >>> from ecsel.signomial import FeatureRows
    >>> terms = ScoreTerms.from_signomials([Signomial.parse("3*x**2 + log(y)")], ["x", "y"])
    >>> term_values(terms, FeatureRows.from_values([[2.0, 1.0]]))
    array([[12.,  0.]])
    """
    check_rows(terms, rows)
    if not rows.is_log:
        return _products(terms, rows, range(terms.n_terms))
    values = rows.given @ terms.exponents.T
    np.clip(values, -LOG_LIMIT, [top for _, top in terms.clip_limits], out=values)
    np.exp(values, out=values)
    values *= terms.coefficients
    general = np.flatnonzero(~terms.is_power_law)
    if general.size:
        values[:, general] = _products(terms, rows, general)
    return values


def scores(terms: ScoreTerms, rows: FeatureRows) -> Floats:
    """Return z_c for every row and class, shape (rows, classes).

    Examples
    --------
    >>> from ecsel.signomial import FeatureRows
    >>> terms = ScoreTerms.from_signomials([Signomial.parse("3*x**2 + 1"), Signomial.parse("x")], ["x"])
    >>> scores(terms, FeatureRows.from_values([[2.0]]))
    array([[13.,  2.]])
    """
    return sum_by_class(terms, term_values(terms, rows))


def sum_by_class(terms: ScoreTerms, values: Floats) -> Floats:
    """Add the columns (rows, terms) of each class in the order of the terms, giving (rows, classes)."""
    total = np.zeros((len(values), terms.n_classes))
    for k, c in enumerate(terms.classes):
        total[:, c] += values[:, k]
    return total


def check_rows(terms: ScoreTerms, rows: FeatureRows) -> None:
    """Refuse rows of another number of features."""
    if rows.n_features != terms.n_features:
        raise ValueError(f"rows must have shape (rows, {terms.n_features}), not {rows.given.shape}")


def _products(terms: ScoreTerms, rows: FeatureRows, chosen: Sequence[int] | Places | range) -> Floats:
    """Return the chosen terms as products of factor values, (rows, chosen); factors that recur are computed once."""
    known: dict[PlacedFactor, Floats] = {}
    values = np.empty((len(chosen), len(rows)))
    for i, k in enumerate(chosen):
        for placed in terms.factors[k]:
            if placed not in known:
                known[placed] = factor_values(placed.factor, rows.values[:, placed.feature])
        values[i] = terms.coefficients[k] * _bounded_term(terms, rows, k, known)
    return values.T


def _bounded_term(terms: ScoreTerms, rows: FeatureRows, k: int, known: Mapping[PlacedFactor, Floats]) -> Floats | float:
    """Return the product of factor values; where one or their product leaves the range of doubles, by logarithms."""
    placed, top = terms.factors[k], terms.clip_limits[k][1]
    if not placed:
        return math.exp(min(0.0, top))
    with np.errstate(over="ignore", invalid="ignore"):
        products: list[Floats] = list(accumulate((known[each] for each in placed), np.multiply))
    *between, product = products
    lost = _is_extreme(product, math.exp(top))
    for partial in between[1:]:
        lost |= _is_extreme(partial, LARGEST)
    for each in placed:
        # a base is a double, and so are its own power and its root: only other powers are cut or rounded to zero
        if each.factor.exp or not 0 <= float(each.factor.exponent) <= 1:
            lost |= _is_extreme(known[each], LARGEST)
        else:
            lost &= known[each] != 0
    if not lost.any():
        return product
    names = {each.factor.name: rows.values[lost, each.feature] for each in placed}
    columns = LogColumns(int(np.count_nonzero(lost)), names)
    product = product.copy()
    product[lost] = columns.product((each.factor for each in placed), top)
    return product


def _is_extreme(values: Floats, limit: float) -> Mask:
    """Whether values are so large that they were or would be cut, or so small that they lost digits."""
    size = np.abs(values)
    extreme: Mask = ~(size < limit) | (size < sys.float_info.min)
    return extreme


def _powers(beta: Floats) -> tuple[PlacedFactor, ...]:
    """Return plain powers in features that have no names."""
    factors = []
    for j in np.flatnonzero(beta).tolist():
        b = float(beta[j])
        factor = canonical_factor(f"x{j}", Fraction(b) if b.is_integer() else b, Parity.PLAIN)
        if factor is not None:
            factors.append(PlacedFactor(j, factor))
    return tuple(factors)


def _frozen(values: npt.ArrayLike, dtype: type[_Scalar]) -> npt.NDArray[_Scalar]:
    array = np.array(values, dtype=dtype)
    array.setflags(write=False)
    return array


def _refuse_repeated(names: Sequence[str]) -> None:
    if repeated := sorted({name for name in names if names.count(name) > 1}):
        raise ValueError(f"feature names must differ, but {', '.join(map(repr, repeated))} occurs more than once")
