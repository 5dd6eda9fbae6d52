"""`ecsel.show_versions`: what a bug report needs to say of the machine, in one call."""

from __future__ import annotations

import platform
import sys
from importlib import metadata

from ecsel._compiled import compiled
from ecsel._version import __version__

DEPENDENCIES = ("numpy", "scipy", "scikit-learn", "narwhals")
EXTRAS = (
    "pandas",
    "polars",
    "pyarrow",
    "matplotlib",
    "jinja2",
    "openpyxl",
    "onnx",
    "sqlglot",
    "sympy",
    "dask",
    "mlflow",
)


def show_versions() -> None:
    """Print the versions of Python, of the library and of what it uses, and whether the compiled kernel is active.

    Examples
    --------
    >>> show_versions()  # doctest: +ELLIPSIS
    ecsel         ...
    kernel        ...
    Python        ...
    """
    kernel = "compiled" if compiled is not None else "NumPy (no compiled kernel, or ECSEL_NO_KERNEL is set)"
    lines = [
        ("ecsel", __version__),
        ("kernel", kernel),
        ("Python", f"{platform.python_version()} ({sys.executable})"),
        ("machine", platform.platform()),
        *((name, _version(name)) for name in DEPENDENCIES + EXTRAS),
    ]
    print("\n".join(f"{name:<14}{value}" for name, value in lines))  # noqa: T201 - this is what it is for


def _version(package: str) -> str:
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return "not installed"
