"""Exports: the equation as a program that runs where Python does not, raw columns in, probability and label out.

Functions are imported when they are first used, since each brings what its language needs.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ecsel.export.c import to_c
    from ecsel.export.excel import to_excel
    from ecsel.export.javascript import to_javascript
    from ecsel.export.latex import to_latex
    from ecsel.export.onnx import to_onnx
    from ecsel.export.pmml import to_pmml
    from ecsel.export.python import to_python
    from ecsel.export.raw_rows import formula_inputs
    from ecsel.export.skl2onnx import register_skl2onnx
    from ecsel.export.sql.scoring import to_sql
    from ecsel.export.symbolic import to_sympy
    from ecsel.export.text import to_text

_HOMES = {
    "formula_inputs": "ecsel.export.raw_rows",
    "register_skl2onnx": "ecsel.export.skl2onnx",
    "to_c": "ecsel.export.c",
    "to_excel": "ecsel.export.excel",
    "to_javascript": "ecsel.export.javascript",
    "to_latex": "ecsel.export.latex",
    "to_onnx": "ecsel.export.onnx",
    "to_pmml": "ecsel.export.pmml",
    "to_python": "ecsel.export.python",
    "to_sql": "ecsel.export.sql.scoring",
    "to_sympy": "ecsel.export.symbolic",
    "to_text": "ecsel.export.text",
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
