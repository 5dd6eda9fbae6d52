"""`ecsel explain`: why a row is decided as it is, or what drives the decisions of a whole table.

The contributions are exact Shapley values of the margin of the decision (the log-odds against the strongest rival)
relative to a typical row: medians and most frequent levels of training, for a law the medians of the table. That of the
paper's model is the centre of the training rows: the mean of the logarithms of its scaled columns.
"""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ecsel.cli.errors import CommandError
from ecsel.cli.options import Csv, DataFile, ModelFile, Reading, Row, Speech, TableOutput, grouped
from ecsel.cli.session import speaking
from ecsel.cli.wording import number
from ecsel.signomial.text import format_name

if TYPE_CHECKING:
    import numpy as np

    from ecsel.cli.session import Session
    from ecsel.explain import ModelView, Reasons

ROWS_IN_WORDS = 5
BAR = 16


@grouped
def explain(
    data: DataFile,
    model: ModelFile,
    row: Row = None,
    toward: Annotated[
        str | None, typer.Option(metavar="CLASS", help="Reasons for this class; by default the predicted one.")
    ] = None,
    top: Annotated[int, typer.Option(min=1, metavar="N", help="Most reasons per row.")] = 4,
    output: TableOutput = None,
    *,
    reading: Reading,
    csv: Csv,
    speech: Speech,
) -> None:
    """Tell why: the exact contribution of every column to a row's decision, or the reasons of all rows.

    \b
    ecsel explain new.csv -m model.json --row 3          one row in detail
    ecsel explain new.csv -m model.json -o reasons.csv   the reasons of every row
    ecsel explain new.csv -m model.json --toward bad     what speaks for one class
    """  # noqa: D301 - \b tells the help not to wrap the lines
    from ecsel.cli.models import chosen_row, load_model, plain_features, read_for
    from ecsel.cli.tables import put
    from ecsel.cli.writing import check_table_path

    with speaking(speech, safe_csv=csv.safe_csv) as session:
        check_table_path(output)
        fitted = load_model(model)
        table = read_for(fitted, data, reading)
        X = plain_features(fitted, table)
        X = X.set_axis(range(1, len(X) + 1))
        one = None if row is None and len(X) > 1 else chosen_row(table, row)
        found = explained(fitted, X, one, toward, top)
        if session.as_json:
            session.json("explain", {"model": str(model), "data": table.name, **document(found)})
        if output is not None or csv.as_csv:
            put(session, found.reasons.to_frame(), as_csv=csv.as_csv, output=output, what="reasons")
        elif not session.as_json:
            print_row(session, found) if one is not None else print_table(session, found)


@dataclass(frozen=True, slots=True)
class Explained:
    """Rows with the predictions and reasons of a model."""

    X: Any
    view: "ModelView"
    outputs: "np.ndarray[Any, Any]"
    reasons: "Reasons"

    def prediction(self, i: int) -> tuple[Any, float | None]:
        """Return what is predicted for a row, and with which probability."""
        if not self.view.has_classes:
            return float(self.outputs[i, 0]), None
        c = int(self.view.decisions(self.outputs[i : i + 1])[0])
        return self.view.classes[c], float(self.outputs[i, c])


def explained(model: Any, X: Any, one: int | None, toward: str | None, top: int) -> Explained:
    """Return the reasons of one row, or of all."""
    from ecsel import explain as library
    from ecsel.cli.models import class_named
    from ecsel.explain.baseline import median_row

    view = library.ModelView.of(model)
    baseline = None
    if not view.has_classes and toward is not None:
        raise CommandError("--toward is for classes; a law has none.")
    if view.encoder is None:
        if len(X) == 1:
            raise CommandError(
                "a law is explained against other rows: give a table of several and choose one with --row."
            )
        baseline = median_row(view, X)
    rows = X if one is None else X.iloc[one : one + 1]
    label = None if toward is None else class_named(model, toward)
    return Explained(
        rows, view, view.probabilities(rows), library.reasons(view, rows, top, toward=label, baseline=baseline)
    )


def document(found: Explained) -> dict[str, Any]:
    """Return the explanation as plain values."""
    reasons = found.reasons
    assert reasons.base_values is not None  # noqa: S101 - reasons always have a reference
    rows = []
    for i, label in enumerate(found.X.index):
        prediction, probability = found.prediction(i)
        # the margin of a law that is below the typical row is minus the prediction: here it is turned round
        sign = -1.0 if not found.view.has_classes and reasons.toward[i] == "a lower value" else 1.0
        contributions = [
            {"column": name, "value": found.X.iloc[i][name], "contribution": sign * float(reasons.values[i, j])}
            for j, name in enumerate(reasons.feature_names)
            if reasons.values[i, j] != 0
        ]
        contributions.sort(key=lambda each: -abs(each["contribution"]))
        base = sign * float(reasons.base_values[i])
        rows.append({
            "row": int(label),
            "prediction": prediction,
            "probability": probability,
            "toward": reasons.toward[i],
            "against": reasons.against[i],
            "base": base,
            "margin": base + sign * float(reasons.values[i].sum()),
            "contributions": contributions,
            "reasons": reasons.texts[i],
        })  # fmt: skip
    return {"rows": rows, "importance": [{"column": name, "mean_size": size} for name, size in importance(reasons)]}


def importance(reasons: "Reasons") -> list[tuple[str, float]]:
    """Return the mean size of the contribution of every column in use, the strongest first."""
    import numpy as np

    sizes = zip(reasons.feature_names, np.abs(reasons.values).mean(axis=0).tolist(), strict=True)
    return sorted(((name, size) for name, size in sizes if size > 0), key=lambda pair: -pair[1])


def print_row(session: "Session", found: Explained) -> None:
    """Print the contributions to one row, which add up to its margin."""
    from rich.table import Table
    from rich.text import Text

    plain = document(found)["rows"][0]
    _headline(session, found, 0)
    if not session.quiet:
        session.out.print(_unit(found, plain["toward"], plain["against"]), soft_wrap=True)
    table = Table(box=None, pad_edge=False, header_style="bold", padding=(0, 2, 0, 0))
    for heading in ("column", "value", "adds", ""):
        table.add_column(heading, justify="left" if heading in {"column", ""} else "right", overflow="fold")
    sizes = [abs(each["contribution"]) for each in plain["contributions"]]
    table.add_row(Text(found.reasons.reference), "", number(plain["base"]), "")
    for each, size in zip(plain["contributions"], sizes, strict=True):
        style = "green" if each["contribution"] > 0 else "red"
        bar = Text("█" * max(1, round(BAR * size / max(sizes))), style=style)
        value = Text(_cell(each["value"]))
        table.add_row(Text(format_name(each["column"])), value, Text(f"{each['contribution']:+.3g}", style=style), bar)
    table.add_row(Text("this row", style="bold"), "", Text(number(plain["margin"]), style="bold"), "")
    session.out.print(table)


def print_table(session: "Session", found: Explained) -> None:
    """Print what drives the decisions of all rows, then the first rows in words."""
    ranked = importance(found.reasons)
    session.out.print(f"What drives the predictions for {len(found.X)} rows (mean size of the exact contributions):")
    width = max((len(format_name(name)) for name, _ in ranked), default=0)
    for name, size in ranked[:10]:
        bar = "█" * max(1, round(BAR * size / ranked[0][1]))
        session.out.print(f"  {format_name(name).ljust(width)}  {size:8.3g}  {bar}", soft_wrap=True)
    if session.quiet:
        return
    for i in range(min(len(found.X), ROWS_IN_WORDS)):
        session.out.print()
        _headline(session, found, i)
        for text in found.reasons.texts[i] or ("nothing speaks for it",):
            session.out.print(f"  • {format_name(text)}", soft_wrap=True)
    if len(found.X) > ROWS_IN_WORDS:
        session.note(
            f"The first {ROWS_IN_WORDS} of {len(found.X)} rows; --row N explains one in detail, --csv or --output all."
        )


def _headline(session: "Session", found: Explained, i: int) -> None:
    prediction, probability = found.prediction(i)
    chance = "" if probability is None else f" with probability {number(probability)}"
    line = number(prediction) if probability is None else format_name(prediction)
    session.out.print(f"Row {found.X.index[i]}: predicted {line}{chance}", style="bold", soft_wrap=True)


def _unit(found: Explained, toward: Any, against: Any) -> str:
    if not found.view.has_classes:
        where = "the table" if found.view.encoder is None else "training"
        return f"In units of the prediction. The typical row has the medians of {where}."
    rival = "" if len(found.view.classes) == 2 else f" against {format_name(against)}, the likeliest other class"
    return f"In log-odds of {format_name(toward)}{rival}; + speaks for {format_name(toward)}."


def _cell(value: Any) -> str:
    from ecsel.cli.tables import cell

    return cell(value) or "missing"
