"""The compiled kernel, where there is one: the hot loops of `tables` and `fitting` in C (`csrc/`).

Each has a twin in NumPy, which a machine without a compiler runs on. ``ECSEL_NO_KERNEL=1`` in the environment turns the
kernel off. What the twins cost is measured by ``python -m benchmarks twins``: 2 times the processor seconds for the
paper's model, 3 to 5 times for a search, 10 times for the paper's trainer.
"""

from __future__ import annotations

import importlib
import os
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from types import ModuleType


def _load() -> ModuleType | None:
    if os.environ.get("ECSEL_NO_KERNEL", "0") not in {"", "0"}:
        return None
    try:
        return importlib.import_module("ecsel._kernel")
    except ImportError:
        return None


compiled = _load()
"""The compiled module, None where there is none."""
