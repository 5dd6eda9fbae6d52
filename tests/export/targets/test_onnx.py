"""The exported graph runs in onnxruntime and says what the model says, in double and in single precision."""

import json
import math

import numpy as np
import onnx
import onnxruntime
import pandas as pd
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ecsel import ECSELClassifier, Signomial
from ecsel.explain import ModelView
from ecsel.export import to_onnx, to_python
from ecsel.export.program.lowering import lower
from ecsel.export.targets.onnx import tensor_names

MISSING = "(missing)"


def is_missing(value):
    return value is None or (isinstance(value, float) and math.isnan(value))


def tensor(values, column, dtype):
    if column.kind == "text":
        return np.array([[MISSING if is_missing(value) else value] for value in values], dtype=object)
    with np.errstate(over="ignore"):
        return np.array([[np.nan if is_missing(value) else value] for value in values]).astype(dtype)


def run(model, rows, *, float64, **options):
    """Return the outputs of a model by name."""
    written = to_onnx(model, float64=float64, missing_text=MISSING, **options)
    onnx.checker.check_model(written, full_check=True)
    session = onnxruntime.InferenceSession(written.SerializeToString(), providers=["CPUExecutionProvider"])
    dtype = np.float64 if float64 else np.float32
    inputs = lower(model).inputs
    names = tensor_names([column.name for column in inputs])
    feed = {
        name: tensor([row[column.name] for row in rows], column, dtype)
        for name, column in zip(names, inputs, strict=True)
    }
    reported = session.run(None, feed)
    return dict(zip([each.name for each in session.get_outputs()], reported, strict=True))


def answers(reported, view):
    if not view.has_classes:
        return [None if np.isnan(p) else [p] for p in reported["prediction"][:, 0]], [None] * len(
            reported["prediction"]
        )
    refused = np.isnan(reported["probabilities"]).all(axis=1)
    none = {"O": "", "i": np.iinfo(np.int64).min, "f": np.nan}[reported["label"].dtype.kind]
    np.testing.assert_array_equal(reported["label"][refused], np.full(refused.sum(), none))
    is_flag = isinstance(view.classes[0], bool)
    labels = [bool(label) if is_flag else label for label in reported["label"].tolist()]
    return (
        [None if no else p for p, no in zip(reported["probabilities"].tolist(), refused, strict=True)],
        [None if no else label for label, no in zip(labels, refused, strict=True)],
    )


def test_double_precision_equals_the_model_on_awkward_rows(case):
    case.assert_same(*answers(run(case.model, case.rows, float64=True), case.view))


def test_single_precision_equals_the_model_on_rows_that_it_can_hold(case):
    rounded = case.in_single_precision()
    rounded.assert_same(*answers(run(case.model, rounded.rows, float64=False), case.view), tolerance=1e-5)


@pytest.mark.parametrize(
    "case",
    ["sigmoid_with_gaps", "softmax_of_three", "law_with_signs", "equation_with_parities", "raw_0", "default_of_three"],
    indirect=True,
)
@pytest.mark.parametrize("method", ["log_additive", "attribution", "shapley"])
def test_contributions_are_those_of_the_other_exports(case, method):
    options = {"contributions": method, "baseline": case.rows[case.ordinary[0]]}
    reported = run(case.model, case.rows, float64=True, **options)
    python = {}
    exec(to_python(case.model, **options), python)
    wanted = [python["predict"](row)["contributions"] for row in case.rows]
    values = np.array([[list(each["values"].values()) for each in row] for row in wanted], dtype=float)
    scale = np.nanmax(np.abs(values), axis=(1, 2), initial=1.0, keepdims=True)
    np.testing.assert_allclose(reported["contributions"] / scale, values / scale, rtol=1e-9, atol=1e-12)
    base = np.array([each["base_value"] for each in wanted[0]], dtype=float)
    np.testing.assert_allclose(reported["base_values"], base)


@settings(max_examples=12, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.data())
def test_onnx_takes_any_name(draw_hostile, data):
    check_names(draw_hostile(data))


def test_onnx_takes_every_hostile_name(all_hostile):
    for hostile in all_hostile:
        check_names(hostile)


def check_names(hostile):
    outputs, labels = answers(run(hostile.view, hostile.rows, float64=True), hostile.view)
    np.testing.assert_allclose(outputs, hostile.probabilities, rtol=1e-9)
    assert labels == hostile.labels


def test_columns_may_have_the_names_of_outputs_and_of_inner_nodes():
    view = ModelView.of_equations({"a": Signomial.parse("label*n3"), "b": Signomial.parse("c0")}, ["label", "n3", "c0"])
    reported = run(view, [{"label": 1.0, "n3": 2.0, "c0": 3.0}], float64=True)
    assert list(reported) == ["label_", "probabilities"]
    assert reported["label_"].tolist() == ["b"]


def test_a_file_is_written_and_its_metadata_name_the_columns(tmp_path):
    to_onnx(Signomial.parse("x*y"), tmp_path / "model.onnx", contributions="shapley", baseline=[1.0, 2.0])
    props = {each.key: json.loads(each.value) for each in onnx.load(tmp_path / "model.onnx").metadata_props}
    assert [each["column"] for each in props["columns"]] == ["x", "y"]
    assert props["contributions"] == [{"class": "prediction", "term": None, "base_value": 2.0}]


def test_a_model_without_columns_has_an_answer():
    assert run(Signomial.parse("3"), [], float64=True)["prediction"] == [[3.0]]


def model_of_levels(levels):
    X = pd.DataFrame({"article": levels * 6})
    return ECSELClassifier(n_terms=1, l1=1e-4, categorical=["article"]).fit(X, [0, 1] * 6)


def test_levels_that_cannot_be_distinguished_are_refused():
    model = model_of_levels([2**24, 2**24 + 1])
    with pytest.raises(ValueError, match="'article' has levels that float32 cannot tell apart: use float64=True"):
        to_onnx(model)
    to_onnx(model, float64=True)
    with pytest.raises(ValueError, match=r"'article' has the level '', .* give another missing_text"):
        to_onnx(model_of_levels(["", "a"]))


def test_classes_that_a_tensor_cannot_hold_are_refused():
    equations = [Signomial.parse("x"), Signomial.parse("1/x")]
    with pytest.raises(TypeError, match="text and numbers, but a tensor holds one type"):
        to_onnx(ModelView.of_equations(dict(zip(["a", 1], equations, strict=True)), ["x"]))
    with pytest.raises(TypeError, match="do not fit into 64 bits"):
        to_onnx(ModelView.of_equations(dict(zip([1, 2**70], equations, strict=True)), ["x"]))
