"""`ecsel fit`: from a table to an equation, and everything that a careful person would want to know."""

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ecsel.cli.errors import CommandError
from ecsel.cli.fit_options import KnownColumns, RequestedModel
from ecsel.cli.options import DataFile, Reading, Speech, grouped
from ecsel.cli.session import speaking
from ecsel.study.screening import TaskKind

if TYPE_CHECKING:
    from ecsel.cli.findings import Finding
    from ecsel.cli.preparing import ColumnOptions, Prepared
    from ecsel.cli.reading import TableFile
    from ecsel.cli.session import Session
    from ecsel.distributed import ParquetTable
    from ecsel.study import Study


@grouped
def fit(
    data: DataFile,
    target: Annotated[str, typer.Option("--target", "-t", metavar="COLUMN", help="The column to predict.")],
    output: Annotated[
        Path | None, typer.Option("--output", "-o", metavar="FILE", help="Write the model here, such as model.json.")
    ] = None,
    task: Annotated[TaskKind | None, typer.Option(help="By default decided by the target.")] = None,
    *,
    columns: KnownColumns,
    requested: RequestedModel,
    holdout: Annotated[
        float, typer.Option(min=0, max=0.9, metavar="SHARE", help="Rows held out to judge the model; 0 skips it.")
    ] = 0.25,
    seed: Annotated[int, typer.Option(help="Of the held-out rows and of random starts.")] = 0,
    reading: Reading,
    speech: Speech,
) -> None:
    """Learn an equation from a table, judge it on held-out rows, and write the model.

    \b
    ecsel fit loans.csv --target bad -o model.json
    ecsel fit loans.csv --target bad --drop zip --increasing debt -o model.json
    ecsel fit loans.csv --target bad --max-factors 5            a short equation
    ecsel fit loans.csv --target bad --n-terms 2 --l1 0.01      the paper's model
    ecsel fit orbits.parquet --target period --task regression

    The quality is measured on held-out rows; the model that is written is fitted on all rows. Of a Parquet file with
    millions of rows, or a folder of such files, a sample is looked at, and all rows are fitted in batches.
    """  # noqa: D301 - \b tells the help not to wrap the lines
    from ecsel.cli.findings import cautions, facts, fit_cautions
    from ecsel.cli.fit_report import show_fit, show_table
    from ecsel.cli.info import bare_equations
    from ecsel.cli.large import fit_all
    from ecsel.cli.preparing import prepare
    from ecsel.cli.writing import check_writable, save_model
    from ecsel.study.study import STAGES, Study

    with speaking(speech) as session:
        check_writable(output)
        table, large = _read(session, data, reading)
        asked, requested = columns.as_options(), requested.with_new_names(session)
        prepared = prepare(table, target, task=task, options=asked, as_law=requested.goal == "law")
        if large is not None:
            prepared, asked = _for_batches(prepared, asked, table.name)
        options = requested.arguments(prepared, asked) | {"random_state": seed, "verbose": int(session.verbose)}
        choose = requested.chooser()
        table_facts = facts(prepared, readable=requested.l1 is None)
        warned = cautions(prepared, rare_is_handled=requested.handles_rare_classes)
        in_words = not (session.as_json or session.quiet)
        if in_words:
            show_table(session, prepared, table.name, table_facts, warned)
        with session.stages(STAGES) as begin:
            found = Study.of(
                prepared.X,
                prepared.y,
                unfitted(prepared, options),
                holdout=holdout,
                seed=seed,
                target=prepared.target,
                plain=prepared.plain,
                begin=begin,
                choose=choose,
                whole=None if large is None else fit_all(large, prepared),
            )
        if output is not None:
            save_model(found.model, output)
        noted = fit_cautions(found)
        if session.as_json:
            session.json("fit", document(found, prepared, table.name, table_facts, [*warned, *noted], output))
        elif in_words:
            show_fit(session, found, data, noted, output, len(found.y) if large is None else large.n_rows)
        else:
            bare_equations(session, found.model)


def _read(session: "Session", path: str, reading: Reading) -> "tuple[TableFile, ParquetTable | None]":
    """Return the table, or a sample of a large one and the whole of it."""
    from ecsel.cli.large import large_table, looked_at
    from ecsel.cli.reading import read_file

    large = large_table(path)
    table = read_file(path, reading) if large is None else looked_at(large)
    for remark in table.remarks:
        session.note(remark)
    return table, large


def _for_batches(prepared: "Prepared", asked: "ColumnOptions", name: str) -> "tuple[Prepared, ColumnOptions]":
    """Return the columns that take part alone: of a large table the others are not even read."""
    if prepared.task.kind == "regression":
        raise CommandError(f"{name} is too large for a law to be looked for in all rows; give a sample of them.")
    used = [column for column in prepared.encoder.inputs if column not in prepared.dropped]
    keep = [column for column in asked.keep if column in used]
    return replace(prepared, X=prepared.X[used]), replace(asked, drop=(), keep=keep)


def unfitted(prepared: "Prepared", options: dict[str, Any]) -> Any:
    """Return the unfitted model for a table."""
    from ecsel import ECSELClassifier, ECSELRegressor

    return ECSELClassifier(**options) if prepared.task.kind == "classification" else ECSELRegressor(**options)


def document(
    found: "Study",
    prepared: "Prepared",
    name: str,
    table_facts: "list[Finding]",
    warned: "list[Finding]",
    output: Path | None,
) -> dict[str, Any]:
    """Return everything that the fit found as plain values."""
    from ecsel.cli.info import describe

    return {
        "data": name,
        "target": prepared.target,
        "task": prepared.task.kind,
        "rows": {
            "read": prepared.n_read,
            "without_target": prepared.n_without_target,
            "incomplete": prepared.n_incomplete,
            "fitted": len(prepared.y),
            "held_out": len(found.held_out),
        },
        "classes": [{"label": label, "rows": n} for label, n in prepared.classes.items()],
        "dropped": [{"column": column, "why": why} for column, why in prepared.dropped.items()],
        "missing": prepared.missing,
        "quality": found.quality_documents(),
        "drivers": [{"column": d.column, "strength": d.strength, "text": d.text} for d in found.drivers],
        "facts": [{"kind": finding.kind, "text": finding.text} for finding in table_facts],
        "warnings": [{"kind": finding.kind, "text": finding.text} for finding in warned],
        "model": describe(found.model),
        "output": None if output is None else str(output),
    }
