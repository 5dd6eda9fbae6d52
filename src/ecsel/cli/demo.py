"""`ecsel demo`: a small table is fitted and explained, and three files are written."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ecsel.cli.errors import CommandError
from ecsel.cli.options import Json, Quiet, Speech
from ecsel.cli.session import speaking

if TYPE_CHECKING:
    from ecsel import ECSELClassifier
    from ecsel.study import Study

TITLE = "Breast tumours, described by the largest cell nuclei of each (from scikit-learn)"
MAX_FACTORS = 3
"""So many factors fit on a line, and a person can keep them in mind."""
HOLDOUT = 0.3
"""The share of rows that are held out: enough to tell an AUC of 0.98 from one of 0.95."""


def demo(
    output: Annotated[
        Path, typer.Option("--output", "-o", metavar="DIR", help="Folder for the model, the equations and the report.")
    ] = Path("ecsel-demo"),
    as_json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Fit a small table that comes with scikit-learn, show its equations, and explain one row."""
    from ecsel.cli.explained_row import least_sure_row
    from ecsel.cli.terminal import show_study, show_written

    with speaking(Speech(as_json, quiet)) as session:
        found = demo_study(*bundled_table())
        try:
            written = write_files(found, output, TITLE)
        except OSError as error:
            why = error.strerror or error
            raise CommandError(f"Cannot write to {output}: {why}. Choose another folder with --output.") from error
        if as_json:
            document = {
                "equations": {str(label): str(equation) for label, equation in found.model.equations_.items()},
                "quality": found.quality_documents(),
                "files": [str(path) for path in written.values()],
            }
            session.json("demo", document)
            return
        if not quiet:
            show_study(session.out, found, least_sure_row(found), TITLE)
        show_written(session.out, written)


def bundled_table() -> tuple[Any, Any]:
    """Return the breast cancer table of scikit-learn: it needs no download, and everybody sees why it matters.

    Of each measurement only the value of the largest cell nuclei is taken ("worst"), which tells most.
    """
    import numpy as np
    from sklearn.datasets import load_breast_cancer

    try:
        cancer = load_breast_cancer(as_frame=True)
    except ImportError as error:
        raise ModuleNotFoundError("the demo needs pandas", name="pandas") from error
    largest = cancer.data[[name for name in cancer.data if name.startswith("worst ")]]
    X = largest.rename(columns=lambda name: name.removeprefix("worst ").replace(" ", "_"))
    return X, np.array(["malignant", "benign"])[cancer.target]


def demo_study(X: Any, y: Any, seed: int = 0) -> "Study":
    """Return the study of a table; the model that is shown is the one that was evaluated: the figures are its own."""
    from ecsel import ECSELClassifier
    from ecsel.study import Study

    return Study.of(X, y, ECSELClassifier(max_factors=MAX_FACTORS), holdout=HOLDOUT, refit=False, seed=seed)


def write_files(study: "Study", folder: Path, title: str) -> dict[str, Path]:
    """Write model, equations and report into `folder`, made if need be, and return what each is for."""
    folder.mkdir(parents=True, exist_ok=True)
    model, equations, html = folder / "model.json", folder / "equations.txt", folder / "report.html"
    study.model.save(model)
    equations.write_text(equations_text(study.model), encoding="utf-8")
    study.write_report(html, title=title)
    return {
        "the model; ecsel.load reads it": model,
        "the equations with every digit": equations,
        "the report with its live what-if, to open in a browser": html,
    }


def equations_text(model: "ECSELClassifier") -> str:
    """Return the summary, then the exact equations and how they read their columns: enough to predict by hand."""
    from ecsel.cli.wording import link_line, score_name
    from ecsel.explain import ModelView
    from ecsel.report.rules import column_rules

    lines = [model.summary(), "", "exact equations (Signomial.parse reads them):"]
    lines += [f"  {score_name(model, label)} = {equation}" for label, equation in model.equations_.items()]
    lines += ["", f"{link_line(model)}", "", "columns:"]
    lines += [
        f"  {rule.column}: {rule.span}; if missing: {rule.missing}; if outside or new: {rule.outside}"
        for rule in column_rules(ModelView.of(model))
    ]
    return "\n".join(lines) + "\n"
