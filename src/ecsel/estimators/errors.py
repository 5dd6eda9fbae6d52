"""Standard errors of a classifier's equations, by name: conditional on the selected terms.

The mathematics is in `ecsel.fitting.uncertainty`; here the numbers get the names of classes and features.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.special import ndtri

from ecsel.estimators.equations import laws_from_equations
from ecsel.estimators.judging import tempered
from ecsel.estimators.settings import resolve_link
from ecsel.estimators.targets import check_target, check_weights, class_weights, known_codes
from ecsel.fitting.uncertainty import Sandwich, elasticity_errors, sandwich
from ecsel.quality.frames import to_pandas
from ecsel.tables.reading import read_table

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ecsel.estimators.classifier import ECSELClassifier
    from ecsel.fitting.delta import Parameter
    from ecsel.tables import TableEncoder


@dataclass(frozen=True, slots=True)
class NumberError:
    """One number of an equation: its estimate without a penalty, and its standard error (None: not determined).

    `parameter` is "intercept", "coefficient", "exponent" or "slope" (coefficient × exponent at a typical row, per unit
    of the logarithm). `term` counts the terms with exponents from 1, 0 for the intercept. `relative_to` names the level
    from which an exponent or slope is the difference.
    """

    label: Any
    term: int
    parameter: str
    feature: str | None
    relative_to: str | None
    estimate: float
    standard_error: float | None


@dataclass(frozen=True, slots=True)
class StandardErrors:
    """Standard errors of all equations, conditional on the selected terms.

    Attributes
    ----------
    numbers
        One `NumberError` for every intercept, coefficient, exponent and slope.
    converged
        Whether the refit without a penalty found a minimum; rows that the equations separate have none.
    n_rows
        The rows they rest on.
    """

    numbers: tuple[NumberError, ...]
    converged: bool
    n_rows: int
    _sandwich: Sandwich | None = field(default=None, repr=False, compare=False)
    _encoder: TableEncoder | None = field(default=None, repr=False, compare=False)
    _labels: tuple[Any, ...] = field(default=(), repr=False, compare=False)

    def to_frame(self, level: float = 0.95) -> Any:
        """Return a pandas data frame: estimates, standard errors and intervals; NaN where not determined."""
        estimate = np.array([number.estimate for number in self.numbers])
        error = np.array([np.nan if n.standard_error is None else n.standard_error for n in self.numbers])
        reach = _quantile(level) * error
        columns: dict[str, Any] = {
            "class": [number.label for number in self.numbers],
            "term": [number.term for number in self.numbers],
            "parameter": [number.parameter for number in self.numbers],
            "feature": [number.feature for number in self.numbers],
            "relative_to": [number.relative_to for number in self.numbers],
            "estimate": estimate,
            "standard_error": error,
            "low": estimate - reach,
            "high": estimate + reach,
        }
        return to_pandas(columns, "StandardErrors.to_frame()")

    def elasticity(self, X: Any, level: float = 0.95, *, absolute: bool = False) -> Any:
        """Return the elasticities of the refit at given rows with delta-method intervals, as a pandas data frame.

        One line per row, class and feature of the equation, on the positive scale of the features; NaN where the score
        is not positive (`absolute=True`: where it is zero), and errors where the rows do not determine them.
        """
        if self._sandwich is None or self._encoder is None:
            raise ValueError(
                "errors read from a file have no covariance: compute them with model.standard_errors(X, y)."
            )
        estimates, errors = elasticity_errors(self._sandwich, self._encoder.log_features(X), absolute=absolute)
        slopes = self._sandwich.problem.unpack(self._sandwich.theta)[2]
        used = [(c, j) for c, j in np.argwhere((slopes != 0).any(axis=1)).tolist()]
        names, n = self._encoder.feature_names, len(estimates)
        estimate = np.concatenate([estimates[:, c, j] for c, j in used]) if used else np.empty(0)
        error = np.concatenate([errors[:, c, j] for c, j in used]) if used else np.empty(0)
        reach = _quantile(level) * error
        columns: dict[str, Any] = {
            "row": np.tile(np.arange(n), len(used)),
            "class": [self._labels[c] for c, _ in used for _ in range(n)],
            "feature": [names[j] for _, j in used for _ in range(n)],
            "elasticity": estimate,
            "standard_error": error,
            "low": estimate - reach,
            "high": estimate + reach,
        }
        return to_pandas(columns, "StandardErrors.elasticity()")

    def to_plain(self) -> dict[str, Any]:
        """Return plain JSON values."""
        return {
            "numbers": [asdict(number) for number in self.numbers],
            "converged": self.converged,
            "n_rows": self.n_rows,
        }

    @classmethod
    def from_plain(cls, plain: Mapping[str, Any]) -> StandardErrors:
        """Inverse of `to_plain`; the covariance is not kept. What has another shape is a KeyError or TypeError."""
        return cls(tuple(map(_number_from, plain["numbers"])), bool(plain["converged"]), int(plain["n_rows"]))

    def __str__(self) -> str:
        """Return the errors as text, “—” where not determined."""
        failed = "" if self.converged else ", which found no minimum, as where the rows can be separated"
        lines = [
            f"standard errors, conditional on the selected terms ({self.n_rows} rows, refit without penalty{failed}):"
        ]
        for number in self.numbers:
            place = "" if number.term == 0 else f"term {number.term}, "
            what = number.parameter if number.feature is None else f"{number.parameter} of {number.feature!r}"
            if number.relative_to is not None:
                what += f" from {number.relative_to!r}"
            error = "—" if number.standard_error is None else f"{number.standard_error:.3g}"
            lines.append(f"  {number.label!r}: {place}{what} {number.estimate:.4g} ± {error}")
        return "\n".join(lines)


def _number_from(plain: Mapping[str, Any]) -> NumberError:
    number = NumberError(**plain)
    error = number.standard_error
    return replace(number, estimate=float(number.estimate), standard_error=None if error is None else float(error))


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
    equations = list(model.equations_.values())
    n_terms = max(1, *(sum(bool(term.exponents) for term in equation.terms) for equation in equations))
    laws = tempered(laws_from_equations(equations, encoder.feature_names, n_terms), 1 / model.temperature_)
    result = sandwich(
        encoder.log_features(X, warn=False)[:, keep],
        codes[keep],
        counts[keep],
        per_class[keep],
        resolve_link(model.link_, len(classes)),
        laws,
        level_sets=_level_sets(encoder),
    )
    scores = tuple(model.equations_)
    numbers = tuple(
        _number(parameter, estimate, error, scores, encoder.feature_names)
        for parameter, estimate, error in zip(
            result.parameters, result.estimates.tolist(), result.standard_errors.tolist(), strict=True
        )
    )
    return StandardErrors(numbers, result.converged, int(keep.sum()), result, encoder, scores)


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
