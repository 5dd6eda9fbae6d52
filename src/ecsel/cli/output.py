"""The files that `ecsel demo` writes: the model, the equations as text, and the report for people."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ecsel.report import write_report

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
    """Return the summary, then the exact equations and the maps to positive features: enough to predict by hand."""
    lines = [model.summary(), "", "exact equations (Signomial.parse reads them):"]
    lines += [f"  score of {label!r} = {equation}" for label, equation in model.equations_.items()]
    used = {name for equation in model.equations_.values() for name in equation.names}
    lines += ["", "positive features, from the raw column x (1 or 0 for a level or a missing value):"]
    lines += [
        f"  {feature.name!r} = {feature.scale!r} * x + {feature.offset!r}"
        for feature in model.encoder_.features
        if feature.name in used
    ]
    return "\n".join(lines) + "\n"
