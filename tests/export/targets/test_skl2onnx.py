"""Pipelines with models in them are converted by skl2onnx and say what the pipeline says."""

import warnings

import numpy as np
import onnxruntime
import pandas as pd
import pytest
import skl2onnx
from skl2onnx.common.data_types import DoubleTensorType, FloatTensorType, Int64TensorType, StringTensorType
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from ecsel import ECSELClassifier, ECSELRegressor
from ecsel.export import register_skl2onnx

pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning:skl2onnx", "ignore::DeprecationWarning:onnx")


@pytest.fixture(scope="module", autouse=True)
def registered():
    register_skl2onnx()


def run(converted, feed):
    session = onnxruntime.InferenceSession(converted.SerializeToString(), providers=["CPUExecutionProvider"])
    return session.run(None, feed)


def convert(model, types, **options):
    return skl2onnx.convert_sklearn(model, initial_types=types, options={id(model): options} if options else None)


@pytest.fixture(scope="module")
def points():
    rng = np.random.default_rng(0)
    X = rng.lognormal(0, 1, (80, 3))
    return X, (X[:, 0] * X[:, 1] > 1).astype(int) + (X[:, 2] > 2)


@pytest.mark.parametrize(
    ("kind", "dtype", "tolerance"), [(FloatTensorType, "f4", 1e-5), (DoubleTensorType, "f8", 1e-9)]
)
def test_a_pipeline_of_numbers(points, kind, dtype, tolerance):
    X, y = points
    pipeline = make_pipeline(StandardScaler(), ECSELClassifier(n_terms=1, l1=0.01)).fit(X, y)
    converted = convert(pipeline, [("X", kind([None, 3]))], zipmap=False)
    label, p = run(converted, {"X": X.astype(dtype)})
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of rounded numbers one is below the minimum
        np.testing.assert_allclose(p, pipeline.predict_proba(X.astype(dtype).astype(float)), atol=tolerance)
        assert label.tolist() == pipeline.predict(X.astype(dtype).astype(float)).tolist()
    assert p.dtype == dtype


def test_a_table_with_one_tensor_per_column():
    rng = np.random.default_rng(1)
    X = pd.DataFrame(
        {"size": rng.lognormal(0, 1, 60), "city": rng.choice(["Rome", "Oslo"], 60), "n": rng.integers(1, 9, 60)}
    )
    y = np.where(X["size"] * np.where(X["city"] == "Oslo", 3, 1) * X["n"] > 8, "yes", "no")
    model = ECSELClassifier(n_terms=1, l1=0.005).fit(X, y)
    types = [
        ("size", DoubleTensorType([None, 1])),
        ("city", StringTensorType([None, 1])),
        ("n", Int64TensorType([None, 1])),
    ]
    feed = {name: X[[name]].to_numpy() for name in X}
    label, p = run(convert(model, types, zipmap=False), feed)
    np.testing.assert_allclose(p, model.predict_proba(X), atol=1e-9)
    assert label.tolist() == model.predict(X).tolist()
    single = [("size", FloatTensorType([None, 1])), *types[1:]]  # skl2onnx has no maps of double precision
    _, maps = run(convert(model, single), {**feed, "size": feed["size"].astype("f4")})
    assert maps[0] == pytest.approx(dict(zip(["no", "yes"], p[0], strict=True)), abs=1e-5)


@pytest.mark.parametrize(
    "encoded_case",
    [
        *("sigmoid_with_gaps", "softmax_of_three", "two_class_softmax_without_intercept", "median_and_threshold"),
        *("out_of_range_is_an_error", "default_of_two", "default_of_three", "default_with_thresholds"),
    ],
    indirect=True,
)
def test_a_pipeline_equals_the_model_on_awkward_rows(encoded_case):
    """Text tensors have no missing values: the empty text stands for them."""
    case = encoded_case.where(lambda row: "" not in row.values())
    pipeline = make_pipeline(case.model)
    types, feed = [], {}
    for j, name in enumerate(case.view.raw_names):
        values = [row[name] for row in case.rows]
        is_text = any(isinstance(value, str) for value in values)
        types.append((f"x{j}", (StringTensorType if is_text else DoubleTensorType)([None, 1])))
        cells = [("" if is_text else np.nan) if value is None or value != value else value for value in values]  # noqa: PLR0124 - NaN
        feed[f"x{j}"] = np.array(cells, dtype=object if is_text else np.float64)[:, None]
    label, p = run(skl2onnx.convert_sklearn(pipeline, initial_types=types, options={"zipmap": False}), feed)
    refused = np.isnan(p).all(axis=1)
    kind = type(case.view.classes[0])
    case.assert_same(
        [None if no else row for row, no in zip(p.tolist(), refused, strict=True)],
        [None if no else kind(each) for each, no in zip(label.tolist(), refused, strict=True)],
    )


def test_text_that_comes_as_numbers_is_refused():
    X = pd.DataFrame({"city": ["Rome", "Oslo"] * 6})
    model = ECSELClassifier(n_terms=1, l1=1e-4).fit(X, [0, 1] * 6)
    with pytest.raises(TypeError, match="column 'city' is text, but comes as FloatTensorType"):
        convert(model, [("city", FloatTensorType([None, 1]))])


def test_a_regressor(points):
    X, _ = points
    model = ECSELRegressor().fit(X, 2 * X[:, 0] ** 2 / X[:, 1])
    (reported,) = run(convert(model, [("X", DoubleTensorType([None, 3]))]), {"X": X})
    np.testing.assert_allclose(reported[:, 0], model.predict(X), rtol=1e-9)


def test_labels_of_other_types(points):
    X, y = points
    for labels in (y == 2, np.where(y == 2, -1.0, 4.0)):
        model = ECSELClassifier(n_terms=1, l1=0.01).fit(X, labels)
        label, _ = run(convert(model, [("X", DoubleTensorType([None, 3]))], zipmap=False), {"X": X})
        assert label.tolist() == model.predict(X).astype(int).tolist()


def test_a_model_that_uses_no_column_answers_every_row(points):
    X, y = points
    model = ECSELClassifier(n_terms=1, l1=1e3).fit(X, y)
    label, p = run(convert(model, [("X", DoubleTensorType([None, 3]))], zipmap=False), {"X": X})
    np.testing.assert_allclose(p, model.predict_proba(X), atol=1e-9)
    assert label.tolist() == model.predict(X).tolist()
