"""Standard errors of a classifier's equations, by name: conditional on the selected terms or pieces.

The mathematics is in `ecsel.fitting.inference.uncertainty` for the paper's model, in `glm_errors` for readable
equations; here the numbers get the names of classes, features and pieces.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.special import ndtri

from ecsel.estimators.equations import power_laws
from ecsel.estimators.glm_errors import GlmSandwich, glm_sandwich
from ecsel.estimators.targets import check_target, check_weights, class_weights, known_codes
from ecsel.fitting.inference.uncertainty import Sandwich, elasticity_errors, sandwich
from ecsel.fitting.objective.losses import class_loss
from ecsel.quality.frames import to_pandas
from ecsel.search.losses import Logistic, Softmax
from ecsel.signomial import FeatureRows, ScoreTerms, Signomial, Term, term_values
from ecsel.signomial.factor_values import product_of_others
from ecsel.signomial.links import LINKS
from ecsel.tables.reading import read_table

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from ecsel._typing import Floats
    from ecsel.estimators.classifier import ECSELClassifier
    from ecsel.fitting.inference.delta import Parameter
    from ecsel.tables import TableEncoder


@dataclass(frozen=True, slots=True)
class NumberError:
    """One number of an equation: its estimate without a penalty, and its standard error (None: not determined).

    `parameter` is "intercept" or "coefficient"; in the paper's model also "exponent" or "slope" (coefficient × exponent
    at a typical row, per unit of the logarithm). `term` counts the terms from 1, 0 for the intercept. `piece` is the
    text of a readable term without its coefficient, empty for the intercept. In the paper's model `feature` names the
    feature of an exponent or slope, and `relative_to` the level from which it is the difference.
    """

    label: Any
    term: int
    parameter: str
    feature: str | None
    relative_to: str | None
    estimate: float
    standard_error: float | None
    piece: str | None = None


@dataclass(frozen=True, slots=True)
class StandardErrors:
    """Standard errors of all equations, conditional on the selected terms.

    Attributes
    ----------
    numbers
        One `NumberError` for every intercept and coefficient, in the paper's model also for every exponent and slope.
    converged
        Whether the refit without a penalty found a minimum; rows that the equations separate have none.
    n_rows
        The rows they rest on.
    """

    numbers: tuple[NumberError, ...]
    converged: bool
    n_rows: int
    _sandwich: Sandwich | GlmSandwich | None = field(default=None, repr=False, compare=False)
    _pieces: ScoreTerms | None = field(default=None, repr=False, compare=False)
    _encoder: TableEncoder | None = field(default=None, repr=False, compare=False)
    _labels: tuple[Any, ...] = field(default=(), repr=False, compare=False)

    @property
    def _is_readable(self) -> bool:
        return any(number.piece is not None for number in self.numbers)

    def to_frame(self, level: float = 0.95) -> Any:
        """Return a pandas data frame: estimates, standard errors and intervals; NaN where not determined."""
        estimate = np.array([number.estimate for number in self.numbers])
        error = np.array([np.nan if n.standard_error is None else n.standard_error for n in self.numbers])
        reach = _quantile(level) * error
        names = ("parameter", "piece") if self._is_readable else ("term", "parameter", "feature", "relative_to")
        columns: dict[str, Any] = {
            "class": [number.label for number in self.numbers],
            **{name: [getattr(number, name) for number in self.numbers] for name in names},
            "estimate": estimate,
            "standard_error": error,
            "low": estimate - reach,
            "high": estimate + reach,
        }
        return to_pandas(columns, "StandardErrors.to_frame()")

    def probabilities(self, X: Any, level: float = 0.95) -> Any:
        """Return the probabilities of the refit at given rows with intervals, as a pandas data frame.

        One line per row and class; for readable equations. With two classes and one score the interval is that of the
        score by the delta method, put through the link; with more the delta method is applied to the probability. Like
        all errors here they take the pieces as given: that other rows might have led to other pieces is not in them.
        """
        sandwich, encoder = self._with_covariance()
        if not isinstance(sandwich, GlmSandwich) or self._pieces is None:
            raise ValueError("intervals of probabilities are for readable equations, not for given n_terms and l1.")
        values = _values(self._pieces, encoder.model_features(X))
        found = sandwich.probabilities(values, _quantile(level))
        labels, n = self._labels, values.shape[1]
        columns: dict[str, Any] = {
            "row": np.tile(np.arange(n), len(labels)),
            "class": [label for label in labels for _ in range(n)],
        }
        names = ("probability", "standard_error", "low", "high")
        columns |= {name: each.ravel() for name, each in zip(names, found, strict=True)}
        return to_pandas(columns, "StandardErrors.probabilities()")

    def score_changes(self, X: Any, reference: Any) -> Floats:
        """Return standard errors of the change of the scores from one reference row to given rows, rows × scores.

        For readable equations: the width of the band around the effect of a column, the pieces taken as given. Scores
        of several classes matter only against each other, so that each is relative to their mean.
        """
        sandwich, encoder = self._with_covariance()
        if not isinstance(sandwich, GlmSandwich) or self._pieces is None:
            raise ValueError("errors of score changes are for readable equations, not for given n_terms and l1.")
        values, start = (_values(self._pieces, encoder.model_features(each)) for each in (X, reference))
        return sandwich.change_errors(values, start)

    def elasticity(self, X: Any, level: float = 0.95, *, absolute: bool = False) -> Any:
        """Return the elasticities of the refit at given rows with delta-method intervals, as a pandas data frame.

        One line per row, class and feature of the equation, by the features that the equation speaks of; NaN where the
        score is not positive (`absolute=True`: where it is zero), and errors where the rows do not determine them.
        """
        sandwich, encoder = self._with_covariance()
        if isinstance(sandwich, GlmSandwich):
            if self._pieces is None:
                raise TypeError("a covariance of pieces needs the pieces")
            used, found = _elasticities(self._pieces, sandwich, encoder.model_features(X), absolute=absolute)
        else:
            estimates, errors = elasticity_errors(sandwich, encoder.log_features(X), absolute=absolute)
            slopes = sandwich.problem.unpack(sandwich.theta)[2]
            used = [(c, j) for c, j in np.argwhere((slopes != 0).any(axis=1)).tolist()]
            found = [(np.asarray(estimates[:, c, j]), np.asarray(errors[:, c, j])) for c, j in used]
        labels = self._labels[-sandwich.loss.n_scores :] if isinstance(sandwich, GlmSandwich) else self._labels
        names, n = encoder.feature_names, read_table(X).n_rows
        estimate = np.concatenate([each for each, _ in found]) if used else np.empty(0)
        error = np.concatenate([each for _, each in found]) if used else np.empty(0)
        reach = _quantile(level) * error
        columns: dict[str, Any] = {
            "row": np.tile(np.arange(n), len(used)),
            "class": [labels[c] for c, _ in used for _ in range(n)],
            "feature": [names[j] for _, j in used for _ in range(n)],
            "elasticity": estimate,
            "standard_error": error,
            "low": estimate - reach,
            "high": estimate + reach,
        }
        return to_pandas(columns, "StandardErrors.elasticity()")

    def _with_covariance(self) -> tuple[Sandwich | GlmSandwich, TableEncoder]:
        if self._sandwich is None or self._encoder is None:
            raise ValueError(
                "errors read from a file have no covariance: compute them with model.standard_errors(X, y)."
            )
        return self._sandwich, self._encoder

    def to_plain(self) -> dict[str, Any]:
        """Return plain JSON values, without the covariance; `stored.read_errors` reads them."""
        return {
            "numbers": [asdict(number) for number in self.numbers],
            "converged": self.converged,
            "n_rows": self.n_rows,
        }

    def __str__(self) -> str:
        """Return the errors as text, “—” where not determined."""
        failed = "" if self.converged else ", which found no minimum, as where the rows can be separated"
        given = "pieces" if self._is_readable else "terms"
        lines = [
            f"standard errors, conditional on the selected {given} ({self.n_rows} rows, refit without penalty{failed}):"
        ]
        for number in self.numbers:
            error = "—" if number.standard_error is None else f"{number.standard_error:.3g}"
            lines.append(f"  {number.label!r}: {_named(number)} {number.estimate:.4g} ± {error}")
        return "\n".join(lines)


def _named(number: NumberError) -> str:
    """Return what the number is."""
    if number.piece:
        return number.piece
    place = "" if number.term == 0 else f"term {number.term}, "
    what = number.parameter if number.feature is None else f"{number.parameter} of {number.feature!r}"
    return place + what + ("" if number.relative_to is None else f" from {number.relative_to!r}")


def _pieces(equations: Sequence[Signomial], names: Sequence[str]) -> ScoreTerms:
    """Return the terms of readable equations without constants and coefficients, in their order."""
    return ScoreTerms.from_signomials(
        [Signomial(Term.from_factors(1.0, t.factors) for t in each.terms if not t.is_constant) for each in equations],
        names,
    )


def _values(pieces: ScoreTerms, features: Floats) -> Floats:
    """Return the pieces (pieces × rows) of features (rows × features)."""
    return np.ascontiguousarray(term_values(pieces, FeatureRows.from_values(features)).T)


def _elasticities(
    pieces: ScoreTerms, sandwich: GlmSandwich, features: Floats, *, absolute: bool
) -> tuple[list[tuple[int, int]], list[tuple[Floats, Floats]]]:
    """Return which features each score uses, and for each of these the elasticities and their errors."""
    rows, values = FeatureRows.from_values(features), _values(pieces, features)
    jets = [pieces.feature_jets(rows, k) for k in range(pieces.n_terms)]
    used = sorted({(int(c), j) for c, mine in zip(pieces.classes, jets, strict=True) for j in mine})
    found = []
    for c, j in used:
        slopes = np.zeros_like(values)
        for k, mine in enumerate(jets):
            if j in mine:
                slopes[k] = mine[j].first * product_of_others(mine, {j})
        found.append(sandwich.elasticities(values, slopes, c, absolute=absolute))
    return used, found


def _quantile(level: float) -> float:
    if not 0 < level < 1:
        raise ValueError(f"level={level!r} must lie between 0 and 1.")
    return float(ndtri((1 + level) / 2))


def standard_errors(model: ECSELClassifier, X: Any, y: Any, sample_weight: Any = None) -> StandardErrors:
    """Return the standard errors of a fitted classifier on these rows."""
    encoder, classes = model.encoder_, model.classes_
    table = read_table(X)
    labels = check_target(model, table.n_rows, y)
    counts = check_weights(sample_weight, table.n_rows)
    codes = known_codes(labels, classes)
    keep = counts > 0
    per_class = class_weights(model.class_weight, classes, codes, counts)[codes]
    if encoder.is_raw:
        return _of_pieces(
            model, encoder.model_features(X, warn=False)[keep], codes[keep], counts[keep], per_class[keep]
        )
    equations = list(model.equations_.values())
    result = sandwich(
        encoder.log_features(X, warn=False)[:, keep],
        codes[keep],
        counts[keep],
        per_class[keep],
        class_loss(LINKS[model.link_], len(classes)),
        power_laws(equations, encoder.feature_names) / (1 / model.temperature_),
        level_sets=_level_sets(encoder),
    )
    scores = tuple(model.equations_)
    numbers = tuple(
        _number(parameter, estimate, error, scores, encoder.feature_names)
        for parameter, estimate, error in zip(
            result.parameters, result.estimates.tolist(), result.standard_errors.tolist(), strict=True
        )
    )
    return StandardErrors(numbers, result.converged, int(keep.sum()), result, None, encoder, scores)


def _of_pieces(
    model: ECSELClassifier, features: Floats, codes: NDArray[np.intp], counts: Floats, class_weight: Floats
) -> StandardErrors:
    """Return the standard errors of readable equations."""
    equations, labels = list(model.equations_.values()), tuple(model.equations_)
    pieces = _pieces(equations, model.encoder_.feature_names)
    terms = [term for equation in equations for term in equation.terms if not term.is_constant]
    loss = Logistic() if len(equations) == 1 else Softmax(len(equations))
    own = [{term.factors for term in equation.terms} for equation in equations]
    shared = [
        loss.n_scores > 1 and c == 0 and all(term.factors in others for others in own)
        for c, term in zip(pieces.classes.tolist(), terms, strict=True)
    ]
    result = glm_sandwich(
        loss,
        _values(pieces, features),
        pieces.classes,
        codes.astype(np.float64),
        counts,
        class_weight,
        (
            np.array([sum(t.coefficient for t in equation.terms if t.is_constant) for equation in equations]),
            np.array([term.coefficient for term in terms]),
        ),
        np.array(shared, dtype=bool),
    )
    estimates, errors = result.numbers()
    known = [None if np.isnan(error) else error for error in errors.tolist()]
    numbers = []
    for c, label in enumerate(labels):
        numbers.append(NumberError(label, 0, "intercept", None, None, float(estimates[c]), known[c], ""))
        for place, k in enumerate(np.flatnonzero(pieces.classes == c).tolist(), start=1):
            at = len(labels) + k
            text = str(Signomial([Term.from_factors(1.0, terms[k].factors)]))
            number = NumberError(label, place, "coefficient", None, None, float(estimates[at]), known[at], text)
            numbers.append(number)
    classes = tuple(model.classes_.tolist())
    return StandardErrors(tuple(numbers), result.converged, len(codes), result, pieces, model.encoder_, classes)


def _level_sets(encoder: TableEncoder) -> list[list[int]]:
    """Return, column by column, the features of its levels, the missing one included."""
    kinds = {column.name: column.kind for column in encoder.columns}
    by_column: dict[str, list[int]] = {}
    for j, feature in enumerate(encoder.features):
        if kinds[feature.column] == "categorical":
            by_column.setdefault(feature.column, []).append(j)
    return list(by_column.values())


def _number(
    parameter: Parameter, estimate: float, error: float, labels: tuple[Any, ...], names: tuple[str, ...]
) -> NumberError:
    return NumberError(
        labels[parameter.score],
        parameter.term + 1,
        parameter.kind,
        None if parameter.feature < 0 else names[parameter.feature],
        None if parameter.relative_to < 0 else names[parameter.relative_to],
        estimate,
        None if np.isnan(error) else error,
    )
