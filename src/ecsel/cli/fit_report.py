"""What `ecsel fit` prints for people."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING

from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from ecsel.cli.equations import aids_heading, reading_aids, show_equations, show_prose
from ecsel.cli.models import is_readable
from ecsel.estimators.summary import held_out_name
from ecsel.signomial.text import format_name
from ecsel.study.study import ClassQuality, n_numbers

if TYPE_CHECKING:
    from pathlib import Path

    from ecsel.cli.findings import Finding
    from ecsel.cli.preparing import Prepared
    from ecsel.cli.session import Session
    from ecsel.study import Study

HEADINGS = {
    "model": "model",
    "accuracy": "accuracy",
    "log_loss": "log-loss",
    "auc": "AUC",
    "rarest_recall": "recall of {rarest}",
    "r2": "R²",
    "rmse": "RMSE",
    "mae": "mean abs. error",
    "numbers": "numbers in the model",
}


def show_table(
    session: Session, prepared: Prepared, name: str, table_facts: list[Finding], warned: list[Finding]
) -> None:
    """Print what was read and what asks for a second look, before the work that may take long."""
    _heading(session, f"{name}: {prepared.n_read} rows, {len(prepared.encoder.inputs) + 1} columns")
    for finding in table_facts:
        _line(session, finding.text)
    _show_list(session, "Look twice", [f"! {finding.text}" for finding in warned], "yellow")


def show_fit(session: Session, study: Study, data: str, noted: list[Finding], output: Path | None, n_rows: int) -> None:
    """Print the equation of so many rows, its quality, what drives it, and what asks for a second look."""
    _heading(session, f"The equation, fitted to all {n_rows} rows")
    show_equations(session.out, study.model)
    if study.classes and is_readable(study.model):
        _show_list(session, aids_heading(study.model), reading_aids(study.model))
    else:
        for line in reading_aids(study.model):
            _line(session, line, "dim")
    if study.qualities:
        _show_quality(session, study)
    _show_list(
        session, "Strongest drivers", [f"{k}. {format_name(d.text)}" for k, d in enumerate(study.drivers, start=1)]
    )
    _show_list(session, "Look twice", [f"! {finding.text}" for finding in noted], "yellow")
    if session.verbose:
        _heading(session, "In detail")
        session.out.print(study.model.summary(), soft_wrap=True)
    session.out.print()
    if output is None:
        session.note("The model was not saved; add --output model.json to keep it.")
    else:
        source, target, model = map(shlex.quote, (data, study.target, str(output)))
        session.out.print(f"Wrote {output}. Next, for example:", soft_wrap=True)
        session.out.print(f"  ecsel info {model} {source} --row 1", soft_wrap=True)
        session.out.print(f"  ecsel report {source} -t {target} -m {model} -o report.html", soft_wrap=True)


def _show_quality(session: Session, study: Study) -> None:
    n_fitted = len(study.y) - len(study.held_out)
    _heading(session, f"Quality on {len(study.held_out)} held-out rows")
    session.out.print(Padding(quality_table(study), (0, 0, 0, 2)))
    for line in quality_notes(study, n_fitted):
        _line(session, line, "dim")


def quality_notes(study: Study, n_fitted: int) -> list[str]:
    """Return whose figures these are: those of a fit without the held-out rows, which may have found another equation.

    The equation above is evaluated on its own held-out folds, where the search has measured them.
    """
    model, first = study.model, study.qualities[0]
    what = "equation" if is_readable(model) or study.classes else "law"
    own = n_numbers(model)
    if first.numbers != own:
        trial = f"another {what}, of {_count(first.numbers)}, fitted to the other {n_fitted} rows"
        notes = [f"These figures are for {trial}; the {what} above has {_count(own)}."]
    else:
        notes = [f"These figures are for a fit to the other {n_fitted} rows, of the same size as the {what} above."]
    quality = getattr(model, "out_of_fold_", None)
    if quality is not None:
        area = "" if quality.auc is None else f", AUC {quality.auc:.3f}"
        figures = f"accuracy {quality.accuracy:.3f}, log-loss {quality.log_loss:.3f}{area}"
        notes.append(f"The {what} above on {held_out_name(model)}: {figures}.")
    rules = [(q.model, q.threshold) for q in study.qualities if isinstance(q, ClassQuality)]
    if getattr(model, "threshold", None) is not None and all(t is not None for _, t in rules):
        label = format_name(model.classes_.tolist()[1])
        each = ", ".join(f"{name} {threshold:.3g}" for name, threshold in rules)
        notes.append(f"Each model predicts {label} from this probability on: {each}.")
    return notes


def _count(n: int | None) -> str:
    return "1 number" if n == 1 else f"{n} numbers"


def _show_list(session: Session, heading: str, lines: list[str], style: str = "") -> None:
    if lines:
        _heading(session, heading)
    for line in lines:
        _line(session, line, style)


def quality_table(study: Study) -> Table:
    """Return the figures of the model and of its rivals on held-out rows."""
    table = Table(box=None, pad_edge=False, header_style="bold", padding=(0, 3, 0, 0))
    rows = study.quality_documents()
    rarest = format_name(rows[0].get("rarest"))
    fields = [field for field in rows[0] if field in HEADINGS]
    for field in fields:
        heading = HEADINGS[field].replace("{rarest}", rarest)
        left = field == "model"
        table.add_column(Text(heading), justify="left" if left else "right", no_wrap=left)
    for row in rows:
        table.add_row(*(_figure(field, row[field]) for field in fields))
    return table


def _figure(field: str, value: object) -> str:
    if value is None:
        return "–"
    if isinstance(value, float):
        return f"{value:.4g}" if field in {"rmse", "mae"} else f"{value:.3f}"
    return str(value)


def _heading(session: Session, text: str) -> None:
    session.out.print()
    session.out.print(Text(text, style="bold underline"), soft_wrap=True)


def _line(session: Session, text: str, style: str = "") -> None:
    show_prose(session.out, text, style)
