"""`ECSELRegressor`: the law of a table, found and stated exactly, or the readable equation that predicts best.

The estimator is thin: `discovery` finds laws and `search` equations that predict, `signomial` evaluates and prints
them. The formula is the model: predict(X) is `equation_` evaluated on the columns of X; a prediction reads these
through its encoder.
"""

from __future__ import annotations

import time
import warnings
from contextlib import suppress
from typing import TYPE_CHECKING, Any, Literal, Self

import numpy as np
from sklearn.base import BaseEstimator, RegressorMixin, clone
from sklearn.utils import check_array, check_random_state, check_X_y
from sklearn.utils.validation import check_is_fitted, validate_data

from ecsel.discovery import option_values
from ecsel.discovery.fitted import FittedLaw, LawPath, as_plain
from ecsel.discovery.methods import Outcome, Table, by_form, by_orthogonal_form, by_paper, by_search
from ecsel.discovery.noise import AUTO, CONSTANT, LOGNORMAL, RELATIVE, NoiseModel, noise_model, standard_deviations
from ecsel.discovery.noise_choice import Attempt, NoiseSearch, Task
from ecsel.discovery.options import Options
from ecsel.discovery.paper import PaperSettings
from ecsel.discovery.posynomial import by_posynomial
from ecsel.discovery.progress import Progress, part
from ecsel.discovery.report import Verdict, describe, formula_latex, summary
from ecsel.discovery.residual_tests import Misfit
from ecsel.discovery.units import dimension_matrix, dimensionless_groups, product_with_dimension
from ecsel.discovery.x_errors import column_errors
from ecsel.estimators.callbacks import CallbackSupportMixin, tells_callbacks
from ecsel.estimators.callers import in_cross_validation
from ecsel.estimators.law_groups import (
    as_record,
    check_group_options,
    describe_groups,
    group_equations,
    group_names,
    indicator_columns,
    names_of,
    positions,
    read_labels,
    search_groups,
    split_groups,
)
from ecsel.estimators.law_stability import LawStability, law_stability
from ecsel.estimators.law_table import as_table, evaluate_known, known_part, numbers_of, ranges_of
from ecsel.estimators.notebook import NotebookMixin, notebook_page
from ecsel.estimators.prediction import check_measurements, check_options, fit_numbers
from ecsel.estimators.prediction_files import prediction_document, read_prediction, set_prediction
from ecsel.estimators.prediction_law import with_law, with_product
from ecsel.estimators.prediction_summary import describe_prediction, summarise_prediction
from ecsel.estimators.progress import progress_for
from ecsel.estimators.readable import STOPPED
from ecsel.estimators.renamed import new_name, renamed_option
from ecsel.estimators.settings import MIN_SECONDS
from ecsel.estimators.stored import as_node, read_groups, read_law, read_misfit, read_ranges, read_target_name
from ecsel.estimators.targets import check_weights, target_name, target_numbers
from ecsel.estimators.training_rows import TrainingRows
from ecsel.files import ModelDocument, write
from ecsel.files.errors import ModelFileError
from ecsel.files.node import Node
from ecsel.fitting.rows.blocks import one_blas_thread
from ecsel.signomial import Signomial
from ecsel.tables import TableEncoder
from ecsel.tables.cautions import find_cautions, warn_cautions
from ecsel.tables.reading import read_table, refuse_other_arrays

if TYPE_CHECKING:
    from os import PathLike

    from ecsel._typing import Floats

LOSSES = {"auto": None, "squared": False, "robust": True}
"""Whether outliers are left out, by the values of the option `loss`; None leaves it to the residuals."""

COLUMN_OPTIONS = ("missing", "missing_codes", "out_of_range", "categorical", "ordinal", "keep", "drop")


class ECSELRegressor(NotebookMixin, CallbackSupportMixin, RegressorMixin, BaseEstimator):
    """Find the signomial law y = Σ_k α_k Π_j x_j^β_kj of a table, or the readable equation that predicts best.

    Parameters
    ----------
    n_terms : int or "auto", default="auto"
        Number of terms, of a law with its constant, of a prediction without. "auto" leaves it to the code length, or to
        the folds.
    criterion : {"law", "prediction"}, default="law"
        "law" returns the law with the shortest description of data and law; it may answer that there is no law.
        "prediction" returns the sum of simple pieces of raw columns (small powers, logarithms, indicators, products of
        two), or the product of any powers, that predicts held-out rows best, as `ECSELClassifier` does for classes; it
        takes categories and missing values, and values outside the training range count as its nearest end.
    max_terms : int, optional
        Most terms that are tried; by default 10 for a law, and no limit for a prediction.
    exponent_bounds : (low, high) or dict of column to (low, high), optional
        Bounds of the exponents; those of a prediction include 0, and a logarithm counts as 0.
    allowed_exponents : {"integers", "halves", "rational", "real"} or list, optional
        Of a law by default simple rationals, and real numbers where those do not fit. Of a prediction -2, -1, -0.5,
        0.5, 1, 2, 3 and "log", or some of them in a list; a name means the powers among them that it covers.
    form : str, optional
        A form such as ``"a*x**b + c"``: only its constants (names that are no columns) are fitted.
    fixed_terms : str or Signomial, optional
        A known part of the law; the search looks for the rest and `equation_` holds both.
    noise : {"auto", "constant", "relative", "lognormal"}, float or array, default="auto"
        Of unknown size: constant, with a standard deviation in proportion to the value of the law, or that of the
        logarithm; "auto" is the one of these that describes the data most shortly. A number is a known standard
        deviation, an array has one per row. None is "constant".
    loss : {"auto", "squared", "robust"}, default="auto"
        Whether rows that no noise explains may be left out ("robust") or all count ("squared"). "auto" leaves them out
        where residuals are far beyond the noise and the description of the data becomes shorter; `outliers_` lists
        them.
    x_error : dict of column to standard deviation, optional
        Errors of the columns, one for all rows or one for each: the constants of `form` are fitted by orthogonal
        distances. `noise` must be known too, as a number or an array.
    groups : str, int or array of shape (rows,), optional
        Groups of rows that share exponents and have prefactors of their own, in each term: the name of a column, its
        position in an array, or labels, which `predict` then takes too. Not with `form`, `fixed_terms`, `units`,
        `x_error`, `positive`, and no rows are left out as outliers.
    positive : bool, default=False
        Whether all coefficients must be positive: a posynomial, as geometric programs take. Columns must be positive.
    units, target_unit : dict of column to unit and unit, optional
        Physical units: only terms whose dimension is that of the target are allowed. A column that holds one number
        with a unit is a known constant and may enter with any exponent. Needs pint.
    solver : {"search", "paper"}, default="search"
        "paper" trains K = `n_terms` terms as the paper does (L-BFGS-B, or Adam then L-BFGS); positive columns only.
    l1 : float, default=1e-4
        Penalty on the exponents, for ``solver="paper"`` only.
    max_factors : int, default=20
        Of a prediction: most factors; ``x*log(y)`` has two.
    digits : int or None, default=2
        Of a prediction: significant digits of coefficients, more where the error would rise; None keeps all.
    thresholds : bool, default=False
        Of a prediction: whether ``[x > c]``, ``[x above c]`` and ``[x below c]`` may be pieces too.
    laws : bool, default=False
        Of a prediction: whether the law of its columns of numbers is a candidate too, the last one of `path_`. Every
        fold seeks one, which takes seconds each; it is taken where it predicts held-out rows better.
    rule : {"simplest", "best"}, default="simplest"
        Of a prediction: every further factor must lower the expected error by 0.5 %, or the lowest expected error.
    missing, missing_codes, out_of_range, categorical, ordinal, keep, drop
        Of a prediction: what missing values and values outside the training range mean, which columns are categories,
        and which take part; as for `ECSELClassifier`.
    cv : int, splitter or list of splits, optional
        Folds of a prediction. A number makes folds that depend on the content of rows alone, each with small and large
        targets; by default five, and three from 3000 distinct rows on.
    time_limit : float, optional
        Seconds after which the best so far is returned. An interrupt (Ctrl-C) does the same, with a warning. Without
        one the searches for a law have a budget of moves, not of seconds, so that the same table gives the same law on
        any machine. Where it was spent, `search_completed_` is False, and a `time_limit` lets the search go on.
    n_jobs : int, optional
        Threads for the folds of a prediction, None for all cores; the result is the same. A law is sought in one.
    random_state : int, RandomState or None, default=None
        Seed of starts and samples; None is a fixed seed, so a fit is always repeatable.
    verbose : int, default=0
        1 shows a progress bar on standard error; plain lines where that is no terminal.

    Attributes
    ----------
    equation_ : Signomial
        The law or equation. Exact exponents are fractions.
    law_ : FittedLaw
        The same with standard errors and covariance of its numbers, code length (of a law) and errors.
    path_ : LawPath, or Path of candidates of a prediction
        The front of size against error; `select(i)` returns a model of the i-th one.
    near_ties_ : LawPath, or tuple of positions in `path_`
        Laws that the data cannot tell from `law_`, or candidates that the folds cannot tell from the best.
    law_found_ : bool
        Whether any variable is in the law.
    adequate_ : bool
        Whether the residuals of the law pass the tests. If not it is an approximation, not a law.
    misfit_p_value_, misfit_column_
        The p-value of those tests, and the column that the residuals depend on most (None where they pass).
    outliers_ : tuple of int
        Rows, from 0, that no noise explains and that were left out of the fit.
    groups_, group_names_ : tuple, GroupNames
        The labels of the groups, where there are any, and what their column and indicators are called.
    group_equations_ : dict of label to Signomial
        The equation of each group, without indicators, which can be exported.
    column_ranges_ : dict of column to (low, high)
        The smallest and largest numbers of each column in the training rows of a law.
    target_name_ : str
        What the target is called, as a named series has it; else ``"y"``.
    search_completed_ : bool
        False when the budget, the time limit or an interrupt ended the search.
    dimensionless_groups_, target_scale_ : tuple of Signomial, Signomial or None
        Where units are given: the groups of Buckingham's theorem, and a product with the dimension of the target.
    columns_left_out_ : tuple of str
        Columns that could not take part: constant ones, multiples of another, identifiers.
    encoder_ : TableEncoder
        Of a prediction: from raw columns to the features of the equation.
    out_of_fold_ : RegressionQuality or None
        Of a prediction: error and R² on rows that the model had not seen.
    n_folds_, fit_report_
        Of a prediction: the number of those folds, and what happened in the search.
    path_laws_ : tuple of FittedLaw
        Of a prediction: the candidates of `path_` with the uncertainty of their numbers.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> X = rng.uniform(1, 5, (60, 2))
    >>> y = 0.5 * X[:, 0] * X[:, 1] ** 2 + rng.normal(0, 0.01, 60)
    >>> print(ECSELRegressor().fit(X, y).equation_)
    0.5*x0*x1**2

    A prediction need not be a law:

    >>> y = np.log(X[:, 0]) + rng.normal(0, 0.3, 60)
    >>> model = ECSELRegressor(criterion="prediction", max_terms=1).fit(X, y)
    >>> model.equation_.names, model.out_of_fold_.r2 > 0.3
    (('x0',), True)

    It may be a product of more columns than a piece has:

    >>> X = rng.uniform(1, 5, (60, 3))
    >>> y = 2 * X[:, 0] ** 1.5 * X[:, 1] / X[:, 2] * np.exp(rng.normal(0, 0.1, 60))
    >>> print(ECSELRegressor(criterion="prediction").fit(X, y).equation_)
    2.04*x0**(3/2)*x1/x2
    """

    path_: Any
    near_ties_: Any
    out_of_fold_: Any

    @renamed_option("select", "criterion")
    def __init__(
        self,
        n_terms: int | str = "auto",
        *,
        criterion: str = "law",
        max_terms: int | None = None,
        exponent_bounds: Any = None,
        allowed_exponents: Any = None,
        form: str | None = None,
        fixed_terms: Any = None,
        noise: Any = "auto",
        loss: str = "auto",
        x_error: Any = None,
        groups: Any = None,
        positive: bool = False,
        units: Any = None,
        target_unit: str | None = None,
        solver: str = "search",
        l1: float = 1e-4,
        max_factors: int = 20,
        digits: int | None = 2,
        thresholds: bool = False,
        laws: bool = False,
        rule: str = "simplest",
        missing: str = "factor",
        missing_codes: Any = "auto",
        out_of_range: str = "clip",
        categorical: Any = None,
        ordinal: Any = None,
        keep: Any = None,
        drop: Any = None,
        cv: Any = None,
        time_limit: float | None = None,
        n_jobs: int | None = None,
        random_state: Any = None,
        verbose: int = 0,
    ) -> None:
        self.n_terms = n_terms
        self.criterion = criterion
        self.max_terms = max_terms
        self.exponent_bounds = exponent_bounds
        self.allowed_exponents = allowed_exponents
        self.form = form
        self.fixed_terms = fixed_terms
        self.noise = noise
        self.loss = loss
        self.x_error = x_error
        self.groups = groups
        self.positive = positive
        self.units = units
        self.target_unit = target_unit
        self.solver = solver
        self.l1 = l1
        self.max_factors = max_factors
        self.digits = digits
        self.thresholds = thresholds
        self.laws = laws
        self.rule = rule
        self.missing = missing
        self.missing_codes = missing_codes
        self.out_of_range = out_of_range
        self.categorical = categorical
        self.ordinal = ordinal
        self.keep = keep
        self.drop = drop
        self.cv = cv
        self.time_limit = time_limit
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose

    def set_params(self, **params: Any) -> Self:
        """Set options, as scikit-learn does."""
        super().set_params(**new_name(params, "select", "criterion", stacklevel=2))
        return self

    @tells_callbacks
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Find the law, or the equation that predicts best.

        Parameters
        ----------
        X : array or data frame of shape (rows, columns)
            For a law numbers only, no missing values, of any sign; a column with zeros gets no negative exponents. For
            a prediction numbers, booleans and categories, missing values allowed.
        y : array of shape (rows,)
            The target.
        sample_weight : array of shape (rows,), optional
            Whole numbers are frequencies: a weight of 2 is the row twice. Other weights are relative precisions, the
            inverse of the variance of a row's noise up to a factor.
        """
        refuse_other_arrays(y=y)
        if self._predicts:
            return self._fit_prediction(X, y, sample_weight)
        if np.asarray(y).dtype.kind in "US":
            raise ValueError("y holds text, a law needs a target of numbers; ECSELClassifier takes classes")
        if self.groups is not None:
            return self._fit_groups(X, y, sample_weight)
        X_, y_ = check_X_y(numbers_of(X), y, dtype=np.float64, y_numeric=True, ensure_min_samples=2, estimator=self)
        validate_data(self, X, skip_check_array=True)
        names = self._names()
        weight = None if sample_weight is None else check_weights(sample_weight, len(y_))
        self._check_options()
        known = known_part(self.fixed_terms)
        if self.positive and known.terms and not known.is_posynomial:
            raise ValueError("positive=True, but fixed_terms holds a term that is not positive")
        noise = noise_model(self.noise, y_)
        given = evaluate_known(known, X_, names)
        x_error = {} if self.x_error is None else column_errors(self.x_error, names, len(y_))

        def solve(task: Task) -> tuple[Outcome, Table]:
            counted = weight if task.keep.all() else np.where(task.keep, 1.0 if weight is None else weight, 0.0)
            table = as_table(X_, y_, given, counted, task.noise, names, x_error)
            # Nobody knows how many searches there will be: each takes half of what is left of the bar.
            done = max(search.n_attempts - 1, 0)
            report = part(progress, 1.0 - 0.5**done, 1.0 - 0.5 ** (done + 1))
            return self._search(table, task, report), table

        def evaluate(law: FittedLaw) -> Floats:
            return given + evaluate_known(Signomial(law.terms), X_, names)

        search = NoiseSearch(X_, y_, weight, solve, evaluate, self.time_limit)
        # Threads only slow down thousands of products of small matrices.
        with one_blas_thread(), progress_for(verbose=bool(self.verbose)) as progress:
            if noise.variance is not None or self.solver == "paper":
                best = search.attempt(noise)
            else:
                best = search.choose(self._noise_kinds(noise), robust=LOSSES[self.loss])
        self._set(best, known)
        self.column_ranges_ = ranges_of(X_, names)
        self.search_completed_ = best.outcome.complete and not search.is_cut
        self.target_name_ = target_name(y)
        if best.outcome.interrupted:
            warnings.warn("The search was interrupted; the best law so far was kept.", UserWarning, stacklevel=3)
        return self

    def _fit_groups(self, X: Any, y: Any, sample_weight: Any) -> Self:
        """Find a law whose exponents all groups share."""
        self._check_options()
        check_group_options(self)
        labels, rest, column = split_groups(self.groups, X)
        X_, y_ = check_X_y(numbers_of(rest), y, dtype=np.float64, y_numeric=True, ensure_min_samples=2, estimator=self)
        labels = read_labels(labels, len(y_))
        groups = group_names(labels, column)
        place = positions(labels, groups)
        validate_data(self, X, skip_check_array=True)
        names = names_of(self._names(), column)
        weight = None if sample_weight is None else check_weights(sample_weight, len(y_))
        columns = {name: X_[:, j] for j, name in enumerate(names)} | indicator_columns(groups, place)

        def solve(task: Task) -> tuple[Outcome, Table]:
            both = np.column_stack([X_, place])
            table = as_table(both, y_, np.zeros(len(y_)), weight, task.noise, (*names, column))
            return search_groups(self, table, groups), table

        # The smooth fit of the table takes each group for a column that is one or two.
        of_groups = 1.0 + (place[:, None] == np.arange(len(groups.labels) - 1))
        search = NoiseSearch(
            np.column_stack([X_, of_groups]),
            y_,
            weight,
            solve,
            lambda law: np.asarray(np.broadcast_to(law.equation.evaluate(columns), len(y_)), dtype=float),
            self.time_limit,
        )
        noise = noise_model(self.noise, y_)
        with one_blas_thread():
            if noise.variance is not None:
                best = search.attempt(noise)
            else:
                best = search.choose(self._noise_kinds(noise), robust=False)
        self._set(best, Signomial(), names)
        self.group_names_ = groups
        self.law_found_ = bool(set(self.equation_.names) - set(groups.indicators))
        self.groups_ = groups.labels
        self.column_ranges_ = ranges_of(X_, names)
        self.target_name_ = target_name(y)
        return self

    @property
    def group_equations_(self) -> dict[Any, Signomial]:
        """The equation of each group."""
        check_is_fitted(self)
        if not hasattr(self, "groups_"):
            raise AttributeError("there are no groups: set groups= before fit")
        return group_equations(self.law_, self.group_names_)

    def to_cvxpy(self, variables: Any = None, ranges: Any = None) -> Any:
        """Return a posynomial law as an expression of CVXPY, with the ranges of the training rows as bounds.

        Parameters
        ----------
        variables : mapping of name to cvxpy.Variable, optional
            Variables to use; others are made.
        ranges : mapping of name to (low, high), optional
            Other bounds than `column_ranges_`; an empty one sets none.

        Returns
        -------
        GeometricProgram
            The ``expression``, its ``variables`` by name and the ``constraints``; :meth:`Signomial.to_cvxpy` says more.
        """
        check_is_fitted(self)
        if hasattr(self, "groups_"):
            raise ValueError("a law of groups is many equations: use group_equations_[label].to_cvxpy(ranges=...)")
        bounds = getattr(self, "column_ranges_", {}) if ranges is None else ranges
        return self.equation_.to_cvxpy(variables, bounds)

    def _noise_kinds(self, noise: NoiseModel) -> tuple[str, ...]:
        return (CONSTANT, RELATIVE, LOGNORMAL) if isinstance(self.noise, str) and self.noise == AUTO else (noise.kind,)

    @property
    def _noise_is_unknown(self) -> bool:
        return self.noise is None or isinstance(self.noise, str)

    @property
    def _predicts(self) -> bool:
        if self.criterion not in ("law", "prediction"):
            raise ValueError(f"criterion={self.criterion!r}: use 'law' or 'prediction'")
        return self.criterion == "prediction"

    def _fit_prediction(self, X: Any, y: Any, sample_weight: Any) -> Self:
        started = time.monotonic()
        n_terms, n_threads = check_options(self)
        table = read_table(X)
        encoder = TableEncoder.fit(
            table,
            scaling="raw",
            sample_weight=sample_weight,
            n_threads=n_threads,
            target=lambda: target_numbers(y, table.n_rows),
            **{name: getattr(self, name) for name in COLUMN_OPTIONS},
        )
        validate_data(self, X, skip_check_array=True)
        measured = check_measurements(table.n_rows, y)
        warn_cautions(find_cautions(encoder, table, measured, classes=False), stacklevel=5)
        weights = check_weights(sample_weight, table.n_rows)
        rows = TrainingRows.of_measurements(self.cv, encoder.feature_rows(table, warn=False), measured, weights)
        seed = self._seed()
        found = fit_numbers(self, encoder, rows, n_terms, n_threads, seed, time.monotonic() - started)
        folds = rows.folds(self.cv, seed) if found.report.converged else []
        if folds and self._may_be_product(n_terms):
            found = with_product(found, encoder, rows, folds, self.digits)
        if folds and self.laws:
            left = None if self.time_limit is None else self.time_limit - (time.monotonic() - started)
            share = None if left is None else max(left / (len(folds) + 1), MIN_SECONDS)

            def seek(table: Floats, target: Floats, weight: Floats) -> FittedLaw:
                law = ECSELRegressor(time_limit=share, random_state=seed)
                return law.fit(table, target, sample_weight=weight).law_

            found = with_law(found, encoder, rows, folds, seek)
        self._forget()
        set_prediction(self, found)
        self.target_name_ = target_name(y)
        own = {feature.column for feature in encoder.features}
        self.columns_left_out_ = tuple(name for name in encoder.raw_names if name not in own)
        if not self.search_completed_:
            warnings.warn(STOPPED, UserWarning, stacklevel=4)
        return self

    def _may_be_product(self, n_terms: int | None) -> bool:
        """Whether the options leave room for a product of any powers of any number of columns."""
        restricted = self.allowed_exponents is not None or self.exponent_bounds is not None
        return n_terms in (None, 1) and not restricted

    def _forget(self) -> None:
        """Remove what an earlier fit has found: laws and predictions have different attributes."""
        for name in [name for name in vars(self) if _is_found(name) and not name.endswith("_in_")]:
            delattr(self, name)

    def _seed(self) -> int:
        return 0 if self.random_state is None else int(check_random_state(self.random_state).randint(2**31 - 1))

    def _check_options(self) -> None:
        if self.solver not in ("search", "paper"):
            raise ValueError(f"solver={self.solver!r}: use 'search' or 'paper'")
        if self.loss not in LOSSES:
            raise ValueError(f"loss={self.loss!r}: use {', '.join(map(repr, LOSSES))}")
        option_values.check_numbers(self.time_limit, self.l1)
        if self.x_error is not None and self.form is None:
            raise ValueError("x_error is for the constants of a given form: set form=, or leave x_error out")
        if self.x_error is not None and self._noise_is_unknown:
            raise ValueError(
                "x_error needs the noise of the target too: noise= a standard deviation, or one for each row"
            )
        if (self.units is None) != (self.target_unit is None):
            raise ValueError("units and target_unit belong together: give both or neither")

    def _search(self, table: Table, task: Task, progress: Progress) -> Outcome:
        seed = self._seed()
        if self.form is not None:
            return (by_form if self.x_error is None else by_orthogonal_form)(table, self.form, seed)
        max_terms = option_values.largest_number_of_terms(self.max_terms)
        n_terms = option_values.number_of_terms(self.n_terms, table.n_rows)
        if self.solver == "paper":
            if n_terms is None:
                raise ValueError("solver='paper' needs the number of terms: set n_terms to a whole number")
            if table.weight is not None:
                raise ValueError("solver='paper' weighs all rows alike: leave out sample_weight and noise")
            return by_paper(table, n_terms, seed, PaperSettings(l1=self.l1))
        exponents, real = option_values.allowed_exponents(self.allowed_exponents)
        lower, upper = option_values.exponent_bounds(self.exponent_bounds, table.names)
        dimensions, target = self._dimensions() or (None, None)
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
            time_limit=task.seconds,
            thorough=task.thorough,
            hints=task.hints,
            only_hints=task.only_hints,
            decided=task.decided,
            budget=task.budget,
            seed=seed,
        )
        return (by_posynomial if self.positive else by_search)(table, options, progress)

    def _set(self, best: Attempt, known: Signomial, names: tuple[str, ...] | None = None) -> None:
        self._forget()
        outcome = best.outcome
        self.law_ = outcome.law.plus(known)
        self.equation_ = self.law_.equation
        self.path_ = LawPath(law.plus(known) for law in outcome.path)
        self.near_ties_ = LawPath(law.plus(known) for law in outcome.near_ties)
        self.law_found_ = bool(self.equation_.names)
        self.search_completed_ = outcome.complete
        self.columns_left_out_ = outcome.left_out
        self.adequate_ = outcome.misfit.is_adequate
        self.misfit_p_value_ = outcome.misfit.p_value
        names = self._names() if names is None else names
        self.misfit_column_ = None if outcome.misfit.column is None else names[outcome.misfit.column]
        self.outliers_ = best.outliers

    def predict(self, X: Any, groups: Any = None) -> Floats:
        """Return `equation_` evaluated on the columns of X, of a prediction on the features of `encoder_`.

        ``groups`` are the labels of the rows, where those of the training rows were given as an array.
        """
        columns, n_rows = self._columns(X, groups)
        return np.array(np.broadcast_to(self.equation_.evaluate(columns), n_rows), dtype=float)

    def predict_interval(self, X: Any, coverage: float = 0.95, *, noise: Any = None, groups: Any = None) -> Floats:
        """Return lower and upper ends (rows, 2) of prediction intervals: noise and the uncertainty of the numbers.

        The intervals are conditional on the terms, and for rows of the mean weight of the training rows. Those of a
        prediction are wide enough for the error on held-out rows, which counts what choosing the terms costs.

        Parameters
        ----------
        X : array or data frame of shape (rows, columns)
            The rows.
        coverage : float, default=0.95
            The share of new targets that should lie inside.
        noise : float or array of shape (rows,), optional
            The standard deviation of the noise of these rows; 0 gives intervals of the law itself. By default what the
            fit knows: a constant one, a share of the law's value where the noise is relative, a factor where it is
            lognormal. A fit with one standard deviation for each row says nothing of the noise of others, so there it
            must be given.
        groups : array of shape (rows,), optional
            As for `predict`.

        Notes
        -----
        With `x_error` the intervals are for rows whose columns are known exactly.
        """
        if not 0 < coverage < 1:
            raise ValueError(f"coverage must lie between 0 and 1, got {coverage!r}")
        columns, n_rows = self._columns(X, groups)
        sigma = None if noise is None else standard_deviations(noise, n_rows)
        return np.column_stack(self.law_.interval(columns, n_rows, coverage, sigma))

    def _columns(self, X: Any, groups: Any = None) -> tuple[dict[str, Floats], int]:
        check_is_fitted(self)
        if hasattr(self, "groups_"):
            return self._columns_of_groups(X, groups)
        if groups is not None:
            raise ValueError("this model has no groups: it was fitted without groups=")
        if hasattr(self, "encoder_"):
            table = read_table(X)
            if not self.encoder_.names_match(X):  # says what is wrong, or counts the columns of an array
                validate_data(self, X, reset=False, skip_check_array=True)
            rows = self.encoder_.feature_rows(table, warn=not in_cross_validation())
            return dict(zip(self.encoder_.feature_names, rows, strict=True)), table.n_rows
        X_ = check_array(numbers_of(X), dtype=np.float64, estimator=self)
        validate_data(self, X, reset=False, skip_check_array=True)
        return {name: X_[:, j] for j, name in enumerate(self._names())}, len(X_)

    def _columns_of_groups(self, X: Any, groups: Any) -> tuple[dict[str, Floats], int]:
        own, is_column = self.group_names_, isinstance(self.groups, (str, int))
        if is_column and groups is not None:
            raise ValueError(f"the groups are column {own.column!r} of X: leave groups out")
        if not is_column and groups is None:
            raise ValueError("the groups of the training rows were an array: give predict the labels of these rows too")
        validate_data(self, X, reset=False, skip_check_array=True)
        labels, rest, _ = split_groups(self.groups if is_column else groups, X)
        X_ = check_array(numbers_of(rest), dtype=np.float64, estimator=self)
        place = positions(read_labels(labels, len(X_)), own)
        names = names_of(self._names(), own.column)
        return {name: X_[:, j] for j, name in enumerate(names)} | indicator_columns(own, place), len(X_)

    def _names(self) -> tuple[str, ...]:
        named = getattr(self, "feature_names_in_", None)
        return tuple(f"x{j}" for j in range(self.n_features_in_)) if named is None else tuple(named)

    def select(self, index: int) -> ECSELRegressor:
        """Return a fitted model of the i-th law or candidate of `path_`."""
        check_is_fitted(self)
        if not -len(self.path_) <= index < len(self.path_):
            raise IndexError(f"path_ has {len(self.path_)} laws, there is no law {index}")
        other: ECSELRegressor = clone(self)
        other.__dict__.update({name: value for name, value in self.__dict__.items() if _is_found(name)})
        if hasattr(self, "encoder_"):
            other.law_ = self.path_laws_[index]
            other.encoder_ = self.path_encoder_.keep_features(other.law_.equation.names)
            other.near_ties_, other.out_of_fold_, other.n_folds_ = (), None, 0
        else:
            other.law_, other.near_ties_ = self.path_[index], LawPath(())
        other.equation_ = other.law_.equation
        other.law_found_ = bool(other.equation_.names)
        return other

    def stability(
        self, X: Any, y: Any, *, n_bootstrap: int = 20, random_state: Any = None, sample_weight: Any = None
    ) -> LawStability:
        """Repeat the fit on bootstrap draws of the rows, and tell how often they have the terms of the equation.

        Each draw takes as long as the fit itself. An interrupt keeps the draws that are done.

        Parameters
        ----------
        X, y, sample_weight
            The training rows.
        n_bootstrap : int, default=20
            Number of draws.
        random_state : int, RandomState or None, default=None
            Seed of the draws; None is a fixed seed.

        Examples
        --------
        >>> import numpy as np
        >>> rng = np.random.default_rng(0)
        >>> X = rng.uniform(1, 5, (40, 2))
        >>> y = 2 * X[:, 0] ** 2 / X[:, 1] + rng.normal(0, 0.01, 40)
        >>> firm = ECSELRegressor().fit(X, y).stability(X, y, n_bootstrap=3)
        >>> firm.terms, firm.frequency, firm.same_law
        (('x0**2/x1',), array([1.]), 1.0)
        """
        check_is_fitted(self)
        return law_stability(
            self, X, y, n_bootstrap=n_bootstrap, random_state=random_state, sample_weight=sample_weight
        )

    def describe(self) -> str:
        """Return the law in words: formula with simple numbers by name, accuracy, and the near-ties."""
        check_is_fitted(self)
        if hasattr(self, "encoder_"):
            return describe_prediction(self)
        if hasattr(self, "groups_"):
            return describe_groups(self.law_, self.group_names_, self._verdict(), self.target_name_)
        lines = [describe(self.law_, self.near_ties_, self._verdict(), self.target_name_)]
        if self.positive:
            lines.append("All coefficients are positive and all columns too: the law is a posynomial.")
        if self.x_error is not None:
            lines.append(f"The fit allows for errors in {', '.join(map(str, self.x_error))}, by orthogonal distances.")
        with suppress(ImportError):  # a model file is read without pint
            if groups := ", ".join(map(str, self.dimensionless_groups_)):
                lines.append(f"Dimensionless groups of the columns: {groups}.")
        return "\n".join(lines)

    def summary(self) -> str:
        """Return a table of the numbers with their standard errors; of a prediction also ranges and candidates."""
        check_is_fitted(self)
        if hasattr(self, "encoder_"):
            return summarise_prediction(self)
        return summary(self.law_, self._verdict())

    def _dimensions(self) -> tuple[Floats, Floats] | None:
        """Return the dimensions of the columns and of the target, None where no units are given."""
        if self.units is None or self.target_unit is None:
            return None
        return dimension_matrix(self._names(), self.units, self.target_unit)

    @property
    def dimensionless_groups_(self) -> tuple[Signomial, ...]:
        """The dimensionless groups of the columns (Buckingham), where units are given: any law is one of these."""
        check_is_fitted(self)
        dimensions = self._dimensions()
        return () if dimensions is None else dimensionless_groups(self._names(), dimensions[0])

    @property
    def target_scale_(self) -> Signomial | None:
        """A product of powers of columns with the dimension of the target, None where no units are given."""
        check_is_fitted(self)
        dimensions = self._dimensions()
        return None if dimensions is None else product_with_dimension(self._names(), *dimensions)

    def _verdict(self) -> Verdict:
        column, outliers = self.misfit_column_, self.outliers_
        return Verdict(
            self.law_found_,
            self.search_completed_,
            self.misfit_p_value_,
            column,
            outliers,
            n_rows=self.law_.n_rows,
        )

    def to_latex(self, digits: int = 6) -> str:
        """Return the law as LaTeX, simple fractions and multiples of pi by name."""
        check_is_fitted(self)
        if hasattr(self, "encoder_"):
            return self.equation_.to_latex(digits)
        return formula_latex(self.law_.equation, digits)

    def save(self, path: str | PathLike[str]) -> None:
        """Write the fitted model as a JSON file; `ecsel.load` reads it back."""
        check_is_fitted(self)
        if hasattr(self, "encoder_"):
            write(prediction_document(self), path)
            return
        params = {name: as_plain(value) for name, value in self.get_params(deep=False).items()}
        document = ModelDocument(
            kind="regressor",
            link="identity",
            inputs=(*self._names(), *(self.group_names_.indicators if hasattr(self, "groups_") else ())),
            equations=(self.equation_,),
            params={name: value for name, value in params.items() if value is not None},
            report={
                "law": self.law_.to_plain(),
                "near_ties": [law.to_plain() for law in self.near_ties_],
                "named": hasattr(self, "feature_names_in_"),
                "complete": self.search_completed_,
                "left_out": list(self.columns_left_out_),
                "misfit": [self.misfit_p_value_, self.misfit_column_],
                "outliers": list(self.outliers_),
                "target": self.target_name_,
                "ranges": {name: list(ends) for name, ends in getattr(self, "column_ranges_", {}).items()},
                **({"groups": as_record(self.group_names_)} if hasattr(self, "groups_") else {}),
            },
            path=tuple(law.to_plain() for law in self.path_),
        )
        write(document, path)

    @classmethod
    def _from_document(cls, document: ModelDocument) -> Self:
        """Return the model that `save` wrote."""
        known = cls().get_params(deep=False)
        # Files of 0.1 have the criterion under its old name.
        params = {"criterion" if name == "select" else name: value for name, value in document.params.items()}
        model = cls(**{name: value for name, value in params.items() if name in known})
        if document.encoder is not None:
            return read_prediction(model, document)
        report, names = as_node(document.report, "report"), document.inputs
        model.column_ranges_ = read_ranges(report, names)
        if (groups := read_groups(report)) is not None:
            model.group_names_, model.groups_ = groups, groups.labels
        inputs = names if groups is None else names[: len(names) - len(groups.labels)]
        if groups is not None and names[len(inputs) :] != groups.indicators:
            raise ModelFileError("inputs", "the last ones are not the indicators of the groups")
        (model.equation_,) = document.equations
        model.law_ = read_law(report.get("law"), names, model.equation_)
        model.path_ = LawPath(read_law(each, names) for each in as_node(document.path, "path").items())
        model.near_ties_ = LawPath(read_law(each, names) for each in report.get("near_ties").items())
        model.search_completed_ = report.get("complete").flag()
        model.columns_left_out_ = report.get("left_out").each(Node.text)
        p_value, model.misfit_column_ = read_misfit(report)
        misfit = Misfit(p_value)
        model.adequate_, model.misfit_p_value_ = misfit.is_adequate, misfit.p_value
        model.outliers_ = report.get("outliers").each(Node.whole) if "outliers" in report.value else ()
        model.target_name_ = read_target_name(report)
        named = report.get("named").flag()
        model.law_found_ = bool(set(model.equation_.names) & set(inputs))
        model.n_features_in_ = len(inputs)
        if named:
            model.feature_names_in_ = np.array(inputs, dtype=object)
        return model

    def _repr_html_(self) -> str:
        """Show the options as scikit-learn does and, once fitted, the equation in words."""
        if not hasattr(self, "equation_"):
            return notebook_page(self, None, "")
        predicts = self.criterion == "prediction"
        numbers: Literal["all_digits", "simple_number"] = "all_digits" if predicts else "simple_number"
        return notebook_page(self, {self.target_name_: self.equation_}, self.describe(), numbers=numbers)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        predicts = self.criterion == "prediction"
        tags.input_tags.allow_nan = predicts and self.missing != "error"
        tags.input_tags.categorical = predicts
        return tags


def _is_found(name: str) -> bool:
    """Whether an attribute is what a fit has found."""
    return name.endswith("_") and not name.startswith("_")
