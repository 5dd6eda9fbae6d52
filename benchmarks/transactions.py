"""Generated payments for measurements of speed and memory: 13 columns, one row in a few hundred a fraud.

The columns are those of the fraud study (see `benchmarks.paysim`) with the day and the fifth type added. A fraud
empties an account by a transfer or a withdrawal; some frauds do not, and some honest customers do, so that no rule is
perfect.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

if TYPE_CHECKING:
    from numpy.typing import NDArray

TYPES = ("CASH_IN", "CASH_OUT", "DEBIT", "PAYMENT", "TRANSFER")
SHARES = (0.226, 0.344, 0.004, 0.342, 0.084)
TARGET = "fraud"


def transactions(n_rows: int, seed: int = 0) -> tuple[pd.DataFrame, NDArray[np.int8]]:
    """Return a frame of 13 float64 columns and the labels."""
    rng = np.random.default_rng(seed)
    kind = rng.choice(len(TYPES), n_rows, p=SHARES)
    old = np.where(rng.random(n_rows) < 0.33, 0.0, np.exp(rng.normal(10, 2, n_rows)))
    amount = np.exp(rng.normal(10.5, 1.5, n_rows))
    takes = np.isin(kind, (1, 4))
    fraud = takes & (old > 0) & (rng.random(n_rows) < 0.006)
    empties = (fraud & (rng.random(n_rows) < 0.95)) | (takes & (old > 0) & (rng.random(n_rows) < 0.002))
    amount = np.where(empties, old, amount)
    change = np.where(kind == 0, amount, -np.minimum(amount, old))
    new = np.where(fraud & ~empties & (rng.random(n_rows) < 0.5), old, old + change)
    share = np.divide(amount, old, out=np.zeros(n_rows), where=old > 0)
    columns = {
        "amount": np.log(amount + 1e-6),
        "old balance": np.log(old + 1e-6),
        "new balance": np.log(new + 1e-6),
        "hour": rng.integers(0, 24, n_rows).astype(float),
        "day": rng.integers(1, 31, n_rows).astype(float),
        "share taken": np.clip(share, 0, 1),
        "external origin": ((old == 0) & (new == 0)).astype(float),
        "external receiver": (rng.random(n_rows) < np.where(fraud, 0.5, 0.35)).astype(float),
        **{name: (kind == code).astype(float) for code, name in enumerate(TYPES)},
    }
    return pd.DataFrame(columns), fraud.astype(np.int8)


def write_parquet(path: str, n_rows: int, *, part: int = 500_000) -> int:
    """Write generated rows part by part; return the bytes that they would take as float64 in memory."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    writer = None
    for i, first in enumerate(range(0, n_rows, part)):
        frame, labels = transactions(min(part, n_rows - first), seed=i)
        table = pa.Table.from_pandas(frame.assign(**{TARGET: labels}), preserve_index=False)
        writer = writer or pq.ParquetWriter(path, table.schema, compression="snappy")
        writer.write_table(table, row_group_size=125_000)
    if writer is not None:
        writer.close()
    return n_rows * 13 * 8
