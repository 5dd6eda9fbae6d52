"""`ECSELClassifier`: one signomial per class, a sigmoid or softmax, and scikit-learn's conventions.

The estimator is thin: `tables` makes positive features, `fitting` finds the power laws, `signomial` evaluates them.
The formula is the model: predict_proba(X) is the sigmoid or softmax of `equations_` at `to_model_features(X)`.
"""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.utils import check_random_state, estimator_html_repr
from sklearn.utils.validation import check_is_fitted, validate_data

from ecsel.estimators import batches, settings, training
from ecsel.estimators.choosing import choose_again, choose_columns, choose_size, fold_rows
from ecsel.estimators.equations import laws_from_equations, laws_to_equations, trimmed
from ecsel.estimators.inference import Inference
from ecsel.estimators.judging import Judgement, judge, tempered
from ecsel.estimators.path import Candidate, Path
from ecsel.estimators.persistence import save_classifier
from ecsel.estimators.summary import summarise_classifier
from ecsel.estimators.targets import check_target, check_weights, class_weights, encode_labels
from ecsel.estimators.training import encoder_options, fit_options, trainer, warn_unless_converged
from ecsel.fitting import FitReport, Status
from ecsel.fitting.rows import merge_equal_rows
from ecsel.signomial import ScoreTerms, scores
from ecsel.signomial.properties import probabilities
from ecsel.tables import TableEncoder
from ecsel.tables.reading import read_table

if TYPE_CHECKING:
    import os

    from numpy.typing import NDArray

    from ecsel.estimators.batches import Packing
    from ecsel.estimators.settings import Settings
    from ecsel.fitting import FitResult, Tariff
    from ecsel.fitting.adam import Adam
    from ecsel.fitting.fit import PowerLaws
    from ecsel.fitting.links import LinkName
    from ecsel.fitting.race import Newton
    from ecsel.fitting.rows import Rows
    from ecsel.tables.reading import RawTable


class ECSELClassifier(Inference, ClassifierMixin, BaseEstimator):
    """Classifier whose formula is the model: z_c(x) = Σ_k α_ck Π_j x_j^β_ckj and a sigmoid or softmax.

    Parameters
    ----------
    n_terms : int or "auto", default="auto"
        Terms per class, not counting the intercept. "auto" chooses between 1 and `max_terms` by cross-validation.
    l1 : float or "auto", default="auto"
        Strength λ of the penalty on exponents. "auto" chooses along a path by cross-validation.
    max_terms : int, default=3
        Most terms that "auto" chooses. Where that many clearly win, `path_` and `summary()` tell what more would bring.
    link : {"auto", "sigmoid", "softmax"}, default="auto"
        "auto" takes the sigmoid (one score, for the second class) for two classes and the softmax otherwise.
    penalty : {"l1", "elastic_net", "mcp", "scad", "l0", "group", "paper"} or tariff, default="l1"
        "l1" is λ Σ_k (√(1 + (α_k/8)²) Σ_j |β_kj| + ½/(1 + (α_k/8)²)), which is well posed. The next five charge large
        exponents otherwise ("mcp", "scad" and "l0" shrink them less, "group" leaves out whole columns); an object such
        as ``ecsel.fitting.MCP(gamma=6)`` sets their numbers. "paper" is λ Σ |β|, with every term's value at a typical
        row bounded by 100 (Adam: the coefficient itself).
    fit_intercept : bool, default=True
        Whether scores have a constant beside their terms. False gives the paper's form, in which a constant can only
        be one of the `n_terms` terms, all of whose exponents the penalty has driven to zero.
    scaling : {"auto", "minmax", "spread", "ratio"} or dict, default="auto"
        How a numeric column becomes positive; "minmax" is the paper's map to [1, 10]. A dict sets it per column.
    two_sided : "auto", bool or list of columns, default="auto"
        Numeric columns that get a mirrored copy ``column~`` beside them, so that a term can be highest in the middle.
        "auto" tries none and all where the folds choose the terms or the strength, and keeps those that count.
    missing : {"factor", "median", "error"}, default="factor"
        What a missing value means; see `ecsel.tables`.
    out_of_range : {"clip", "extrapolate", "error"}, default="clip"
        What a value outside the training range means at prediction.
    categorical : list of columns, optional
        Columns of numbers that are categories.
    ordinal : dict of column to list of levels, optional
        Levels in order, lowest first.
    class_weight : None, "balanced", dict or float, default=None
        A number multiplies the balanced weight of the rarest class.
    threshold : None, float, "f1", "weighted_f1", "youden" or 2×2 matrix, default=None
        Two classes only: predict the second class where its probability is at least this. None means 0.5. A rule
        (largest F1 of that class, of both classes by their sizes, largest Youden index, smallest
        cost[true][predicted]) chooses it on the folds, after calibration.
    calibrate : bool, default=False
        Divide all scores by the temperature that minimises the log-loss on the folds; it becomes part of `equations_`.
    monotone : dict, optional
        Promises that the solver holds and `summary()` proves: ``{"income": +1}``, the probability of the second class
        never falls as income rises; where there is a score per class, ``{"income": {"good": +1}}``.
    exponent_bounds : pair or dict, optional
        Bounds (low, high) of every exponent, or a dict of them by column or feature, with low ≤ 0 ≤ high and None for
        no bound; held by the solver, and stated in `summary()` after a look at every term.
    max_features : int, optional
        Most columns that the equations may speak of: the first to take part along the path of one term.
    cv : int, splitter or list of splits, default=5
        Folds for "auto", for the rule of a threshold and for calibration. A number makes stratified folds that depend
        on the content of rows alone.
    solver : {"newton", "lbfgs", "adam"}, Newton or Adam, default="newton"
        "newton" is proximal Gauss–Newton (L-BFGS takes over beyond 1200 parameters); where terms and strength are
        given, `ecsel.fitting.Newton(starts=64)` looks for a lower minimum. "adam" is the paper's trainer.
    tol : float, default=1e-6
        Stop once the promised fall of the objective, relative to it, is below `tol` (and the KKT residual is small).
    max_iter : int, default=200
        Most iterations of the final solve.
    warm_start : bool, default=False
        Continue from the previous fit where it has the same features, classes and number of terms.
    n_jobs : int, optional
        Threads over folds, starts and row blocks; None uses all cores. The result is the same, to the last bit.
    random_state : int, RandomState or None, default=None
        Seeds the random starts and samples. None means 0: two fits of the same data give the same model.
    verbose : int, default=0
        1 shows the progress of choice and fit on standard error. An interrupt (Ctrl-C) keeps the best so far, with a
        warning: of the candidates that were measured, or of the equations.

    Attributes
    ----------
    classes_ : array of the class labels, sorted.
    equations_ : dict of class label to Signomial in the positive features; with a sigmoid the second class alone.
    encoder_ : TableEncoder from raw columns to positive features.
    fit_report_ : FitReport of the fit: status, iterations, passes, objective, KKT residual, spread of the starts.
    path_ : Path of all candidates of the selection.
    threshold_ : float or None (more than two classes).
    temperature_ : what the scores of the fit were divided by; 1 without calibration.
    out_of_fold_ : Quality measured on rows that the model had not seen, or None where no folds were run.
    n_folds_ : the number of those folds.
    standard_errors_ : what `standard_errors` returned last, or None.
    n_terms_, l1_, link_ : the values in force.
    n_iter_ : iterations of the solver.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from ecsel import ECSELClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> model = ECSELClassifier(n_terms=1, l1=0.01).fit(X, y)
    >>> model.score(X, y) > 0.95
    True
    >>> list(model.equations_)  # one signomial per class
    [0, 1, 2]

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
        max_terms: int = 3,
        link: str = "auto",
        penalty: str | Tariff = "l1",
        fit_intercept: bool = True,
        scaling: Any = "auto",
        two_sided: Any = "auto",
        missing: str = "factor",
        out_of_range: str = "clip",
        categorical: Any = None,
        ordinal: Any = None,
        class_weight: Any = None,
        threshold: Any = None,
        calibrate: bool = False,
        monotone: Any = None,
        exponent_bounds: Any = None,
        max_features: int | None = None,
        cv: Any = 5,
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
        self.link = link
        self.penalty = penalty
        self.fit_intercept = fit_intercept
        self.scaling = scaling
        self.two_sided = two_sided
        self.missing = missing
        self.out_of_range = out_of_range
        self.categorical = categorical
        self.ordinal = ordinal
        self.class_weight = class_weight
        self.threshold = threshold
        self.calibrate = calibrate
        self.monotone = monotone
        self.exponent_bounds = exponent_bounds
        self.max_features = max_features
        self.cv = cv
        self.solver = solver
        self.tol = tol
        self.max_iter = max_iter
        self.warm_start = warm_start
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Fit the equations.

        Parameters
        ----------
        X : array or data frame of shape (rows, columns)
            numpy, pandas, polars or pyarrow; numbers, booleans and categories; missing values allowed. Also the path of
            a Parquet file or folder, or a Dask data frame or array, whose rows are never all in memory.
        y : array of shape (rows,)
            Class labels of any type; of a Parquet file the name of the column.
        sample_weight : array of shape (rows,), optional
            An integer weight counts as that many rows; of a Parquet file the name of the column.
        """
        chosen = settings.check(self)
        if batches.is_streamed(X):
            return self._fit_packed(chosen, *batches.open_streamed(self, chosen, X, y, sample_weight))
        table = read_table(X)
        encoder = TableEncoder.fit(table, **encoder_options(self, chosen), sample_weight=sample_weight)
        validate_data(self, X, skip_check_array=True)
        labels = check_target(self, table.n_rows, y)
        given = None if sample_weight is None else check_weights(sample_weight, len(labels))
        classes, codes, totals = encode_labels(labels, given)
        packing = batches.packing_of(self, chosen, X, encoder, (labels, given), classes, totals)
        if packing is not None:
            del codes, given  # as large as a column each
            return self._fit_packed(chosen, encoder, packing)
        codes = codes.astype(np.intp, copy=False)
        link = settings.resolve_link(self.link, len(classes))
        per_class = class_weights(self.class_weight, classes, np.arange(len(classes)), totals)
        weights = per_class[codes] if given is None else given * per_class[codes]
        logs = encoder.log_features(table, batches.precision(self, len(codes) * len(encoder.features)), warn=False)
        chosen = chosen.of_table(self, encoder, classes.tolist(), link.n_scores)
        rows = merge_equal_rows(logs, codes, weights)
        return self._complete(chosen, encoder, classes, per_class, rows, ((logs, codes, weights), labels))

    def _fit_packed(self, chosen: Settings, encoder: TableEncoder, packing: Packing) -> Self:
        """Fit rows that are packed once everything but the equations is settled."""
        link = settings.resolve_link(self.link, len(packing.classes))
        codes = np.arange(len(packing.classes))
        per_class = class_weights(self.class_weight, packing.classes, codes, packing.totals)
        chosen = chosen.of_table(self, encoder, packing.classes.tolist(), link.n_scores)
        rule = settings.resolve_threshold(self.threshold, len(packing.classes))
        asked = self.max_features is not None or settings.needs_folds(chosen, rule, calibrate=self.calibrate)
        rows = packing.sampled_rows(encoder, per_class) if asked else packing.no_rows(encoder)
        return self._complete(chosen, encoder, packing.classes, per_class, rows, None, packing)

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
        """Choose the size on folds of `rows`, fit these or what is to be packed, and judge the model on the folds."""
        link = settings.resolve_link(self.link, len(classes))
        rule = settings.resolve_threshold(self.threshold, len(classes))
        seed = int(check_random_state(0 if self.random_state is None else self.random_state).randint(2**31 - 1))
        validate = settings.needs_folds(chosen, rule, calibrate=self.calibrate)
        folded = fold_rows(self.cv, rows, original or (rows, np.empty(0)), seed) if validate else None
        chosen = choose_columns(self, chosen, link, rows, seed)
        size = choose_size(self, chosen, link, folded, encoder)
        if folded is not None and folded.thinned:
            folded = fold_rows(self.cv, rows, original or (rows, np.empty(0)), seed, again=True)
            options = fit_options(self, chosen, seed, chosen.n_threads)
            size = choose_again(self, chosen, link, folded, encoder, size, options)
        self.path_encoder_ = encoder
        if chosen.mirrors_chosen:
            encoder = encoder.keep_mirrors(size.mirrors)
            kept = np.isin(self.path_encoder_.feature_names, encoder.feature_names)
            size = size.with_features(kept)
            rows = (rows[0][kept], *rows[1:])
            folded = folded and folded.with_features(kept)
            chosen = chosen.with_features(kept)
        n_terms, l1, path = size.n_terms, size.l1, size.path
        train = trainer(self, chosen, link, (n_terms, l1), seed, n_threads=chosen.n_threads)
        encoder, all_rows = (encoder, rows) if packing is None else packing.pack(encoder, per_class)
        result = train(
            all_rows,
            start=self._previous_laws(encoder, classes, n_terms) or size.laws,
            watch=training.show_progress if self.verbose else None,
        )
        warn_unless_converged(result.report, self.max_iter)
        judgement = Judgement.unseen(rule)
        if folded is not None and result.report.status is not Status.INTERRUPTED:
            judgement = judge(
                folded,
                train,
                link.name,
                rule,
                calibrate=self.calibrate,
                class_weights=per_class,
                tell=bool(self.verbose),
            )
        return self._set_fitted(encoder, classes, link.name, (n_terms, l1), path, result, judgement)

    def _previous_laws(self, encoder: TableEncoder, classes: NDArray[Any], n_terms: int) -> PowerLaws | None:
        """Return the power laws of the previous fit where `warm_start` can continue them."""
        if not self.warm_start or not hasattr(self, "equations_"):
            return None
        same = encoder.feature_names == self.encoder_.feature_names and np.array_equal(classes, self.classes_)
        if not same or n_terms != self.n_terms_:
            return None
        laws = laws_from_equations(list(self.equations_.values()), encoder.feature_names, n_terms)
        return tempered(laws, 1 / self.temperature_)

    def _set_fitted(
        self,
        encoder: TableEncoder,
        classes: NDArray[Any],
        link: LinkName,
        size: tuple[int, float],
        path: Path,
        result: FitResult,
        judgement: Judgement,
    ) -> Self:
        labels = classes.tolist()
        equations = laws_to_equations(tempered(result.laws, judgement.temperature), encoder.feature_names)
        self.encoder_ = encoder = trimmed(encoder, self.two_sided, equations)
        names = encoder.feature_names
        self.classes_ = classes
        self.link_ = link
        self.threshold_ = judgement.threshold
        self.temperature_ = judgement.temperature
        self.out_of_fold_, self.n_folds_ = judgement.quality, judgement.n_folds
        self.standard_errors_ = None
        self.n_terms_, self.l1_ = size
        self.equations_ = dict(zip(labels[1:] if link == "sigmoid" else labels, equations, strict=True))
        self.fit_report_: FitReport = result.report
        self.n_iter_ = max(1, result.report.iterations)
        self.path_ = path
        self._score_terms = ScoreTerms.from_signomials(equations, names)
        if not path:
            size_ = sum(len(term.exponents) for equation in equations for term in equation.terms)
            self.path_ = Path([Candidate(*size, size_, np.nan, np.nan, equations)])
        return self

    def to_model_features(self, X: Any) -> NDArray[np.float64]:
        """Return the positive features (rows × features) that `equations_` speak of."""
        table = self._checked_table(X)
        return self.encoder_.model_features(table)

    def _scores(self, X: Any) -> NDArray[np.float64]:
        table = self._checked_table(X)
        return scores(self._score_terms, self.encoder_.log_features(table).T)

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
        return z[:, 0] if self.link_ == "sigmoid" else z[:, 1] - z[:, 0]

    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """Return the probability of each class, columns in the order of `classes_`."""
        return probabilities(self._scores(X), self.link_)

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
        model.encoder_ = trimmed(self.path_encoder_, self.two_sided, candidate.equations)
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
        options: str = estimator_html_repr(self)
        return options + f"<pre>{escape(self.summary())}</pre>" if hasattr(self, "equations_") else options

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = self.missing != "error"
        tags.input_tags.categorical = True
        return tags
