"""Exports: the equation as a program that runs where Python does not, raw columns in, probability and label out.

Functions are imported when they are first used, since each brings what its language needs.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ecsel.export.readable.latex import to_latex
    from ecsel.export.readable.raw_rows import formula_inputs
    from ecsel.export.readable.symbolic import to_sympy
    from ecsel.export.readable.text import to_text
    from ecsel.export.targets.c import to_c
    from ecsel.export.targets.excel import to_excel
    from ecsel.export.targets.javascript import to_javascript
    from ecsel.export.targets.onnx import to_onnx
    from ecsel.export.targets.pmml import to_pmml
    from ecsel.export.targets.python import to_python
    from ecsel.export.targets.skl2onnx import register_skl2onnx
    from ecsel.export.targets.sql.scoring import to_sql

_HOMES = {
    "formula_inputs": "ecsel.export.readable.raw_rows",
    "register_skl2onnx": "ecsel.export.targets.skl2onnx",
    "to_c": "ecsel.export.targets.c",
    "to_excel": "ecsel.export.targets.excel",
    "to_javascript": "ecsel.export.targets.javascript",
    "to_latex": "ecsel.export.readable.latex",
    "to_onnx": "ecsel.export.targets.onnx",
    "to_pmml": "ecsel.export.targets.pmml",
    "to_python": "ecsel.export.targets.python",
    "to_sql": "ecsel.export.targets.sql.scoring",
    "to_sympy": "ecsel.export.readable.symbolic",
    "to_text": "ecsel.export.readable.text",
}

__all__ = [
    "formula_inputs",
    "register_skl2onnx",
    "to_c",
    "to_excel",
    "to_javascript",
    "to_latex",
    "to_onnx",
    "to_pmml",
    "to_python",
    "to_sql",
    "to_sympy",
    "to_text",
]


def __getattr__(name: str) -> Any:
    if name in _HOMES:
        return getattr(import_module(_HOMES[name]), name)
    raise AttributeError(f"module 'ecsel.export' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted([*globals(), *__all__])
