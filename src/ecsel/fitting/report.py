"""What a fit reports of itself."""

from __future__ import annotations

import warnings
from dataclasses import asdict, dataclass, field, fields
from enum import Enum
from typing import Any

from ecsel._version import OLD_NAMES_GO_IN


class Status(Enum):
    """How a solver ended; the value is the sentence a person reads.

    Examples
    --------
    >>> Status.MAX_ITER.value
    'stopped at max_iter before the optimality conditions held'
    """

    CONVERGED = "converged: the optimality conditions hold to the tolerance"
    STALLED = "stopped: no step lowers the objective at working precision"
    MAX_ITER = "stopped at max_iter before the optimality conditions held"
    EARLY = "stopped early on the validation loss"
    INTERRUPTED = "interrupted: the best point so far was kept"


@dataclass(frozen=True, slots=True)
class FitReport:
    """What happened in a fit.

    `passes` counts sweeps over all rows (work on samples is counted by its share of the rows), `kkt_residual` is the
    largest minimal subgradient at the returned point, `kkt_scale` the largest gradient of the intercept-only model or
    1, `objective_spread` the objectives that the separate starts reached, best first.

    Examples
    --------
    >>> import numpy as np
    >>> from ecsel.fitting import L1, Logistic, fit_scores
    >>> x = np.linspace(1, 9, 200)
    >>> codes = (x + 3 * np.sin(37 * x) > 5).astype(int)
    >>> result = fit_scores(np.log(x)[None, :], codes, np.ones(200), Logistic(), L1(0.01), 1)
    >>> result.report.status.name, result.report.n_rows
    ('CONVERGED', 200)
    """

    solver: str
    status: Status
    iterations: int
    passes: float
    objective: float
    loss: float
    kkt_residual: float
    kkt_scale: float
    objective_spread: tuple[float, ...] = field(metadata={"stored": "spread"})
    n_rows: int
    n_parameters: int

    @property
    def converged(self) -> bool:
        """Whether the optimality conditions hold to the tolerance."""
        return self.status is Status.CONVERGED

    @property
    def spread(self) -> tuple[float, ...]:
        """The old name of `objective_spread`; it warns."""
        message = f"spread is now objective_spread; the old name goes in {OLD_NAMES_GO_IN}."
        warnings.warn(message, FutureWarning, stacklevel=2)
        return self.objective_spread

    def to_dict(self) -> dict[str, Any]:
        """Return plain JSON values."""
        values = {**asdict(self), "status": self.status.name, "objective_spread": list(self.objective_spread)}
        return {each.metadata.get("stored", each.name): values[each.name] for each in fields(self)}
