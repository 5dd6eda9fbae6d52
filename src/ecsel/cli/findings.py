"""What a fit found, in words: facts about the table, and warnings that ask for a second look."""

from __future__ import annotations

import shlex
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ecsel.cli.models import is_readable
from ecsel.cli.preparing import left_out_note
from ecsel.signomial.text import counted, format_name
from ecsel.study.screening import MAX_CLASSES, NOT_NUMBERS, coded_columns, listed, rare_class, tiny_classes
from ecsel.tables.cautions import ADVICE
from ecsel.tables.readings import AS_TEXT, MISSING_CODES_OFF

if TYPE_CHECKING:
    from ecsel.cli.preparing import Prepared
    from ecsel.study import Study

KIND_WORDS = {"numbers": "of numbers", "levels": "with levels", "yes/no": "yes/no", "dates": "of dates"}


MIN_SHARE = 0.0005
"""Smaller shares would print as 0.0 %."""
LEFT_OUT = ("was left out.", "keeps it.", ": as asked.")
"""How notes end that tell of a column that takes no part."""

MISSING_READABLE = "a missing number counts as the median, and [column missing] may be a piece of the equation"
MISSING_PAPER = "a missing value is a factor of its own (column=?) in the equations"


QUESTIONS: dict[str, tuple[str, str]] = {
    "afterwards": (
        "this sounds like something known only afterwards; is it known when the model is used?",
        "these sound like something known only afterwards; are they known when the model is used?",
    ),
    "protected": (
        "this may be a protected attribute; may it be used? (ecsel report --group compares its groups.)",
        "these may be protected attributes; may they be used? (ecsel report --group compares their groups.)",
    ),
}


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing worth knowing; `kind` is a fixed word that scripts may rely on."""

    kind: str
    text: str


def facts(prepared: Prepared, *, readable: bool = True) -> list[Finding]:
    """Return what was read and what was done to it; `readable` tells the search from the paper's model."""
    task = prepared.task
    other = "regression" if task.kind == "classification" else "classification"
    what = "classes" if other == "regression" else "a quantity"
    fixed = task.why in {"as asked", NOT_NUMBERS}
    override = "" if fixed else f" (--task {other} overrides this)"
    found = [Finding("task", f"{task.kind}: {format_name(prepared.target)} is taken for {what}: {task.why}{override}")]
    if prepared.classes:
        ranked = sorted(prepared.classes.items(), key=lambda pair: -pair[1])
        classes = [f"{format_name(label)}: {n}" for label, n in ranked[:MAX_CLASSES]]
        more = f" and {len(ranked) - MAX_CLASSES} more" if len(ranked) > MAX_CLASSES else ""
        found.append(Finding("classes", f"rows per class: {', '.join(classes)}{more}"))
    kept = column_kinds(prepared)
    kinds = [f"{kept.count(kind)} {words}" for kind, words in KIND_WORDS.items() if kind in kept]
    found.append(Finding("columns", f"{counted(len(kept), 'column')} to learn from: {', '.join(kinds)}"))
    if coded := coded_columns(prepared.plain):
        how = "quantities, and each value may also be a piece" if readable else "quantities"
        line = f"columns of few whole numbers are read as {how}: {listed(coded)} (--categorical if they are only codes)"
        found.append(Finding("coded", line))
    found += [Finding("dropped", f"left out {format_name(name)}: {why}") for name, why in prepared.dropped.items()]
    found += [
        Finding("reading", format_name(_for_the_command_line(note)))
        for note in prepared.encoder.changes
        if not note.endswith(LEFT_OUT) and not note.startswith(tuple(map(left_out_note, prepared.dropped)))
    ]
    return found + _missing(prepared, readable=readable)


def _missing(prepared: Prepared, *, readable: bool) -> list[Finding]:
    found = []
    if prepared.n_without_target:
        found.append(Finding("missing", f"{prepared.n_without_target} rows without a target were left out"))
    if prepared.missing:
        n = prepared.n_read - prepared.n_without_target
        ranked = sorted(prepared.missing.items(), key=lambda pair: -pair[1])
        columns = [f"{format_name(name)} {_share(count, n)}" for name, count in ranked[:6]]
        more = f" and {len(ranked) - 6} more columns" if len(ranked) > 6 else ""
        outcome = (
            f"; {prepared.n_incomplete} rows were left out, since a law needs every value"
            if prepared.n_incomplete
            else f"; {MISSING_READABLE if readable else MISSING_PAPER}"
        )
        found.append(Finding("missing", f"missing values: {', '.join(columns)}{more}{outcome}"))
    return found


def _share(count: int, n: int) -> str:
    """Return a number of rows as a share, and as it is where the share would be 0.0 %.

    >>> _share(150, 1000), _share(1, 2381)
    ('15.0 %', 'in 1 row')
    """
    return f"{100 * count / n:.1f} %" if count / n >= MIN_SHARE else f"in {counted(count, 'row')}"


def _for_the_command_line(note: str) -> str:
    """Return a note with the options of the command in the place of those of Python."""
    return note.replace(MISSING_CODES_OFF, "--missing-codes none turns this off").replace(
        AS_TEXT, "--categorical keeps the text"
    )


def column_kinds(prepared: Prepared) -> list[str]:
    """Return what the columns that take part hold, a date once."""
    dates = {name for reading in prepared.encoder.readings if reading.kind == "date" for name in reading.names}
    n_dates = sum(reading.kind == "date" for reading in prepared.encoder.readings)
    columns = {column.name: column for column in prepared.encoder.columns}
    found = ["dates"] * n_dates
    for name in map(str, prepared.plain.columns):
        if name not in dates:
            column = columns[name]
            is_truth = getattr(column, "dtype", "") == "boolean"
            found.append("yes/no" if is_truth else "numbers" if column.kind == "numeric" else "levels")
    return found


def cautions(prepared: Prepared, *, rare_is_handled: bool = False) -> list[Finding]:
    """Return what asks for a second look before the fit."""
    found = []
    for kind, advice in ADVICE.items():
        own = [each for each in prepared.cautions if each.kind == kind]
        if kind == "leakage":
            found += [
                Finding(kind, f"{format_name(each.text)}: {advice} with --drop {shlex.quote(each.column)}")
                for each in own
            ]
        elif own:
            names = " ".join(f"--drop {shlex.quote(each.column)}" for each in own)
            line = f"{listed([each.column for each in own], len(own))}: {QUESTIONS[kind][len(own) > 1]}"
            found.append(Finding(kind, f"{line} If not: {names}"))
    return found + (_class_cautions(prepared, rare_is_handled=rare_is_handled) if prepared.classes else [])


def fit_cautions(study: Study) -> list[Finding]:
    """Return what asks for a second look at the fitted model."""
    found = []
    if study.unstable:
        what = "features" if study.classes else "exponents"
        found.append(Finding("unstable", f"unstable {what}: with other rows {_all(study)} could change sign or vanish"))
    if not study.classes and not study.model.law_found_:
        line = "no law was found, so the prediction is a constant; try --criterion prediction, or more rows"
        if is_readable(study.model):
            line = "no column predicts better than a constant; try more rows, or other columns"
        found.append(Finding("no_law", line))
    return found


def _all(study: Study) -> str:
    return listed(list(study.unstable))


def _class_cautions(prepared: Prepared, *, rare_is_handled: bool) -> list[Finding]:
    counts, found = prepared.classes, []
    tiny = tiny_classes(counts)
    if tiny:
        line = ", ".join(f"{format_name(label)} ({n})" for label, n in tiny.items())
        found.append(
            Finding(
                "tiny_class",
                f"too few rows to learn or judge a class: {line}; merge it with another class, or leave out its rows",
            )
        )
    rare = rare_class(counts)
    if rare is not None and not tiny:
        label, share = rare
        percent = f"{100 * share:.2g} %"
        advice = "--threshold f1 or --class-weight balanced" if len(counts) == 2 else "--class-weight balanced"
        line = f"only {percent} of the rows are {format_name(label)}: accuracy says little, look at AUC and recall"
        more = "" if rare_is_handled else f"; {advice} finds more of them"
        found.append(Finding("imbalance", line + more))
    return found
