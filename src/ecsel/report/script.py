"""The scripts of the page: the exported model, twice, and the code that draws.

The model is `ecsel.export.to_javascript`, once alone (fast: the page asks it for hundreds of rows while a slider moves)
and once with the contributions of the columns. Exact Shapley values are straight-line code whose length grows with the
third power of the columns of a term; beyond a limit the page shows the first-order attribution (property L2) with the
remainder beside it.
"""

from __future__ import annotations

from importlib.resources import files
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from ecsel.export import to_javascript
from ecsel.export.program.lowering import lower
from ecsel.export.targets.javascript import literal

if TYPE_CHECKING:
    from ecsel.explain import ModelView

Method: TypeAlias = Literal["shapley", "attribution"]

MAX_FACTORS = 70_000
"""Factors in the Shapley values, about five characters each: one term of 40 columns has 62 000."""

PARTS = ("page.js", "state.js", "search.js", "waterfall.js", "what_if.js", "threshold.js", "print.js")


def contribution_method(view: ModelView) -> Method:
    """Return exact values where their code is short enough: m columns of a term take m·⌈m/2⌉·(m − 1) factors."""
    columns = (view.terms.uses @ view.grouping > 0).sum(axis=1).tolist()
    return "shapley" if sum(m * ((m + 1) // 2) * (m - 1) for m in columns) <= MAX_FACTORS else "attribution"


def script(view: ModelView, baseline: Any) -> tuple[str, Method]:
    """Return the whole script of the page, and which contributions it computes."""
    method = contribution_method(view)
    explained = to_javascript(view, contributions=method, baseline=baseline)
    levels = ", ".join(
        "null" if column.levels is None else f"[{', '.join(map(literal, column.levels))}]"
        for column in lower(view).inputs
    )
    labels = ", ".join(map(literal, view.classes)) if view.has_classes else ""
    model = (
        "const MODEL = {\n"
        f"predict: (() => {{\n{to_javascript(view)}return predict;\n}})(),\n"
        f"explain: (() => {{\n{explained}return predict;\n}})(),\n"
        f"labels: [{labels}],\n"
        f"levels: [{levels}],\n"
        "};\n"
    )
    folder = files("ecsel.report") / "templates"
    parts = [(folder / name).read_text(encoding="utf-8") for name in PARTS]
    return "\n".join(['(() => {\n"use strict";\n', model, *parts, "})();\n"]), method
