"""The candidates of a selection, as a value: a front of size against loss from which a user may pick another."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from ecsel.signomial.text import counted

if TYPE_CHECKING:
    from ecsel.signomial import Signomial


@dataclass(frozen=True, slots=True)
class Candidate:
    """One fitted candidate: its size in factors, its held-out loss (NaN where nothing was held out), its equations.

    `l1` is the strength of the paper's model, None after a search. `n_rows` are the distinct rows that the loss was
    measured on: losses of different rows do not compare.

    `smoothed_loss` is that by which a search has chosen the size: smoothed over the sizes, since what a held-out loss
    does from one size to the next is mostly luck of the folds. It is NaN where `loss` itself has decided.
    """

    n_terms: int
    l1: float | None
    size: int
    loss: float
    loss_se: float
    equations: tuple[Signomial, ...]
    n_rows: int = 0
    smoothed_loss: float = np.nan


class Path(tuple[Candidate, ...]):
    """A tuple of candidates that can be shown as a data frame."""

    __slots__ = ()

    def __repr__(self) -> str:
        lines = [
            f"  [{i}] {counted(each.size, 'factor')}"
            + ("" if np.isnan(each.loss) else f", loss {each.loss:.4f} ± {each.loss_se:.4f}")
            + ("" if np.isnan(each.smoothed_loss) else f", smoothed {each.smoothed_loss:.4f}")
            for i, each in enumerate(self)
        ]
        return "\n".join([f"Path of {counted(len(self), 'candidate')}", *lines])

    def to_frame(self) -> Any:
        """Return a pandas data frame, one row per candidate, without the equations."""
        try:
            import pandas as pd  # noqa: PLC0415 - an optional dependency
        except ImportError as error:
            raise ImportError("path_.to_frame() needs pandas: pip install pandas.") from error
        names = ("n_terms", "l1", "size", "loss", "loss_se", "n_rows", "smoothed_loss")
        return pd.DataFrame([{name: getattr(c, name) for name in names} for c in self], columns=list(names))

    def to_plain(self) -> tuple[dict[str, Any], ...]:
        """Return plain JSON values, equations as text and missing losses as None; `stored.read_path` reads them."""
        return tuple(
            {
                "n_terms": c.n_terms,
                "l1": c.l1,
                "size": c.size,
                "loss": None if np.isnan(c.loss) else c.loss,
                "loss_se": None if np.isnan(c.loss_se) else c.loss_se,
                "equations": [str(equation) for equation in c.equations],
                "n_rows": c.n_rows,
                "smoothed_loss": None if np.isnan(c.smoothed_loss) else c.smoothed_loss,
            }
            for c in self
        )
