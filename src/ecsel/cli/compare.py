"""`ecsel compare`: has the population moved? The population stability index of every column and of the score."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ecsel.cli.errors import CommandError
from ecsel.cli.options import Csv, Reading, Speech, TableOutput, grouped
from ecsel.cli.session import speaking

if TYPE_CHECKING:
    import pandas as pd

    from ecsel.cli.reading import TableFile
    from ecsel.quality import Drift

STABLE, MOVED = 0.1, 0.25
"""The usual reading of the index: below the first nothing happened, from the second on look at the model again."""

DRIFTED = 3
"""The exit code of --fail-above."""


@grouped
def compare(
    old: Annotated[str, typer.Argument(metavar="OLD", help="The table of training, or of an earlier month.")],
    new: Annotated[str, typer.Argument(metavar="NEW", help="The table of today.")],
    model: Annotated[
        Path | None, typer.Option("--model", "-m", metavar="FILE", help="Compare its columns and its score.")
    ] = None,
    fail_above: Annotated[
        float | None, typer.Option(metavar="PSI", help=f"Exit with code {DRIFTED} if an index is above this.")
    ] = None,
    output: TableOutput = None,
    *,
    reading: Reading,
    csv: Csv,
    speech: Speech,
) -> None:
    """Compare two tables: the population stability index (PSI) of every column, and of the model's score.

    \b
    ecsel compare train.csv today.csv -m model.json
    ecsel compare train.csv today.csv -m model.json --fail-above 0.25 --quiet

    Below 0.1 a column is stable, from 0.25 on it has moved. --verbose shows the bins.
    """  # noqa: D301 - \b tells the help not to wrap the lines
    from ecsel.cli.models import load_model, text_columns
    from ecsel.cli.reading import read_file
    from ecsel.cli.tables import people_table, put
    from ecsel.cli.writing import check_table_path

    with speaking(speech, safe_csv=csv.safe_csv) as session:
        check_table_path(output)
        fitted = None if model is None else load_model(model)
        text = () if fitted is None else text_columns(fitted)
        tables = [read_file(path, reading, text) for path in (old, new)]
        drifts = drifts_of(fitted, *tables)
        frame = drift_frame(drifts)
        if session.as_json:
            document = {"old": tables[0].name, "new": tables[1].name, "n_old": len(tables[0]), "n_new": len(tables[1])}
            session.json("compare", {**document, "drift": [_document(what, drift) for what, drift in drifts]})
        if output is not None or not session.as_json:
            put(session, frame, as_csv=csv.as_csv, output=output, what="indices")
        if session.verbose and not (csv.as_csv or session.as_json):
            for _, drift in drifts:
                session.out.print(f"\n{drift.name}", style="bold", soft_wrap=True)
                session.out.print(people_table(drift.to_frame()))
        if fail_above is not None and any(drift.psi > fail_above for _, drift in drifts):
            raise typer.Exit(DRIFTED)


def drifts_of(model: Any, old: "TableFile", new: "TableFile") -> "list[tuple[str, Drift]]":
    """Return the drift of the score, if there is a model, and of the columns, the largest first, each with its kind."""
    from ecsel.cli.models import plain_features
    from ecsel.quality import psi

    if model is None:
        shared = [name for name in old.frame.columns if name in new.frame]
        if not shared:
            raise CommandError(f"{old.name} and {new.name} have no column in common.")
        before, after = (_alike(table.frame[shared], other.frame[shared]) for table, other in ((old, new), (new, old)))
        scores: list[tuple[str, Drift]] = []
        levels: tuple[str, ...] = ()
    else:
        before, after = plain_features(model, old), plain_features(model, new)
        scores = [("score", drift) for drift in score_drifts(model, before, after)]
        kinds = getattr(getattr(model, "encoder_", None), "columns", ())
        levels = tuple(column.name for column in kinds if column.kind in {"categorical", "ordinal"})
        ignored = [column.name for column in kinds if column.kind == "empty"]
        before, after = before.drop(columns=ignored), after.drop(columns=ignored)
    columns = sorted(psi(before, after, categorical=levels), key=lambda drift: -drift.psi)
    return [*scores, *(("column", drift) for drift in columns)]


def score_drifts(model: Any, before: "pd.DataFrame", after: "pd.DataFrame") -> "list[Drift]":
    """Return the drift of the prediction: the probability of the second of two classes, or of each of several."""
    from dataclasses import replace

    from ecsel.cli.models import is_classifier
    from ecsel.quality import score_psi

    if not is_classifier(model):
        return [replace(score_psi(model.predict(before), model.predict(after)), name="prediction")]
    labels, p, q = model.classes_.tolist(), model.predict_proba(before), model.predict_proba(after)
    classes = range(1, 2) if len(labels) == 2 else range(len(labels))
    return [replace(score_psi(p[:, c], q[:, c]), name=f"probability of {labels[c]}") for c in classes]


def drift_frame(drifts: "list[tuple[str, Drift]]") -> "pd.DataFrame":
    """Return a line per index, with what it means."""
    import pandas as pd

    return pd.DataFrame({
        "kind": [what for what, _ in drifts],
        "name": [drift.name for _, drift in drifts],
        "psi": [drift.psi for _, drift in drifts],
        "meaning": [meaning(drift.psi) for _, drift in drifts],
    })  # fmt: skip


def meaning(index: float) -> str:
    """Return an index in a word.

    >>> meaning(0.02), meaning(0.2), meaning(0.3)
    ('stable', 'shifted', 'moved')
    """
    return "stable" if index < STABLE else "shifted" if index < MOVED else "moved"


def _alike(frame: "pd.DataFrame", other: "pd.DataFrame") -> "pd.DataFrame":
    """Return the frame with text where the other has text: a column may look like numbers in one table only."""
    import pandas as pd

    mixed = [
        name
        for name in frame
        if pd.api.types.is_numeric_dtype(frame[name].dtype) != pd.api.types.is_numeric_dtype(other[name].dtype)
    ]
    return frame.astype(dict.fromkeys(mixed, "str"))


def _document(what: str, drift: "Drift") -> dict[str, Any]:
    bins = [
        {"bin": name, "old": expected, "new": actual}
        for name, expected, actual in zip(drift.bins, drift.expected, drift.actual, strict=True)
    ]
    return {"kind": what, "name": drift.name, "psi": drift.psi, "meaning": meaning(drift.psi), "bins": bins}
