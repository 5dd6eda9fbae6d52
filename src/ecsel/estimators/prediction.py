"""Predictions of a number: the search for readable equations under squared errors.

The search sees the standardised target t = (y − centre)/scale, so that neither its unit nor its origin matters. The
equations are in raw units, and their digits are chosen there by the rule of `ecsel.search.rounding`.

Given the pieces an equation is a linear model. Its numbers have the sandwich covariance C of Huber and White, scaled by
n/(n − p), and a new target at the pieces g lies within

    f ± t √(σ² + g'C g),        σ² = max(RSS/(n − p), held-out error − mean of g'C g),

t the quantile of Student's law with n − p degrees of freedom: σ counts what choosing the pieces costs, which the
residuals do not show.
"""

from __future__ import annotations

import numbers
from collections.abc import Iterable
from dataclasses import dataclass, replace
from math import nan
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.utils import assert_all_finite, column_or_1d

from ecsel.discovery import option_values
from ecsel.discovery.fitted import FittedLaw
from ecsel.discovery.lattice import default_exponents
from ecsel.discovery.noise import Noise
from ecsel.estimators.options import check_choice, check_flag, check_integer, check_number
from ecsel.estimators.path import Candidate, Path
from ecsel.estimators.readable import SearchReport, SearchTask, families, scores_of
from ecsel.estimators.search_columns import allowed_functions
from ecsel.estimators.settings import MIN_SECONDS, RULES_OF_SIZE, check_allowed_exponents, thread_count
from ecsel.fitting import Status
from ecsel.quality import measure_regression
from ecsel.search.dictionary import piece_factors, standardisation
from ecsel.search.losses import Squared
from ecsel.search.rounding import rounded_coefficients
from ecsel.search.search import SearchOptions
from ecsel.signomial import Signomial, Term

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ecsel.estimators.readable import HeldOutScores, Searched
    from ecsel.estimators.regressor import ECSELRegressor
    from ecsel.estimators.training_rows import TrainingRows
    from ecsel.quality import RegressionQuality
    from ecsel.search.dictionary import Function
    from ecsel.search.search import Equations
    from ecsel.tables import TableEncoder

    Floats = NDArray[np.float64]

CONSTANT = 1e-13
"""A target whose standard deviation is below this share of it varies in its last digits only."""
MIN_ROWS = 2
"""A standard deviation needs two."""
MAX_CORNER = 20.0
"""Standard deviations that a product may reach at a corner of the training ranges, as `MAX_LEVERAGE` for rows."""
LARGEST_SCALE = 1e140
"""Squares of a target beyond this, or below its inverse, leave the range of doubles."""


@dataclass(frozen=True, slots=True)
class Unit:
    """The unit of a target: y = centre + scale·t."""

    centre: float
    """The weighted mean."""
    scale: float
    """The weighted standard deviation; 0 where the target does not vary."""

    @classmethod
    def of(cls, y: Floats, weights: Floats) -> Unit:
        """Return mean and standard deviation; the scale is 0 where the target does not vary.

        >>> Unit.of(np.array([1.0, 3.0]), np.ones(2))
        Unit(centre=2.0, scale=1.0)
        """
        centre, top = float(np.average(y, weights=weights)), float(np.abs(y).max())
        largest = float(np.abs(y - centre).max())
        if largest <= CONSTANT * top:
            return cls(float(y[0]), 0.0)
        scale = largest * float(np.sqrt(np.average(((y - centre) / largest) ** 2, weights=weights)))
        if not 1 / LARGEST_SCALE < scale < LARGEST_SCALE:
            raise ValueError(f"y has the standard deviation {scale:.3g}, whose square no number can hold: rescale y.")
        return cls(centre, scale)


@dataclass(frozen=True, eq=False)
class PredictionFit:
    """What was found: encoders of the chosen equation and of all candidates, the candidates, and how good they are.

    `laws` are the candidates with the uncertainty of their numbers, `chosen` is the position of the model among them.
    `squares` are the squared errors of held-out rows, NaN where a row was not held out.
    """

    encoder: TableEncoder
    path_encoder: TableEncoder
    path: Path
    laws: tuple[FittedLaw, ...]
    chosen: int
    near_ties: tuple[int, ...]
    quality: RegressionQuality | None
    n_folds: int
    report: SearchReport
    squares: Floats | None = None


def fit_numbers(
    model: ECSELRegressor,
    encoder: TableEncoder,
    rows: TrainingRows,
    n_terms: int | None,
    n_threads: int,
    seed: int,
    seconds: float = 0.0,
) -> PredictionFit:
    """Search, choose, fit and round; `seconds` of the time limit are over."""
    ones = np.ones(1)
    y = rows.target
    unit = Unit.of(y, rows.fit_weights(ones))
    if unit.scale == 0:
        return _constant(encoder, rows, unit.centre)
    options = SearchOptions(
        n_terms=n_terms,
        max_terms=model.max_terms,
        max_factors=model.max_factors,
        digits=None,
        factor_price=0.0
        if model.rule == "best"
        else 2 * SearchOptions.factor_price,  # of the square: once of the error
        time_limit=None if model.time_limit is None else max(model.time_limit - seconds, MIN_SECONDS),
        n_threads=n_threads,
        max_corner=MAX_CORNER,
        families=families(thresholds=model.thresholds),
    )
    task = SearchTask(
        encoder,
        Squared(),
        options,
        ones,
        seed,
        model.cv,
        model.exponent_bounds,
        allowed_powers(model.allowed_exponents),
        verbose=bool(model.verbose),
    )
    searched = task.run(replace(rows, measured=(y - unit.centre) / unit.scale))
    held_out = searched.held_out
    quality, squares = (None, None) if held_out is None else _validate(searched, held_out, unit)
    written = _Writer(searched, unit, model.digits)
    front = searched.found.front
    equations = [written.equation(point.equations) for point in front]
    losses = [nan if held_out is None else 2 * unit.scale**2 * point.loss for point in front]
    laws = tuple(written.law(own, loss) for own, loss in zip(equations, losses, strict=True))
    points = tuple(replace(point, equations=own) for point, own in zip(front, equations, strict=True))
    searched = replace(searched, found=replace(searched.found, front=points))
    chosen = searched.found.chosen
    return PredictionFit(
        *searched.encoders(),
        searched.path(2 * unit.scale**2),
        laws,
        chosen,
        searched.found.near_ties,
        quality,
        0 if held_out is None else held_out.n_folds,
        searched.report(laws[chosen].mse),
        squares,
    )


def _validate(searched: Searched, held_out: HeldOutScores, unit: Unit) -> tuple[RegressionQuality, Floats]:
    """Return the quality on held-out rows, and the mean squared error of every row; NaN where it was not held out."""
    truth, found = searched.used.target[held_out.places], held_out.scores[:, 0]
    quality = measure_regression(
        unit.centre + unit.scale * truth, unit.centre + unit.scale * found, held_out.sample_weights
    )
    with np.errstate(invalid="ignore"):
        total, counts = (
            np.bincount(held_out.places, held_out.sample_weights * values, len(searched.used))
            for values in (unit.scale**2 * (truth - found) ** 2, 1.0)
        )
        return quality, total / counts


OF_LAWS: dict[str, Any] = {
    "form": None,
    "fixed_terms": None,
    "noise": "auto",
    "loss": "auto",
    "units": None,
    "target_unit": None,
    "solver": "search",
}
"""Options of laws, with the values that ask for nothing."""


def check_options(model: ECSELRegressor) -> tuple[int | None, int]:
    """Check every option; return the number of terms, None where the folds choose it, and that of threads."""
    for name, default in OF_LAWS.items():
        value = getattr(model, name)
        if value is not default and value is not None and not (isinstance(value, str) and value == default):
            raise ValueError(f"{name} belongs to criterion='law': leave it out of a prediction.")
    for name in ("max_terms", "digits"):
        if getattr(model, name) is not None:
            check_integer(name, getattr(model, name), least=1)
    check_integer("max_factors", model.max_factors, least=1)
    check_choice("rule", model.rule, RULES_OF_SIZE)
    check_flag("thresholds", model.thresholds)
    check_flag("laws", model.laws)
    if model.time_limit is not None:
        check_number("time_limit", model.time_limit, least=0, strict=True)
    if isinstance(model.cv, (numbers.Number, str)):
        check_integer("cv", model.cv, least=2)
    is_auto = isinstance(model.n_terms, str) and model.n_terms == "auto"
    return None if is_auto else check_integer("n_terms", model.n_terms, least=1), thread_count(model.n_jobs)


def check_measurements(n_rows: int, y: Any) -> Floats:
    """Return the target as finite numbers, as many as the table has rows."""
    if y is None:
        raise ValueError("This ECSELRegressor estimator requires y to be passed, but the target y is None.")
    values = column_or_1d(np.asarray(y), warn=True)
    if values.dtype.kind in "US":
        raise ValueError("y holds text, a prediction needs a target of numbers; ECSELClassifier takes classes")
    if values.dtype.kind == "c":
        raise ValueError("Complex data not supported: y must hold real numbers.")
    found: Floats = values.astype(np.float64)
    assert_all_finite(found, input_name="y")
    if len(found) != n_rows:
        raise ValueError(f"Found input variables with inconsistent numbers of samples: X has {n_rows}, y {len(found)}.")
    if n_rows < MIN_ROWS:
        raise ValueError(f"Found array with {n_rows} sample(s) while a minimum of {MIN_ROWS} is required.")
    return found


def allowed_powers(option: Any) -> frozenset[Function] | None:
    """Return the functions of the option `allowed_exponents`, by name or as a list.

    >>> sorted(str(f.exponent) for f in allowed_powers("integers"))
    ['-1', '-2', '1', '2', '3']
    """
    if option is None:
        return None
    if isinstance(option, str):
        exponents, real = option_values.allowed_exponents(option)
        if real:
            raise ValueError(
                f"allowed_exponents={option!r} is for criterion='law': the pieces of a prediction are simple powers."
            )
        return allowed_functions(default_exponents() if exponents is None else exponents)
    listed = list(option) if isinstance(option, Iterable) else option
    check_allowed_exponents(listed)
    return allowed_functions(listed)


def _constant(encoder: TableEncoder, rows: TrainingRows, value: float) -> PredictionFit:
    """Return the fit of a target that does not vary."""
    equation = Signomial([Term(value)])
    n_terms, n_rows = len(equation.terms), len(rows)
    law = FittedLaw(
        equation.terms,
        (False,) * n_terms,
        (),
        np.zeros((n_terms, n_terms)),
        0.0,
        max(n_rows - 1.0, 1.0),
        nan,
        0.0,
        nan,
        Noise(sigma=0.0),
    )
    none = encoder.keep_features(())
    path = Path([Candidate(0, None, 0, nan, nan, (equation,), n_rows)])
    return PredictionFit(none, none, path, (law,), 0, (), None, 0, SearchReport(Status.CONVERGED, n_rows, 0, 1, 0.0))


@dataclass(frozen=True, eq=False)
class _Writer:
    """Writes equations of the standardised target in raw units, and tells how well their numbers are known."""

    searched: Searched
    unit: Unit
    digits: int | None

    def equation(self, found: Equations) -> Equations:
        """Return the equation in raw units, rounded."""
        searched, unit, loss = self.searched, self.unit, Squared()
        intercepts = unit.centre + unit.scale * found.intercepts
        coefficients = unit.scale * found.coefficients
        if self.digits is not None:
            raw, weights, t = searched.piece_values(found), searched.weights, searched.used.target
            _, scale, leverage = standardisation(raw, weights)
            noise = unit.scale**2 * loss.dispersion(scores_of(found, raw), t, weights, 1 + len(raw))
            intercepts, coefficients = rounded_coefficients(
                loss,
                raw,
                found.owners,
                unit.centre + unit.scale * t,
                weights / noise,
                intercepts,
                coefficients,
                found.ridge * leverage / (scale * unit.scale) ** 2,
                self.digits,
                may_vanish=bool(intercepts[0] ** 2 < noise),
            )
        return replace(found, intercepts=intercepts, coefficients=coefficients)

    def law(self, written: Equations, held_out: float) -> FittedLaw:
        """Return a written equation with the covariance of its numbers and the noise of a new row."""
        searched, unit = self.searched, self.unit
        raw, weights = searched.piece_values(written), searched.weights
        y = unit.centre + unit.scale * searched.used.target
        through_origin = bool(written.intercepts[0] == 0)
        total = float(weights.sum())
        left = max(total - len(raw) - (not through_origin), 1.0)
        squares = float(weights @ (y - scores_of(written, raw)[0]) ** 2)
        covariance = self._covariance(raw, y, through_origin=through_origin) * (total / left)
        design = np.vstack([np.ones(raw.shape[1]), raw])
        uncertain = float(weights @ np.einsum("pn,pq,qn->n", design, covariance, design)) / total
        noise = max(squares / left, held_out - uncertain if held_out > uncertain else 0.0)
        (equation,) = written.signomials(searched.columns)
        own = {piece_factors(piece, searched.columns): k for k, piece in enumerate(written.pieces, start=1)}
        places = [0 if term.is_constant else own[term.factors] for term in equation.terms]
        return FittedLaw(
            equation.terms,
            (False,) * len(equation.terms),
            (),
            covariance[np.ix_(places, places)],
            squares / left,
            left,
            nan,
            squares / total,
            held_out,
            Noise(sigma=float(np.sqrt(noise))),
        )

    def _covariance(self, raw: Floats, y: Floats, *, through_origin: bool) -> Floats:
        """Return the sandwich covariance of intercept and coefficients; with more rows they are known better."""
        used, weights = self.searched.used, self.searched.weights
        whole = bool((used.weights % 1 == 0).all())
        mean, scale, _ = standardisation(raw, weights)
        if through_origin:
            mean = np.zeros(len(raw))
        design = np.vstack([np.full(raw.shape[1], float(not through_origin)), (raw - mean[:, None]) / scale[:, None]])
        inverse = np.linalg.pinv((design * weights) @ design.T, hermitian=True)
        residual = y - (inverse @ (design @ (weights * y))) @ design
        meat = (design * residual**2 * (weights if whole else weights**2)) @ design.T
        back = np.diag(np.append(1.0, 1.0 / scale))
        back[0, 1:] = -mean / scale
        share = len(used) / len(self.searched.rows)
        return np.asarray(share * back @ inverse @ meat @ inverse @ back.T)
