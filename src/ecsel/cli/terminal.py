"""What `ecsel demo` prints. The console has markup off; style comes from `Text` objects, so names cannot inject any."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from ecsel import __version__
from ecsel.cli.demo import MAX_FACTORS
from ecsel.cli.equations import aids_heading, reading_aids, show_equations, show_example, show_prose
from ecsel.cli.fit_report import quality_table
from ecsel.cli.wording import factor_of_odds, number, sentence
from ecsel.signomial.text import format_name

if TYPE_CHECKING:
    from pathlib import Path

    from rich.console import Console, RenderableType

    from ecsel import ECSELClassifier
    from ecsel.cli.explained_row import ExplainedRow
    from ecsel.study import Study

SENTENCES = 3
BAR = 16


def show_study(console: Console, study: Study, row: ExplainedRow, title: str) -> None:
    """Print the table, the equations, the quality and the explained row."""
    n_held_out = len(study.held_out)
    fitted = len(study.y) - n_held_out
    console.print(Text(f"ecsel {__version__}", style="bold"), "closed-form equations from tables")
    _heading(console, "The table")
    _prose(console, f"{title}.")
    _prose(
        console,
        f"{fitted + n_held_out} rows, {study.X.shape[1]} columns: {fitted} rows to fit, {n_held_out} held out.",
    )
    _show_model(console, study)
    _heading(console, f"Quality on the {n_held_out} held-out rows")
    _indented(console, quality_table(study))
    _prose(console, "One split of a small table: small differences may be chance.")
    _show_row(console, study.model, row)


def show_written(console: Console, written: dict[str, Path]) -> None:
    """Print where the files are."""
    _heading(console, "Written")
    for what, path in written.items():
        # a path that is cut or folded cannot be copied
        console.print(Text.assemble("  ", (str(path), "bold"), f"  {what}"), soft_wrap=True)


def _show_model(console: Console, study: Study) -> None:
    several = len(study.model.equations_) > 1
    what = "one equation per class, each of" if several else "one equation of"
    _heading(console, f"The model: {what} at most {MAX_FACTORS} factors, fitted in {study.seconds:.1f} s")
    show_equations(console, study.model, other_sizes=False)
    aids = reading_aids(study.model)
    if aids:
        _heading(console, aids_heading(study.model))
    for line in aids:
        show_prose(console, line)


def _show_row(console: Console, model: ECSELClassifier, row: ExplainedRow) -> None:
    a, b = format_name(row.predicted), format_name(row.rival)
    _heading(console, "One row by hand: the held-out row that the model is least sure of")
    show_example(console, model, row.example)
    outcome = "which is right" if row.predicted == row.truth else f"but it is {format_name(row.truth)}"
    _heading(console, f"Why {a} rather than {b}?")
    _prose(console, f"Predicted {a} with probability {row.probability:.3f}, {outcome}.")
    for reason in row.reasons[:SENTENCES]:
        _prose(console, f"• {sentence(reason, row.predicted, row.rival)}.")
    table = Table(box=None, pad_edge=False, header_style="bold", padding=(0, 2, 0, 0))
    table.add_column("column", overflow="fold")
    table.add_column("value", justify="right")
    table.add_column(Text(f"odds {a} : {b}"), justify="right")
    table.add_column()
    largest = max((abs(r.log_odds) for r in row.reasons), default=1.0)
    table.add_row("a typical row", "", f"{np.exp(row.base):.3g}", "")
    for r in row.reasons:
        style = "green" if r.log_odds > 0 else "red"
        bar = Text("█" * max(1, round(BAR * abs(r.log_odds) / largest)), style=style)
        table.add_row(Text(format_name(r.column)), number(r.value), Text(factor_of_odds(r.odds), style=style), bar)
    table.add_row(Text("this row", style="bold"), "", Text(f"{np.exp(row.margin):.3g}", style="bold"), "")
    _indented(console, table, above=1, below=1)
    _prose(console, "A typical row has the median of every column. The factors are exact Shapley values.")
    _prose(console, "The odds of the typical row times all factors are the odds of this row.")


def _heading(console: Console, text: str) -> None:
    console.print()
    console.print(Text(text, style="bold underline"))


def _prose(console: Console, text: str) -> None:
    _indented(console, Text(text))


def _indented(console: Console, content: RenderableType, *, above: int = 0, below: int = 0) -> None:
    console.print(Padding(content, (above, 0, below, 2), expand=False), width=min(console.width, 120))
