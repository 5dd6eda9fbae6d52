"""`ECSELClassifier`: one equation per class, a sigmoid or softmax, and scikit-learn's conventions.

The estimator is thin: `tables` makes features, `search` finds readable equations in raw columns (or `fitting` the
paper's power laws on positive features), `signomial` evaluates them. The formula is the model: predict_proba(X) is the
sigmoid or softmax of `equations_` at `to_model_features(X)`.
"""

from __future__ import annotations

import time
import warnings
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted, validate_data

from ecsel.estimators import batches, settings, training
from ecsel.estimators.callbacks import CallbackSupportMixin, tells_callbacks
from ecsel.estimators.callers import in_cross_validation
from ecsel.estimators.equations import power_laws
from ecsel.estimators.folds import choose_columns, fold_rows
from ecsel.estimators.inference import Inference
from ecsel.estimators.notebook import NotebookMixin, notebook_page
from ecsel.estimators.out_of_fold import (
    OVERFITTED,
    Validation,
    is_overfitted,
    out_of_fold,
    validate,
)
from ecsel.estimators.path import Candidate, Path
from ecsel.estimators.persistence import save_classifier
from ecsel.estimators.readable import STOPPED
from ecsel.estimators.readable_classes import class_task, fit_classes
from ecsel.estimators.straight import with_log_pieces
from ecsel.estimators.summary import summarise_classifier
from ecsel.estimators.targets import check_target, check_weights, class_weights, encode_labels, target_numbers
from ecsel.estimators.training import encoder_options, trainer, warn_unless_converged
from ecsel.estimators.training_rows import TrainingRows
from ecsel.fitting import Status
from ecsel.fitting.rows.merging import merge_equal_rows
from ecsel.signomial import FeatureRows, ScoreTerms, scores
from ecsel.signomial.links import LINKS
from ecsel.tables import TableEncoder
from ecsel.tables.cautions import find_cautions, warn_cautions
from ecsel.tables.reading import read_table

if TYPE_CHECKING:
    import os

    from numpy.typing import NDArray

    from ecsel.estimators.batches import Packing
    from ecsel.estimators.readable import AllRows, SearchReport
    from ecsel.estimators.settings import Settings
    from ecsel.fitting import FitReport, Penalty
    from ecsel.fitting.rows.merging import Rows
    from ecsel.fitting.solvers.adam import Adam
    from ecsel.fitting.solvers.multistart import Newton
    from ecsel.signomial import Signomial
    from ecsel.signomial.links import Link
    from ecsel.tables.reading import RawTable


class ECSELClassifier(NotebookMixin, Inference, CallbackSupportMixin, ClassifierMixin, BaseEstimator):
    """Classifier whose formula is the model: a short sum of simple pieces of raw columns, one for every score.

    By default a search finds the pieces (small powers, logarithms, indicators, products of two), folds choose how many,
    and coefficients are rounded to the fewest digits that keep the loss: what is printed is the model. With
    ``n_terms=K, l1=λ`` it is the model of the paper ECSEL instead, z_c(x) = Σ_k α_ck Π_j x_j^β_ckj with real exponents
    on positive scaled features.

    Parameters
    ----------
    n_terms : int or "auto", default="auto"
        Terms of a score, not counting the intercept. "auto" lets the folds choose.
    l1 : float or "auto", default="auto"
        Strength λ of the penalty of the paper's model, which needs `n_terms` too. "auto" means the search.
    max_terms : int, optional
        Most terms of a score that the folds may choose.
    max_factors : int, default=20
        Most factors of a score: ``x*log(y)`` has two.
    max_features : int, optional
        Most columns that the equations may speak of.
    allowed_exponents : list, optional
        Exponents that the search may use, of -2, -1, -0.5, 0.5, 1, 2, 3 and "log"; None for all.
    exponent_bounds : pair or dict, optional
        Bounds (low, high) of every exponent, or a dict of them by column or feature, with low ≤ 0 ≤ high and None for
        no bound; stated in `summary()` after a look at every term. A logarithm counts as exponent 0.
    digits : int or None, default=2
        Significant digits of coefficients, more where the loss would rise; None keeps all digits.
    thresholds : bool, default=False
        Whether ``[x > c]`` (1 or 0), ``[x above c]`` = max(0, x − c) and ``[x below c]`` = max(0, c − x) with round
        cuts c may be pieces too.
    rule : {"simplest", "best"}, default="simplest"
        With "simplest" every further factor must lower the expected loss by 0.5 %; "best" takes the lowest.
    time_limit : float, optional
        Seconds after which the search ends with the best that it has measured.
    link : {"auto", "sigmoid", "softmax"}, default="auto"
        "auto" takes the sigmoid (one score, for the second class) for two classes and the softmax otherwise.
    missing : {"factor", "median", "error"}, default="factor"
        What a missing value means; see `ecsel.tables`.
    out_of_range : {"clip", "extrapolate", "error"}, default="clip"
        What a value outside the training range means at prediction.
    missing_codes : "auto", None, list or dict, default="auto"
        Values that stand for a missing one. "auto" finds codes such as -999 or "?" and notes them in `summary()`; None
        takes every value as it is.
    categorical : list of columns, optional
        Columns that are categories, as they are written: numbers that are codes, text that looks like numbers.
    ordinal : dict of column to list of levels, optional
        Levels in order, lowest first.
    keep, drop : list of columns, optional
        Columns that take part although they look like identifiers, and columns that take no part.
    class_weight : None, "balanced", dict or float, default=None
        A number multiplies the balanced weight of the rarest class.
    threshold : None, float, "f1", "weighted_f1", "youden" or 2×2 matrix, default=None
        Two classes only: predict the second class where its probability is at least this. None means 0.5. A rule
        (largest F1 of that class, of both classes by their sizes, largest Youden index, smallest
        cost[true][predicted]) chooses it on the folds, after calibration.
    calibrate : bool, default=False
        Divide all scores by the temperature that minimises the log-loss on the folds; it becomes part of `equations_`.
    monotone : dict, optional
        Promises that the fit keeps and `summary()` proves: ``{"income": +1}``, the probability of the second class
        never falls as income rises; where there is a score per class, ``{"income": {"good": +1}}``.
    cv : int, splitter or list of splits, optional
        Folds for the size, for the rule of a threshold and for calibration. A number makes stratified folds that depend
        on the content of rows alone; by default five, and three from 3000 distinct rows on.
    penalty : {"l1", "elastic_net", "mcp", "scad", "l0", "group", "paper"} or object, default="l1"
        Of the paper's model. "l1" is λ Σ_k (√(1 + (α_k/8)²) Σ_j |β_kj| + ½/(1 + (α_k/8)²)), which is well posed. The
        next five weigh large exponents otherwise ("mcp", "scad" and "l0" shrink them less, "group" leaves out whole
        columns); an object such as ``ecsel.fitting.MCP(gamma=6)`` sets their numbers. "paper" is λ Σ |β|, with every
        term's value at a typical row bounded by 100 (Adam: the coefficient itself).
    fit_intercept : bool, default=True
        Of the paper's model: whether scores have a constant beside their terms.
    scaling : {"auto", "minmax", "spread", "ratio"} or dict, default="auto"
        Of the paper's model: how a numeric column becomes positive; "minmax" is the paper's map to [1, 10].
    two_sided : bool or list of columns, default=False
        Of the paper's model: numeric columns that get a mirrored copy ``column~``, so that a term can peak in the
        middle.
    solver : {"newton", "lbfgs", "adam"}, Newton or Adam, default="newton"
        Of the paper's model: "newton" is proximal Gauss–Newton (L-BFGS takes over beyond 1200 parameters),
        `ecsel.fitting.Newton(starts=64)` looks for a lower minimum, "adam" is the paper's trainer.
    tol : float, default=1e-6
        Of the paper's model: stop once the promised fall of the objective, relative to it, is below `tol`.
    max_iter : int, default=200
        Of the paper's model: most iterations of the final solve.
    warm_start : bool, default=False
        Of the paper's model: continue from the previous fit where it has the same features, classes and terms.
    n_jobs : int, optional
        Threads over folds, starts and row blocks; None uses all cores. The result is the same, to the last bit.
    random_state : int, RandomState or None, default=None
        Seeds folds and random starts. None means 0: two fits of the same data give the same model.
    verbose : int, default=0
        1 shows progress on standard error. An interrupt (Ctrl-C) keeps the best so far, with a warning.

    Attributes
    ----------
    classes_ : array of the class labels, sorted.
    equations_ : dict of class label to Signomial; with a sigmoid the second class alone.
    encoder_ : TableEncoder from raw columns to the features of the equations.
    fit_report_ : SearchReport of a search, FitReport of the paper's model.
    path_ : Path of candidates, the front of factors against held-out loss.
    near_ties_ : positions in `path_` of the candidates that the folds cannot tell from the best.
    threshold_ : float or None (more than two classes).
    temperature_ : what the scores of the fit were divided by; 1 without calibration.
    out_of_fold_ : Quality measured on rows that the model had not seen, or None where no folds were run.
    n_folds_ : the number of those folds.
    standard_errors_ : what `standard_errors` returned last, or None.
    n_terms_ : most terms of a score.
    l1_ : the strength in force; None after a search.
    link_ : the link in force.
    n_iter_ : iterations of the solver; 1 after a search.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from ecsel import ECSELClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> model = ECSELClassifier().fit(X, y)
    >>> model.score(X, y) > 0.95
    True
    >>> list(model.equations_)  # one equation per class
    [0, 1, 2]

    The paper's model has a given number of terms and a given strength:

    >>> model = ECSELClassifier(n_terms=1, l1=0.01).fit(X, y)
    >>> model.score(X, y) > 0.95
    True

    With two classes the folds can choose from which probability on to decide, after they have set the temperature:

    >>> X, y = X[50:], y[50:]
    >>> model = ECSELClassifier(n_terms=1, l1=0.01, threshold="f1", calibrate=True).fit(X, y)
    >>> bool((model.predict(X) == model.classes_[(model.predict_proba(X)[:, 1] >= model.threshold_).astype(int)]).all())
    True
    >>> model.out_of_fold_.auc > 0.95
    True
    """

    def __init__(
        self,
        n_terms: int | str = "auto",
        l1: float | str = "auto",
        *,
        max_terms: int | None = None,
        max_factors: int = 20,
        max_features: int | None = None,
        allowed_exponents: Any = None,
        exponent_bounds: Any = None,
        digits: int | None = 2,
        thresholds: bool = False,
        rule: str = "simplest",
        time_limit: float | None = None,
        link: str = "auto",
        missing: str = "factor",
        missing_codes: Any = "auto",
        out_of_range: str = "clip",
        categorical: Any = None,
        ordinal: Any = None,
        keep: Any = None,
        drop: Any = None,
        class_weight: Any = None,
        threshold: Any = None,
        calibrate: bool = False,
        monotone: Any = None,
        cv: Any = None,
        penalty: str | Penalty = "l1",
        fit_intercept: bool = True,
        scaling: Any = "auto",
        two_sided: Any = False,
        solver: str | Newton | Adam = "newton",
        tol: float = 1e-6,
        max_iter: int = 200,
        warm_start: bool = False,
        n_jobs: int | None = None,
        random_state: Any = None,
        verbose: int = 0,
    ) -> None:
        self.n_terms = n_terms
        self.l1 = l1
        self.max_terms = max_terms
        self.max_factors = max_factors
        self.max_features = max_features
        self.allowed_exponents = allowed_exponents
        self.exponent_bounds = exponent_bounds
        self.digits = digits
        self.thresholds = thresholds
        self.rule = rule
        self.time_limit = time_limit
        self.link = link
        self.missing = missing
        self.missing_codes = missing_codes
        self.out_of_range = out_of_range
        self.categorical = categorical
        self.ordinal = ordinal
        self.keep = keep
        self.drop = drop
        self.class_weight = class_weight
        self.threshold = threshold
        self.calibrate = calibrate
        self.monotone = monotone
        self.cv = cv
        self.penalty = penalty
        self.fit_intercept = fit_intercept
        self.scaling = scaling
        self.two_sided = two_sided
        self.solver = solver
        self.tol = tol
        self.max_iter = max_iter
        self.warm_start = warm_start
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose

    @tells_callbacks
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Fit the equations.

        Parameters
        ----------
        X : array or data frame of shape (rows, columns)
            numpy, pandas, polars or pyarrow; numbers, booleans, categories, dates and text that holds numbers; missing
            values allowed; `summary()` tells how each column was read. A column that may leak the target or that is a
            protected attribute is named in an `ecsel.ColumnWarning`. Also the path of
            a Parquet file or folder, or a Dask data frame or array, whose rows are never all in memory.
        y : array of shape (rows,)
            Class labels of any type; of a Parquet file the name of the column.
        sample_weight : array of shape (rows,), optional
            An integer weight counts as that many rows; of a Parquet file the name of the column.
        """
        started = time.monotonic()
        chosen = settings.check(self)
        if batches.is_streamed(X):
            return self._fit_packed(chosen, *batches.open_streamed(self, chosen, X, y, sample_weight))
        table = read_table(X)
        encoder = TableEncoder.fit(
            table,
            **encoder_options(self, chosen),
            sample_weight=sample_weight,
            target=lambda: target_numbers(y, table.n_rows),
        )
        validate_data(self, X, skip_check_array=True)
        labels = check_target(self, table.n_rows, y)
        given = None if sample_weight is None else check_weights(sample_weight, len(labels))
        classes, codes, totals = encode_labels(labels, given)
        named = str(getattr(y, "name", None) or "")
        warn_cautions(find_cautions(encoder, table, codes.astype(np.float64), named, classes=True), stacklevel=4)
        if chosen.searches:
            sampled = batches.sample_of_table(self, chosen, X, encoder, (labels, given), codes, self._seed())
            if sampled is not None:
                return self._search(chosen.after(time.monotonic() - started), encoder, classes, totals, *sampled)
            weights = np.ones(len(codes)) if given is None else given
            values = encoder.feature_rows(table, warn=False)
            rows = TrainingRows.canonical(self.cv, values, codes.astype(np.intp, copy=False), weights, labels)
            return self._search(chosen.after(time.monotonic() - started), encoder, classes, totals, rows)
        packing = batches.packing_of(self, chosen, X, encoder, (labels, given), classes, totals)
        if packing is not None:
            del codes, given  # as large as a column each
            return self._fit_packed(chosen, encoder, packing)
        codes = codes.astype(np.intp, copy=False)
        per_class = class_weights(self.class_weight, classes, np.arange(len(classes)), totals)
        weights = per_class[codes] if given is None else given * per_class[codes]
        logs = encoder.log_features(table, batches.precision(self, len(codes) * len(encoder.features)), warn=False)
        chosen = chosen.of_table(self, encoder, classes.tolist(), chosen.link(len(classes)).n_scores(len(classes)))
        merged = merge_equal_rows(logs, codes, weights)
        return self._complete(chosen, encoder, classes, per_class, merged, ((logs, codes, weights), labels))

    def _search(
        self,
        chosen: Settings,
        encoder: TableEncoder,
        classes: NDArray[Any],
        totals: NDArray[np.float64],
        rows: TrainingRows,
        everything: AllRows | None = None,
    ) -> Self:
        """Search for readable equations."""
        rule = settings.resolve_threshold(self.threshold, len(classes))
        per_class = class_weights(self.class_weight, classes, np.arange(len(classes)), totals)
        task = class_task(self, chosen, encoder, classes.tolist(), per_class, self._seed())
        found = fit_classes(self, chosen, task, rule, rows, everything)
        if not found.report.converged:
            warnings.warn(STOPPED, UserWarning, stacklevel=4)
        self.path_encoder_ = found.path_encoder
        self.near_ties_ = found.near_ties
        n_terms = max(sum(not term.is_constant for term in equation.terms) for equation in found.equations)
        return self._set_fitted(
            found.encoder,
            classes,
            chosen.link(len(classes)),
            (n_terms, None),
            found.path,
            found.equations,
            found.report,
            found.validation,
        )

    def _seed(self) -> int:
        return int(check_random_state(0 if self.random_state is None else self.random_state).randint(2**31 - 1))

    def _fit_packed(self, chosen: Settings, encoder: TableEncoder, packing: Packing) -> Self:
        """Fit rows that are packed once everything but the equations is settled, or read in batches after a search."""
        classes = packing.classes
        if chosen.searches:
            return self._search(
                chosen, encoder, classes, packing.totals, packing.training_rows(encoder), packing.sum_batches
            )
        codes = np.arange(len(classes))
        per_class = class_weights(self.class_weight, classes, codes, packing.totals)
        chosen = chosen.of_table(self, encoder, classes.tolist(), chosen.link(len(classes)).n_scores(len(classes)))
        rule = settings.resolve_threshold(self.threshold, len(classes))
        asked = self.max_features is not None or settings.needs_folds(chosen, rule, calibrate=self.calibrate)
        rows = packing.sampled_rows(encoder, per_class) if asked else packing.no_rows(encoder)
        return self._complete(chosen, encoder, classes, per_class, rows, None, packing)

    def _complete(
        self,
        chosen: Settings,
        encoder: TableEncoder,
        classes: NDArray[Any],
        per_class: NDArray[np.float64],
        rows: Rows,
        original: tuple[Rows, NDArray[Any]] | None,
        packing: Packing | None = None,
    ) -> Self:
        """Fit the paper's model to `rows` or to what is to be packed, validated on folds where needed."""
        if chosen.n_terms is None or chosen.l1 is None:
            raise TypeError("the paper's model has a number of terms and a strength")
        size = (chosen.n_terms, chosen.l1)
        loss = chosen.loss(len(classes))
        rule = settings.resolve_threshold(self.threshold, len(classes))
        seed = self._seed()
        with_folds = settings.needs_folds(chosen, rule, calibrate=self.calibrate)
        folded = fold_rows(self.cv, rows, original or (rows, np.empty(0)), per_class, seed) if with_folds else None
        chosen = choose_columns(self, chosen, loss, rows, seed)
        train = trainer(self, chosen, loss, size, seed, n_threads=chosen.n_threads)
        encoder, all_rows = (encoder, rows) if packing is None else packing.pack(encoder, per_class)
        result = train(
            all_rows,
            start=self._previous_terms(encoder, classes, size[0]),
            watch=training.show_progress if self.verbose else None,
        )
        warn_unless_converged(result.report, self.max_iter)
        validation = Validation.unseen(rule)
        if folded is not None and result.report.status is not Status.INTERRUPTED:
            held_out = out_of_fold(folded, train, per_class, verbose=bool(self.verbose))
            validation = validate(held_out, loss.link, rule, calibrate=self.calibrate)
        elif folded is None and packing is None and is_overfitted(self, result, rows, per_class, train):
            warnings.warn(OVERFITTED.format(n_terms=size[0], l1=size[1]), UserWarning, stacklevel=4)
        self.path_encoder_ = encoder
        self.near_ties_ = ()
        equations = (result.terms / validation.temperature).to_signomials(encoder.feature_names)
        if self.fit_intercept:
            equations = tuple(with_log_pieces(equation, encoder) for equation in equations)
        return self._set_fitted(encoder, classes, loss.link, size, Path(()), equations, result.report, validation)

    def _previous_terms(self, encoder: TableEncoder, classes: NDArray[Any], n_terms: int) -> ScoreTerms | None:
        """Return the power laws of the previous fit where `warm_start` can continue them."""
        if not self.warm_start or not hasattr(self, "equations_"):
            return None
        same = encoder.feature_names == self.encoder_.feature_names and np.array_equal(classes, self.classes_)
        if not same or n_terms != self.n_terms_:
            return None
        return power_laws(list(self.equations_.values()), encoder.feature_names) / (1 / self.temperature_)

    def _set_fitted(
        self,
        encoder: TableEncoder,
        classes: NDArray[Any],
        link: Link,
        size: tuple[int, float | None],
        path: Path,
        equations: tuple[Signomial, ...],
        report: FitReport | SearchReport,
        validation: Validation,
    ) -> Self:
        labels = classes.tolist()
        self.encoder_ = encoder
        self.classes_ = classes
        self.link_ = link.name
        self.threshold_ = validation.threshold
        self.temperature_ = validation.temperature
        self.out_of_fold_, self.n_folds_ = validation.quality, validation.n_folds
        self.standard_errors_ = None
        self.n_terms_, self.l1_ = size
        self.equations_ = dict(zip(link.scored(labels), equations, strict=True))
        self.fit_report_: Any = report  # a FitReport, or a SearchReport after a search
        self.n_iter_ = max(1, getattr(report, "iterations", 1))
        self._score_terms = ScoreTerms.from_signomials(equations, encoder.feature_names)
        n_factors = sum(equation.n_factors for equation in equations)
        self.path_ = path or Path([Candidate(self.n_terms_, self.l1_, n_factors, np.nan, np.nan, equations)])
        return self

    def to_model_features(self, X: Any) -> NDArray[np.float64]:
        """Return the values (rows × features) that the names in `equations_` stand for.

        After a search these are raw columns, clipped to the training range, and indicators; the paper's model has
        positive scaled features. The columns are those of `encoder_.feature_names`.
        """
        table = self._checked_table(X)
        return self.encoder_.model_features(table)

    def _scores(self, X: Any) -> NDArray[np.float64]:
        table, warn = self._checked_table(X), not in_cross_validation()
        if self.encoder_.is_raw:
            return scores(self._score_terms, FeatureRows.from_values(self.encoder_.model_features(table, warn=warn)))
        return scores(self._score_terms, FeatureRows.from_logs(self.encoder_.log_features(table, warn=warn).T))

    def _checked_table(self, X: Any) -> RawTable:
        check_is_fitted(self, "equations_")
        table = read_table(X)
        if not self.encoder_.names_match(X):  # says what is wrong, or counts the columns of an array
            validate_data(self, X, reset=False, skip_check_array=True)
        return table

    def decision_function(self, X: Any) -> NDArray[np.float64]:
        """Return z (or z₁ − z₀) for two classes, shape (rows,); the scores of all classes otherwise."""
        z = self._scores(X)
        if len(self.classes_) > 2:
            return z
        return z[:, 0] if LINKS[self.link_].has_reference else z[:, 1] - z[:, 0]

    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """Return the probability of each class, columns in the order of `classes_`."""
        z = self._scores(X)
        return LINKS[self.link_].outputs(z)

    def predict(self, X: Any) -> NDArray[Any]:
        """Return the most probable class, or with two classes the second where it reaches `threshold_`."""
        p = self.predict_proba(X)
        chosen = p.argmax(axis=1) if self.threshold_ is None else (p[:, 1] >= self.threshold_).astype(np.intp)
        labels: NDArray[Any] = self.classes_[chosen]
        return labels

    def select(self, i: int) -> ECSELClassifier:
        """Return a new fitted model with the equations of `path_[i]`.

        It keeps the threshold; it has no temperature, and no quality out of fold, which were those of the chosen model.
        """
        check_is_fitted(self, "equations_")
        candidate = self.path_[i]
        model: ECSELClassifier = clone(self)
        model.__dict__.update(
            {name: value for name, value in self.__dict__.items() if name.endswith("_") and not name.startswith("_")}
        )
        model.equations_ = dict(zip(self.equations_, candidate.equations, strict=True))
        model.n_terms_, model.l1_ = candidate.n_terms, candidate.l1
        model.temperature_, model.out_of_fold_, model.n_folds_ = 1.0, None, 0
        model.standard_errors_ = None
        model.encoder_ = self.path_encoder_
        if self.path_encoder_.is_raw:
            used = {name for equation in candidate.equations for name in equation.names}
            model.encoder_ = self.path_encoder_.keep_features(used)
        model._score_terms = ScoreTerms.from_signomials(candidate.equations, model.encoder_.feature_names)
        return model

    def summary(self) -> str:
        """Return the equations, how they were found, and what was done to the columns, as text."""
        check_is_fitted(self, "equations_")
        return summarise_classifier(self)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the fitted model as JSON; `ecsel.load` reads it back."""
        check_is_fitted(self, "equations_")
        save_classifier(self, path)

    def _repr_html_(self) -> str:
        """Show the options as scikit-learn does and, once fitted, the equations."""
        if not hasattr(self, "equations_"):
            return notebook_page(self, None, "")
        readable = self.encoder_.is_raw
        what = "log-odds" if LINKS[self.link_].has_reference and readable else "score"
        equations = {f"{what} of {label}": equation for label, equation in self.equations_.items()}
        return notebook_page(self, equations, self.summary(), numbers="all_digits" if readable else "four_digits")

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = self.missing != "error"
        tags.input_tags.categorical = True
        return tags
