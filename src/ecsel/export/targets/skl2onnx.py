"""Models inside of a scikit-learn pipeline: how skl2onnx converts them.

The pipeline hands over one tensor of many columns, or several of them; the columns of the model are taken from these in
order. Numbers come out as double precision where any of them is, else as single precision.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from ecsel.explain.view import ModelView
from ecsel.export.program.lowering import lower
from ecsel.export.targets.onnx_graph import DOUBLE, FLOAT, GraphWriter, label_array

if TYPE_CHECKING:
    from collections.abc import Sequence


def register_skl2onnx() -> None:
    """Teach skl2onnx to convert `ECSELClassifier` and `ECSELRegressor`, alone or inside of a pipeline.

    Once this has been called, ``skl2onnx.to_onnx`` and ``skl2onnx.convert_sklearn`` know the models. What comes out is
    what `to_onnx` gives, under the names and with the options (``zipmap``) that skl2onnx has for all models.

    Examples
    --------
    >>> register_skl2onnx()
    """
    try:
        import skl2onnx  # noqa: PLC0415  # optional and slow to import
    except ImportError as error:
        raise ImportError('register_skl2onnx() needs skl2onnx: pip install "ecsel[onnx]"') from error
    from ecsel.estimators import ECSELClassifier, ECSELRegressor  # noqa: PLC0415  # with all of scikit-learn

    skl2onnx.update_registered_converter(
        ECSELClassifier,
        "EcselClassifier",
        _classifier_shapes,
        _convert,
        options={"zipmap": [True, False, "columns"], "nocl": [True, False], "output_class_labels": [False, True]},
    )
    skl2onnx.update_registered_converter(ECSELRegressor, "EcselRegressor", _regressor_shapes, _convert)


def _classifier_shapes(operator: Any) -> None:
    from skl2onnx.common.data_types import Int64TensorType, StringTensorType  # noqa: PLC0415

    n_rows = operator.inputs[0].type.shape[0]
    is_text = _labels(operator.raw_operator).dtype == np.dtype(object)
    operator.outputs[0].type = (StringTensorType if is_text else Int64TensorType)([n_rows])
    operator.outputs[1].type = _number_type(operator)([n_rows, len(operator.raw_operator.classes_)])


def _regressor_shapes(operator: Any) -> None:
    operator.outputs[0].type = _number_type(operator)([operator.inputs[0].type.shape[0], 1])


def _convert(scope: Any, operator: Any, container: Any) -> None:
    from skl2onnx.common.data_types import StringTensorType  # noqa: PLC0415

    model = operator.raw_operator
    program = lower(model)
    graph = _Container(scope, container)
    positions = ModelView.of(model).raw_names
    is_double = _is_double(operator)
    taken = [_column(graph, operator.inputs, positions.index(column.name)) for column in program.inputs]
    tensors = []
    for column, (tensor, kind) in zip(program.inputs, taken, strict=True):
        if isinstance(kind, StringTensorType) != (column.kind == "text"):
            raise TypeError(
                f"column {column.name!r} is {column.kind}, but comes as {type(kind).__name__}: declare its type in "
                "initial_types, with one tensor for each type of columns"
            )
        wanted = DOUBLE if is_double else FLOAT
        tensors.append(tensor if column.kind == "text" else graph.node("Cast", [tensor], to=wanted))
    writer = GraphWriter(program, graph, tensors, np.float64 if is_double else np.float32)
    writer.write()
    answers = [writer.outputs()]
    if program.decision is not None:
        answers.insert(0, writer.labels(_labels(model)))
    if not program.inputs:
        answers = [graph.repeated(answer, operator.inputs[0].full_name) for answer in answers]
    for answer, output in zip(answers, operator.outputs, strict=True):
        container.add_node("Identity", [answer], [output.full_name], name=scope.get_unique_operator_name("Identity"))


def _labels(model: Any) -> np.ndarray[Any, Any]:
    """Return the labels as skl2onnx has them: text or integers."""
    classes = model.classes_.tolist()
    # scikit-learn refuses to classify fractions, so that floating point means whole numbers
    return label_array([int(label) if isinstance(label, float) else label for label in classes])


def _is_double(operator: Any) -> bool:
    from skl2onnx.common.data_types import DoubleTensorType  # noqa: PLC0415

    return any(isinstance(each.type, DoubleTensorType) for each in operator.inputs)


def _number_type(operator: Any) -> Any:
    from skl2onnx.common.data_types import DoubleTensorType, FloatTensorType  # noqa: PLC0415

    return DoubleTensorType if _is_double(operator) else FloatTensorType


def _column(graph: _Container, inputs: Sequence[Any], position: int) -> tuple[str, Any]:
    """Return the tensor (rows, 1) and the type of one of the columns of several tensors side by side."""
    start = 0
    for each in inputs:
        width = each.type.shape[1]
        if width is None or position < start + width:
            if width == 1:
                return each.full_name, each.type
            at = graph.constant(np.array([position - start]))
            return graph.node("Gather", [each.full_name, at], axis=1), each.type
        start += width
    raise ValueError(f"the model has a column at position {position}, but the pipeline hands over {start} columns")


@dataclass(frozen=True, slots=True)
class _Container:
    """The graph that skl2onnx is writing."""

    scope: Any
    container: Any

    def node(self, operator: str, inputs: Sequence[str], *, domain: str = "", **attributes: Any) -> str:
        name: str = self.scope.get_unique_variable_name("ecsel")
        self.container.add_node(
            operator,
            list(inputs),
            [name],
            op_domain=domain,
            op_version=2 if domain else None,  # of LabelEncoder; the newest is too new for skl2onnx
            name=self.scope.get_unique_operator_name("ecsel"),
            **attributes,
        )
        return name

    def constant(self, value: np.ndarray[Any, Any]) -> str:
        from onnx import numpy_helper  # noqa: PLC0415

        name: str = self.scope.get_unique_variable_name("ecsel_constant")
        tensor = numpy_helper.from_array(value, name)
        content = [each.encode("utf-8", "surrogatepass") for each in value] if value.dtype == np.dtype(object) else None
        self.container.add_initializer(
            name, tensor.data_type, list(value.shape), value.ravel().tolist() if content is None else content
        )
        return name

    def repeated(self, tensor: str, rows: str) -> str:
        """Return the one row of a tensor as often as another one has rows."""
        n_rows = self.node("Gather", [self.node("Shape", [rows]), self.constant(np.array([0]))], axis=0)
        some = self.node("Expand", [self.constant(np.array([0])), n_rows])
        return self.node("Gather", [tensor, some], axis=0)
