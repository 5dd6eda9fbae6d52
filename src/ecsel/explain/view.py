"""One view of everything that can be explained: a classifier, a regressor, or equations alone.

A view holds score terms, a link and a way to read a table. Three ways exist:

- the encoder of the paper's model, whose features are positive: rows of u = log x';
- a raw encoder, whose features are numbers as they are and indicators: rows of values;
- the columns themselves, for a regressor or bare equations: rows of values, which may be negative or zero.

Every closed form is a function of the terms and the rows, whichever they are.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, NoReturn, cast

import numpy as np
from sklearn.utils.validation import check_is_fitted, validate_data

from ecsel.explain.frames import plain_table
from ecsel.signomial import FeatureRows, ScoreTerms, Signomial, scores
from ecsel.signomial.columns import LogColumns
from ecsel.signomial.links import IDENTITY, SOFTMAX, Link, as_link
from ecsel.signomial.text import is_bracketed
from ecsel.tables import CategoricalColumn, NumericColumn, OrdinalColumn, TableEncoder
from ecsel.tables.reading import RawTable, read_table

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from ecsel._typing import Floats, Places
    from ecsel.signomial import Factor


@dataclass(frozen=True, eq=False)
class ModelView:
    """What explanations need to know of a model; build one with `of` or `of_equations`.

    Attributes
    ----------
    terms
        The terms of all scores.
    link
        What the scores mean (`ecsel.signomial.links`): sigmoid (one score, the second class), softmax or identity;
        given by its name or itself.
    classes
        The labels of the probabilities; of a regression the one word ``"prediction"``.
    feature_names, raw_names
        The features of the equations and the columns of the user's table.
    feature_groups
        For each feature the position of its raw column.
    encoder
        The way from raw columns to features; None where the columns are the features.
    threshold
        The probability from which the second of two classes is predicted.
    estimator
        The model itself, which has the last word on predictions; None for bare equations.

    Examples
    --------
    >>> from ecsel import Signomial
    >>> view = ModelView.of_equations({"no": Signomial.parse("1/x"), "yes": Signomial.parse("x*y")}, ["x", "y"])
    >>> view.probabilities([[1.0, 1.0]])
    array([[0.5, 0.5]])
    """

    terms: ScoreTerms
    link: Link
    classes: tuple[Any, ...]
    feature_names: tuple[str, ...]
    raw_names: tuple[str, ...]
    feature_groups: Places
    encoder: TableEncoder | None = None
    threshold: float | None = None
    estimator: Any = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "link", as_link(self.link))

    @classmethod
    def of(cls, model: Any) -> ModelView:
        """Return the view of an `ECSELClassifier`, an `ECSELRegressor`, a `Signomial` or a view."""
        if isinstance(model, ModelView):
            return model
        if isinstance(model, Signomial):
            return cls.of_equations(model, model.names)
        if not hasattr(model, "get_params"):
            raise TypeError(
                "explanations need an ECSELClassifier, an ECSELRegressor, a Signomial or a ModelView, not "
                f"{type(model).__name__}"
            )
        check_is_fitted(model)
        if hasattr(model, "groups_"):
            raise ValueError(
                "a law of groups is one equation for each group: explain or export model.group_equations_[label]"
            )
        if hasattr(model, "equations_") and hasattr(model, "encoder_"):
            return cls._of_classifier(model)
        if hasattr(model, "equation_") and hasattr(model, "encoder_"):
            view = cls.of_equations(model.equation_, model.encoder_.feature_names)
            encoder: TableEncoder = model.encoder_
            return replace(
                view,
                raw_names=encoder.raw_names,
                feature_groups=encoder.feature_groups,
                encoder=encoder,
                estimator=model,
            )
        if hasattr(model, "equation_"):
            names = getattr(model, "feature_names_in_", None)
            raw_names = [f"x{j}" for j in range(model.n_features_in_)] if names is None else [str(n) for n in names]
            return replace(cls.of_equations(model.equation_, raw_names), estimator=model)
        raise TypeError(f"{type(model).__name__} has no equations to explain; use a model of ecsel")

    @classmethod
    def _of_classifier(cls, model: Any) -> ModelView:
        encoder: TableEncoder = model.encoder_
        terms = ScoreTerms.from_signomials(list(model.equations_.values()), encoder.feature_names)
        return cls(
            terms=terms,
            link=as_link(model.link_),
            classes=tuple(model.classes_.tolist()),
            feature_names=encoder.feature_names,
            raw_names=encoder.raw_names,
            feature_groups=encoder.feature_groups,
            encoder=encoder,
            threshold=model.threshold_,
            estimator=model,
        )

    @classmethod
    def of_equations(
        cls,
        equations: Signomial | Mapping[Any, Signomial],
        feature_names: Sequence[str],
        *,
        threshold: float = 0.5,
    ) -> ModelView:
        """Return the view of equations in the columns themselves.

        Parameters
        ----------
        equations
            One signomial is a regression; a mapping of two or more class labels to signomials has a softmax.
        feature_names
            The columns of the tables that will be explained, in order.
        threshold
            With two classes, the probability from which the second is predicted.
        """
        by_class = {"prediction": equations} if isinstance(equations, Signomial) else dict(equations)
        softmax = not isinstance(equations, Signomial)
        if softmax and len(by_class) < 2:
            raise ValueError(
                "a mapping of equations needs two classes or more; give a Signomial alone for a regression"
            )
        names = tuple(feature_names)
        terms = ScoreTerms.from_signomials(list(by_class.values()), names)
        return cls(
            terms=terms,
            link=SOFTMAX if softmax else IDENTITY,
            classes=tuple(by_class),
            feature_names=names,
            raw_names=names,
            feature_groups=np.arange(len(names), dtype=np.intp),
            threshold=threshold if softmax and len(by_class) == 2 else None,
        )

    @property
    def score_classes(self) -> tuple[Any, ...]:
        """The labels of the scores: with a sigmoid the second class alone."""
        return self.link.scored(self.classes)

    @property
    def grouping(self) -> Floats:
        """The indicator (features, raw columns) of the raw column that a feature comes from."""
        member: Floats = (self.feature_groups[:, None] == np.arange(len(self.raw_names))).astype(np.float64)
        return member

    @property
    def probability_link(self) -> Link:
        """The link of a classifier; a regression has none and is refused."""
        return self.link if self.link.has_classes else self.refuse_regression()

    @property
    def has_classes(self) -> bool:
        """Whether the model has classes and probabilities."""
        return self.link.has_classes

    @staticmethod
    def refuse_regression() -> NoReturn:
        """Say that a regression has no probabilities."""
        raise ValueError("a regression has no classes and no probabilities; explain its score instead")

    @property
    def factors(self) -> tuple[tuple[Factor, ...], ...]:
        """The factors of every term, in the names of the features."""
        return tuple(tuple(each.factor for each in term) for term in self.terms.factors)

    @property
    def indicators(self) -> Places:
        """The positions of the features that are switches and steps rather than numbers: levels, flags, hinges."""
        if self.encoder is None:
            switch = [is_bracketed(name) for name in self.feature_names]
        else:
            switch = [self.encoder.is_raw and feature.kind != "number" for feature in self.encoder.features]
        return np.flatnonzero(switch)

    def rows(self, X: Any, *, warn: bool = True) -> FeatureRows:
        """Read a table; what the model would refuse is refused here too, and what it would warn of warned of."""
        self.check_table(X)
        return self._read(X, warn=warn)

    def check_table(self, X: Any) -> None:
        """Refuse a table whose columns are not those of training."""
        if self.estimator is not None and not (self.encoder is not None and self.encoder.names_match(X)):
            validate_data(self.estimator, X, reset=False, skip_check_array=True)

    def plain(self, X: Any) -> Any:
        """Return a table of plain columns, those of `raw_names`: dates in parts, text that holds numbers as numbers.

        A table that needs no reading is returned as it is.
        """
        if self.encoder is None or not self.encoder.readings:
            return X
        self.check_table(X)
        return plain_table(X, self.encoder.read(X))

    def cell_rows(self, cells: RawTable) -> FeatureRows:
        """Read cells (rows, columns) that were taken from a table that was checked before; no names, no warning.

        For a handful of rows this is many times faster than a data frame.
        """
        return self._read(cells, warn=False)

    def _read(self, X: Any, *, warn: bool) -> FeatureRows:
        if self.encoder is None:
            return _read_columns(self, X)
        if self.encoder.is_raw:
            return FeatureRows.from_values(self.encoder.model_features(X, warn=warn))
        return FeatureRows.from_logs(self.encoder.log_features(X, warn=warn).T)

    def scores_of(self, rows: FeatureRows) -> Floats:
        """Return the scores (rows, scores)."""
        return scores(self.terms, rows)

    def outputs_of(self, class_scores: Floats) -> Floats:
        """Return probabilities (rows, classes), or the scores of a regression as they are."""
        return self.link.outputs(class_scores)

    def probabilities(self, X: Any) -> Floats:
        """Return what the model itself says: probabilities (rows, classes), or predictions (rows, 1)."""
        if self.estimator is None:
            return self.outputs_of(self.scores_of(self.rows(X)))
        if not self.has_classes:
            return np.asarray(self.estimator.predict(X), dtype=np.float64)[:, None]
        return np.asarray(self.estimator.predict_proba(X), dtype=np.float64)

    def decisions(self, outputs: Floats) -> Places:
        """Return the positions of the predicted classes."""
        if self.threshold is not None:
            return (outputs[:, 1] >= self.threshold).astype(np.intp)
        return cast("Places", outputs.argmax(axis=1))

    def class_position(self, label: Any) -> int:
        """Return the position of a class label among `classes`."""
        if label not in self.classes:
            raise ValueError(f"{label!r} is not a class of the model: the classes are {list(self.classes)}")
        return self.classes.index(label)

    def chosen_class(self, label: Any) -> tuple[Any, int]:
        """Return a class label and its position, of the last class where none is given."""
        label = self.classes[-1] if label is None else label
        return label, self.class_position(label)

    def column_position(self, name: Any) -> int:
        """Return the position of a raw column, by name."""
        if name not in self.raw_names:
            raise ValueError(f"the model has no column {name!r}: its columns are {list(self.raw_names)}")
        return self.raw_names.index(name)

    def numeric_column(self, j: int) -> NumericColumn | None:
        """Return the description of an encoded numeric column, None where there is no encoder or no number."""
        column = None if self.encoder is None else self.encoder.columns[j]
        return column if isinstance(column, NumericColumn) else None

    def is_whole(self, j: int) -> bool:
        """Whether a column held integers in training."""
        column = self.numeric_column(j)
        return column is not None and column.dtype == "integer"

    def levels(self, j: int) -> tuple[Any, ...] | None:
        """Return the levels of a categorical or ordinal column, None for a column of numbers."""
        column = None if self.encoder is None else self.encoder.columns[j]
        return column.levels if isinstance(column, (CategoricalColumn, OrdinalColumn)) else None


def _read_columns(view: ModelView, X: Any) -> FeatureRows:
    table = read_table(X)
    if table.named:
        by_name = {column.name: column for column in table.columns}
        if absent := [name for name in view.feature_names if name not in by_name]:
            raise ValueError(f"X has no column {absent[0]!r}, which the model needs")
        columns = [by_name[name] for name in view.feature_names]
    else:
        columns = list(table.columns)
    if len(columns) != len(view.feature_names):
        raise ValueError(f"X has {len(columns)} columns, but the equations speak of {len(view.feature_names)}")
    used = np.flatnonzero(view.terms.uses.any(axis=0))
    numbers = {view.feature_names[j]: columns[j].numbers() for j in used}
    values = np.ones((len(columns), table.n_rows))  # what no term uses may be anything
    for j, column in zip(used, LogColumns.read(numbers, numbers).values.values(), strict=True):
        values[j] = column
    rows = FeatureRows.from_values(values.T)
    view.terms.refuse_outside_domain(rows)
    return rows
