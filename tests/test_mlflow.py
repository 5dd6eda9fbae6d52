"""Models in a real tracking store of MLflow, a database on disk: in all tests with its small package, without a server,
and in `make integrations` with the whole of it.

No pickle may be among the files, and what MLflow answers is what the model answers, to the last bit.
"""

import json
import os
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import ecsel.mlflow
from ecsel import ECSELClassifier, ECSELRegressor
from ecsel.files import ModelFileError

if os.environ.get("ECSEL_INTEGRATIONS"):
    import mlflow
else:
    mlflow = pytest.importorskip("mlflow", reason="the extra `mlflow` has it")

pytestmark = pytest.mark.filterwarnings("default")  # MLflow has warnings of its own


@pytest.fixture(scope="module")
def log(tmp_path_factory):
    folder = tmp_path_factory.mktemp("mlflow")
    before = mlflow.get_tracking_uri()
    mlflow.set_tracking_uri(f"sqlite:///{folder / 'tracking.db'}")
    experiment = mlflow.create_experiment("ecsel", artifact_location=(folder / "artifacts").as_uri())
    with pytest.MonkeyPatch.context() as patch:
        # set_experiment would outlive this module, and the page on MLflow has a tracking store of its own
        patch.setenv("MLFLOW_EXPERIMENT_ID", experiment)
        yield ecsel.mlflow.log_model
    mlflow.set_tracking_uri(before)


@pytest.fixture(scope="module")
def table():
    rng = np.random.default_rng(1)
    n = 400
    X = pd.DataFrame(
        {
            "tenure": rng.integers(0, 73, n),
            "plan": rng.choice([1, 2, 3], n),
            "contract": rng.choice(["monthly", "two year"], n),
            "age": np.where(rng.random(n) < 0.1, np.nan, rng.integers(18, 90, n)),
        }
    )
    z = 2 - 0.06 * X["tenure"] - 1.5 * (X["contract"] == "two year") + 1.2 * (X["plan"] == 2)
    return X, np.where(rng.random(n) < 1 / (1 + np.exp(-z)), "left", "here")


@pytest.fixture(scope="module")
def model(table):
    return ECSELClassifier(max_factors=4, categorical=["plan"], cv=3).fit(*table)


@pytest.fixture(scope="module")
def logged(log, model, table):
    return log(
        model, "churn", input_example=table[0].head(40), registered_model_name="churn", params={"max_factors": 4}
    )


def test_the_estimator_comes_back(logged, model, table):
    for address in (logged.model_uri, "models:/churn/1"):
        again = ecsel.mlflow.load_model(address)
        assert again.equations_ == model.equations_
        assert again.summary() == model.summary()
        np.testing.assert_array_equal(again.predict_proba(table[0]), model.predict_proba(table[0]))


def test_the_python_function_answers_as_the_model_does(logged, model, table):
    X = table[0]
    served = mlflow.pyfunc.load_model(logged.model_uri)
    assert served.metadata.get_input_schema().input_names() == list(X.columns)
    assert served.predict(X).tolist() == model.predict(table[0]).tolist()
    chances = mlflow.pyfunc.load_model(logged.model_uri, model_config={"predict_fn": "predict_proba"}).predict(X)
    assert list(chances.columns) == ["here", "left"]
    np.testing.assert_array_equal(chances.to_numpy(), model.predict_proba(table[0]))


def test_missing_values_are_evaluated_by_the_model(logged, model, table):
    served = mlflow.pyfunc.load_model(logged.model_uri)
    row = table[0].head(1).assign(age=np.nan)
    assert served.predict(row).tolist() == model.predict(row).tolist()
    with pytest.raises(ValueError, match="contract"):  # training had none missing there
        served.predict(row.assign(contract=None))


def test_nothing_is_pickled(logged, model):
    folder = Path(mlflow.artifacts.download_artifacts(artifact_uri=logged.model_uri))
    names = {str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file()}
    assert "data/model.json" in names
    assert not [name for name in names if name.endswith((".pkl", ".pickle", ".joblib", ".cloudpickle"))]
    assert not [path for path in folder.rglob("*") if path.is_file() and path.read_bytes()[:1] == b"\x80"]  # pickle's
    stored = json.loads((folder / "data" / "model.json").read_text(encoding="utf-8"))
    assert stored["classes"] == model.classes_.tolist()
    requirements = (folder / "requirements.txt").read_text(encoding="utf-8").split()
    assert f"ecsel=={ecsel.__version__}" in requirements


def test_a_law(tmp_path):
    x = np.linspace(1, 5, 30)
    law = ECSELRegressor().fit(pd.DataFrame({"a": x}), 3 * x**2)
    ecsel.mlflow.save_model(law, tmp_path / "law", metadata={"source": "drawn"}, extra_pip_requirements=["rich"])
    assert str(ecsel.mlflow.load_model(tmp_path / "law").equation_) == "3*a**2"
    served = mlflow.pyfunc.load_model(str(tmp_path / "law"))
    np.testing.assert_allclose(served.predict(pd.DataFrame({"a": [2.0]})), [12.0], rtol=1e-12)
    assert served.metadata.metadata == {"source": "drawn"}
    assert "rich" in (tmp_path / "law" / "requirements.txt").read_text(encoding="utf-8").split()


def test_what_a_model_cannot_answer_is_refused(tmp_path, model):
    law = ECSELRegressor().fit([[1.0], [2.0], [3.0]], [2.0, 4.0, 6.0])
    with pytest.raises(ValueError, match=r"'predict_proba' must be one of 'predict' for an ECSELRegressor"):
        ecsel.mlflow.save_model(law, tmp_path / "law", predict_fn="predict_proba")
    assert not (tmp_path / "law").exists()
    with pytest.raises(ValueError, match="'proba' must be one of"):
        ecsel.mlflow.save_model(model, tmp_path / "model", predict_fn="proba")


def test_a_damaged_file_is_refused_and_other_models_are_named(tmp_path, model):
    ecsel.mlflow.save_model(model, tmp_path / "model")
    file = tmp_path / "model" / "data" / "model.json"
    file.write_text(file.read_text(encoding="utf-8").replace('"kind"', '"sort"'), encoding="utf-8")
    with pytest.raises(ModelFileError, match=r"model\.json"):
        ecsel.mlflow.load_model(tmp_path / "model")
    other = mlflow.models.Model().add_flavor("else", data="nothing")
    (tmp_path / "other").mkdir()
    other.save(str(tmp_path / "other" / "MLmodel"))
    with pytest.raises(ValueError, match="no model of ecsel; it has the flavours else"):
        ecsel.mlflow.load_model(tmp_path / "other")
