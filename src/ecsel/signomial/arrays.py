"""Class scores as arrays: the fast form of one signomial per class on positive features.

With u = log x the terms of all classes are one matrix product and one exponential,

    z_k(x) = α_k·exp(clip(⟨β_k, u⟩, ±700)),        z_c(x) = Σ_{k of class c} z_k(x),

and this is the form that models fit, predict and explain with.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, TypeVar

import numpy as np
import numpy.typing as npt

from ecsel.signomial.columns import LOG_LIMIT, FloatArray
from ecsel.signomial.signomial import Signomial
from ecsel.signomial.term import Term

if TYPE_CHECKING:
    from collections.abc import Sequence

IntArray = npt.NDArray[np.intp]
_Scalar = TypeVar("_Scalar", bound=np.generic)


@dataclass(frozen=True, eq=False)
class ScoreTerms:
    """The terms of all class scores.

    Parameters
    ----------
    coefficients : array (terms,)
        α.
    exponents : array (terms, features)
        β.
    classes : integer array (terms,)
        The class score that each term belongs to.
    n_classes : int
        The number of scores: one with a sigmoid. A class without terms has score zero.

    Examples
    --------
    >>> terms = ScoreTerms.from_signomials([Signomial.parse("2*x - 1"), Signomial.parse("x*y")], ["x", "y"])
    >>> terms.exponents
    array([[1., 0.],
           [0., 0.],
           [1., 1.]])
    >>> scores(terms, np.log([[2.0, 3.0]]))
    array([[3., 6.]])
    """

    coefficients: FloatArray
    exponents: FloatArray
    classes: IntArray
    n_classes: int

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

    @property
    def n_terms(self) -> int:
        """The number of terms of all classes together."""
        return len(self.coefficients)

    @property
    def n_features(self) -> int:
        """The number of features."""
        return int(self.exponents.shape[1])

    @classmethod
    def from_signomials(cls, signomials: Sequence[Signomial], names: Sequence[str]) -> ScoreTerms:
        """Return the terms of one signomial per class; ``names`` gives the order of the features.

        On positive features a sign is 1 and |x| is x, so it does not matter how a term treats negative values.
        """
        _refuse_repeated(names)
        position = {name: j for j, name in enumerate(names)}
        terms = [(term, c) for c, signomial in enumerate(signomials) for term in signomial.terms]
        exponents = np.zeros((len(terms), len(names)))
        for k, (term, _) in enumerate(terms):
            if not term.is_power_law:
                raise ValueError(f"the term {Signomial([term])} is no product of powers")
            for name, exponent in term.exponents.items():
                if name not in position:
                    raise ValueError(f"the equation uses {name!r}, which is not among the {len(names)} features")
                exponents[k, position[name]] = float(exponent)
        return cls(
            coefficients=np.array([term.coefficient for term, _ in terms], dtype=np.float64),
            exponents=exponents,
            classes=np.array([c for _, c in terms], dtype=np.intp),
            n_classes=len(signomials),
        )

    def to_signomials(self, names: Sequence[str]) -> tuple[Signomial, ...]:
        """Return one signomial per class. Whole exponents become exact, others stay floats."""
        if len(names) != self.n_features:
            raise ValueError(f"{self.n_features} names are needed, one per feature, not {len(names)}")
        _refuse_repeated(names)
        by_class: list[list[Term]] = [[] for _ in range(self.n_classes)]
        for alpha, beta, c in zip(self.coefficients, self.exponents, self.classes, strict=True):
            exponents = {name: Fraction(b) if b.is_integer() else float(b) for name, b in zip(names, beta, strict=True)}
            by_class[c].append(Term(float(alpha), exponents))
        return tuple(Signomial(terms) for terms in by_class)


def term_values(terms: ScoreTerms, log_x: FloatArray) -> FloatArray:
    """Return z_k for every row and term, shape (rows, terms)."""
    values = _as_log_rows(terms, log_x) @ terms.exponents.T
    np.clip(values, -LOG_LIMIT, LOG_LIMIT, out=values)
    np.exp(values, out=values)
    values *= terms.coefficients
    return values


def scores(terms: ScoreTerms, log_x: FloatArray) -> FloatArray:
    """Return z_c for every row and class, shape (rows, classes)."""
    return sum_by_class(terms, term_values(terms, log_x))


def sum_by_class(terms: ScoreTerms, values: FloatArray) -> FloatArray:
    """Add the columns (rows, terms) of each class in the order of the terms, giving (rows, classes)."""
    total = np.zeros((len(values), terms.n_classes))
    for k, c in enumerate(terms.classes):
        total[:, c] += values[:, k]
    return total


def _frozen(values: npt.ArrayLike, dtype: type[_Scalar]) -> npt.NDArray[_Scalar]:
    array = np.array(values, dtype=dtype)
    array.setflags(write=False)
    return array


def _refuse_repeated(names: Sequence[str]) -> None:
    if repeated := sorted({name for name in names if names.count(name) > 1}):
        raise ValueError(f"feature names must differ, but {', '.join(map(repr, repeated))} occurs more than once")


def _as_log_rows(terms: ScoreTerms, log_x: FloatArray) -> FloatArray:
    if log_x.ndim != 2 or log_x.shape[1] != terms.n_features:
        raise ValueError(f"log_x must have shape (rows, {terms.n_features}), not {log_x.shape}")
    return log_x
