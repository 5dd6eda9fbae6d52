"""LIME of a table with a column of text, by way of `explain.compare`.

Categories go to LIME as codes and come back to the model as levels. The table is scikit-learn's breast cancer data,
seven of its columns of numbers and the quartile of an eighth as a word.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
from sklearn.datasets import load_breast_cancer

from ecsel import ECSELClassifier, explain

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from benchmarks.results import ResultFile


def lime_with_category(
    results: ResultFile, n_rows: int, timed: Callable[[Callable[[], Any]], tuple[Any, float]]
) -> None:
    """Store LIME's time and its agreement with D2; every column must have been explained."""
    X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    size = pd.qcut(X["mean area"], 4, labels=["small", "medium", "large", "huge"]).astype(str)
    X = X.iloc[:, :8].drop(columns="mean area").assign(size=size)
    model = ECSELClassifier(n_terms=2, l1=1e-3, random_state=0).fit(X, y)
    compared, seconds = timed(lambda: explain.compare(model, X[:n_rows], "lime", background=X))
    if compared.theirs_by_row.shape != (n_rows, X.shape[1]) or not np.isfinite(compared.theirs_by_row).all():
        raise AssertionError("LIME has not explained every column")
    row = {"case": "7 columns and a category", "method": "LIME", "rows": n_rows}
    row |= {"microseconds": 1e6 * seconds / n_rows, "error": float("nan"), "note": f"against D2: {compared.agreement}"}
    print(results.put(row))
