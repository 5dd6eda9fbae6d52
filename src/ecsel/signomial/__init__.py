"""The mathematics: terms, signomials and the closed-form properties of signomial scores.

An equation has five encodings in the library, and no more:

=========================  ============================================================================================
:class:`Signomial`         terms and factors by name: what people read, files hold and public attributes return
:class:`ScoreTerms`        arrays of all scores: what fits of the paper's model return, models predict and explain with
θ of ``fitting.Problem``   angles and slopes in standardised logs, one vector: what solvers of the paper's model move
``search.Equations``       places in a dictionary of pieces, and coefficients: what the search for equations exchanges
``discovery.Structure``    exponents on a lattice, which of them are free: what the search for laws exchanges
=========================  ============================================================================================

The last three end where their search ends: it hands on a `Signomial` or `ScoreTerms`. A form with constants to fit
(``discovery.form``) is a family of equations, and a program (``export.program``) computes one from raw columns.
"""

from ecsel.signomial.arrays import ScoreTerms, scores, term_values
from ecsel.signomial.factor import Factor, Parity
from ecsel.signomial.rows import FeatureRows
from ecsel.signomial.signomial import Signomial
from ecsel.signomial.term import Term

__all__ = ["Factor", "FeatureRows", "Parity", "ScoreTerms", "Signomial", "Term", "scores", "term_values"]
