"""The reference: a page for each public module with an entry for each of its public names, and nothing else.

The pages are written into ``docs/api`` before the sources are read, so that they cannot lag behind `__all__`.
"""

from __future__ import annotations

import inspect
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any

import ecsel

if TYPE_CHECKING:
    from sphinx.application import Sphinx

MODULES = {
    "ecsel": "The front door",
    "ecsel.explain": "Explanations",
    "ecsel.plotting": "Figures",
    "ecsel.quality": "Scores that analysts expect",
    "ecsel.export": "Exports",
    "ecsel.study": "A fit and what surrounds it",
    "ecsel.report": "The report",
    "ecsel.mlflow": "Models in MLflow",
    "ecsel.tune": "The paper's searches",
    "ecsel.distributed": "Large data",
    "ecsel.signomial": "The mathematics",
    "ecsel.fitting": "Penalties and solvers",
}
"""The public modules; one that does not exist yet is left out."""

MIXINS = "BaseEstimator, ClassifierMixin, RegressorMixin, tuple, int, object"
"""Inherited members end here: scikit-learn and Python document their own."""


def present() -> dict[str, str]:
    """Return the public modules that there are, with their titles."""
    return {
        name: title for name, title in MODULES.items() if find_spec(name) and hasattr(import_module(name), "__all__")
    }


def page(module: str, title: str) -> str:
    """Return the reference page of a module as reStructuredText."""
    source = import_module(module)
    heading = f"``{module}``: {title}" if title else module
    summary = (inspect.getdoc(source) or "").partition("\n\n")[0]
    names = sorted(source.__all__, key=str.lower)
    rooms = [name for name in names if isinstance(getattr(source, name), ModuleType)]
    in_the_api = [name for name in names if module != "ecsel" and getattr(ecsel, name, None) is getattr(source, name)]
    lines = [heading, "=" * len(heading), "", summary, "", f".. currentmodule:: {module}", ""]
    if rooms:
        lines += ["Modules: " + ", ".join(f":doc:`ecsel.{name} <ecsel.{name}>`" for name in rooms) + ".", ""]
    if in_the_api:
        lines += ["Described at :doc:`the front door <ecsel>`: " + ", ".join(f"``{n}``" for n in in_the_api) + ".", ""]
    for name in names:
        if name not in rooms and name not in in_the_api:
            lines += [*entry(name, getattr(source, name)), ""]
    return "\n".join(lines)


def entry(name: str, thing: Any) -> list[str]:
    """Return the lines that document one name."""
    if inspect.isclass(thing):
        return [f".. autoclass:: {name}", "   :members:", f"   :inherited-members: {MIXINS}"]
    if callable(thing):
        return [f".. autofunction:: {name}"]
    return [f".. autodata:: {name}", "   :no-value:"]


def write(app: Sphinx) -> None:
    """Write the pages and their list; an unchanged page keeps its date, so that it is not built again."""
    folder = Path(app.srcdir) / "api"
    folder.mkdir(exist_ok=True)
    modules = present()
    pages = {f"{module}.rst": page(module, title) for module, title in modules.items()}
    pages["index.rst"] = "\n".join(
        [
            "Reference",
            "=========",
            "",
            ".. toctree::",
            "   :maxdepth: 2",
            "",
            *(f"   {module}" for module in modules),
            "",
        ]
    )
    for old in folder.glob("*.rst"):
        if old.name not in pages:
            old.unlink()
    for name, text in pages.items():
        path = folder / name
        if not path.is_file() or path.read_text(encoding="utf-8") != text:
            path.write_text(text, encoding="utf-8")


def setup(app: Sphinx) -> dict[str, Any]:
    """Write the pages as soon as the configuration is known."""
    app.connect("builder-inited", write)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
