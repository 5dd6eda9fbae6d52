"""`ecsel what-if`: the exact outcome of changing columns (property G2).

A change is a column's name, `=` or `+=`, `-=`, `*=`, and a value. Names are data and may hold these signs themselves,
so a change is matched against the names that the model knows, the longest first.
"""

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ecsel.cli.errors import CommandError
from ecsel.cli.options import Csv, DataFile, ModelFile, Reading, Row, Speech, TableOutput, grouped
from ecsel.cli.session import speaking
from ecsel.cli.wording import number
from ecsel.signomial.text import format_name

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ecsel.cli.session import Session
    from ecsel.explain import ModelView, WhatIf

PERCENT = re.compile(r"([+-]\d+(?:\.\d+)?)\s*%")
OPERATORS = ("+=", "-=", "*=", "=")


@grouped
def what_if(
    data: DataFile,
    model: ModelFile,
    change: Annotated[
        list[str],
        typer.Option("--set", "-s", metavar="CHANGE", help="income=+20%, income=5e4, income+=500, age*=1.1, home=own."),
    ],
    row: Row = None,
    output: TableOutput = None,
    *,
    reading: Reading,
    csv: Csv,
    speech: Speech,
) -> None:
    """Change columns and see the exact outcome, for one row or for all.

    \b
    ecsel what-if new.csv -m model.json --row 1 --set income=+20%
    ecsel what-if new.csv -m model.json --set debt-=1000 --set home=own

    An empty value (income=) makes the column missing.
    """  # noqa: D301 - \b tells the help not to wrap the lines
    from ecsel import explain
    from ecsel.cli.models import chosen_row, load_model, plain_features, read_for
    from ecsel.cli.tables import put
    from ecsel.cli.writing import check_table_path

    with speaking(speech, safe_csv=csv.safe_csv) as session:
        check_table_path(output)
        fitted = load_model(model)
        view = explain.ModelView.of(fitted)
        changes = parse_changes(change, view)
        table = read_for(fitted, data, reading)
        X = plain_features(fitted, table)
        if row is not None:
            i = chosen_row(table, row)
            X = X.iloc[i : i + 1]
        X = X.set_axis(range(row or 1, (row or 1) + len(X)))
        result = explain.what_if(view, X, changes.factors, set=changes.new_values, add=changes.amounts)
        outcome = outcomes(result)
        if session.as_json:
            document = {"changes": changes.lines, "rows": outcome.to_dict("records"), "summary": summary(result)}
            session.json("what-if", {"model": str(model), "data": table.name, **document})
        elif not (csv.as_csv or session.quiet):
            session.out.print("If " + "; ".join(changes.lines) + ":", soft_wrap=True)
            for name in changes.without_effect(view):
                session.out.print(f"  {format_name(name)} is not in the equation: it changes nothing", soft_wrap=True)
            _print_summary(session, result)
        if output is not None or not session.as_json:
            put(session, outcome, as_csv=csv.as_csv, output=output, what="outcomes")


@dataclass(slots=True)
class Changes:
    """Changes by kind, as `explain.what_if` takes them, and in words."""

    factors: dict[str, float] = field(default_factory=dict)
    new_values: dict[str, Any] = field(default_factory=dict)
    amounts: dict[str, float] = field(default_factory=dict)
    lines: list[str] = field(default_factory=list)

    def without_effect(self, view: "ModelView") -> list[str]:
        """Return the columns that are changed and that the model does not use."""
        used = set(used_names(view))
        return [name for name in (*self.factors, *self.new_values, *self.amounts) if name not in used]


def used_names(view: "ModelView") -> list[str]:
    """Return the columns that some term depends on."""
    uses = set(view.feature_groups[view.terms.uses.any(axis=0)].tolist())
    return [name for j, name in enumerate(view.raw_names) if j in uses]


def parse_changes(texts: "Sequence[str]", view: "ModelView") -> Changes:
    """Return the changes that a person wrote."""
    changes = Changes()
    for text in texts:
        name, operator, value = split_change(text, view.raw_names)
        if name in {**changes.factors, **changes.new_values, **changes.amounts}:
            raise CommandError(f"--set changes the column {name!r} twice.")
        levels = view.levels(view.column_position(name))
        percent = PERCENT.fullmatch(value)
        if operator == "=" and levels is None and percent:
            changes.factors[name] = 1 + float(percent[1]) / 100
            changes.lines.append(f"{format_name(name)} changes by {percent[1]} %")
        elif operator == "=":
            changes.new_values[name] = _value(name, value, levels)
            changes.lines.append(f"{format_name(name)} is {format_name(value) if value else 'missing'}")
        elif levels is not None:
            raise CommandError(f"the column {name!r} holds levels; set it to one of {', '.join(map(repr, levels))}.")
        elif operator == "*=":
            changes.factors[name] = _number(name, value)
            changes.lines.append(f"{format_name(name)} is multiplied by {value}")
        else:
            changes.amounts[name] = _number(name, value) * (-1 if operator == "-=" else 1)
            changes.lines.append(f"{format_name(name)} changes by {changes.amounts[name]:+g}")
    return changes


def split_change(text: str, names: "Sequence[str]") -> tuple[str, str, str]:
    """Return the column, the operator and the value of a change; the longest name that fits is meant.

    >>> split_change("a+=b", ["a"]), split_change("a+=b", ["a", "a+"])
    (('a', '+=', 'b'), ('a+', '=', 'b'))
    """
    for name in sorted(names, key=len, reverse=True):
        rest = text.removeprefix(name) if text.startswith(name) else ""
        for operator in OPERATORS:
            if rest.startswith(operator):
                return name, operator, rest.removeprefix(operator).strip()
    listed = ", ".join(map(repr, names[:8])) + (", …" if len(names) > 8 else "")
    raise CommandError(f"--set {text!r}: write COLUMN=VALUE or COLUMN=+20%, with a column of the model: {listed}.")


def _value(name: str, text: str, levels: tuple[Any, ...] | None) -> Any:
    if levels is None:
        return _number(name, text) if text else float("nan")
    if not text:
        return None
    for level in levels:
        if str(level) == text:
            return level
    raise CommandError(f"the column {name!r} has no level {text!r}; its levels are {', '.join(map(repr, levels))}.")


def _number(name: str, text: str) -> float:
    try:
        return float(text)
    except ValueError:
        raise CommandError(
            f"the column {name!r} holds numbers, and {text!r} is none; write 500, 5e4 or +20%."
        ) from None


def outcomes(result: "WhatIf") -> Any:
    """Return a line per row and class: before, after, change; of two classes the second tells all."""
    frame = result.to_frame()
    if len(result.classes) == 2:
        frame = frame[frame["class"] == result.classes[1]]
    return frame.drop(columns="class") if not result.view.has_classes else frame.reset_index(drop=True)


def summary(result: "WhatIf") -> dict[str, Any]:
    """Return the mean outcome per class before and after, and how many decisions change."""
    before, after = result.base_outputs, result.values
    means = {
        str(label): {"before": before[:, c].mean(), "after": after[:, c].mean()}
        for c, label in enumerate(result.classes)
    }
    if not result.view.has_classes:
        return {"mean": means}
    changed = result.view.decisions(before) != result.view.decisions(after)
    return {"mean": means, "decisions_changed": int(changed.sum()), "n_rows": len(changed)}


def _print_summary(session: "Session", result: "WhatIf") -> None:
    found, many = summary(result), len(result.values) > 1
    what = "probability of " if result.view.has_classes else ""
    labels = result.classes[1:] if len(result.classes) == 2 else result.classes
    for label in labels:
        means = found["mean"][str(label)]
        change = f"{number(means['before'])} → {number(means['after'])}"
        message = f"  {'mean ' if many else ''}{what}{format_name(label)}: {change}"
        session.out.print(message, soft_wrap=True)
    if result.view.has_classes:
        if many:
            session.out.print(f"  decisions that change: {found['decisions_changed']} of {found['n_rows']}")
        else:
            before, after = (result.view.decisions(z)[0] for z in (result.base_outputs, result.values))
            same = "stays" if before == after else f"changes from {format_name(result.classes[before])} to"
            session.out.print(f"  the decision {same} {format_name(result.classes[after])}")
    session.out.print()
