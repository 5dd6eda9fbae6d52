"""Random score terms on a few features, as hypothesis draws them."""

import numpy as np
from hypothesis import strategies as st

from ecsel.signomial import ScoreTerms


@st.composite
def _score_terms(draw):
    n_terms, n_features, n_classes = draw(st.integers(1, 5)), draw(st.integers(1, 4)), draw(st.integers(2, 3))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    exponents = rng.normal(0, 1, (n_terms, n_features)) * (rng.random((n_terms, n_features)) < 0.7)
    return ScoreTerms(rng.normal(0, 1, n_terms), exponents, rng.integers(0, n_classes, n_terms), n_classes)


st.register_type_strategy(ScoreTerms, _score_terms())
