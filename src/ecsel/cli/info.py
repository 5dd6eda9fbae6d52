"""`ecsel info`: what is in a model file."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ecsel.cli.options import Json, Quiet, Verbose
from ecsel.cli.session import speaking
from ecsel.cli.wording import DIGITS, LINKS, number, shown, wrapped_equation

if TYPE_CHECKING:
    from ecsel.cli.session import Session
    from ecsel.signomial import Signomial


def info(
    model: Annotated[Path, typer.Argument(metavar="MODEL", help="A model file.")],
    as_json: Json = False,
    quiet: Quiet = False,
    verbose: Verbose = False,
) -> None:
    """Show a model: its equations, the columns it needs, its quality.

    \b
    ecsel info model.json
    ecsel info model.json --json
    ecsel info model.json --quiet      the equations alone, with every digit
    """  # noqa: D301 - \b tells the help not to wrap the lines
    from ecsel.cli.models import load_model

    with speaking(as_json=as_json, quiet=quiet, verbose=verbose) as session:
        fitted = load_model(model)
        if as_json:
            session.json("info", {"model": str(model), **describe(fitted)})
        elif quiet:
            bare_equations(session, fitted)
        else:
            _tell(session, fitted, str(model))


def equations_of(model: Any) -> "dict[Any, Signomial]":
    """Return the equation of every score, or of the prediction."""
    from ecsel.cli.models import is_classifier

    return model.equations_ if is_classifier(model) else {"prediction": model.equation_}


def bare_equations(session: "Session", model: Any) -> None:
    """Print the equations alone, a line each, as `Signomial.parse` reads them."""
    for label, equation in equations_of(model).items():
        session.raw(f"{shown(label)}\t{equation}\n")


def describe(model: Any) -> dict[str, Any]:
    """Return what a model is made of as plain values."""
    from ecsel.cli.models import is_classifier, model_columns

    equations = [{"label": label, "equation": str(equation)} for label, equation in equations_of(model).items()]
    if not is_classifier(model):
        columns = [{"name": name, "used": name in model.equation_.names} for name in model_columns(model)]
        errors = {"rmse": model.law_.mse**0.5, "left_out_rmse": model.law_.validation_mse**0.5}
        return {"kind": "regressor", "equations": equations, "columns": columns, "quality": errors}
    quality = model.out_of_fold_
    return {
        "kind": "classifier",
        "link": model.link_,
        "classes": model.classes_.tolist(),
        "threshold": model.threshold_,
        "n_terms": model.n_terms_,
        "l1": model.l1_,
        "equations": equations,
        "columns": [_column(model, column) for column in model.encoder_.columns],
        "features": [
            {"name": f.name, "column": f.column, "kind": f.kind, "scale": f.scale, "offset": f.offset}
            for f in model.encoder_.features
        ],
        "quality": None if quality is None else quality.to_dict(),
    }


def _column(model: Any, column: Any) -> dict[str, Any]:
    names = {name for equation in model.equations_.values() for name in equation.names}
    used = any(f.column == column.name and f.name in names for f in model.encoder_.features)
    told = {"name": column.name, "kind": column.kind, "used": used}
    if column.kind == "numeric":
        return {**told, "low": column.low, "high": column.high, "missing": column.has_missing}
    if column.kind in {"categorical", "ordinal"}:
        return {**told, "levels": list(column.levels), "missing": column.has_missing}
    return told


def show_equations(session: "Session", model: Any) -> None:
    """Print the equations for people, wrapped between terms and factors, and how scores become probabilities."""
    from rich.table import Table
    from rich.text import Text

    from ecsel.cli.models import is_classifier

    classifier = is_classifier(model)
    table = Table.grid(padding=(0, 2, 0, 0))
    width = min(session.out.width, 120)
    names = {label: f"score of {shown(label)}" if classifier else "prediction" for label in equations_of(model)}
    for label, equation in equations_of(model).items():
        lines = wrapped_equation(equation, width - max(map(len, names.values())) - 9)
        table.add_row(Text(f"  {names[label]}", style="bold"), "=", Text("\n".join(lines), style="cyan"))
    session.out.print(table, width=width)
    if classifier:
        session.out.print(f"  {LINKS[model.link_]}", soft_wrap=True)


def reading_aids(model: Any) -> list[str]:
    """Return what helps to read the equations of a classifier: which terms are nearly straight, where one turns."""
    from ecsel.cli.models import is_classifier
    from ecsel.estimators.summary import remarks

    if not is_classifier(model):
        return []
    several = len(model.equations_) > 1
    return [
        f"{shown(label)}: {remark.strip('()')}" if several else remark.strip("()")
        for label, equation in model.equations_.items()
        for remark in remarks(equation, model.encoder_)
    ]


def _tell(session: "Session", model: Any, name: str) -> None:
    from ecsel.cli.models import is_classifier

    if not is_classifier(model):
        session.out.print(f"{name}: a law of {len(model.equation_.terms)} term(s)", style="bold", soft_wrap=True)
        session.out.print(model.describe(), soft_wrap=True)
        if session.verbose:
            session.out.print(model.summary(), soft_wrap=True)
        return
    classes = ", ".join(shown(label) for label in model.classes_.tolist())
    session.out.print(f"{name}: a classifier of {classes}", style="bold", soft_wrap=True)
    show_equations(session, model)
    for remark in reading_aids(model):
        session.out.print(f"  {remark}", style="dim", soft_wrap=True)
    _tell_columns(session, model)
    if session.verbose:
        session.out.print(model.summary(), soft_wrap=True)
    elif (quality := model.out_of_fold_) is not None:
        area = "" if quality.auc is None else f", AUC {quality.auc:.3f}"
        told = f"accuracy {quality.accuracy:.3f}, log-loss {quality.log_loss:.3f}{area}"
        session.out.print(f"Out of fold ({quality.n_rows} distinct rows): {told}", soft_wrap=True)
    if model.threshold_ is not None:
        label = shown(model.classes_.tolist()[1])
        session.out.print(f"Predicts {label} from a probability of {format(model.threshold_, DIGITS)} on.")


def _scale(model: Any, column: dict[str, Any]) -> str:
    """Return how a column enters the equations: its positive scale, or the factor of a level."""
    feature = next(f for f in model.encoder_.features if f.column == column["name"])
    if feature.kind not in {"numeric", "ordinal"}:
        return "10 where it is so, else 1"
    return f"{feature.scale:.4g}·x" + (f" {feature.offset:+.4g}" if feature.offset else "")


def _tell_columns(session: "Session", model: Any) -> None:
    from rich.table import Table
    from rich.text import Text

    table = Table(box=None, pad_edge=False, header_style="bold", padding=(0, 2, 0, 2))
    for heading in ("column", "kind", "in the equations as", "training range or levels"):
        table.add_column(heading, overflow="fold")
    for column in (_column(model, each) for each in model.encoder_.columns):
        levels = [shown(level) for level in column.get("levels", ())]
        told = ", ".join(levels[:6]) + (f", … ({len(levels)})" if len(levels) > 6 else "")
        if "low" in column:
            told = f"{number(column['low'])} to {number(column['high'])}"
        missing = ", missing" if column.get("missing") else ""
        scale = _scale(model, column) if column["used"] else "–"
        table.add_row(Text(shown(column["name"])), column["kind"], scale, Text(told + missing))
    session.out.print(table)
