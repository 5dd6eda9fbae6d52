"""Links: from the scores of a row to its probabilities, or to its prediction.

==========  ======  ======================================  =====================================================
link        scores  outputs                                 a score belongs to
==========  ======  ======================================  =====================================================
sigmoid     one     p_1 = 1/(1 + exp(−z)), p_0 = 1 − p_1    the second class; that of the first is zero
softmax     k       p_c = exp(z_c) / Σ_r exp(z_r)           a class each
identity    one     z                                       the prediction
==========  ======  ======================================  =====================================================

Whoever wants to know what scores mean asks the link; nobody compares its name. A sigmoid is a softmax of two scores
whose first is zero: `class_scores` gives every class its score.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
from scipy import special

if TYPE_CHECKING:
    from ecsel._typing import Floats

S = TypeVar("S", bound=Sequence[Any])


@dataclass(frozen=True, slots=True)
class Link:
    """The contract, which is that of the identity: one score, which is the prediction."""

    name: str = "identity"
    has_classes: bool = False
    has_reference: bool = False
    """Whether the first of two classes is the reference: its score is zero, and that of the other the log-odds."""

    def __str__(self) -> str:
        return self.name

    def outputs(self, scores: Floats) -> Floats:
        """Return the predictions (rows, 1), or the probabilities (rows, classes), without overflow."""
        return scores

    def class_scores(self, scores: Floats) -> Floats:
        """Return the score of every class (rows, classes, …), that of a reference class being zero."""
        return scores

    def scored(self, classes: S) -> S:
        """Return those of the classes that have a score in the model."""
        return classes

    def n_scores(self, n_classes: int) -> int:
        """Return the number of scores of so many classes; a prediction has one."""
        del n_classes
        return 1

    def serves(self, n_classes: int) -> bool:
        """Whether so many classes can have this link."""
        return n_classes == 0


class Sigmoid(Link):
    """One score of the second class; two classes."""

    __slots__ = ()

    def __init__(self) -> None:
        super().__init__("sigmoid", has_classes=True, has_reference=True)

    def outputs(self, scores: Floats) -> Floats:
        """Return 1 − p and p of one score."""
        _check_number(scores, "a sigmoid takes one score", served=scores.shape[1] == 1)
        # σ(−z) rather than 1 − σ(z), which would lose the small probability of a sure decision
        return np.hstack([special.expit(-scores), special.expit(scores)])

    def class_scores(self, scores: Floats) -> Floats:
        """Return zeros and the scores."""
        _check_number(scores, "a sigmoid takes one score", served=scores.shape[1] == 1)
        return np.concatenate([np.zeros_like(scores), scores], axis=1)

    def scored(self, classes: S) -> S:
        """Return the second class alone."""
        return classes[1:]  # type: ignore[return-value]  # a slice of a sequence is of its kind

    def serves(self, n_classes: int) -> bool:
        """Whether there are two classes."""
        return n_classes == 2


class Softmax(Link):
    """A score for every class."""

    __slots__ = ()

    def __init__(self) -> None:
        super().__init__("softmax", has_classes=True)

    def outputs(self, scores: Floats) -> Floats:
        """Return exp(z_c) / Σ exp(z_r)."""
        result: Floats = special.softmax(self.class_scores(scores), axis=1)
        return result

    def class_scores(self, scores: Floats) -> Floats:
        """Return the scores."""
        _check_number(scores, "a softmax takes two or more scores", served=scores.shape[1] >= 2)
        return scores

    def n_scores(self, n_classes: int) -> int:
        """Return one score a class."""
        return n_classes

    def serves(self, n_classes: int) -> bool:
        """Whether there are two classes or more."""
        return n_classes >= 2


SIGMOID, SOFTMAX, IDENTITY = Sigmoid(), Softmax(), Link()
LINKS: dict[str, Link] = {link.name: link for link in (SIGMOID, SOFTMAX, IDENTITY)}


def _check_number(scores: Floats, rule: str, *, served: bool) -> None:
    if not served:
        raise ValueError(f"{rule}, not {scores.shape[1]}")


def as_link(link: Link | str) -> Link:
    """Return a link that is given itself, or by its name."""
    found = LINKS.get(link) if isinstance(link, str) else link
    if found is None:
        raise ValueError(f"link must be one of {', '.join(map(repr, LINKS))}, not {link!r}")
    return found


def link_of_classes(link: Link | str) -> Link:
    """Return a link of classes, given itself or by its name."""
    found = LINKS.get(link) if isinstance(link, str) else link
    if found is None or not found.has_classes:
        raise ValueError(f"link must be 'sigmoid' or 'softmax', not {str(link)!r}")
    return found
