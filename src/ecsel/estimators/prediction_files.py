"""A regressor that predicts: from a fit to its attributes, to a model file and back."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ecsel.discovery.fitted import FittedLaw, as_plain
from ecsel.estimators.path import Path
from ecsel.estimators.prediction import PredictionFit
from ecsel.estimators.readable import SearchReport
from ecsel.files import ModelDocument, ModelFileError
from ecsel.quality import RegressionQuality

if TYPE_CHECKING:
    from ecsel.estimators.regressor import ECSELRegressor


def set_prediction(model: ECSELRegressor, found: PredictionFit) -> None:
    """Give a model what its fit has found."""
    model.encoder_, model.path_encoder_ = found.encoder, found.path_encoder
    model.path_, model.path_laws_ = found.path, found.laws
    model.law_ = found.laws[found.chosen]
    model.equation_ = model.law_.equation
    model.near_ties_ = found.near_ties
    model.law_found_ = bool(model.equation_.names)
    model.out_of_fold_, model.n_folds_ = found.quality, found.n_folds
    model.fit_report_ = found.report
    model.search_completed_ = found.report.converged


def prediction_document(model: ECSELRegressor) -> ModelDocument:
    """Return a fitted model as plain values."""
    params = {name: as_plain(value) for name, value in model.get_params(deep=False).items()}
    quality = model.out_of_fold_
    return ModelDocument(
        kind="regressor",
        link="identity",
        inputs=model.encoder_.inputs,
        equations=(model.equation_,),
        encoder=model.path_encoder_,
        params={name: value for name, value in params.items() if value is not None},
        report={
            "search": model.fit_report_.to_dict(),
            "law": model.law_.to_plain(),
            "near_ties": list(model.near_ties_),
            "left_out": list(model.columns_left_out_),
        },
        path=tuple(
            {**candidate, "law": law.to_plain()}
            for candidate, law in zip(model.path_.to_plain(), model.path_laws_, strict=True)
        ),
        metrics={"n_folds": model.n_folds_, "out_of_fold": None if quality is None else quality.to_dict()},
    )


def read_prediction(model: ECSELRegressor, document: ModelDocument) -> ECSELRegressor:
    """Give an unfitted model what a file says of it."""
    report, metrics = document.report, document.metrics
    if document.encoder is None:
        raise ModelFileError("encoder", "a prediction needs one")
    try:
        (equation,) = document.equations
        quality = metrics["out_of_fold"]
        found = PredictionFit(
            document.encoder.keep_features(equation.names),
            document.encoder,
            Path.from_plain(document.path),
            tuple(FittedLaw.from_plain(candidate["law"]) for candidate in document.path),
            0,
            tuple(map(int, report["near_ties"])),
            None if quality is None else RegressionQuality.from_dict(quality),
            int(metrics["n_folds"]),
            SearchReport.from_dict(dict(report["search"])),
        )
        set_prediction(model, found)
        model.law_ = FittedLaw.from_plain(report["law"])
        model.columns_left_out_ = tuple(map(str, report["left_out"]))
    except (KeyError, TypeError, ValueError, IndexError) as error:
        raise ModelFileError("report", f"not the record of a prediction: {error}") from error
    model.equation_ = equation
    model.law_found_ = bool(equation.names)
    model.n_features_in_ = len(document.inputs)
    if document.encoder.named:
        model.feature_names_in_ = np.array(document.inputs, dtype=object)
    return model
