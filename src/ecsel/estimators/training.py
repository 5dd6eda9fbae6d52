"""One fit of a classifier's options to some rows: the same whether the rows are all, a fold's, or a bootstrap's."""

from __future__ import annotations

import sys
import warnings
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from ecsel.fitting import FitReport, FitResult, Status, fit_scores
from ecsel.fitting.fit import FitOptions, fit_blocks

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from ecsel.estimators.classifier import ECSELClassifier
    from ecsel.estimators.settings import Settings
    from ecsel.fitting import Loss
    from ecsel.fitting.rows.blocks import Coordinates, RowBlocks
    from ecsel.fitting.rows.merging import Rows

    Train = Callable[..., FitResult]
    """Takes rows, and perhaps `start` and `watch`."""


def encoder_options(model: ECSELClassifier, settings: Settings) -> dict[str, Any]:
    """Return the options of the model that concern columns."""
    return {
        "scaling": "raw" if settings.searches else model.scaling,
        "missing": model.missing,
        "missing_codes": model.missing_codes,
        "out_of_range": model.out_of_range,
        "categorical": model.categorical,
        "ordinal": model.ordinal,
        "keep": model.keep,
        "drop": model.drop,
        "two_sided": model.two_sided,
        "n_threads": settings.n_threads,
    }


@dataclass(frozen=True)
class PackedRows:
    """Rows that are kept elsewhere: their blocks, the coordinates of their logs and the shares of the classes."""

    blocks: RowBlocks
    coordinates: Coordinates
    shares: NDArray[np.float64]


def fit_options(model: ECSELClassifier, settings: Settings, seed: int, n_threads: int) -> FitOptions:
    """Return how the model wants to be fitted."""
    return FitOptions(settings.solver, model.tol, model.max_iter, n_threads, seed)


def trainer(
    model: ECSELClassifier, settings: Settings, loss: Loss, size: tuple[int, float], seed: int, *, n_threads: int
) -> Train:
    """Return the function that fits rows with the options of the model and the given terms and strength."""
    n_terms, l1 = size
    options = fit_options(model, settings, seed, n_threads)

    def train(rows: Rows | PackedRows, **more: Any) -> FitResult:
        if isinstance(rows, PackedRows):
            packed = (rows.blocks, rows.coordinates, rows.shares)
            penalty = settings.penalty(l1)
            return fit_blocks(*packed, loss, penalty, n_terms, intercept=model.fit_intercept, options=options, **more)
        return fit_scores(
            *rows, loss, settings.penalty(l1), n_terms, intercept=model.fit_intercept, options=options, **more
        )

    return train


def warn_unless_converged(report: FitReport, max_iter: int) -> None:
    """Say what an interrupted or unfinished fit is worth."""
    if report.status is Status.INTERRUPTED:
        warnings.warn(
            f"The fit was interrupted after {report.iterations} iterations; the best equations so far were kept.",
            UserWarning,
            stacklevel=3,
        )
    elif report.status in {Status.MAX_ITER, Status.STALLED}:
        warnings.warn(
            f"The fit has not converged ({report.status.value}): KKT residual {report.kkt_residual:.1e} (scale "
            f"{report.kkt_scale:.3g}) after {report.iterations} iterations with max_iter={max_iter}. Raise max_iter "
            "or l1.",
            ConvergenceWarning,
            stacklevel=3,
        )


def show_progress(iteration: int, objective: float, residual: float) -> None:
    """Tell an iteration on standard error."""
    tail = "" if np.isnan(residual) else f"  KKT residual {residual:.1e}"
    sys.stderr.write(f"iteration {iteration:4d}  objective {objective:.6f}{tail}\n")
