"""Saving and loading fitted models as JSON files; no pickle, nothing is executed."""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import numpy as np

from ecsel.estimators.errors import StandardErrors
from ecsel.estimators.path import Path
from ecsel.estimators.readable import SearchReport
from ecsel.files import ModelDocument, ModelFileError, read, write
from ecsel.fitting import TARIFFS, Adam, FitReport, Newton, Status
from ecsel.quality import Quality
from ecsel.signomial import ScoreTerms

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
    """Return what the folds measured; files without these fields are of models that were not judged."""
    quality = model.out_of_fold_
    return {
        "temperature": model.temperature_,
        "n_folds": model.n_folds_,
        "out_of_fold": None if quality is None else quality.to_dict(),
        "standard_errors": None if model.standard_errors_ is None else model.standard_errors_.to_plain(),
    }


def load(path: str | os.PathLike[str]) -> Any:
    """Read a model file written by ``save`` and return the fitted model.

    Raises
    ------
    ModelFileError
        If the file is not a valid model file: one message that names the file and the field.
    """
    document = read(path)
    if document.kind == "regressor":
        from ecsel.estimators.regressor import ECSELRegressor  # noqa: PLC0415 - only where it is needed

        return ECSELRegressor._from_document(document)  # noqa: SLF001 - the other half of its own save
    try:
        return _classifier(document)
    except ModelFileError as error:
        raise error.in_file(path) from None
    except (KeyError, TypeError, ValueError) as error:
        raise ModelFileError("", f"not a valid classifier: {error}", path) from error


def _classifier(document: ModelDocument) -> ECSELClassifier:
    from ecsel.estimators.classifier import ECSELClassifier  # noqa: PLC0415 - it imports this module

    if document.encoder is None or document.link == "identity":
        raise ModelFileError("encoder", "a classifier needs one, and a link")
    params = dict(document.params)
    if isinstance(params.get("solver"), dict):
        params["solver"] = _solver(params["solver"])
    if isinstance(params.get("penalty"), dict):
        numbers = dict(params["penalty"])
        params["penalty"] = TARIFFS[numbers.pop("name")](**numbers)
    # version 0.1.0 could leave the choice of mirror images to the folds; its files hold those of all candidates
    mirrors_of_path = params.get("two_sided") == "auto"
    if mirrors_of_path:
        params["two_sided"] = False
    known = ECSELClassifier().get_params(deep=False)
    model = ECSELClassifier(**{name: value for name, value in params.items() if name in known})
    report = dict(document.report)
    labels = list(document.classes)
    strength = report.pop("l1")
    model.n_terms_, model.l1_ = int(report.pop("n_terms")), None if strength is None else float(strength)
    model.near_ties_ = tuple(map(int, report.pop("near_ties", ())))
    report["status"] = Status[report["status"]]
    used = {name for equation in document.equations for name in equation.names}
    if document.encoder.is_raw:
        model.fit_report_ = SearchReport(**report)
        model.n_iter_ = 1
        model.encoder_ = document.encoder.keep_features(used)
    else:
        model.fit_report_ = FitReport(**{**report, "spread": tuple(report["spread"])})
        model.n_iter_ = max(1, model.fit_report_.iterations)
        model.encoder_ = document.encoder.keep_mirrors(used) if mirrors_of_path else document.encoder
    model.path_encoder_ = document.encoder
    model.classes_ = _label_array(labels)
    model.link_ = document.link
    model.threshold_ = document.threshold
    quality = document.metrics.get("out_of_fold")
    model.out_of_fold_ = None if quality is None else Quality.from_dict(quality)
    errors = document.metrics.get("standard_errors")
    model.standard_errors_ = None if errors is None else StandardErrors.from_plain(errors)
    model.temperature_ = float(document.metrics.get("temperature", 1.0))
    model.n_folds_ = int(document.metrics.get("n_folds", 0))
    model.equations_ = dict(zip(labels[1:] if document.link == "sigmoid" else labels, document.equations, strict=True))
    model.path_ = Path.from_plain(document.path)
    model.n_features_in_ = len(document.inputs)
    if document.encoder.named:
        model.feature_names_in_ = np.array(document.inputs, dtype=object)
    model._score_terms = ScoreTerms.from_signomials(document.equations, model.encoder_.feature_names)  # noqa: SLF001
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
    if names := [name for name, tariff in TARIFFS.items() if type(value) is tariff]:
        return {"name": names[0], **asdict(value)}
    if isinstance(value, (np.generic, np.ndarray)):
        value = value.tolist()
    try:
        return json.loads(json.dumps(value, allow_nan=False))
    except (TypeError, ValueError):
        return _UNSTORED
