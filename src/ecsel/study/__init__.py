"""What a good analyst does around a fit: rows held out, rivals, drivers, cautions. `Study` is all of it.

Names are imported when they are first used, so that looking at a table does not wait for the estimators.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ecsel.study.drivers import Driver
    from ecsel.study.study import ClassQuality, Study, ValueQuality

_HOMES = {
    "ClassQuality": "ecsel.study.study",
    "Driver": "ecsel.study.drivers",
    "Study": "ecsel.study.study",
    "ValueQuality": "ecsel.study.study",
}

__all__ = ["ClassQuality", "Driver", "Study", "ValueQuality"]


def __getattr__(name: str) -> Any:
    if name in _HOMES:
        return getattr(import_module(_HOMES[name]), name)
    raise AttributeError(f"module 'ecsel.study' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted([*globals(), *__all__])
