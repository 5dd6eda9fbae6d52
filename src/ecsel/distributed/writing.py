"""Predictions and explanations of a Parquet file, written to a Parquet file batch by batch."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any

import narwhals.stable.v2 as nw

from ecsel.distributed.parquet import ParquetTable, write_batches

if TYPE_CHECKING:
    import os
    from collections.abc import Callable

    Path = str | os.PathLike[str]


def write_predictions(model: Any, rows: Path | ParquetTable, path: Path) -> int:
    """Write ``prediction`` and ``probability of <class>`` for every row of a Parquet file; return the number of rows.

    The rows keep their order. Values outside the training range are reported once, whatever the number of batches.

    Examples
    --------
    >>> import tempfile, pandas as pd
    >>> from ecsel import ECSELClassifier
    >>> frame = pd.DataFrame({"size": range(1, 401)})
    >>> model = ECSELClassifier(n_terms=1, l1=1e-3).fit(frame, [i > 200 for i in range(400)])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     frame.to_parquet(f"{folder}/rows.parquet")
    ...     write_predictions(model, f"{folder}/rows.parquet", f"{folder}/out.parquet")
    ...     pd.read_parquet(f"{folder}/out.parquet").columns.tolist()
    400
    ['prediction', 'probability of False', 'probability of True']
    """

    def make(part: Any) -> dict[str, Any]:
        p = model.predict_proba(part)
        columns = {f"probability of {label}": p[:, c] for c, label in enumerate(model.classes_.tolist())}
        chosen = p.argmax(axis=1) if model.threshold_ is None else (p[:, 1] >= model.threshold_).astype(int)
        return {"prediction": model.classes_[chosen], **columns}

    return _write(model, rows, path, make)


def write_explanations(model: Any, rows: Path | ParquetTable, path: Path, explanation: Callable[..., Any]) -> int:
    """Write the tidy frame of an explanation of every row; return the number of lines.

    `explanation` is a function of `ecsel.explain` such as `log_gradient`, or any of the model and a table. The column
    ``row`` counts from the first row of the file.
    """
    done = 0

    def make(part: Any) -> Any:
        nonlocal done
        frame = nw.from_native(explanation(model, part).to_frame(), eager_only=True)
        if "row" in frame.columns:
            frame = frame.with_columns((nw.col("row") + done).alias("row"))
        done += part.num_rows
        return {name: frame[name].to_arrow() for name in frame.columns}

    return _write(model, rows, path, make)


def _write(model: Any, rows: Path | ParquetTable, path: Path, make: Callable[[Any], Any]) -> int:
    table = rows if isinstance(rows, ParquetTable) else ParquetTable(rows)
    names = [table.require(name, "the model") for name in model.encoder_.raw_names]
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", UserWarning)
        written = write_batches(table, names, make, path)
    if caught:
        first = str(caught[0].message)
        more = f" ({len(caught)} batches of rows had such values; this was the first.)" if len(caught) > 1 else ""
        warnings.warn(first + more, UserWarning, stacklevel=3)
    return written
