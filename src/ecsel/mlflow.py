"""Models in MLflow without pickle: the JSON file of `save` is what is logged, and `ecsel.load` is what reads it.

A logged model has two flavours. ``ecsel`` gives the estimator back, equation, explanations and all (`load_model`);
``python_function`` is what MLflow serves, runs in batches and hands to Spark (``mlflow.pyfunc.load_model``). Both read
the same file, and neither runs anything that the file holds.

This module needs ``pip install "ecsel[mlflow]"`` once one of its functions is called.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ecsel._version import __version__
from ecsel.estimators.persistence import load

if TYPE_CHECKING:
    import os
    from collections.abc import Mapping

__all__ = ["load_model", "log_model", "save_model"]

FLAVOR = "ecsel"
MODEL_FILE = "model.json"
METHODS = ("predict", "predict_proba", "decision_function")
"""What ``python_function`` may answer with."""


def save_model(
    model: Any,
    path: str | os.PathLike[str],
    *,
    predict_fn: str = "predict",
    signature: Any = None,
    input_example: Any = None,
    mlflow_model: Any = None,
    metadata: Mapping[str, Any] | None = None,
    pip_requirements: Any = None,
    extra_pip_requirements: Any = None,
    conda_env: Any = None,
) -> None:
    """Write a fitted model as an MLflow model into a new folder.

    Parameters
    ----------
    model : ECSELClassifier or ECSELRegressor
        A fitted model.
    path : path
        The folder, which is made.
    predict_fn : {"predict", "predict_proba", "decision_function"}, default="predict"
        What ``mlflow.pyfunc`` answers with: labels (or numbers), a data frame with a column of probabilities for each
        class, or scores. ``mlflow.pyfunc.load_model(uri, model_config={"predict_fn": "predict_proba"})`` asks the
        same logged model for something else.
    signature : mlflow.models.ModelSignature, optional
        The columns that go in and what comes out. Without it, and with an `input_example`, it is inferred.
    input_example : data frame, optional
        A few rows, which are logged with the model. Where a column of whole numbers may have missing values, make it
        one of floats: MLflow holds later tables to the types of the example.
    mlflow_model : mlflow.models.Model, optional
        The description that the flavours are added to; `log_model` gives it.
    metadata : dict, optional
        Anything that shall be kept with the model.
    pip_requirements, extra_pip_requirements, conda_env : optional
        The packages of a server, as everywhere in MLflow. By default this version of ``ecsel`` and pandas; MLflow adds
        itself.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> import ecsel.mlflow
    >>> from ecsel import ECSELRegressor
    >>> law = ECSELRegressor().fit([[1.0], [2.0], [3.0], [5.0]], [3.0, 12.0, 27.0, 75.0])
    >>> folder = Path(tempfile.mkdtemp()) / "model"
    >>> ecsel.mlflow.save_model(law, folder)  # doctest: +SKIP
    >>> print(ecsel.mlflow.load_model(folder).equation_)  # doctest: +SKIP
    3*x0**2
    """
    mlflow = _mlflow()
    if signature is None and input_example is not None:
        signature = mlflow.models.infer_signature(input_example, _answer(model, input_example, predict_fn))
    if pip_requirements is None and conda_env is None:
        import pandas as pd  # noqa: PLC0415 - an extra; what MLflow gives to a python_function

        pip_requirements = [f"ecsel=={__version__}", f"pandas=={pd.__version__}"]
        if isinstance(extra_pip_requirements, str):  # a file, in MLflow's words
            pip_requirements.append(f"-r {extra_pip_requirements}")
        else:
            pip_requirements += extra_pip_requirements or []
        extra_pip_requirements = None  # MLflow takes one of the two
    described = mlflow.models.Model() if mlflow_model is None else mlflow_model
    described.add_flavor(FLAVOR, ecsel_version=__version__, data=f"data/{MODEL_FILE}", kind=type(model).__name__)
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / MODEL_FILE
        model.save(file)
        mlflow.pyfunc.save_model(
            path=str(path),
            loader_module="ecsel.mlflow",
            data_path=str(file),
            mlflow_model=described,
            signature=signature,
            input_example=input_example,
            metadata=None if metadata is None else dict(metadata),
            model_config={"predict_fn": _checked(model, predict_fn)},
            pip_requirements=pip_requirements,
            extra_pip_requirements=extra_pip_requirements,
            conda_env=conda_env,
        )


def log_model(
    model: Any,
    name: str = "model",
    *,
    registered_model_name: str | None = None,
    params: Mapping[str, Any] | None = None,
    tags: Mapping[str, Any] | None = None,
    **options: Any,
) -> Any:
    """Log a fitted model with the active run of MLflow, or with a new one.

    Parameters
    ----------
    model : ECSELClassifier or ECSELRegressor
        A fitted model.
    name : str, default="model"
        What the model is called in MLflow.
    registered_model_name : str, optional
        Where given, a version of the registered model of that name is made too.
    params, tags : dict, optional
        What is noted beside the model.
    **options
        Those of `save_model`: `predict_fn`, `signature`, `input_example`, `metadata` and the packages.

    Returns
    -------
    mlflow.models.model.ModelInfo
        Its ``model_uri`` is what `load_model` and ``mlflow.pyfunc.load_model`` read.
    """
    return _mlflow().models.Model.log(
        artifact_path=None,
        name=name,
        flavor=sys.modules[__name__],
        flavor_name=FLAVOR,
        model=model,
        registered_model_name=registered_model_name,
        params=None if params is None else dict(params),
        tags=None if tags is None else dict(tags),
        **options,
    )


def load_model(model_uri: str | os.PathLike[str], dst_path: str | os.PathLike[str] | None = None) -> Any:
    """Return the estimator that was logged or saved.

    Parameters
    ----------
    model_uri : str or path
        A folder, or what MLflow calls a model: ``models:/churn/3``, ``runs:/<run>/model``, the ``model_uri`` of
        `log_model`.
    dst_path : path, optional
        The folder into which the files are downloaded.

    Returns
    -------
    ECSELClassifier or ECSELRegressor

    Raises
    ------
    ecsel.files.ModelFileError
        If the JSON file is not a valid model file.
    ValueError
        If the model is one of another library.
    """
    mlflow = _mlflow()
    place = None if dst_path is None else str(dst_path)
    folder = Path(mlflow.artifacts.download_artifacts(artifact_uri=str(model_uri), dst_path=place))
    flavors = mlflow.models.Model.load(str(folder)).flavors
    if FLAVOR not in flavors:
        raise ValueError(f"{model_uri} is no model of ecsel; it has the flavours {', '.join(sorted(flavors))}.")
    return load(folder / str(flavors[FLAVOR]["data"]))


class PyfuncModel:
    """What ``mlflow.pyfunc`` calls: rows in, the asked answer out."""

    def __init__(self, model: Any, predict_fn: str) -> None:
        self.model = model
        self.predict_fn = _checked(model, predict_fn)

    def predict(self, model_input: Any, params: Mapping[str, Any] | None = None) -> Any:
        """Return labels, numbers, probabilities or scores; `params` of MLflow are not used."""
        del params
        return _answer(self.model, model_input, self.predict_fn)


def _load_pyfunc(path: str, model_config: Mapping[str, Any] | None = None) -> PyfuncModel:
    """Read the JSON file for ``mlflow.pyfunc``, which looks for a function of this name."""
    return PyfuncModel(load(path), (model_config or {}).get("predict_fn", "predict"))


def _answer(model: Any, rows: Any, predict_fn: str) -> Any:
    answer = getattr(model, _checked(model, predict_fn))(rows)
    if predict_fn != "predict_proba":
        return answer
    import pandas as pd  # noqa: PLC0415 - an extra

    # names of classes, so that what a server sends says what is what
    return pd.DataFrame(answer, columns=[str(label) for label in model.classes_], index=getattr(rows, "index", None))


def _checked(model: Any, predict_fn: str) -> str:
    offered = [name for name in METHODS if hasattr(model, name)]
    if predict_fn not in offered:
        kind = type(model).__name__
        raise ValueError(f"predict_fn={predict_fn!r} must be one of {', '.join(map(repr, offered))} for an {kind}.")
    return predict_fn


def _mlflow() -> Any:
    try:
        import mlflow  # noqa: PLC0415 - an extra
        import mlflow.models  # noqa: PLC0415
        import mlflow.pyfunc  # noqa: PLC0415
    except ImportError as error:
        raise ImportError('MLflow is not installed: pip install "ecsel[mlflow]".') from error
    return mlflow
