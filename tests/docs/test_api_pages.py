"""The reference equals the public names: a page per public module, an entry per name, no module forgotten."""

import re
import runpy
from importlib import import_module
from pathlib import Path
from types import FunctionType, ModuleType

import pytest

import ecsel

ROOT = Path(__file__).parents[2]
api = runpy.run_path(str(ROOT / "docs" / "_ext" / "api_pages.py"))
INSIDE = {"cli", "discovery", "estimators", "files", "search", "tables"}
"""Rooms whose doors are elsewhere: their public names are those of `ecsel` itself, or the command line."""


@pytest.mark.parametrize("module", list(api["present"]()))
def test_a_page_documents_exactly_the_public_names(module):
    page = api["page"](module, "title")
    source = import_module(module)
    entries = re.findall(r"^\.\. auto(?:class|function|data):: (\S+)$", page, re.MULTILINE)
    rooms = [name for name in source.__all__ if isinstance(getattr(source, name), ModuleType)]
    elsewhere = re.findall(r"``(\w+)``", page.partition("front door <ecsel>`:")[2].partition("\n")[0])
    assert all(getattr(ecsel, name) is getattr(source, name) for name in elsewhere)
    assert sorted(entries + rooms + elsewhere) == sorted(source.__all__)
    assert len(set(entries)) == len(entries)


def test_every_module_is_public_or_inside():
    folders = {path.parent.name for path in Path(ecsel.__file__).parent.glob("*/__init__.py")}
    public = {module.partition(".")[2] for module in api["present"]()} - {""}
    assert folders == (public - {"mlflow"}) | INSIDE  # which is one file


@pytest.mark.parametrize("module", list(api["present"]()))
def test_every_public_name_has_a_docstring(module):
    source = import_module(module)
    bare = [name for name in source.__all__ if not (getattr(source, name).__doc__ or "").strip()]
    assert bare == []


def test_the_checklist_counts_the_examples_of_docstrings():
    public = {}
    for module in api["present"]():
        source = import_module(module)
        for each in (getattr(source, name) for name in source.__all__):
            if isinstance(each, type | FunctionType):
                public[f"{each.__module__}.{each.__qualname__}"] = ">>>" in (each.__doc__ or "")
    count = f"{sum(public.values())} of {len(public)} public functions and classes have one"
    assert count in (ROOT / "docs" / "checklists.md").read_text(encoding="utf-8")
