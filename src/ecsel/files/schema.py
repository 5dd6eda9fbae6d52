"""Schema 2 of model files: the whole document to JSON values and back, with the checks that its parts fit together.

Schema 2 adds factors with a shift and a logarithm, and features of raw columns; files of schema 1 are read as before.
"""

from __future__ import annotations

from typing import Any

from ecsel.files.document import KINDS, ModelDocument
from ecsel.files.encoders import decode_encoder, encode_encoder
from ecsel.files.equations import decode_equation, encode_equation
from ecsel.files.errors import ModelFileError
from ecsel.files.node import Node
from ecsel.signomial.links import LINKS

FORMAT = "ecsel model"
SCHEMA = 2

MAX_RECORD_TEXT = 2_000_000
"""Characters in report and path together: far more than a hundred classes need, and read in seconds."""

HEADER = ("format", "schema", "library_version")
BODY = (
    "kind",
    "link",
    "classes",
    "inputs",
    "encoder",
    "equations",
    "threshold",
    "params",
    "report",
    "path",
    "metrics",
)


def encode(document: ModelDocument) -> dict[str, Any]:
    """Return a document as JSON values."""
    return {
        "format": FORMAT,
        "schema": SCHEMA,
        "library_version": document.library_version,
        "kind": document.kind,
        "link": document.link,
        "classes": list(document.classes),
        "inputs": list(document.inputs),
        "encoder": None if document.encoder is None else encode_encoder(document.encoder),
        "equations": [encode_equation(equation) for equation in document.equations],
        "threshold": document.threshold,
        "params": dict(document.params),
        "report": dict(document.report),
        "path": [dict(candidate) for candidate in document.path],
        "metrics": dict(document.metrics),
    }


def decode(value: Any) -> ModelDocument:
    """Read a document from JSON values."""
    root = Node(value, "")
    _check_header(root)
    _, _, library_version, *body = root.fields(*HEADER, *BODY)
    kind, link, classes, inputs, encoder, equations, threshold, params, report, path, metrics = body
    document = ModelDocument(
        kind=kind.choice(KINDS),
        link=link.choice(tuple(LINKS)),
        inputs=inputs.each(lambda name: name.text()),
        equations=equations.each(decode_equation),
        classes=classes.each(lambda label: label.label()),
        encoder=encoder.optional(decode_encoder),
        threshold=threshold.optional(lambda number: number.number()),
        params=params.record(),
        report=report.record(),
        path=path.each(lambda candidate: candidate.record()),
        metrics=metrics.record(),
        library_version=library_version.text(),
    )
    _check_texts(root)
    inputs.unique(document.inputs, "names")
    classes.unique(document.classes, "classes")
    _check_sizes(document)
    _check_names(document)
    return document


def _check_header(root: Node) -> None:
    if not isinstance(root.value, dict) or root.value.get("format") != FORMAT:
        raise ModelFileError("", "this is not an ecsel model file")
    schema = root.get("schema")
    if isinstance(schema.value, bool) or not isinstance(schema.value, int) or schema.value < 1:
        schema.refuse("a positive whole number")
    if schema.value > SCHEMA:
        raise ModelFileError(
            "schema", f"the file has schema {schema.value}, this version of ecsel reads up to {SCHEMA}: update ecsel"
        )


def _check_texts(root: Node) -> None:
    """Bound the texts of the records, which hold equations that are read."""
    total = 0
    waiting = [root.get("report").value, root.get("path").value]
    while waiting:
        value = waiting.pop()
        if isinstance(value, str):
            total += len(value)
        elif isinstance(value, (dict, list)):
            waiting.extend(value.values() if isinstance(value, dict) else value)
    if total > MAX_RECORD_TEXT:
        raise ModelFileError(
            "report", f"with the path it holds {total} characters of text, more than {MAX_RECORD_TEXT}"
        )


def _check_sizes(document: ModelDocument) -> None:
    """Check the numbers of classes and equations against the link."""
    link = LINKS[document.link]
    if (document.kind == "classifier") != link.has_classes:
        raise ModelFileError("link", f"a {document.kind} has no link {document.link!r}")
    n_classes = len(document.classes)
    if document.kind == "regressor" and n_classes:
        raise ModelFileError("classes", "a regressor has none")
    if document.kind == "classifier" and not link.serves(n_classes):
        wanted = "exactly 2" if link.has_reference else "at least 2"
        raise ModelFileError("classes", f"a {document.link} has {wanted}, not {n_classes}")
    n_equations = link.n_scores(n_classes)
    if len(document.equations) != n_equations:
        raise ModelFileError("equations", f"there should be {n_equations}, not {len(document.equations)}")
    if document.threshold is not None and (n_classes != 2 or not 0 <= document.threshold <= 1):
        raise ModelFileError("threshold", "only two classes have one, a probability between 0 and 1")


def _check_names(document: ModelDocument) -> None:
    """Check that the equations speak of features that exist."""
    names = set(document.inputs)
    if document.encoder is not None:
        if document.encoder.inputs != document.inputs:
            raise ModelFileError("inputs", "they are not the columns of the encoder")
        names = set(document.encoder.feature_names)
    for i, equation in enumerate(document.equations):
        if unknown := [name for name in equation.names if name not in names]:
            raise ModelFileError(f"equations[{i}]", f"there is no feature {unknown[0]!r}")
