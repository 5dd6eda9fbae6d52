"""What a model file holds."""

from __future__ import annotations

from dataclasses import dataclass, field
from importlib.metadata import version
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, get_args

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ecsel.signomial import Signomial
    from ecsel.tables import TableEncoder

Kind: TypeAlias = Literal["classifier", "regressor"]
KINDS: tuple[str, ...] = get_args(Kind)

Label: TypeAlias = str | bool | int | float


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelDocument:
    """A fitted model as plain values.

    Attributes
    ----------
    kind, link
        A classifier has the link ``"sigmoid"`` (two classes, one equation) or ``"softmax"`` (an equation per class), a
        regressor has the link ``"identity"`` and one equation.
    inputs
        The names of the raw columns, in order.
    equations
        One signomial per score, in the features of the encoder, or in the raw columns where there is none.
    classes
        The class labels as Python values (``classes_.tolist()``); their types come back exactly.
    encoder
        The map from raw tables to the features of the equations; None for a law, which speaks of the raw columns.
    threshold
        The probability from which the second of two classes is predicted.
    params, report, path, metrics
        The options of the estimator, the record of the fit, the candidates, and the measured quality: any JSON values
        with finite numbers. Tuples come back as lists.
    library_version
        The version that wrote the file.
    """

    kind: Kind
    link: str
    inputs: tuple[str, ...]
    equations: tuple[Signomial, ...]
    classes: tuple[Label, ...] = ()
    encoder: TableEncoder | None = None
    threshold: float | None = None
    params: Mapping[str, Any] = field(default_factory=dict)
    report: Mapping[str, Any] = field(default_factory=dict)
    path: tuple[Mapping[str, Any], ...] = ()
    metrics: Mapping[str, Any] = field(default_factory=dict)
    library_version: str = field(default_factory=lambda: version("ecsel"))
