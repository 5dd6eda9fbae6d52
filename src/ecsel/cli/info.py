"""`ecsel info`: what is in a model file."""

from math import isfinite
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ecsel.cli.errors import CommandError
from ecsel.cli.options import Reading, Row, Speech, grouped
from ecsel.cli.session import speaking
from ecsel.cli.wording import law_in_words, number
from ecsel.signomial.text import format_name

if TYPE_CHECKING:
    from ecsel.cli.session import Session
    from ecsel.report.worked import WorkedExample


@grouped
def info(
    model: Annotated[Path, typer.Argument(metavar="MODEL", help="A model file.")],
    data: Annotated[
        str | None, typer.Argument(metavar="[DATA]", help="A table, for a row of it worked out by hand.")
    ] = None,
    row: Row = None,
    *,
    reading: Reading,
    speech: Speech,
) -> None:
    """Show a model: its equations, what each piece means, the columns it needs, its quality.

    \b
    ecsel info model.json
    ecsel info model.json new.csv --row 3   also row 3, worked out piece by piece
    ecsel info model.json --json
    ecsel info model.json --quiet           the equations alone, with every digit
    """  # noqa: D301 - \b tells the help not to wrap the lines
    from ecsel.cli.equations import show_example
    from ecsel.cli.models import chosen_row, features_of, load_model, read_for

    with speaking(speech) as session:
        fitted = load_model(model)
        example = None
        if data is not None:
            from ecsel.report.worked import worked_example

            table = read_for(fitted, data, reading)
            i = chosen_row(table, row)
            example = i + 1, worked_example(fitted, features_of(fitted, table).iloc[i : i + 1])
        elif row is not None:
            raise CommandError(f"--row {row} of which table? Name it: ecsel info {model} DATA --row {row}.")
        if session.as_json:
            worked = {} if example is None else {"example": example_document(*example)}
            session.json("info", {"model": str(model), **describe(fitted), **worked})
        elif session.quiet and example is None:
            bare_equations(session, fitted)
        else:
            if not session.quiet:
                _print(session, fitted, str(model))
            if example is not None:
                session.out.print(f"\nRow {example[0]} by hand", style="bold", soft_wrap=True)
                show_example(session.out, fitted, example[1])


def bare_equations(session: "Session", model: Any) -> None:
    """Print the equations alone, a line each, as `Signomial.parse` reads them."""
    from ecsel.cli.models import equations_of

    for label, equation in equations_of(model).items():
        session.raw(f"{format_name(label)}\t{equation}\n")


def describe(model: Any) -> dict[str, Any]:
    """Return what a model is made of as plain values."""
    from ecsel.cli.models import equations_of, is_classifier, is_readable, model_columns
    from ecsel.report.front import n_factors

    equations = [{"label": label, "equation": str(equation)} for label, equation in equations_of(model).items()]
    if not is_classifier(model):
        errors = {"rmse": model.law_.mse**0.5, "left_out_rmse": model.law_.validation_mse**0.5}
        found = {"kind": "regressor", "equations": equations, "quality": errors}
        if is_readable(model):
            columns = [_column(model, column) for column in model.encoder_.columns]
            return {**found, "columns": columns, "n_factors": model.equation_.n_factors, "front": _front(model, "rmse")}
        return {
            **found,
            "columns": [{"name": name, "used": name in model.equation_.names} for name in model_columns(model)],
        }
    quality = model.out_of_fold_
    return {
        "kind": "classifier",
        "link": model.link_,
        "classes": model.classes_.tolist(),
        "threshold": model.threshold_,
        "n_terms": model.n_terms_,
        "n_factors": n_factors(model.equations_.values()),
        "l1": model.l1_,
        "equations": equations,
        "front": _front(model, "log_loss"),
        "columns": [_column(model, column) for column in model.encoder_.columns],
        "features": [
            {"name": f.name, "column": f.column, "kind": f.kind, "scale": f.scale, "offset": f.offset}
            for f in model.encoder_.features
        ],
        "quality": None if quality is None else quality.to_dict(),
    }


def _front(model: Any, measure: str) -> list[dict[str, Any]]:
    from ecsel.report.front import Front

    return [
        {
            "n_factors": point.n_factors,
            measure: point.error,
            "standard_error": point.standard_error,
            "smoothed": point.smoothed if isfinite(point.smoothed) else None,
            "equations": [str(equation) for equation in point.equations],
            "chosen": point.is_chosen,
        }
        for point in Front.of(model).points
    ]


def _column(model: Any, column: Any) -> dict[str, Any]:
    from ecsel.cli.models import equations_of

    names = {name for equation in equations_of(model).values() for name in equation.names}
    used = any(f.column == column.name and f.name in names for f in model.encoder_.features)
    common = {"name": column.name, "kind": column.kind, "used": used}
    if column.kind == "numeric":
        return {**common, "low": column.low, "high": column.high, "missing": column.has_missing}
    if column.kind in {"categorical", "ordinal"}:
        return {**common, "levels": list(column.levels), "missing": column.has_missing}
    return common


def example_document(row: int, example: "WorkedExample") -> dict[str, Any]:
    """Return a worked row as plain values."""
    return {
        "row": row,
        "inputs": [{"column": i.column, "value": i.value, "remark": i.remark} for i in example.inputs],
        "scores": [
            {
                "label": score.label,
                "pieces": [
                    {
                        "piece": piece.text,
                        "value": piece.value,
                        "coefficient": piece.term.coefficient,
                        "product": piece.product,
                    }
                    for piece in score.pieces
                ],
                "sum": score.total,
            }
            for score in example.scores
        ],
        "outcomes": [{"label": label, "value": value} for label, value in example.outcomes],
        "prediction": example.outcomes[0][1] if example.decided is None else example.decided,
    }


def _print(session: "Session", model: Any, name: str) -> None:
    from ecsel.cli.equations import aids_heading, reading_aids, show_equations
    from ecsel.cli.models import is_classifier, is_readable
    from ecsel.estimators.summary import held_out_name

    if is_readable(model) and not is_classifier(model):
        session.out.print(f"{name}: a prediction of a number", style="bold", soft_wrap=True)
        show_equations(session.out, model)
        session.out.print()
        _print_columns(session, model)
        if session.verbose:
            session.out.print(model.summary(), soft_wrap=True)
        return
    if not is_classifier(model):
        session.out.print(f"{name}: a law of {_terms(len(model.equation_.terms))}", style="bold", soft_wrap=True)
        session.out.print(law_in_words(model), soft_wrap=True)
        if session.verbose:
            session.out.print(model.summary(), soft_wrap=True)
        return
    classes = ", ".join(format_name(label) for label in model.classes_.tolist())
    session.out.print(f"{name}: a classifier of {classes}", style="bold", soft_wrap=True)
    show_equations(session.out, model)
    aids = reading_aids(model)
    if aids and model.encoder_.is_raw:
        session.out.print(f"\n{aids_heading(model)}", style="bold", soft_wrap=True)
    for line in aids:
        session.out.print(f"  {line}", soft_wrap=True)
    session.out.print()
    _print_columns(session, model)
    if session.verbose:
        session.out.print(model.summary(), soft_wrap=True)
    elif (quality := model.out_of_fold_) is not None:
        area = "" if quality.auc is None else f", AUC {quality.auc:.3f}"
        message = f"accuracy {quality.accuracy:.3f}, log-loss {quality.log_loss:.3f}{area}"
        rows = f"{held_out_name(model)} ({quality.n_rows} distinct rows)"
        session.out.print(f"\nOn {rows}: {message}", soft_wrap=True)


def _terms(n: int) -> str:
    return "1 term" if n == 1 else f"{n} terms"


def _print_columns(session: "Session", model: Any) -> None:
    from rich.table import Table
    from rich.text import Text

    rows = _readable_columns(model) if model.encoder_.is_raw else _scaled_columns(model)
    table = Table(box=None, pad_edge=False, header_style="bold", padding=(0, 2, 0, 2))
    for heading in rows[0]:
        table.add_column(heading, overflow="fold")
    for row in rows[1:]:
        table.add_row(*map(Text, row))
    if rows[1:]:
        session.out.print(table)
    unused = [c["name"] for c in (_column(model, each) for each in model.encoder_.columns) if not c["used"]]
    if model.encoder_.is_raw and unused:
        from ecsel.study.screening import listed

        session.out.print(f"  not in the equation: {listed(unused)}", style="dim", soft_wrap=True)


def _readable_columns(model: Any) -> list[tuple[str, ...]]:
    """Return how a readable equation reads its columns."""
    from ecsel.explain import ModelView
    from ecsel.report.rules import column_rules

    heads = ("column", "in training", "if missing", "if outside or new")
    return [heads, *((r.column, r.span, r.missing, r.outside) for r in column_rules(ModelView.of(model)))]


def _scaled_columns(model: Any) -> list[tuple[str, ...]]:
    """Return the positive scales of the paper's model."""
    rows: list[tuple[str, ...]] = [("column", "kind", "in the equations as", "training range or levels")]
    for column in (_column(model, each) for each in model.encoder_.columns):
        levels = [format_name(level) for level in column.get("levels", ())]
        message = ", ".join(levels[:6]) + (f", … ({len(levels)})" if len(levels) > 6 else "")
        if "low" in column:
            message = f"{number(column['low'])} to {number(column['high'])}"
        missing = ", missing" if column.get("missing") else ""
        scale = _scale(model, column) if column["used"] else "–"
        rows.append((format_name(column["name"]), column["kind"], scale, message + missing))
    return rows


def _scale(model: Any, column: dict[str, Any]) -> str:
    """Return how a column enters the equations: its positive scale, or the factor of a level."""
    feature = next(f for f in model.encoder_.features if f.column == column["name"])
    if feature.kind not in {"numeric", "ordinal"}:
        return "10 where it is so, else 1"
    return f"{feature.scale:.4g}·x" + (f" {feature.offset:+.4g}" if feature.offset else "")
