"""How firm is a law or an equation that predicts? The whole fit, repeated on bootstrap draws of the rows.

The rows are drawn anew with replacement, as many as there are, and each draw seeks its own equation with the options of
the model. A term of the model that few draws have is a reason to doubt it; where the draws have one law instead of
another, the data cannot tell them apart, as `near_ties_` says too. An estimated real exponent moves from draw to draw,
so that a term with one is the same term whatever its value.

Repeated rows make a draw look more exact than the table is: frequencies are on the safe side for what is in the law,
and a draw may hold a small term that the table does not show.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.base import clone

from ecsel.estimators.options import check_integer
from ecsel.estimators.stability import check_level, draw_seed, percentiles_of, resample, run_draws
from ecsel.estimators.targets import check_weights
from ecsel.quality.frames import to_pandas
from ecsel.signomial import Signomial, Term

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ecsel.estimators.regressor import ECSELRegressor

    Floats = NDArray[np.float64]
    Key = tuple[tuple[Any, ...], ...]


@dataclass(frozen=True, slots=True, eq=False)
class LawStability:
    """What the draws say of the terms of an equation.

    Attributes
    ----------
    terms
        The terms of the model as text, without their coefficients.
    coefficient, coefficients
        The coefficients of the model, (terms,), and of every draw, (draws, terms); NaN where a draw has no such term.
    column_names, column_frequency
        The columns, and the share of draws that use each.
    draws
        The equation of every draw.
    same_law
        The share of draws with exactly the terms of the model.
    """

    terms: tuple[str, ...]
    coefficient: Floats
    coefficients: Floats
    column_names: tuple[str, ...]
    column_frequency: Floats
    draws: tuple[Signomial, ...]
    same_law: float

    @property
    def frequency(self) -> Floats:
        """The share of draws that have each term, (terms,)."""
        return np.asarray((~np.isnan(self.coefficients)).mean(axis=0))

    def to_frame(self, level: float = 0.95) -> Any:
        """Return a pandas data frame, a line per term; low and high are percentiles over the draws that have it."""
        check_level(level)
        low, high = percentiles_of(self.coefficients, level)
        columns: dict[str, Any] = {
            "term": self.terms,
            "frequency": self.frequency,
            "coefficient": self.coefficient,
            "low": low,
            "high": high,
        }
        return to_pandas(columns, "LawStability.to_frame()")


def law_stability(
    model: ECSELRegressor, X: Any, y: Any, *, n_bootstrap: int, random_state: Any, sample_weight: Any
) -> LawStability:
    """Fit the model to bootstrap draws of the rows; an interrupt keeps the draws that are done."""
    check_integer("n_bootstrap", n_bootstrap, least=1)
    target = np.asarray(y)
    weights = check_weights(sample_weight, len(target))
    seed, together = draw_seed(random_state), np.zeros(len(target), dtype=np.intp)
    again = clone(model).set_params(verbose=0)

    def draw(i: int) -> Signomial:
        drawn = resample(together, weights, np.random.default_rng([seed, i]))
        fitted: Signomial = clone(again).fit(X, y, sample_weight=drawn).equation_
        return fitted

    found = run_draws(draw, n_bootstrap, 1, verbose=bool(model.verbose))
    own = [_key(term) for term in model.equation_.terms]
    coefficients = np.full((len(found), len(own)), np.nan)
    for i, equation in enumerate(found):
        there = {_key(term): term.coefficient for term in equation.terms}
        coefficients[i] = [there.get(key, np.nan) for key in own]
    names = tuple(sorted(set(model.equation_.names).union(*(equation.names for equation in found))))
    return LawStability(
        tuple(str(Signomial([Term.from_factors(1.0, term.factors)])) for term in model.equation_.terms),
        np.array([term.coefficient for term in model.equation_.terms]),
        coefficients,
        names,
        np.array([np.mean([name in equation.names for equation in found]) for name in names]),
        tuple(found),
        float(np.mean([sorted(map(_key, equation.terms)) == sorted(own) for equation in found])),
    )


def _key(term: Term) -> Key:
    """Return what makes a term the same in two draws: its factors, estimated exponents and shifts being alike."""
    return tuple(
        (
            f.name,
            str(f.exponent) if isinstance(f.exponent, Fraction) else "real",
            f.parity.name,
            f.shift != 0,
            f.log,
            f.exp,
        )
        for f in sorted(term.factors, key=lambda f: (f.name, f.shift, f.log, f.exp))
    )
