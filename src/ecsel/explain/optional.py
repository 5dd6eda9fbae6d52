"""Libraries that are not required: imported when they are used, with one message where they are absent."""

from __future__ import annotations

from importlib import import_module
from typing import Any

EXTRAS = {"matplotlib": "ecsel[plot]"}
"""The extra that brings a library; other libraries are installed under their own name."""


def import_optional(module: str, purpose: str) -> Any:
    """Return a module; where it is absent, say what needs it and how to install it."""
    try:
        return import_module(module)
    except ImportError as error:
        root = module.partition(".")[0]
        raise ImportError(f'{purpose} needs {root}: pip install "{EXTRAS.get(root, root)}"') from error
