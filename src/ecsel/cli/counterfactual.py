"""`ecsel counterfactual`: the least changes of one row that reach another decision, a probability or a value."""

from typing import TYPE_CHECKING, Annotated, Any

import typer

from ecsel.cli.errors import CommandError
from ecsel.cli.options import Csv, DataFile, ModelFile, Reading, Row, Speech, grouped
from ecsel.cli.session import speaking
from ecsel.cli.wording import number
from ecsel.signomial.text import format_name

if TYPE_CHECKING:
    from collections.abc import Sequence

    import pandas as pd

    from ecsel.cli.session import Session
    from ecsel.explain import Counterfactual, ModelView

ENOUGH_ROWS = 20
"""From so many rows on, the file itself tells how far its columns usually spread."""


@grouped
def counterfactual(
    data: DataFile,
    model: ModelFile,
    row: Row = None,
    target: Annotated[
        str | None,
        typer.Option(metavar="CLASS", help="The class to reach (any other); of a law a range such as 10:20 or 10:"),
    ] = None,
    probability: Annotated[
        float | None, typer.Option(metavar="P", help="Reach this probability of the class, not just the decision.")
    ] = None,
    n: Annotated[int, typer.Option("--number", "-n", min=1, help="Most answers; each changes other columns.")] = 3,
    fixed: Annotated[
        list[str] | None,
        typer.Option(
            metavar="COLUMN", help="Stays as it is; may be repeated. By default columns named like age, sex or race."
        ),
    ] = None,
    increase: Annotated[list[str] | None, typer.Option(metavar="COLUMN", help="May only increase.")] = None,
    decrease: Annotated[list[str] | None, typer.Option(metavar="COLUMN", help="May only decrease.")] = None,
    within: Annotated[
        list[str] | None, typer.Option("--range", metavar="COLUMN=LOW:HIGH", help="Where a column may move.")
    ] = None,
    *,
    reading: Reading,
    csv: Csv,
    speech: Speech,
) -> None:
    """Find the least changes of one row that lead to another decision; the model confirms every answer.

    \b
    ecsel counterfactual new.csv -m model.json --row 1
    ecsel counterfactual new.csv -m model.json --row 1 --target good --fixed age --decrease debt
    ecsel counterfactual new.csv -m model.json --row 1 --range income=20000:60000
    """  # noqa: D301 - \b tells the help not to wrap the lines
    from ecsel import explain
    from ecsel.cli.models import chosen_row, load_model, plain_features, read_for
    from ecsel.explain.counterfactual.options import protected_columns

    with speaking(speech, safe_csv=csv.safe_csv) as session:
        fitted = load_model(model)
        view = explain.ModelView.of(fitted)
        table = read_for(fitted, data, reading)
        i, X = chosen_row(table, row), plain_features(fitted, table)
        ranges = dict(parse_range(text, view.raw_names) for text in within or ())
        named = {*ranges, *(increase or ()), *(decrease or ())}  # who says how a column may move lets it move
        immutable = fixed or protected_columns(view, named)
        answers = explain.counterfactual(
            view,
            X.iloc[i : i + 1],
            wanted(view, target),
            probability=probability,
            n=n,
            immutable=immutable,
            ranges=ranges,
            directions={**dict.fromkeys(increase or (), "increase"), **dict.fromkeys(decrease or (), "decrease")},
            data=X if len(X) >= ENOUGH_ROWS else None,
            distance="mad" if len(X) >= ENOUGH_ROWS or view.encoder is not None else "log",
        )
        if fixed is None and immutable:
            names = ", ".join(map(format_name, immutable))
            session.note(f"Not changed: {names}. --increase or --decrease with a column allows it to change.")
        if session.as_json:
            document = [_document(answer) for answer in answers]
            session.json("counterfactual", {"model": str(model), "data": table.name, "row": i + 1, "answers": document})
        elif csv.as_csv:
            from ecsel.cli.tables import put

            put(session, _frame(answers), as_csv=True)
        else:
            _print(session, view, X.iloc[i : i + 1], i + 1, answers)


def wanted(view: "ModelView", target: str | None) -> Any:
    """Return the class, or the pair (low, high) of a law, that a person asked for."""
    if view.has_classes:
        if target is None:
            return None
        from ecsel.cli.models import class_named

        return class_named(view.estimator, target)
    if target is None:
        raise CommandError("a law has no classes: give the range to reach, such as --target 10:20, 10: or :20.")
    return _bounds("--target", target)


def parse_range(text: str, names: "Sequence[str]") -> tuple[str, tuple[float | None, float | None]]:
    """Return a column and its bounds; the longest name that fits is meant.

    >>> parse_range("a=b=1:", ["a", "a=b"])
    ('a=b', (1.0, None))
    """
    for name in sorted(names, key=len, reverse=True):
        if text.startswith(f"{name}="):
            return name, _bounds("--range", text.removeprefix(f"{name}="))
    raise CommandError(f"--range {text!r}: write COLUMN=LOW:HIGH, with a column of the model.")


def _bounds(option: str, text: str) -> tuple[float | None, float | None]:
    low, colon, high = text.partition(":")
    try:
        bounds = tuple(float(end) if end.strip() else None for end in (low, high))
    except ValueError:
        colon = ""
    if not colon:
        raise CommandError(f"{option} {text!r}: write LOW:HIGH with numbers; either may be left out.")
    return bounds[0], bounds[1]


def _document(answer: "Counterfactual") -> dict[str, Any]:
    changes = [{"column": name, "from": old, "to": new} for name, (old, new) in answer.changes.items()]
    return {
        "changes": changes,
        "prediction": answer.prediction,
        "probability": answer.probability,
        "distance": answer.distance,
        "row": answer.row,
    }


def _frame(answers: "list[Counterfactual]") -> "pd.DataFrame":
    """Return a line per change, answers numbered."""
    import pandas as pd

    lines = [
        (number_, name, old, new, answer.prediction, answer.probability, answer.distance)
        for number_, answer in enumerate(answers, start=1)
        for name, (old, new) in answer.changes.items()
    ]
    names = ["answer", "column", "from", "to", "prediction", "probability", "distance"]
    return pd.DataFrame(lines, columns=names)


def _print(session: "Session", view: "ModelView", x: "pd.DataFrame", row: int, answers: "list[Counterfactual]") -> None:
    outputs = view.probabilities(x)
    if view.has_classes:
        c = int(view.decisions(outputs)[0])
        now = f"{format_name(view.classes[c])} with probability {number(float(outputs[0, c]))}"
    else:
        now = number(float(outputs[0, 0]))
    if not session.quiet:
        session.out.print(f"Row {row} is predicted {now}.", soft_wrap=True)
    if not answers:
        session.out.print("No change within the training ranges reaches the goal; widen --range or free more columns.")
        return
    if not answers[0].changes:
        session.out.print("The goal is reached as it is.")
        return
    from ecsel.report.wording import exact  # the page's room is slow to import

    for k, answer in enumerate(answers, start=1):
        chance = "" if answer.probability is None else f" with probability {number(answer.probability)}"
        reached = format_name(answer.prediction) if view.has_classes else number(answer.prediction)
        session.out.print(f"{k}. {reached}{chance} if", soft_wrap=True)
        for name, (old, new) in answer.changes.items():
            session.out.print(f"   {format_name(name)} goes from {exact(old)} to {exact(new)}", soft_wrap=True)
