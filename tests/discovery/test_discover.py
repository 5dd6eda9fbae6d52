"""Laws drawn at random are found whenever the data identify them.

A draw is identifiable when the truth's own full code length beats both no law and a law with any of its terms left out
by a clear margin; otherwise the data are hopeless and nothing is claimed.
"""

import numpy as np
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from ecsel.discovery.criterion import STRONG_EVIDENCE, Criterion
from ecsel.discovery.discover import discover
from ecsel.discovery.lattice import Lattice
from ecsel.discovery.law import finish
from ecsel.discovery.model import Problem, Structure
from ecsel.discovery.rows import Rows

EXPONENTS = st.sampled_from([-2.0, -1.0, 0.0, 0.0, 0.5, 1.0, 1.0, 2.0, 3.0])
CLEAR = 10.0


@st.composite
def positive_laws(draw):
    m, k = draw(st.integers(1, 3)), draw(st.integers(1, 2))
    b = np.array([[draw(EXPONENTS) for _ in range(m)] for _ in range(k)])
    a = np.array([draw(st.sampled_from([-3.0, -1.0, 0.37, 1.0, 2.5, 7.31])) for _ in range(k)])
    return a, b, draw(st.integers(0, 2**16))


def full_code(problem, structure):
    return finish(problem, structure).code_length


def truth_of(a, b, seed):
    rng = np.random.default_rng(seed)
    X = rng.uniform(1, 5, (80, b.shape[1]))
    y = np.stack([np.prod(X**row, axis=1) for row in b], axis=1) @ a
    y = y + 0.001 * np.sqrt(np.mean(y**2)) * rng.normal(size=80)
    rows = Rows.from_table(X, y)
    lattice = Lattice.build(signed=rows.signed, has_zero=rows.has_zero)
    problem = Problem(rows, Criterion(len(rows), rows.energy), lattice)
    return X, y, problem, Structure(b, (np.abs(b) % 2 == 1).astype(np.int8))


@settings(max_examples=12, deadline=None)
@given(positive_laws())
def test_identifiable_laws_code_at_least_as_well_as_the_truth(law):
    a, b, seed = law
    assume(len({tuple(row) for row in b}) == len(b) and np.abs(b).max() > 0)
    X, y, problem, truth = truth_of(a, b, seed)
    length = full_code(problem, truth)
    fewer = [truth.keep([j for j in range(len(b)) if j != i]) for i in range(len(b))]
    assume(all(full_code(problem, s) > length + CLEAR for s in fewer))
    found = discover(X, y).law
    assert found.code_length <= length + STRONG_EVIDENCE + 1e-6


@settings(max_examples=8, deadline=None)
@given(st.integers(0, 2**16))
def test_pure_noise_has_no_law(seed):
    rng = np.random.default_rng(seed)
    found = discover(rng.uniform(1, 5, (60, 3)), rng.normal(size=60)).law
    assert len(found) <= 2
    assert found.rss > 0.6 * 60 * 0.7


def test_the_same_seed_gives_the_same_law_bit_for_bit():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 3))
    y = X[:, 0] * X[:, 1] + X[:, 2] ** 2 + rng.normal(0, 0.01, 60)
    one, two = discover(X, y).law, discover(X, y).law
    np.testing.assert_array_equal(one.coefficients, two.coefficients)
    np.testing.assert_array_equal(one.structure.exponents, two.structure.exponents)
