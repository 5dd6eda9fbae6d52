"""`ecsel report`: the model as one HTML page for the analyst, and for the regulator who never met them."""

import hashlib
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated, Any

import typer

from ecsel.cli.options import DataFile, Delimiter, Encoding, Json, ModelFile, Quiet, Sheet, Verbose
from ecsel.cli.session import speaking

SHORT_DIGEST = 12
"""So many digits of the digest of a model file tell one version of it from another."""


def report(
    data: DataFile,
    model: ModelFile,
    target: Annotated[str, typer.Option("--target", "-t", metavar="COLUMN", help="The column that was predicted.")],
    output: Annotated[Path, typer.Option("--output", "-o", metavar="FILE", help="The page, such as report.html.")],
    test: Annotated[
        str | None, typer.Option(metavar="FILE", help="Held-out rows to judge by; else the page says there were none.")
    ] = None,
    group: Annotated[str | None, typer.Option(metavar="COLUMN", help="Compare its groups for fairness.")] = None,
    fixed: Annotated[
        list[str] | None,
        typer.Option(
            metavar="COLUMN", help="Nobody can change it; repeatable. By default columns named like age, sex or race."
        ),
    ] = None,
    author: Annotated[str | None, typer.Option(metavar="NAME", help="Who answers for the model.")] = None,
    title: Annotated[str | None, typer.Option(metavar="TEXT", help="What the model is called.")] = None,
    purpose: Annotated[str | None, typer.Option(metavar="TEXT", help="What it is for.")] = None,
    limit: Annotated[list[str] | None, typer.Option(metavar="TEXT", help="A sentence on limits; repeatable.")] = None,
    delimiter: Delimiter = None,
    encoding: Encoding = None,
    sheet: Sheet = None,
    as_json: Json = False,
    quiet: Quiet = False,
    verbose: Verbose = False,
) -> None:
    """Write the report: equation, quality, drivers, fairness, examples, and a live what-if, in one file.

    \b
    ecsel report loans.csv --target bad -m model.json -o report.html
    ecsel report train.csv --test test.csv -t bad -m model.json --group sex -o report.html
    """  # noqa: D301 - \b tells the help not to wrap the lines
    import pandas as pd

    from ecsel.cli.models import load_model, read_for, rows_with_outcome
    from ecsel.cli.reading import STDIN
    from ecsel.cli.writing import check_writable
    from ecsel.report import write_report

    with speaking(as_json=as_json, quiet=quiet, verbose=verbose) as session:
        check_writable(output)
        fitted = load_model(model)

        def read(path: str) -> tuple[Any, Any]:
            table = read_for(fitted, path, delimiter=delimiter, encoding=encoding, sheet=sheet)
            return rows_with_outcome(fitted, table, target)

        with session.stages(2) as begin:
            begin("reading")
            X, y = read(data)
            y = pd.Series(y, index=X.index, name=target)
            judged = (None, None) if test is None else read(test)
            begin("writing the page")
            digest = hashlib.sha256(Path(model).read_bytes()).hexdigest()
            details = {
                **({} if author is None else {"Author": author}),
                "Date": datetime.now(tz=UTC).date().isoformat(),
                "Data": "standard input" if data == STDIN else Path(data).name,
                "Model file": f"{Path(model).name}, version {digest[:SHORT_DIGEST]}",
                "SHA-256 of the model file": digest,
            }
            write_report(
                fitted,
                output,
                X,
                y,
                X_test=judged[0],
                y_test=judged[1],
                group=group,
                title=title or f"{target}, from {'standard input' if data == STDIN else Path(data).name}",
                purpose=purpose,
                immutable=fixed,
                details=details,
                limits=limit or (),
            )
        if as_json:
            session.json("report", {"model": str(model), "data": data, "rows": len(y), "output": str(output)})
        else:
            session.note(f"Wrote {output}; open it in a browser.")
