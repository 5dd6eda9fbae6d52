"""`ecsel demo`: a small table is fitted and explained, and three files are written."""

from pathlib import Path
from typing import Annotated

import typer

from ecsel.cli.errors import CommandError
from ecsel.cli.options import Json, Quiet
from ecsel.cli.session import speaking


def demo(
    output: Annotated[
        Path, typer.Option("--output", "-o", metavar="DIR", help="Folder for the model, the equations and the report.")
    ] = Path("ecsel-demo"),
    as_json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Fit a small table that comes with scikit-learn, show its equations, and explain one row."""
    from ecsel.cli.output import write_study
    from ecsel.cli.study import bundled_table, study
    from ecsel.cli.terminal import show_study, show_written

    with speaking(as_json=as_json, quiet=quiet) as session:
        found = study(bundled_table())
        try:
            written = write_study(found, output)
        except OSError as error:
            why = error.strerror or error
            raise CommandError(f"Cannot write to {output}: {why}. Choose another folder with --output.") from error
        if as_json:
            document = {
                "equations": {str(label): str(equation) for label, equation in found.model.equations_.items()},
                "quality": [
                    {"model": q.model, "accuracy": q.accuracy, "log_loss": q.log_loss} for q in found.qualities
                ],
                "files": [str(path) for path in written.values()],
            }
            session.json("demo", document)
            return
        if not quiet:
            show_study(session.out, found)
        show_written(session.out, written)
