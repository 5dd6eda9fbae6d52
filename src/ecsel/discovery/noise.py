"""The noise of a target: how much each training row weighs, and what a new row must expect.

Noise of standard deviation sigma_i gives row i the precision 1/sigma_i^2. Noise in proportion to the target is that of
y_i = f(x_i) (1 + s e_i): its standard deviation is s |f(x_i)|, not s |y_i|. Weights 1/y_i^2 favour rows whose noise
happened to be negative and shrink the law by a factor of 1 - 2 s^2, so they serve for a first fit only; the second one
takes its weights from the first (`NoiseModel.around`).

Lognormal noise is that of y_i = f(x_i) exp(s e_i). Its likelihood is a sum of squares of ln(y/f); one Gauss-Newton step
from a law f0 is the least-squares fit, with weights 1/f0^2, to the working target

    z = f0 (1 + ln(y / f0)),

as in iteratively reweighted least squares of generalised linear models (McCullagh and Nelder 1989). The law is then the
median of the target.
"""

import math
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ecsel._typing import Floats

CONSTANT, RELATIVE, LOGNORMAL, PER_ROW = "constant", "relative", "lognormal", "per row"
AUTO = "auto"
LARGEST_RATIO = 20.0
"""A law under lognormal noise is taken to be within this factor of each target, so that no row pulls without bound."""


@dataclass(frozen=True, eq=False)
class NoiseModel:
    """What is assumed of the noise of the training rows.

    Attributes
    ----------
    precision
        The precision of each row up to a factor; ``None`` where all are equal.
    variance
        The variance of a row of precision one, ``None`` where it is to be estimated.
    size
        The magnitude that the noise of each row is proportional to; ``None`` unless it is relative or lognormal.
    centre
        The law that a working target is made around, ``None`` unless the noise is lognormal.
    """

    precision: Floats | None = None
    variance: float | None = None
    size: Floats | None = None
    centre: Floats | None = None

    @property
    def kind(self) -> str:
        """How the noise of a new row follows from that of the training rows."""
        if self.centre is not None:
            return LOGNORMAL
        if self.size is not None:
            return RELATIVE
        return CONSTANT if self.precision is None else PER_ROW

    @classmethod
    def relative_to(cls, size: Floats) -> "NoiseModel":
        """Return noise in proportion to the given magnitudes; a zero counts as the smallest of the others.

        >>> NoiseModel.relative_to(np.array([0.0, 1.0, 2.0])).precision
        array([4., 4., 1.])
        """
        size = np.abs(size)
        top = float(size.max(initial=0.0))
        if top == 0.0:
            return cls()
        size = np.maximum(size, size[size > 0].min())
        # The ratio to the largest keeps squares of any magnitude within the floating-point range.
        return cls(precision=1.0 / np.maximum(size / top, 1e-140) ** 2, size=size)

    def at_rows(self, index: NDArray[np.intp]) -> "NoiseModel":
        """Return the noise of some of the rows, which may be repeated."""
        parts = {name: getattr(self, name) for name in ("precision", "size", "centre")}
        return replace(self, **{name: None if part is None else part[index] for name, part in parts.items()})

    @classmethod
    def lognormal_around(cls, law: Floats, y: Floats) -> "NoiseModel":
        """Return lognormal noise around the values of a law, which are given the signs of the targets."""
        size = np.clip(np.abs(law), np.abs(y) / LARGEST_RATIO, np.abs(y) * LARGEST_RATIO)
        model = cls.relative_to(size)
        return model if model.size is None else replace(model, centre=np.copysign(model.size, y))

    def working_target(self, y: Floats) -> Floats:
        """Return the target of the least-squares problem: the target itself, unless the noise is lognormal."""
        if self.centre is None:
            return y
        ratio = np.where(y == 0.0, 1.0 / LARGEST_RATIO, y / self.centre)
        return np.asarray(self.centre * (1.0 + np.log(ratio)))

    def standard_residuals(self, y: Floats, law: Floats) -> Floats:
        """Return residuals whose noise has one standard deviation for all rows, up to a factor."""
        if self.centre is not None:
            around = NoiseModel.lognormal_around(law, y)
            size = np.abs(law) if around.size is None else around.size
            return np.asarray((around.working_target(y) - law) / np.copysign(size, y))
        residual = y - law
        return np.asarray(residual if self.precision is None else residual * np.sqrt(self.precision))

    def around(self, law: Floats, y: Floats) -> "NoiseModel":
        """Return relative noise in proportion to the values of a law instead of the noisy targets.

        Noise hardly ever doubles a target, so the law is taken to be at least half of it: a law that crosses zero near
        a row must not give that row all the weight.
        """
        if self.kind == LOGNORMAL:
            return NoiseModel.lognormal_around(law, y)
        return NoiseModel.relative_to(np.maximum(np.abs(law), 0.5 * np.abs(y)))


def noise_model(noise: Any, y: Floats) -> NoiseModel:
    """Return the noise in the words of the estimator's option.

    ``None`` or "constant" is constant noise of unknown size, and what "auto" begins with; "relative" is noise in
    proportion to the target, "lognormal" that of its logarithm, a number is a known standard deviation, an array gives
    the known standard deviation of each row.

    >>> noise_model(0.1, np.ones(3)).variance, noise_model([1.0, 2.0], np.ones(2)).kind
    (0.010000000000000002, 'per row')
    """
    if noise is None or (isinstance(noise, str) and noise in (AUTO, CONSTANT)):
        return NoiseModel()
    if isinstance(noise, str):
        if noise not in (RELATIVE, LOGNORMAL):
            raise ValueError(
                f"noise={noise!r}: use 'auto', 'constant', 'relative', 'lognormal', a standard deviation or one per row"
            )
        if noise == LOGNORMAL and not y.all():
            raise ValueError("noise='lognormal' needs a target without zeros")
        return NoiseModel.relative_to(y) if noise == RELATIVE else NoiseModel.lognormal_around(y, y)
    sigma = standard_deviations(noise, len(y))
    if not (sigma > 0).all():
        raise ValueError("noise must be positive and finite")
    if sigma.ndim == 0:
        return NoiseModel(variance=float(sigma) ** 2)
    precision = 1.0 / sigma**2
    return NoiseModel(precision=precision / precision.mean(), variance=float(1.0 / precision.mean()))


def standard_deviations(noise: Any, n_rows: int) -> Floats:
    """Return one standard deviation, or one for each row, checked for shape and sign."""
    try:
        sigma = np.asarray(noise, dtype=float)
    except (TypeError, ValueError) as error:
        raise ValueError(f"noise={noise!r} is no standard deviation") from error
    if sigma.ndim > 1 or (sigma.ndim == 1 and len(sigma) != n_rows):
        raise ValueError(
            f"noise has shape {sigma.shape}; give one standard deviation, or one for each of {n_rows} rows"
        )
    if not (np.isfinite(sigma).all() and (sigma >= 0).all()):
        raise ValueError("noise must be positive and finite")
    return sigma


@dataclass(frozen=True, slots=True)
class Noise:
    """The noise of a new row: a standard deviation, a share of the law's value, or that of the target's logarithm.

    It is unknown where each training row has its own.

    ``estimated`` tells whether ``sigma`` comes from the residuals, so that Student's t replaces the normal law.
    """

    kind: str = CONSTANT
    sigma: float = math.nan
    estimated: bool = True

    def __post_init__(self) -> None:
        if self.kind not in (CONSTANT, RELATIVE, LOGNORMAL, PER_ROW):
            raise ValueError(f"{self.kind!r} is no kind of noise")

    def at(self, law: Floats) -> Floats:
        """Return the standard deviation of the noise for rows where the law has the given values."""
        if self.kind == PER_ROW:
            raise ValueError(
                "The law was fitted with a standard deviation for each row, so that of a new row is not known: "
                "give it by noise=, one number or one for each row."
            )
        return np.full(np.shape(law), self.sigma) if self.kind == CONSTANT else self.sigma * np.abs(law)
