"""The files that `ecsel demo` writes: the model, the equations as text, and the report for people."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ecsel.cli.wording import link_line, score_name
from ecsel.explain import ModelView
from ecsel.report import write_report
from ecsel.report.rules import column_rules

if TYPE_CHECKING:
    from pathlib import Path

    from ecsel import ECSELClassifier
    from ecsel.cli.study import Study


def write_study(study: Study, folder: Path) -> dict[str, Path]:
    """Write the three files into `folder`, made if need be, and return what each is for."""
    folder.mkdir(parents=True, exist_ok=True)
    model, equations, html = folder / "model.json", folder / "equations.txt", folder / "report.html"
    study.model.save(model)
    equations.write_text(equations_text(study.model), encoding="utf-8")
    held = study.held_out
    write_report(study.model, html, study.training.X, study.training.y, X_test=held.X, y_test=held.y, title=study.table)
    return {
        "the model; ecsel.load reads it": model,
        "the equations with every digit": equations,
        "the report with its live what-if, to open in a browser": html,
    }


def equations_text(model: ECSELClassifier) -> str:
    """Return the summary, then the exact equations and how they read their columns: enough to predict by hand."""
    lines = [model.summary(), "", "exact equations (Signomial.parse reads them):"]
    lines += [f"  {score_name(model, label)} = {equation}" for label, equation in model.equations_.items()]
    lines += ["", f"{link_line(model)}", "", "columns:"]
    lines += [
        f"  {rule.column}: {rule.span}; if missing: {rule.missing}; if outside or new: {rule.outside}"
        for rule in column_rules(ModelView.of(model))
    ]
    return "\n".join(lines) + "\n"
