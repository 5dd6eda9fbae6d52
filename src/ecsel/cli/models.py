"""Models from files, and tables brought into the shape that a model was trained on."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ecsel.cli.errors import CommandError
from ecsel.cli.reading import TableFile, read_file
from ecsel.study.screening import listed

if TYPE_CHECKING:
    from pathlib import Path

    import numpy as np
    import pandas as pd

    from ecsel.cli.options import Reading
    from ecsel.signomial import Signomial


def load_model(path: Path) -> Any:
    """Return the fitted model in a file."""
    import ecsel
    from ecsel.files import ModelFileError

    if not path.exists():
        raise CommandError(
            f"{path}: there is no such model file; 'ecsel fit DATA --target COLUMN -o {path}' makes one."
        )
    if path.is_dir():
        raise CommandError(f"{path} is a folder; name the model file in it.")
    try:
        return ecsel.load(path)
    except (ModelFileError, UnicodeDecodeError) as error:
        line = str(error).removeprefix(f"{path}: ")
        raise CommandError(f"{path} is not a model file of ecsel: {line}") from error


def is_classifier(model: Any) -> bool:
    """Tell a model with classes from one that predicts numbers."""
    return hasattr(model, "classes_")


def is_readable(model: Any) -> bool:
    """Tell the equations of raw columns that a search has found from laws and the paper's model."""
    return hasattr(model, "encoder_") and bool(model.encoder_.is_raw)


def equations_of(model: Any) -> dict[Any, Signomial]:
    """Return the equation of every score, or of the prediction."""
    return model.equations_ if is_classifier(model) else {"prediction": model.equation_}


def model_columns(model: Any) -> tuple[str, ...]:
    """Return the columns of the user's tables that a model was trained on."""
    from ecsel.explain import ModelView

    view = ModelView.of(model)
    return view.raw_names if view.encoder is None else view.encoder.inputs


def text_columns(model: Any) -> tuple[str, ...]:
    """Return the columns whose levels are text: a level such as 1 must not be read as a number."""
    if not hasattr(model, "encoder_"):
        return ()
    plain = [column.name for column in model.encoder_.columns if getattr(column, "dtype", None) == "text"]
    read = [reading.column for reading in model.encoder_.readings]
    return tuple(name for name in dict.fromkeys([*plain, *read]) if name in model.encoder_.inputs)


def read_for(model: Any, path: str, reading: Reading) -> TableFile:
    """Read a table with the eyes of a model: its text columns are text."""
    return read_file(path, reading, text_columns(model))


def features_of(model: Any, table: TableFile) -> pd.DataFrame:
    """Return the columns of training, in their order; others are left aside, and one that is needed is asked for."""
    wanted, frame = list(model_columns(model)), table.frame
    ignored = [c.name for c in model.encoder_.columns if _took_no_part(c)] if hasattr(model, "encoder_") else []
    frame = frame.assign(**{name: None for name in ignored if name not in frame})
    if absent := [name for name in wanted if name not in frame]:
        known = {name.casefold().strip(): name for name in frame.columns}
        near = known.get(absent[0].casefold().strip())
        hint = f" (it has {near!r})" if near is not None else ""
        more = f" and {len(absent) - 1} more" if len(absent) > 1 else ""
        raise CommandError(f"{table.name} lacks the column {absent[0]!r}{more} that the model was trained on{hint}.")
    return frame[wanted]


def _took_no_part(column: Any) -> bool:
    """Whether a column was left out of the fit, or had one value only."""
    if column.kind == "numeric":
        return column.scaling is None and not column.has_missing
    return column.kind == "empty" or (len(column.levels) < 2 and not column.has_missing)


def plain_features(model: Any, table: TableFile) -> pd.DataFrame:
    """Return the columns that the model needs as it reads them: dates in parts, text that holds numbers as numbers."""
    from ecsel.explain import ModelView

    X: pd.DataFrame = ModelView.of(model).plain(features_of(model, table))
    return X


def chosen_row(table: TableFile, row: int | None) -> int:
    """Return the position of the row that is asked for; a table of one row needs no number."""
    if row is None and len(table) == 1:
        return 0
    if row is None:
        raise CommandError(f"{table.name} has {len(table)} rows; choose one with --row N.")
    if row > len(table):
        raise CommandError(f"{table.name} has {len(table)} rows, so there is no row {row}.")
    return row - 1


def class_named(model: Any, text: str) -> Any:
    """Return the class label that a person wrote; numbers and truth values by their text."""
    labels = model.classes_.tolist()
    for label in labels:
        if str(label) == text:
            return label
    raise CommandError(f"the model has no class {text!r}; its classes are {', '.join(map(repr, labels))}.")


def rows_with_outcome(model: Any, table: TableFile, target: str) -> tuple[pd.DataFrame, np.ndarray[Any, Any]]:
    """Return the rows of a table whose outcome is known, and the outcomes as the model calls them."""
    import numpy as np

    if target not in table.frame:
        columns = listed(table.frame.columns.tolist())
        raise CommandError(f"{table.name} has no column {target!r} for --target; its columns are {columns}.")
    X, outcome = features_of(model, table), table.frame[target]
    known = outcome.notna() if hasattr(model, "encoder_") else outcome.notna() & X.notna().all(axis=1)
    # rows keep the numbers that they have in the file, from 1, as every command counts them
    X, outcome = X[known].set_axis(np.flatnonzero(known) + 1), outcome[known]
    if X.empty:
        raise CommandError(f"{table.name} has no row with a known {target!r}.")
    if not is_classifier(model):
        return X, outcome.to_numpy(dtype=np.float64)
    labels = model.classes_.tolist()
    by_text = {str(label): label for label in labels}
    found = {value: value if value in labels else by_text.get(str(value)) for value in outcome.unique().tolist()}
    if strange := [value for value, label in found.items() if label is None]:
        classes = ", ".join(map(repr, labels))
        raise CommandError(
            f"{table.name}: {strange[0]!r} in the column {target!r} is no class of the model ({classes})."
        )
    position = {value: labels.index(label) for value, label in found.items()}
    return X, model.classes_[[position[value] for value in outcome.tolist()]]
