"""`ecsel report`: the model as one HTML page for the analyst, and for the regulator who never met them."""

import hashlib
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated, Any

import typer

from ecsel.cli.errors import CommandError
from ecsel.cli.options import DataFile, ModelFile, Reading, Speech, grouped
from ecsel.cli.session import speaking

SHORT_DIGEST = 12
"""So many digits of the digest of a model file tell one version of it from another."""


@grouped
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
    points: Annotated[
        str | None,
        typer.Option(
            metavar="PDO,BASE,ODDS[,CLASS]",
            help="The equation as points too; 20,600,50,paid: 600 points are 50 to 1 for paid, 20 more double that.",
        ),
    ] = None,
    n_bootstrap: Annotated[
        int,
        typer.Option(
            "--bootstrap",
            min=0,
            metavar="N",
            help="Repeat the search on N draws of the rows: bands of curves, and how often each piece comes back.",
        ),
    ] = 0,
    text: Annotated[
        list[str] | None,
        typer.Option(metavar="COLUMN=WORDS", help="Your words for a column that is a reason; repeatable."),
    ] = None,
    annex_iv: Annotated[
        bool,
        typer.Option("--annex-iv", help="The headings of Annex IV to the EU's AI Act, open ones marked."),
    ] = False,
    limit: Annotated[list[str] | None, typer.Option(metavar="TEXT", help="A sentence on limits; repeatable.")] = None,
    *,
    reading: Reading,
    speech: Speech,
) -> None:
    """Write the report: equation, quality, drivers, fairness, examples, and a live what-if, in one file.

    \b
    ecsel report loans.csv --target bad -m model.json -o report.html
    ecsel report train.csv --test test.csv -t bad -m model.json --group sex -o report.html
    ecsel report loans.csv -t bad -m model.json --points 20,600,50,no --annex-iv -o report.html
    """  # noqa: D301 - \b tells the help not to wrap the lines
    import pandas as pd

    from ecsel.cli.models import load_model, read_for, rows_with_outcome
    from ecsel.cli.reading import STDIN
    from ecsel.cli.writing import check_writable
    from ecsel.report import write_report

    with speaking(speech) as session:
        check_writable(output)
        fitted = load_model(model)
        card = None if points is None else scorecard_of(fitted, points)

        def read(path: str) -> tuple[Any, Any]:
            table = read_for(fitted, path, reading)
            return rows_with_outcome(fitted, table, target)

        with session.stages(2) as begin:
            begin("reading")
            X, y = read(data)
            y = pd.Series(y, index=X.index, name=target)
            evaluated = (None, None) if test is None else read(test)
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
                X_test=evaluated[0],
                y_test=evaluated[1],
                group=group,
                title=title or f"{target}, from {'standard input' if data == STDIN else Path(data).name}",
                purpose=purpose,
                immutable=fixed,
                details=details,
                limits=limit or (),
                n_bootstrap=n_bootstrap,
                column_texts=_own_words(text or [], X.columns),
                annex_iv=annex_iv,
                points=card,
            )
        if session.as_json:
            session.json("report", {"model": str(model), "data": data, "rows": len(y), "output": str(output)})
        else:
            session.note(f"Wrote {output}; open it in a browser.")


def _own_words(texts: list[str], columns: Any) -> dict[str, str]:
    """Return what ``--text`` says of columns; the longest name counts, since a name may hold a sign of equality."""
    found = {}
    for each in texts:
        names = [name for name in map(str, columns) if each.startswith(f"{name}=")]
        if not names:
            raise CommandError(f"--text {each!r}: it takes COLUMN=WORDS, with a column of the table.")
        name = max(names, key=len)
        found[name] = each[len(name) + 1 :]
    return found


def scorecard_of(model: Any, text: str) -> Any:
    """Return the scorecard that ``--points`` describes, in whole points."""
    from ecsel import scorecard
    from ecsel.cli.models import is_classifier

    form = "--points takes PDO,BASE,ODDS or PDO,BASE,ODDS,CLASS, such as 20,600,50,paid"
    if not is_classifier(model):
        raise CommandError(f"{form}, and a classifier; this model predicts a number.")
    numbers, label = text.split(",", 3)[:3], text.split(",", 3)[3:]
    try:
        pdo, base, odds = map(float, numbers)
    except ValueError:
        raise CommandError(f"{form}, not {text!r}.") from None
    toward = None
    if label:
        toward = next((each for each in model.classes_.tolist() if str(each) == label[0].strip()), None)
        if toward is None:
            known = ", ".join(str(each) for each in model.classes_.tolist())
            raise CommandError(f"--points: there is no class {label[0].strip()!r}; the classes are {known}.")
    try:
        return scorecard(model, pdo=pdo, base=base, base_odds=odds, toward=toward, decimals=0)
    except ValueError as error:
        raise CommandError(f"--points: {error}") from error
