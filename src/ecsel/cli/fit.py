"""`ecsel fit`: from a table to an equation, and everything that a careful person would want to know."""

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ecsel._version import OLD_NAMES_GO_IN
from ecsel.cli.options import DataFile, Delimiter, Encoding, Json, Quiet, Sheet, Verbose
from ecsel.cli.session import speaking
from ecsel.study.screening import TaskKind

if TYPE_CHECKING:
    from collections.abc import Callable

    from ecsel.cli.findings import Finding
    from ecsel.cli.preparing import Prepared
    from ecsel.cli.session import Session
    from ecsel.study import Study

COLUMNS, MODEL = "Columns", "Model"
Names = list[str] | None


def fit(
    data: DataFile,
    target: Annotated[str, typer.Option("--target", "-t", metavar="COLUMN", help="The column to predict.")],
    output: Annotated[
        Path | None, typer.Option("--output", "-o", metavar="FILE", help="Write the model here, such as model.json.")
    ] = None,
    task: Annotated[TaskKind | None, typer.Option(help="By default decided by the target.")] = None,
    drop: Annotated[
        Names, typer.Option(metavar="COLUMN", help="Leave out; may be repeated.", rich_help_panel=COLUMNS)
    ] = None,
    keep: Annotated[
        Names,
        typer.Option(metavar="COLUMN", help="Use, although it looks like an identifier.", rich_help_panel=COLUMNS),
    ] = None,
    categorical: Annotated[
        Names, typer.Option(metavar="COLUMN", help="Numbers that are names of categories.", rich_help_panel=COLUMNS)
    ] = None,
    missing_codes: Annotated[
        str,
        typer.Option(
            metavar="CODES",
            help="Values that mean missing, such as -999,9999; none for none of them.",
            rich_help_panel=COLUMNS,
        ),
    ] = "auto",
    increasing: Annotated[
        Names,
        typer.Option(
            metavar="COLUMN", help="Promise: more of it never lowers the second class.", rich_help_panel=MODEL
        ),
    ] = None,
    decreasing: Annotated[
        Names, typer.Option(metavar="COLUMN", help="Promise: more of it never raises it.", rich_help_panel=MODEL)
    ] = None,
    max_factors: Annotated[
        int | None,
        typer.Option(
            min=1,
            metavar="N",
            help="Most factors of an equation; x*log(y) has two. \\[default: 20]",
            rich_help_panel=MODEL,
        ),
    ] = None,
    max_terms: Annotated[
        int | None, typer.Option(min=1, metavar="N", help="Most terms of an equation.", rich_help_panel=MODEL)
    ] = None,
    n_terms: Annotated[
        int | None,
        typer.Option(
            "--n-terms",
            "--terms",
            min=1,
            metavar="K",
            help="Exactly so many terms; by default chosen.",
            rich_help_panel=MODEL,
        ),
    ] = None,
    digits: Annotated[
        int | None,
        typer.Option(
            min=0, metavar="N", help="Digits of a coefficient; 0 keeps all. \\[default: 2]", rich_help_panel=MODEL
        ),
    ] = None,
    thresholds: Annotated[
        bool,
        typer.Option("--thresholds", help="Pieces may be thresholds too, such as \\[age > 40].", rich_help_panel=MODEL),
    ] = False,
    l1: Annotated[
        float | None,
        typer.Option(
            "--l1",
            metavar="λ",
            help="The paper's model instead: real exponents, this penalty, and --n-terms.",
            rich_help_panel=MODEL,
        ),
    ] = None,
    threshold: Annotated[
        str | None,
        typer.Option(
            metavar="P",
            help="Two classes: predict the second from here on; or f1, weighted_f1, youden.",
            rich_help_panel=MODEL,
        ),
    ] = None,
    class_weight: Annotated[
        str | None, typer.Option(metavar="balanced", help="Let rare classes count more.", rich_help_panel=MODEL)
    ] = None,
    calibrate: Annotated[
        bool, typer.Option("--calibrate", help="Probabilities to rely on, by a temperature.", rich_help_panel=MODEL)
    ] = False,
    criterion: Annotated[
        str,
        typer.Option(
            metavar="WHAT",
            help="Of a quantity: the exact law (law, the default) or the equation that predicts best (prediction).",
            rich_help_panel=MODEL,
        ),
    ] = "",
    select: Annotated[
        str,
        typer.Option(metavar="N", help="The equation of the front with so many factors.", rich_help_panel=MODEL),
    ] = "",
    time_limit: Annotated[
        float | None,
        typer.Option(metavar="SECONDS", help="Stop the search then, with the best so far.", rich_help_panel=MODEL),
    ] = None,
    holdout: Annotated[
        float, typer.Option(min=0, max=0.9, metavar="SHARE", help="Rows held out to judge the model; 0 skips it.")
    ] = 0.25,
    seed: Annotated[int, typer.Option(help="Of the held-out rows and of random starts.")] = 0,
    delimiter: Delimiter = None,
    encoding: Encoding = None,
    sheet: Sheet = None,
    as_json: Json = False,
    quiet: Quiet = False,
    verbose: Verbose = False,
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
    from ecsel.cli.errors import CommandError
    from ecsel.cli.findings import cautions, facts, fit_cautions
    from ecsel.cli.fit_report import show_fit, show_table
    from ecsel.cli.info import bare_equations
    from ecsel.cli.large import fit_all, large_table, looked_at
    from ecsel.cli.preparing import ColumnOptions, prepare
    from ecsel.cli.reading import ReadOptions, read_file
    from ecsel.cli.writing import check_writable, save_model
    from ecsel.study.study import STAGES, Study

    with speaking(as_json=as_json, quiet=quiet, verbose=verbose) as session:
        check_writable(output)
        reading, large = ReadOptions(delimiter, encoding, sheet), large_table(data)
        table = read_file(data, reading) if large is None else looked_at(large)
        for remark in table.remarks:
            session.note(remark)
        asked = ColumnOptions(drop or (), keep or (), categorical or (), _missing_codes(missing_codes))
        criterion, select = _new_names(session, criterion, select)
        prepared = prepare(table, target, task=task, options=asked, as_law=_goal(criterion, select) == "law")
        if large is not None and prepared.task.kind == "regression":
            raise CommandError(
                f"{table.name} is too large for a law to be looked for in all rows; give a sample of them."
            )
        if large is not None:  # the others are not even read
            used = [name for name in prepared.encoder.inputs if name not in prepared.dropped]
            prepared = replace(prepared, X=prepared.X[used])
            asked = replace(asked, drop=(), keep=[name for name in asked.keep if name in used])
        promises = {**dict.fromkeys(increasing or (), +1), **dict.fromkeys(decreasing or (), -1)}
        of_search = {
            "max_factors": max_factors,
            "digits": digits,
            "thresholds": thresholds or None,
            **asked.as_arguments(),
        }
        of_classes = {
            "l1": l1,
            "threshold": _threshold(threshold),
            "class_weight": class_weight,
            "calibrate": calibrate or None,
            "monotone": promises or None,
        }
        if l1 is not None and n_terms is None:
            raise CommandError("--l1 belongs to the paper's model, which has a given number of terms: add --n-terms K.")
        options = _options(prepared, of_search, of_classes, criterion, select)
        options |= {"n_terms": n_terms or "auto", "max_terms": max_terms, "time_limit": time_limit}
        options |= {"random_state": seed, "verbose": int(verbose)}
        choose = _chooser(select)
        table_facts = facts(prepared, readable=l1 is None)
        warned = cautions(prepared, rare_is_handled=threshold is not None or class_weight is not None)
        in_words = not (session.as_json or session.quiet)
        if in_words:
            show_table(session, prepared, table.name, table_facts, warned)
        with session.stages(STAGES) as begin:
            whole = None if large is None else fit_all(large, prepared)
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
                whole=whole,
            )
        if output is not None:
            save_model(found.model, output)
        noted = fit_cautions(found)
        if as_json:
            session.json("fit", document(found, prepared, table.name, table_facts, [*warned, *noted], output))
        elif in_words:
            show_fit(session, found, data, noted, output)
        else:
            bare_equations(session, found.model)


def _new_names(session: "Session", criterion: str, select: str) -> tuple[str, str]:
    """Return both options, a criterion taken from its old name."""
    if select in {"law", "prediction"}:
        session.note(f"--select {select} is now --criterion {select}; the old name goes in {OLD_NAMES_GO_IN}.")
        return select, ""
    return criterion, select


def _goal(criterion: str, select: str) -> str:
    """Return what a quantity asks for: a number of factors is one of a prediction."""
    return criterion or ("prediction" if select.isdigit() else "law")


def _options(
    prepared: "Prepared", of_search: dict[str, Any], of_classes: dict[str, Any], criterion: str, select: str
) -> dict[str, Any]:
    """Return the options that were given, for the estimator of the task; a law knows neither kind."""
    from ecsel.cli.errors import CommandError

    goal = _goal(criterion, select)
    if prepared.task.kind == "classification":
        if criterion:
            raise CommandError(f"--criterion is for a quantity, but {prepared.target!r} is taken for classes.")
        _check_threshold(prepared, of_classes["threshold"])
        given, foreign, implied = {**of_search, **of_classes}, {}, {}
    elif goal == "prediction":
        given, foreign, implied = of_search, of_classes, {"criterion": goal}
    elif goal == "law":
        given, foreign, implied = {}, {**of_classes, **of_search}, {"criterion": goal}
    else:
        raise CommandError(f"--criterion {criterion!r}: use law or prediction.")
    for name, value in foreign.items():
        if value is not None and name not in {"drop", "keep", "categorical", "missing_codes"}:
            hint = "; --criterion prediction takes it" if name in of_search else ""
            option = name.replace("_", "-")
            raise CommandError(f"--{option} is for classes, but {prepared.target!r} is taken for a quantity{hint}.")
    chosen = {name: value for name, value in given.items() if value is not None}
    if goal == "law" and prepared.task.kind == "regression":
        chosen = {}  # a law is sought in the columns that were prepared for it
    if "digits" in chosen:
        chosen["digits"] = chosen["digits"] or None
    return {**implied, **chosen}


def _chooser(select: str) -> "Callable[[Any], Any]":
    """Return the function that takes the wanted candidate of a search, the largest of at most so many factors."""
    from ecsel.cli.errors import CommandError

    if not select:
        return lambda model: model
    if not select.isdigit():
        raise CommandError(f"--select {select!r}: it is a number of factors, as the front tells.")

    def choose(model: Any) -> Any:
        fitting = [i for i, candidate in enumerate(model.path_) if candidate.size <= int(select)]
        return model.select(max(fitting, key=lambda i: model.path_[i].size)) if fitting else model

    return choose


def _missing_codes(text: str) -> Any:
    """Return the codes for missing values that a person wrote: numbers, or words."""
    if text == "auto":
        return text
    words = [] if text == "none" else [word.strip() for word in text.split(",")]
    return [_number_or_word(word) for word in words] or None


def _number_or_word(text: str) -> float | str:
    try:
        return float(text)
    except ValueError:
        return text


def _check_threshold(prepared: "Prepared", threshold: float | str | None) -> None:
    """Refuse a threshold of more than two classes, before anything is said of the table."""
    from ecsel.cli.errors import CommandError

    n, name = len(prepared.classes), prepared.target
    if threshold is not None and n > 2:
        raise CommandError(f"--threshold is for two classes, but {name!r} has {n}; the likeliest of them is predicted.")


def _threshold(text: str | None) -> float | str | None:
    try:
        return None if text is None else float(text)
    except ValueError:
        return text


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
