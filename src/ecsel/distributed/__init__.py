"""Tables beyond memory: Parquet files read batch by batch, and Dask collections whose rows stay with the workers.

``ECSELClassifier.fit`` opens them by itself::

    model.fit("transactions.parquet", "fraud")     # a file or a folder, the target by name
    model.fit(ddf, ddf_target)                     # a Dask data frame or array

`write_predictions` and `write_explanations` stream the other way, from a Parquet file to a Parquet file.
"""

from __future__ import annotations

import os
from typing import Any

from ecsel.distributed.parquet import ParquetSource, ParquetTable
from ecsel.distributed.writing import write_explanations, write_predictions

__all__ = ["ParquetTable", "open_table", "write_explanations", "write_predictions"]


def open_table(X: Any, y: Any, sample_weight: Any = None) -> Any:
    """Return the source of rows behind a path, a `ParquetTable` or a Dask collection."""
    if isinstance(X, (str, os.PathLike)):
        X = ParquetTable(X)
    if isinstance(X, ParquetTable):
        return ParquetSource.of(X, y, sample_weight)
    from ecsel.distributed.dask_rows import DaskSource  # noqa: PLC0415 - Dask is optional

    return DaskSource.of(X, y, sample_weight)
