"""`ecsel discover`: the exact law behind a column of numbers, with the laws that come close."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, TypeAlias

import typer

from ecsel.cli.errors import CommandError
from ecsel.cli.options import DataFile, Reading, Speech, grouped
from ecsel.cli.session import Session, speaking
from ecsel.cli.wording import DIGITS, law_in_words

if TYPE_CHECKING:
    from ecsel.cli.preparing import Prepared

Exponents: TypeAlias = Literal["integers", "halves", "rational", "real"]

MORE_TERMS = 3
"""Terms that a printed law may have more than the one that was found: larger ones follow the noise."""


@grouped
def discover(
    data: DataFile,
    target: Annotated[str, typer.Option("--target", "-t", metavar="COLUMN", help="The quantity to find a law for.")],
    output: Annotated[
        Path | None, typer.Option("--output", "-o", metavar="FILE", help="Write the model here, such as law.json.")
    ] = None,
    terms: Annotated[int | None, typer.Option(min=1, metavar="K", help="Number of terms, a constant included.")] = None,
    exponents: Annotated[Exponents | None, typer.Option(help="Exponents that are allowed.")] = None,
    form: Annotated[
        str | None, typer.Option(metavar="TEXT", help='Fit only the constants of a form, such as "a*x**b + c".')
    ] = None,
    noise: Annotated[
        str,
        typer.Option(metavar="KIND", help="auto, constant, relative, lognormal, or a known standard deviation."),
    ] = "auto",
    units: Annotated[
        list[str] | None,
        typer.Option(metavar="COLUMN=UNIT", help="Physical unit, also of the target; may be repeated. Needs pint."),
    ] = None,
    drop: Annotated[list[str] | None, typer.Option(metavar="COLUMN", help="Leave out; may be repeated.")] = None,
    keep: Annotated[
        list[str] | None, typer.Option(metavar="COLUMN", help="Use, even if it looks like an identifier.")
    ] = None,
    time_limit: Annotated[
        float | None, typer.Option(metavar="SECONDS", help="Stop the search then, with the best law so far.")
    ] = None,
    *,
    reading: Reading,
    speech: Speech,
) -> None:
    """Look for the exact law behind a quantity: how many terms, which columns, which powers.

    \b
    ecsel discover orbits.csv --target period
    ecsel discover drop.csv --target height --exponents integers -o law.json
    ecsel discover spring.csv --target force --form "k*x**n"
    ecsel discover fall.csv --target h --units h=m --units t=s --units g=m/s^2
    """  # noqa: D301 - \b tells the help not to wrap the lines
    from ecsel import ECSELRegressor
    from ecsel.cli.preparing import ColumnOptions, prepare
    from ecsel.cli.reading import read_file
    from ecsel.cli.writing import check_writable, save_model

    with speaking(speech) as session:
        check_writable(output)
        table = read_file(data, reading)
        for remark in table.remarks:
            session.note(remark)
        prepared = prepare(table, target, task="regression", options=ColumnOptions(drop or (), keep or ()))
        model = ECSELRegressor(
            n_terms=terms or "auto",
            allowed_exponents=exponents,
            form=form,
            noise=_noise(noise),
            **_units(units or [], target),
            time_limit=time_limit,
            verbose=int(session.shows_progress or session.verbose),
        ).fit(prepared.X, prepared.outcomes)
        if output is not None:
            save_model(model, output)
        if session.as_json:
            session.json("discover", document(prepared, model, output))
        elif session.quiet:
            session.raw(f"{model.equation_}\n")
        else:
            _print(session, prepared, model, output)


def _noise(text: str) -> str | float:
    """Return a known standard deviation as a number, anything else as the name that it is."""
    try:
        return float(text)
    except ValueError:
        return text


def _units(pairs: list[str], target: str) -> dict[str, Any]:
    """Return the options of the regressor for units given as COLUMN=UNIT."""
    units = {}
    for pair in pairs:
        column, equals, unit = pair.rpartition("=")
        if not equals or not column:
            raise CommandError(f"--units {pair!r} is not of the form COLUMN=UNIT, such as --units mass=kg.")
        units[column] = unit
    if not units:
        return {}
    if target not in units:
        raise CommandError(f"--units needs the unit of the target too, such as --units {target}=m.")
    return {"target_unit": units.pop(target), "units": units}


def document(prepared: "Prepared", model: Any, output: Path | None) -> dict[str, Any]:
    """Return the law and its neighbours as plain values."""
    return {
        "target": prepared.target,
        "found": model.law_found_,
        "complete": model.search_completed_,
        "adequate": model.adequate_,
        "misfit": {"p_value": model.misfit_p_value_, "column": model.misfit_column_},
        "noise": {"kind": model.law_.noise.kind, "sigma": model.law_.noise.sigma},
        "outliers": prepared.row_numbers[list(model.outliers_)].tolist(),
        "law": _law(model.law_),
        "front": [_law(law) for law in model.path_],
        "near_ties": [_law(law) for law in model.near_ties_],
        "dropped": [{"column": column, "why": why} for column, why in prepared.dropped.items()],
        "rows": {"read": prepared.n_read, "fitted": len(prepared.y)},
        "output": None if output is None else str(output),
    }


def _law(law: Any) -> dict[str, Any]:
    return {
        "equation": str(law.equation),
        "n_terms": len(law.equation.terms),
        "rmse": law.mse**0.5,
        "plain_rmse": law.plain_mse**0.5,
        "left_out_rmse": law.validation_mse**0.5,
        "code_length": law.code_length,
    }


def _print(session: Session, prepared: "Prepared", model: Any, output: Path | None) -> None:
    from ecsel.cli.findings import facts
    from ecsel.signomial.text import counted

    for finding in facts(prepared):
        if finding.kind in {"dropped", "missing", "reading"}:
            session.note(finding.text)
    session.out.print(law_in_words(model, prepared.row_numbers), style="", soft_wrap=True)
    if len(model.path_) > 1:
        weighted = "" if model.law_.noise.kind == "constant" else ", rows weighted by their noise"
        session.out.print(
            f"\nLaws of other sizes, with their root mean squared error{weighted}:", style="bold", soft_wrap=True
        )
        most = len(model.equation_.terms) + MORE_TERMS
        listed = [law for law in model.path_ if len(law.equation.terms) <= most]
        for law in listed:
            n = len(law.equation.terms)
            line = f"  {counted(n, 'term')}: {law.mse**0.5:.4g} for {format(law.equation, DIGITS)}"
            session.out.print(line, soft_wrap=True)
        if len(listed) < len(model.path_):
            session.out.print(f"  and {len(model.path_) - len(listed)} larger ones, which --json lists", soft_wrap=True)
    if session.verbose:
        session.out.print(f"\n{model.summary()}", soft_wrap=True)
    if output is not None:
        session.out.print(f"\nWrote {output}.", soft_wrap=True)
