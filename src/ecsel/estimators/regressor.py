"""`ECSELRegressor`: the law of a table, found and stated exactly.

The estimator is thin: `discovery` finds the signomial, `signomial` evaluates and prints it. The formula is the model:
predict(X) is `equation_` evaluated on the columns of X.
"""

from __future__ import annotations

import warnings
from contextlib import nullcontext
from typing import TYPE_CHECKING, Any, Self

import narwhals.stable.v2 as nw
import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, RegressorMixin, clone
from sklearn.utils import check_array, check_random_state, check_X_y
from sklearn.utils.validation import check_is_fitted, validate_data

from ecsel.discovery import wishes
from ecsel.discovery.fitted import FittedLaw, LawPath, as_plain
from ecsel.discovery.methods import Outcome, Table, by_form, by_paper, by_prediction, by_search
from ecsel.discovery.noise import RELATIVE, NoiseModel, noise_model, standard_deviations
from ecsel.discovery.options import Options
from ecsel.discovery.paper import PaperSettings
from ecsel.discovery.progress import silent
from ecsel.discovery.report import describe, formula_latex, summary
from ecsel.discovery.units import dimension_matrix
from ecsel.estimators.progress import ProgressBar
from ecsel.estimators.targets import check_weights
from ecsel.files import ModelDocument, ModelFileError, write
from ecsel.fitting.blocks import one_blas_thread
from ecsel.signomial import Signomial

if TYPE_CHECKING:
    from os import PathLike

Floats = NDArray[np.float64]
SORTED_ROWS = 20_000
"""Up to this many rows, whole-number weights are rows repeated, literally, and rows are put in a fixed order."""


class _Goal(str):
    """The value of the option `select`, which is also the method: ``model.select(i)`` picks a law of the path."""

    __slots__ = ("model",)
    model: ECSELRegressor

    def __call__(self, index: int) -> ECSELRegressor:
        return self.model._selected(index)  # noqa: SLF001 - the method behind the option


class _SelectOption:
    """`select` as scikit-learn sees it is the plain option; read from a model it can be called too."""

    def __set__(self, model: ECSELRegressor, value: Any) -> None:
        model.__dict__["select"] = value

    def __get__(self, model: ECSELRegressor | None, owner: type) -> Any:
        if model is None:
            return self
        goal = _Goal(model.__dict__["select"])
        goal.model = model
        return goal


class ECSELRegressor(RegressorMixin, BaseEstimator):
    """Find the signomial law y = Σ_k α_k Π_j x_j^β_kj of a table.

    Parameters
    ----------
    n_terms : int or "auto", default="auto"
        Number of terms, a constant included. "auto" leaves it to the code length.
    select : {"law", "prediction"}, default="law"
        "law" returns the law with the shortest description of data and law; it may answer that there is no law.
        "prediction" returns the signomial of the size that predicts left-out rows best; its numbers are not rounded.
    max_terms : int, optional
        Most terms that are tried; by default 10 for a law and 16 for a prediction.
    exponent_bounds : (low, high) or dict of column to (low, high), optional
        Bounds of the exponents.
    allowed_exponents : {"integers", "halves", "rational", "real"} or list, optional
        By default simple rationals, and real numbers where those do not fit.
    form : str, optional
        A form such as ``"a*x**b + c"``: only its constants (names that are no columns) are fitted.
    fixed_terms : str or Signomial, optional
        A known part of the law; the search looks for the rest and `equation_` holds both.
    noise : None, "relative", float or array, default=None
        Constant noise of unknown size, noise whose standard deviation is proportional to the value of the law, a known
        standard deviation, or one per row.
    units, target_unit : dict of column to unit and unit, optional
        Physical units: only terms whose dimension is that of the target are allowed. Needs pint.
    solver : {"search", "paper"}, default="search"
        "paper" trains K = `n_terms` terms as the paper does (L-BFGS-B, or Adam then L-BFGS); positive columns only.
    l1 : float, default=1e-4
        Penalty on the exponents, for ``solver="paper"`` only.
    cv : int, default=5
        Folds of ``select="prediction"``.
    time_limit : float, optional
        Seconds after which the best law so far is returned. An interrupt (Ctrl-C) does the same, with a warning.
    n_jobs : int, optional
        Processes for the folds of ``select="prediction"``; the search itself runs in one thread.
    random_state : int, RandomState or None, default=None
        Seed of starts and samples; None is a fixed seed, so a fit is always repeatable.
    verbose : int, default=0
        1 shows a progress bar on standard error; plain lines where that is no terminal.

    Attributes
    ----------
    equation_ : Signomial
        The law. Exact exponents are fractions.
    law_ : FittedLaw
        The law with standard errors and covariance of its numbers, code length and errors.
    path_ : LawPath
        The front of size against error; `select(i)` returns a model of the i-th one.
    near_ties_ : LawPath
        Laws that the data cannot tell from `law_`.
    law_found_ : bool
        Whether any variable is in the law.
    search_completed_ : bool
        False when the time limit or an interrupt ended the search.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> X = rng.uniform(1, 5, (60, 2))
    >>> y = 0.5 * X[:, 0] * X[:, 1] ** 2 + rng.normal(0, 0.01, 60)
    >>> print(ECSELRegressor().fit(X, y).equation_)
    0.5*x0*x1**2
    """

    select = _SelectOption()

    def __init__(
        self,
        n_terms: int | str = "auto",
        *,
        select: str = "law",
        max_terms: int | None = None,
        exponent_bounds: Any = None,
        allowed_exponents: Any = None,
        form: str | None = None,
        fixed_terms: Any = None,
        noise: Any = None,
        units: Any = None,
        target_unit: str | None = None,
        solver: str = "search",
        l1: float = 1e-4,
        cv: int = 5,
        time_limit: float | None = None,
        n_jobs: int | None = None,
        random_state: Any = None,
        verbose: int = 0,
    ) -> None:
        self.n_terms = n_terms
        self.select = select
        self.max_terms = max_terms
        self.exponent_bounds = exponent_bounds
        self.allowed_exponents = allowed_exponents
        self.form = form
        self.fixed_terms = fixed_terms
        self.noise = noise
        self.units = units
        self.target_unit = target_unit
        self.solver = solver
        self.l1 = l1
        self.cv = cv
        self.time_limit = time_limit
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Return the options as they were given."""
        return {**super().get_params(deep), "select": self.__dict__["select"]}

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Find the law.

        Parameters
        ----------
        X : array or data frame of shape (rows, columns)
            Numbers only, no missing values. Any sign; a column with zeros gets no negative exponents.
        y : array of shape (rows,)
            The target.
        sample_weight : array of shape (rows,), optional
            Whole numbers are frequencies: a weight of 2 is the row twice. Other weights are relative precisions, the
            inverse of the variance of a row's noise up to a factor.
        """
        if np.asarray(y).dtype.kind in "US":
            raise ValueError("y holds text, a law needs a target of numbers; ECSELClassifier takes classes")
        X_, y_ = check_X_y(_numbers(X), y, dtype=np.float64, y_numeric=True, ensure_min_samples=2, estimator=self)
        validate_data(self, X, skip_check_array=True)
        names = self._names()
        weight = None if sample_weight is None else check_weights(sample_weight, len(y_))
        self._check_options()
        known = _known_part(self.fixed_terms)
        noise = noise_model(self.noise, y_)

        given = _evaluate(known, X_, names)

        def search(noise: NoiseModel, limit: float | None) -> Outcome:
            return self._search(_as_table(X_, y_, given, weight, noise, names), limit)

        with one_blas_thread():  # thousands of products of small matrices, which threads only slow down
            if noise.kind == RELATIVE:
                half = None if self.time_limit is None else self.time_limit / 2
                outcome = search(noise, half)
                if outcome.law.equation.names and not outcome.interrupted:
                    law = given + _evaluate(outcome.law.equation, X_, names)
                    outcome = search(noise.around(law, y_), half)
            else:
                outcome = search(noise, self.time_limit)
        self._set(outcome, known)
        if outcome.interrupted:
            warnings.warn("The search was interrupted; the best law so far was kept.", UserWarning, stacklevel=2)
        return self

    def _check_options(self) -> None:
        for name, allowed in (("select", ("law", "prediction")), ("solver", ("search", "paper"))):
            if self.__dict__[name] not in allowed:
                raise ValueError(f"{name}={self.__dict__[name]!r}: use {' or '.join(map(repr, allowed))}")
        wishes.check_numbers(self.time_limit, self.l1)
        if self.__dict__["select"] == "prediction":
            wishes.check_folds(self.cv)
        if (self.units is None) != (self.target_unit is None):
            raise ValueError("units and target_unit belong together: give both or neither")

    def _search(self, table: Table, time_limit: float | None) -> Outcome:
        seed = 0 if self.random_state is None else int(check_random_state(self.random_state).randint(2**31 - 1))
        if self.form is not None:
            return by_form(table, self.form, seed)
        predicts = self.__dict__["select"] == "prediction"
        max_terms = wishes.largest_number_of_terms(self.max_terms, predicts=predicts)
        n_terms = wishes.number_of_terms(self.n_terms, table.n_rows)
        if self.solver == "paper":
            if n_terms is None:
                raise ValueError("solver='paper' needs the number of terms: set n_terms to a whole number")
            if table.weight is not None:
                raise ValueError("solver='paper' weighs all rows alike: leave out sample_weight and noise")
            return by_paper(table, n_terms, seed, PaperSettings(l1=self.l1))
        exponents, real = wishes.allowed_exponents(self.allowed_exponents)
        lower, upper = wishes.exponent_bounds(self.exponent_bounds, table.names)
        dimensions, target = None, None
        if self.units is not None and self.target_unit is not None:
            dimensions, target = dimension_matrix(table.names, self.units, self.target_unit)
        options = Options(
            n_terms=n_terms,
            max_terms=max_terms,
            exponents=exponents,
            real=real,
            lower=lower,
            upper=upper,
            noise_variance=table.noise.variance,
            dimensions=dimensions,
            target_dimension=target,
            time_limit=time_limit,
            seed=seed,
        )
        with ProgressBar() if self.verbose else nullcontext(silent) as progress:
            if predicts:
                return by_prediction(table, options, n_folds=self.cv, n_jobs=self.n_jobs, progress=progress)
            return by_search(table, options, progress)

    def _set(self, outcome: Outcome, known: Signomial) -> None:
        self.law_ = outcome.law.plus(known)
        self.equation_ = self.law_.equation
        self.path_ = LawPath(law.plus(known) for law in outcome.path)
        self.near_ties_ = LawPath(law.plus(known) for law in outcome.near_ties)
        self.law_found_ = bool(self.equation_.names)
        self.search_completed_ = outcome.complete
        self.columns_left_out_ = outcome.left_out

    def predict(self, X: Any) -> Floats:
        """Return `equation_` evaluated on the columns of X."""
        columns, n_rows = self._columns(X)
        return np.array(np.broadcast_to(self.equation_.evaluate(columns), n_rows), dtype=float)

    def predict_interval(self, X: Any, coverage: float = 0.95, *, noise: Any = None) -> Floats:
        """Return lower and upper ends (rows, 2) of prediction intervals: noise and the uncertainty of the numbers.

        The intervals are conditional on the monomials, and for rows of the mean weight of the training rows.

        Parameters
        ----------
        X : array or data frame of shape (rows, columns)
            The rows.
        coverage : float, default=0.95
            The share of new targets that should lie inside.
        noise : float or array of shape (rows,), optional
            The standard deviation of the noise of these rows; 0 gives intervals of the law itself. By default what the
            fit knows: a constant one, or a share of the law's value after ``noise="relative"``. A fit with one standard
            deviation for each row says nothing of the noise of others, so there it must be given.
        """
        if not 0 < coverage < 1:
            raise ValueError(f"coverage must lie between 0 and 1, got {coverage!r}")
        columns, n_rows = self._columns(X)
        sigma = None if noise is None else standard_deviations(noise, n_rows)
        centre = np.broadcast_to(self.equation_.evaluate(columns), n_rows)
        half = self.law_.half_width(columns, n_rows, coverage, sigma)
        return np.column_stack([centre - half, centre + half])

    def _columns(self, X: Any) -> tuple[dict[str, Floats], int]:
        check_is_fitted(self)
        X_ = check_array(_numbers(X), dtype=np.float64, estimator=self)
        validate_data(self, X, reset=False, skip_check_array=True)
        return {name: X_[:, j] for j, name in enumerate(self._names())}, len(X_)

    def _names(self) -> tuple[str, ...]:
        named = getattr(self, "feature_names_in_", None)
        return tuple(f"x{j}" for j in range(self.n_features_in_)) if named is None else tuple(named)

    def _selected(self, index: int) -> ECSELRegressor:
        check_is_fitted(self)
        if not -len(self.path_) <= index < len(self.path_):
            raise IndexError(f"path_ has {len(self.path_)} laws, there is no law {index}")
        other: ECSELRegressor = clone(self)
        other.__dict__.update({k: v for k, v in self.__dict__.items() if k.endswith("_") and not k.startswith("_")})
        other.law_ = self.path_[index]
        other.equation_ = other.law_.equation
        other.law_found_ = bool(other.equation_.names)
        other.near_ties_ = LawPath(())
        return other

    def describe(self) -> str:
        """Return the law in words: formula with simple numbers by name, accuracy, and the near-ties."""
        check_is_fitted(self)
        return describe(self.law_, self.near_ties_, found=self.law_found_, complete=self.search_completed_)

    def summary(self) -> str:
        """Return a table of the numbers of the law with their standard errors."""
        check_is_fitted(self)
        return summary(self.law_)

    def to_latex(self, digits: int = 6) -> str:
        """Return the law as LaTeX, simple fractions and multiples of pi by name."""
        check_is_fitted(self)
        return formula_latex(self.law_, digits)

    def save(self, path: str | PathLike[str]) -> None:
        """Write the fitted model as a JSON file; `ecsel.load` reads it back."""
        check_is_fitted(self)
        params = {name: as_plain(value) for name, value in self.get_params(deep=False).items()}
        document = ModelDocument(
            kind="regressor",
            link="identity",
            inputs=self._names(),
            equations=(self.equation_,),
            params={name: value for name, value in params.items() if value is not None},
            report={
                "law": self.law_.to_plain(),
                "near_ties": [law.to_plain() for law in self.near_ties_],
                "named": hasattr(self, "feature_names_in_"),
                "complete": self.search_completed_,
                "left_out": list(self.columns_left_out_),
            },
            path=tuple(law.to_plain() for law in self.path_),
        )
        write(document, path)

    @classmethod
    def _from_document(cls, document: ModelDocument) -> Self:
        """Return the model that `save` wrote."""
        known = cls().get_params(deep=False)
        model = cls(**{name: value for name, value in document.params.items() if name in known})
        report = document.report
        try:
            model.law_ = FittedLaw.from_plain(report["law"])
            model.path_ = LawPath(FittedLaw.from_plain(law) for law in document.path)
            model.near_ties_ = LawPath(FittedLaw.from_plain(law) for law in report["near_ties"])
            model.search_completed_ = bool(report["complete"])
            model.columns_left_out_ = tuple(map(str, report["left_out"]))
            named = bool(report["named"])
        except (KeyError, TypeError, ValueError, IndexError) as error:
            raise ModelFileError("report", f"not the record of a law: {error}") from error
        (model.equation_,) = document.equations
        model.law_found_ = bool(model.equation_.names)
        model.n_features_in_ = len(document.inputs)
        if named:
            model.feature_names_in_ = np.array(document.inputs, dtype=object)
        return model


def _numbers(X: Any) -> Any:
    """Return the numbers of a data frame, or X itself when it is none; refuse what is not a number by column name."""
    frame = nw.from_native(X, eager_only=True, pass_through=True)
    if not isinstance(frame, nw.DataFrame):
        return X
    columns = []
    for series in frame.iter_columns():
        if not (series.dtype.is_numeric() or series.dtype == nw.Boolean):
            hint = "encode it as numbers or leave it out"
            raise ValueError(f"column {series.name!r} holds {series.dtype}, a law needs numbers: {hint}.")
        values = series.cast(nw.Float64).to_numpy()
        missing = int(np.isnan(values).sum())
        if missing:
            raise ValueError(f"column {series.name!r} has {missing} missing values (NaN): fill or drop those rows.")
        columns.append(values)
    return np.column_stack(columns) if columns else np.zeros((len(frame), 0))


def _known_part(fixed: Any) -> Signomial:
    if fixed is None:
        return Signomial()
    if isinstance(fixed, Signomial):
        return fixed
    if isinstance(fixed, str):
        return Signomial.parse(fixed)
    raise ValueError(f"fixed_terms must be text or a Signomial, got {type(fixed).__name__}")


def _evaluate(known: Signomial, X: Floats, names: tuple[str, ...]) -> Floats:
    unknown = sorted(set(known.names) - set(names))
    if unknown:
        raise ValueError(f"fixed_terms names columns that X does not have: {', '.join(map(repr, unknown))}")
    columns = {name: X[:, j] for j, name in enumerate(names)}
    return np.array(np.broadcast_to(known.evaluate(columns), len(X)), dtype=float)


def _as_table(
    X: Floats, y: Floats, known: Floats, weight: Floats | None, noise: NoiseModel, names: tuple[str, ...]
) -> Table:
    """Return the table of a fit: frequencies become repeated rows, sorted so that their order is immaterial."""
    index = np.arange(len(y))
    if weight is not None and np.all(weight == np.round(weight)) and weight.sum() <= SORTED_ROWS:
        index, weight = np.repeat(index, weight.astype(np.intp)), None
    if len(index) <= SORTED_ROWS:
        index = index[np.lexsort((*X[index].T, y[index]))]
    parts = [w for w in (weight, noise.precision) if w is not None]
    total = np.prod(parts, axis=0)[index] if parts else None
    if total is not None and noise.variance is None:
        total = total / total[total > 0].mean()  # the scale of the weights tells nothing
    return Table(X[index], (y - known)[index], total, names, noise.at_rows(index), known[index])
