"""What a law may look like and how long to search for it."""

from dataclasses import dataclass
from fractions import Fraction

from ecsel._typing import Floats
from ecsel.discovery.budget import Budget
from ecsel.discovery.model import Structure


@dataclass(frozen=True)
class Options:
    """What a law may look like and how long to search for it.

    Parameters
    ----------
    n_terms
        The exact number of terms; ``None`` leaves it to the code length.
    max_terms
        The largest number of terms.
    exponents
        The rationals that an exponent may be; ``None`` is the default lattice.
    real
        Whether an exponent may be a free real number.
    lower, upper
        Bounds of the exponents, one per column; ``None`` is ±12.
    noise_variance
        The variance of the noise, where it is known.
    dimensions, target_dimension
        Physical dimensions, (base units, columns) and (base units,).
    time_limit
        Seconds after which the best law so far is returned.
    budget
        The moves that this and other searches of a fit may take together; ``None`` for any number.
    thorough
        Whether to go on with restarts while the residual tests reject the best law.
    hints
        Laws that other searches in the same table have found, in terms of all columns; they are candidates too.
    only_hints
        Whether to rank the hints, and what is one move away from them, without a search of its own.
    decided
        The law to return, in terms of all columns; the hints are ranked beside it, and nothing is searched.
    seed
        Seed of the starts and of the samples.
    """

    n_terms: int | None = None
    max_terms: int = 10
    exponents: tuple[Fraction, ...] | None = None
    real: bool = True
    lower: Floats | None = None
    upper: Floats | None = None
    noise_variance: float | None = None
    dimensions: Floats | None = None
    target_dimension: Floats | None = None
    time_limit: float | None = None
    budget: Budget | None = None
    thorough: bool = False
    hints: tuple[Structure, ...] = ()
    only_hints: bool = False
    decided: Structure | None = None
    seed: int = 0

    @property
    def largest(self) -> int:
        """The largest number of terms to try."""
        return self.max_terms if self.n_terms is None else self.n_terms
