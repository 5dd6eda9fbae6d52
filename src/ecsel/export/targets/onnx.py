"""`to_onnx`: the model as an ONNX graph, for onnxruntime and everything else that runs such graphs.

Names of columns are names of input tensors, which ONNX leaves free; one that it cannot carry (an empty one, one with a
NUL or half of a surrogate pair) is written with escapes. The metadata of the model say which tensor is which column.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from itertools import count
from typing import TYPE_CHECKING, Any

import numpy as np

from ecsel.export.program.lowering import lower
from ecsel.export.targets.onnx_graph import GraphWriter, label_array

if TYPE_CHECKING:
    import os
    from collections.abc import Container, Iterable, Iterator, Sequence

    from ecsel.export.program.contributions import Method
    from ecsel.export.program.program import Program

OPSET = 17
ML_OPSET = 3
IR_VERSION = 8
"""Versions of 2022: all operators are there, and runtimes since then take them."""


def to_onnx(
    model: Any,
    path: str | os.PathLike[str] | None = None,
    *,
    float64: bool = False,
    contributions: Method | None = None,
    baseline: Any = None,
    missing_text: str = "",
) -> Any:
    """Return the model as an ONNX model, ``onnx.ModelProto``, and write it to a file if there is a path.

    Inputs are one tensor (rows, 1) per raw column that the equations use, under the column's own name: numbers and
    truth values (0 and 1) as floating point with NaN for a missing value, text as strings. The outputs:

    - ``label`` (rows,): text; integers, also for truth values; or floating point;
    - ``probabilities`` (rows, classes), or ``prediction`` (rows, 1) for a regression;
    - with `contributions`, ``contributions`` (rows, scores, columns), of ``"log_additive"`` (rows, terms, columns), and
      ``base_values``; the metadata entry ``contributions`` names scores, terms and columns.

    On a row that the model refuses probabilities and contributions are NaN, and the label is "", the smallest integer
    or NaN. An output whose name is the name of a column gets underscores at its end.

    Parameters
    ----------
    model : ECSELClassifier, ECSELRegressor or Signomial
        The model.
    path : path-like, optional
        A file to write.
    float64 : bool, default=False
        Whether numbers go in and out in double precision, which agrees with the model to 1e-9, rather than in single
        precision. Arithmetic in between is in double precision always.
    contributions, baseline : {"log_additive", "attribution", "shapley"} and reference row, optional
        What each column contributes (L1 by term, L2 to the scores, or exact Shapley values), against which row; by
        default a typical training row.
    missing_text : str, default=""
        The text that stands for a missing level, since text tensors have no missing values.

    Examples
    --------
    >>> from ecsel import Signomial
    >>> [each.name for each in to_onnx(Signomial.parse("3*x**2/y")).graph.input]
    ['x', 'y']
    """
    onnx = _import_onnx()
    program = lower(model, contributions=contributions, baseline=baseline)
    names = list(tensor_names([column.name for column in program.inputs]))
    graph = NodeList(taken=frozenset(names))
    dtype = np.float64 if float64 else np.float32
    writer = GraphWriter(program, graph, names, dtype, missing_text)
    writer.write()
    written = onnx.helper.make_model(
        onnx.helper.make_graph(
            graph.nodes,
            "ecsel",
            _inputs(onnx, program, names, dtype),
            _outputs(onnx, writer, graph),
            [onnx.numpy_helper.from_array(value, name) for name, value in graph.constants],
        ),
        opset_imports=[onnx.helper.make_opsetid("", OPSET), onnx.helper.make_opsetid("ai.onnx.ml", ML_OPSET)],
        ir_version=IR_VERSION,
        producer_name="ecsel",
    )
    onnx.helper.set_model_props(written, _metadata(program, names))
    if path is not None:
        onnx.save(written, path)
    return written


def tensor_names(columns: Iterable[str]) -> Iterator[str]:
    r"""Yield a name that ONNX can carry for each column: its own, wherever possible.

    Examples
    --------
    >>> list(tensor_names(["age", "", "a\0", "a\\x00"]))
    ['age', '(no name)', 'a\\x00', 'a\\x00_']
    """
    seen: set[str] = set()
    for column in columns:
        safe = "".join(c if c != "\0" and not "\ud800" <= c <= "\udfff" else ascii(c)[1:-1] for c in column)
        name = free_name(safe or "(no name)", seen)
        seen.add(name)
        yield name


def free_name(name: str, taken: Container[str]) -> str:
    """Return the name, with underscores at its end until it is free."""
    while name in taken:
        name += "_"
    return name


@dataclass(slots=True)
class NodeList:
    """The nodes and constants of a graph that is being written; equal constants are one."""

    taken: frozenset[str]
    nodes: list[Any] = field(default_factory=list)
    constants: list[tuple[str, np.ndarray[Any, Any]]] = field(default_factory=list)
    _numbers: Iterator[int] = field(default_factory=count)
    _by_content: dict[Any, str] = field(default_factory=dict)

    def node(self, operator: str, inputs: Sequence[str], *, domain: str = "", **attributes: Any) -> str:
        """Add a node and return the name of its output."""
        name = free_name(f"n{next(self._numbers)}", self.taken)
        self.nodes.append(_import_onnx().helper.make_node(operator, inputs, [name], name, domain=domain, **attributes))
        return name

    def constant(self, value: np.ndarray[Any, Any]) -> str:
        """Add a constant and return its name."""
        content = (value.dtype.str, value.shape, tuple(value.ravel()) if value.dtype == object else value.tobytes())
        if content not in self._by_content:
            name = self._by_content[content] = free_name(f"c{len(self.constants)}", self.taken)
            self.constants.append((name, value))
        return self._by_content[content]

    def name_output(self, tensor: str, name: str) -> str:
        """Give a tensor the name of an output, or one like it that is free."""
        name = free_name(name, self.taken)
        self.nodes.append(_import_onnx().helper.make_node("Identity", [tensor], [name], name))
        return name


def _inputs(onnx: Any, program: Program, names: Sequence[str], dtype: type[np.floating[Any]]) -> list[Any]:
    number = onnx.helper.np_dtype_to_tensor_dtype(np.dtype(dtype))
    return [
        onnx.helper.make_tensor_value_info(name, onnx.TensorProto.STRING if column.kind == "text" else number, ["N", 1])
        for name, column in zip(names, program.inputs, strict=True)
    ]


def _outputs(onnx: Any, writer: GraphWriter, graph: NodeList) -> list[Any]:
    program, dtype = writer.program, np.dtype(writer.border)
    described: list[tuple[str, str, np.dtype[Any], list[Any]]] = []
    if program.decision is None:
        described.append((writer.outputs(), "prediction", dtype, ["N", 1]))
    else:
        labels = label_array(program.classes)
        labels = labels.astype(dtype) if labels.dtype == np.float64 else labels
        described.append((writer.labels(labels), "label", labels.dtype, ["N"]))
        described.append((writer.outputs(), "probabilities", dtype, ["N", len(program.classes)]))
    if program.contributions and program.inputs:
        n_contributions = len(program.contributions)
        base = graph.constant(np.array([each.base_value for each in program.contributions], dtype=dtype))
        described.append((writer.contributions(), "contributions", dtype, ["N", n_contributions, len(program.inputs)]))
        described.append((base, "base_values", dtype, [n_contributions]))
    return [
        onnx.helper.make_tensor_value_info(
            graph.name_output(tensor, name),
            onnx.helper.np_dtype_to_tensor_dtype(kind),
            shape,
        )
        for tensor, name, kind, shape in described
    ]


def _metadata(program: Program, names: Sequence[str]) -> dict[str, str]:
    columns = [
        {"tensor": name, "column": column.name, "kind": column.kind, "levels": column.levels}
        for name, column in zip(names, program.inputs, strict=True)
    ]
    headings = [
        {"class": each.label, "term": each.term, "base_value": each.base_value} for each in program.contributions
    ]
    metadata = {"columns": json.dumps(columns), "classes": json.dumps(program.classes)}
    return metadata | ({"contributions": json.dumps(headings)} if headings else {})


def _import_onnx() -> Any:
    try:
        import onnx  # noqa: PLC0415  # optional and slow to import
    except ImportError as error:
        raise ImportError('to_onnx() needs onnx: pip install "ecsel[onnx]"') from error
    return onnx
