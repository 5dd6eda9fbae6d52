"""Saving and loading fitted models as JSON files; no pickle, nothing is executed."""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import numpy as np

from ecsel.estimators.readable import SearchReport
from ecsel.estimators.stored import (
    as_node,
    check_promises,
    read_errors,
    read_path,
    read_positions,
    read_quality,
    read_report,
)
from ecsel.files import ModelDocument, ModelFileError, read, write
from ecsel.files.node import Node
from ecsel.fitting import PENALTIES, Adam, FitReport, Newton
from ecsel.signomial import ScoreTerms
from ecsel.signomial.links import LINKS

if TYPE_CHECKING:
    import os

    from ecsel.estimators.classifier import ECSELClassifier


def save_classifier(model: ECSELClassifier, path: str | os.PathLike[str]) -> None:
    """Write a fitted classifier."""
    params = {name: _plain(value) for name, value in model.get_params(deep=False).items()}
    write(
        ModelDocument(
            kind="classifier",
            link=model.link_,
            inputs=model.encoder_.inputs,
            equations=tuple(model.equations_.values()),
            classes=tuple(model.classes_.tolist()),
            encoder=model.path_encoder_,
            threshold=model.threshold_,
            params={name: value for name, value in params.items() if value is not _UNSTORED},
            report={
                **model.fit_report_.to_dict(),
                "n_terms": model.n_terms_,
                "l1": model.l1_,
                "near_ties": list(model.near_ties_),
            },
            path=model.path_.to_plain(),
            metrics=_metrics(model),
        ),
        path,
    )


def _metrics(model: ECSELClassifier) -> dict[str, Any]:
    """Return what the folds measured; files may be without these fields."""
    quality = model.out_of_fold_
    return {
        "temperature": model.temperature_,
        "n_folds": model.n_folds_,
        "out_of_fold": None if quality is None else quality.to_dict(),
        "standard_errors": None if model.standard_errors_ is None else model.standard_errors_.to_plain(),
    }


UNJUDGED: dict[str, Any] = {"temperature": 1.0, "n_folds": 0, "out_of_fold": None, "standard_errors": None}
"""What files without these fields mean."""


def load(path: str | os.PathLike[str]) -> Any:
    """Read a model file written by ``save`` and return the fitted model.

    Raises
    ------
    ModelFileError
        If the file is not a valid model file: one message that names the file and the field.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from sklearn.datasets import load_iris
    >>> import ecsel
    >>> X, y = load_iris(return_X_y=True, as_frame=True)
    >>> model = ecsel.ECSELClassifier(n_terms=1, l1=0.01).fit(X, y)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     model.save(Path(folder) / "model.json")
    ...     again = ecsel.load(Path(folder) / "model.json")
    >>> bool((again.predict_proba(X) == model.predict_proba(X)).all())
    True
    """
    document = read(path)
    try:
        if document.kind == "regressor":
            from ecsel.estimators.regressor import ECSELRegressor  # noqa: PLC0415 - only where it is needed

            return ECSELRegressor._from_document(document)  # noqa: SLF001 - the other half of its own save
        return _classifier(document)
    except ModelFileError as error:
        raise error.in_file(path) from None
    except (KeyError, TypeError, ValueError, OverflowError) as error:
        raise ModelFileError("", f"not a valid {document.kind}: {error}", path) from error


def _classifier(document: ModelDocument) -> ECSELClassifier:
    from ecsel.estimators.classifier import ECSELClassifier  # noqa: PLC0415 - it imports this module

    if document.encoder is None or not LINKS[document.link].has_classes:
        raise ModelFileError("encoder", "a classifier needs one, and a link")
    params = dict(document.params)
    if isinstance(params.get("solver"), dict):
        params["solver"] = _solver(params["solver"])
    if isinstance(params.get("penalty"), dict):
        numbers = dict(params["penalty"])
        params["penalty"] = PENALTIES[numbers.pop("name")](**numbers)
    # version 0.1.0 could leave the choice of mirror images to the folds; its files hold those of all candidates
    mirrors_of_path = params.get("two_sided") == "auto"
    if mirrors_of_path:
        params["two_sided"] = False
    known = ECSELClassifier().get_params(deep=False)
    model = ECSELClassifier(**{name: value for name, value in params.items() if name in known})
    record, labels = as_node(document.report, "report"), list(document.classes)
    model.n_terms_, model.l1_ = record.get("n_terms").whole(), record.get("l1").optional(Node.number)
    model.path_ = read_path(as_node(document.path, "path"), document.encoder.feature_names, len(document.equations))
    model.near_ties_ = read_positions(record.get("near_ties"), len(model.path_)) if "near_ties" in record.value else ()
    report = Node({k: v for k, v in record.value.items() if k not in {"n_terms", "l1", "near_ties"}}, "report")
    used = {name for equation in document.equations for name in equation.names}
    if document.encoder.is_raw:
        model.fit_report_ = read_report(report, SearchReport)
        model.n_iter_ = 1
        model.encoder_ = document.encoder.keep_features(used)
    else:
        model.fit_report_ = read_report(report, FitReport)
        model.n_iter_ = max(1, model.fit_report_.iterations)
        model.encoder_ = document.encoder.keep_mirrors(used) if mirrors_of_path else document.encoder
    model.path_encoder_ = document.encoder
    model.classes_ = _label_array(labels)
    model.link_ = document.link
    model.threshold_ = document.threshold
    metrics = as_node({**UNJUDGED, **document.metrics}, "metrics")
    model.out_of_fold_ = metrics.get("out_of_fold").optional(lambda each: read_quality(each, len(labels)))
    model.standard_errors_ = metrics.get("standard_errors").optional(read_errors)
    model.temperature_ = metrics.get("temperature").number()
    model.n_folds_ = metrics.get("n_folds").whole()
    model.equations_ = dict(zip(LINKS[document.link].scored(labels), document.equations, strict=True))
    model.n_features_in_ = len(document.inputs)
    if document.encoder.named:
        model.feature_names_in_ = np.array(document.inputs, dtype=object)
    model._score_terms = ScoreTerms.from_signomials(document.equations, model.encoder_.feature_names)  # noqa: SLF001
    check_promises(model)
    return model


def _solver(options: dict[str, Any]) -> Newton | Adam:
    return Newton(**options) if "starts" in options else Adam(**{**options, "betas": tuple(options["betas"])})


def _label_array(labels: list[Any]) -> Any:
    """Return the labels as NumPy would hold them: one type, or objects."""
    array = np.array(labels)
    return array if array.tolist() == labels else np.array(labels, dtype=object)


_UNSTORED = object()


def _plain(value: Any) -> Any:
    """Return an option as JSON, or a mark where it has none (splitters, random states): fitted models need neither."""
    if isinstance(value, Adam):
        return {**asdict(value), "betas": list(value.betas)}
    if isinstance(value, Newton):
        return asdict(value)
    if names := [name for name, penalty in PENALTIES.items() if type(value) is penalty]:
        return {"name": names[0], **asdict(value)}
    if isinstance(value, (np.generic, np.ndarray)):
        value = value.tolist()
    try:
        return json.loads(json.dumps(value, allow_nan=False))
    except (TypeError, ValueError):
        return _UNSTORED
