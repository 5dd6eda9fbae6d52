"""The mathematics: terms, signomials and the closed-form properties of signomial scores."""

from ecsel.signomial.arrays import ScoreTerms, scores, term_values
from ecsel.signomial.factor import Factor, Parity
from ecsel.signomial.rows import FeatureRows
from ecsel.signomial.signomial import Signomial
from ecsel.signomial.term import Term

__all__ = ["Factor", "FeatureRows", "Parity", "ScoreTerms", "Signomial", "Term", "scores", "term_values"]
