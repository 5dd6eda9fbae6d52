"""Do two explanations rank features alike? Spearman's ρ with its p-value."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import stats

from ecsel.explain.explanation import Explanation

if TYPE_CHECKING:
    from ecsel._typing import Floats


@dataclass(frozen=True)
class Agreement:
    """Spearman's rank correlation of two importances.

    Attributes
    ----------
    rho : float
        1 for the same order, −1 for the opposite.
    p_value : float
        Probability of a correlation at least this far from 0 between unrelated rankings (two-sided, Student's t).
    n_features : int
        The number of ranked features.

    Examples
    --------
    >>> print(Agreement(rho=0.9, p_value=0.037, n_features=5).rho)
    0.9
    """

    rho: float
    p_value: float
    n_features: int

    def __str__(self) -> str:
        return f"Spearman ρ = {self.rho:.3f} (p = {self.p_value:.2g}, {self.n_features} features)"


def agreement(first: Any, second: Any) -> Agreement:
    """Return how far two rankings of features agree.

    Parameters
    ----------
    first, second : Explanation, dict of feature to importance, or array
        Sizes count, not signs. Of an explanation the mean over rows and classes is taken. Two inputs with names are
        matched by name.

    Examples
    --------
    >>> print(agreement({"a": 3.0, "b": -2.0, "c": 1.0}, {"c": 0.1, "a": 0.9, "b": 0.4}))
    Spearman ρ = 1.000 (p = 0, 3 features)
    """
    one, other = _importances(first), _importances(second)
    if isinstance(one, dict) and isinstance(other, dict):
        if different := sorted(set(one) ^ set(other)):
            raise ValueError(
                f"the rankings are of different features: {different[0]!r} is in one of them only; explain both in the "
                "same units"
            )
        a, b = np.array(list(one.values())), np.array([other[name] for name in one])
    else:
        a, b = (np.array(list(each.values())) if isinstance(each, dict) else each for each in (one, other))
    if a.shape != b.shape or a.size < 3:
        raise ValueError(f"two rankings of the same three or more features are needed, not {a.size} and {b.size}")
    if np.ptp(a) == 0 or np.ptp(b) == 0:
        raise ValueError("all importances of a ranking are equal, so it has no order")
    result = stats.spearmanr(a, b)
    return Agreement(float(result.statistic), float(result.pvalue), a.size)


def _importances(source: Any) -> dict[str, float] | Floats:
    if isinstance(source, Explanation):
        mean = source.importance() if "row" in source.axes else source
        if not mean.mask.all():
            column = mean.feature_names[int(np.argmin(np.atleast_2d(mean.mask).all(axis=0)))]
            raise ValueError(f"the importance of {column!r} is not defined; use units='model' or another quantity")
        values = np.atleast_2d(mean.values).mean(axis=0)
        return dict(zip(mean.feature_names, np.abs(values).tolist(), strict=True))
    if isinstance(source, Mapping):
        return {str(name): abs(float(value)) for name, value in source.items()}
    values = np.abs(np.asarray(source, dtype=np.float64))
    if values.ndim != 1 or not np.isfinite(values).all():
        raise ValueError(f"an importance is a list of finite numbers, one per feature, not of shape {values.shape}")
    return values
