"""A regressor that predicts: from a fit to its attributes, to a model file and back."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ecsel.discovery.fitted import as_plain
from ecsel.estimators.prediction import PredictionFit
from ecsel.estimators.readable import SearchReport
from ecsel.estimators.stored import (
    as_node,
    check_bounds,
    read_law,
    read_path,
    read_positions,
    read_report,
    read_target_name,
)
from ecsel.files import ModelDocument, ModelFileError
from ecsel.files.node import Node
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
            "target": model.target_name_,
        },
        path=tuple(
            {**candidate, "law": law.to_plain()}
            for candidate, law in zip(model.path_.to_plain(), model.path_laws_, strict=True)
        ),
        metrics={"n_folds": model.n_folds_, "out_of_fold": None if quality is None else quality.to_dict()},
    )


def read_prediction(model: ECSELRegressor, document: ModelDocument) -> ECSELRegressor:
    """Give an unfitted model what a file says of it."""
    if document.encoder is None:
        raise ModelFileError("encoder", "a prediction needs one")
    report, metrics = as_node(document.report, "report"), as_node(document.metrics, "metrics")
    names = document.encoder.feature_names
    (equation,) = document.equations
    candidates = as_node(document.path, "path")
    path = read_path(candidates, names, 1)
    laws = tuple(
        read_law(each.get("law"), names, candidate.equations[0])
        for each, candidate in zip(candidates.items(), path, strict=True)
    )
    law = read_law(report.get("law"), names, equation)
    if not laws:
        candidates.refuse("at least one candidate")
    found = PredictionFit(
        document.encoder.keep_features(equation.names),
        document.encoder,
        path,
        laws,
        0,
        read_positions(report.get("near_ties"), len(path)),
        metrics.get("out_of_fold").optional(lambda each: RegressionQuality.from_dict(each.record())),
        metrics.get("n_folds").whole(),
        read_report(report.get("search"), SearchReport),
    )
    set_prediction(model, found)
    model.law_ = law
    model.columns_left_out_ = report.get("left_out").each(Node.text)
    model.target_name_ = read_target_name(report)
    check_bounds(model.exponent_bounds, equation, document.encoder)
    model.equation_ = equation
    model.law_found_ = bool(equation.names)
    model.n_features_in_ = len(document.inputs)
    if document.encoder.named:
        model.feature_names_in_ = np.array(document.inputs, dtype=object)
    return model
