"""`ecsel predict`: the decisions and probabilities of a model for the rows of a table."""

from typing import TYPE_CHECKING, Annotated, Any

import typer

from ecsel.cli.errors import CommandError
from ecsel.cli.options import Csv, DataFile, ModelFile, Reading, Speech, TableOutput, grouped
from ecsel.cli.session import speaking

if TYPE_CHECKING:
    import pandas as pd


@grouped
def predict(
    data: DataFile,
    model: ModelFile,
    output: TableOutput = None,
    with_data: Annotated[bool, typer.Option("--with-data", help="Keep the columns of DATA beside the answer.")] = False,
    interval: Annotated[
        float | None,
        typer.Option(metavar="SHARE", help="Of a law: also the bounds between which this share of values lies."),
    ] = None,
    *,
    reading: Reading,
    csv: Csv,
    speech: Speech,
) -> None:
    """Predict the rows of a table with a model.

    \b
    ecsel predict new.csv -m model.json                    look at the first rows
    ecsel predict new.csv -m model.json -o answers.csv     all rows into a file
    cat new.csv | ecsel predict - -m model.json --csv      in a pipe
    """  # noqa: D301 - \b tells the help not to wrap the lines
    from ecsel.cli.models import features_of, load_model, read_for
    from ecsel.cli.tables import put
    from ecsel.cli.writing import check_table_path

    with speaking(speech, safe_csv=csv.safe_csv) as session:
        check_table_path(output)
        fitted = load_model(model)
        table = read_for(fitted, data, reading)
        answers = predictions(fitted, features_of(fitted, table), interval)
        if with_data:
            answers = _beside(table.frame, answers, table.name)
        if session.as_json:
            session.json("predict", {"model": str(model), "data": table.name, "rows": answers.to_dict("records")})
        if output is not None or not session.as_json:
            put(session, answers, as_csv=csv.as_csv, output=output)


def predictions(model: Any, X: "pd.DataFrame", interval: float | None = None) -> "pd.DataFrame":
    """Return a line per row: its number, the prediction, and the probability of each class or bounds of the value."""
    import numpy as np
    import pandas as pd

    from ecsel.cli.models import is_classifier

    answers: dict[str, Any] = {"row": np.arange(1, len(X) + 1), "prediction": model.predict(X)}
    if is_classifier(model):
        if interval is not None:
            raise CommandError("--interval is for laws; a classifier gives probabilities.")
        for label, p in zip(model.classes_.tolist(), model.predict_proba(X).T, strict=True):
            answers[f"probability_{label}"] = p
    elif interval is not None:
        answers["low"], answers["high"] = model.predict_interval(X, interval).T
    return pd.DataFrame(answers)


def _beside(frame: "pd.DataFrame", answers: "pd.DataFrame", name: str) -> "pd.DataFrame":
    import pandas as pd

    if both := [column for column in answers.columns if column in frame]:
        raise CommandError(f"{name} has a column {both[0]!r} of its own; rename it, or leave out --with-data.")
    return pd.concat([frame.reset_index(drop=True), answers], axis=1)
