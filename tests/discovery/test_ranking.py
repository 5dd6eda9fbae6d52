"""Which law is reported: the simplest without strong evidence against it, of equally simple ones the shortest."""

from dataclasses import replace

import numpy as np

from ecsel.discovery.criterion import STRONG_EVIDENCE, Criterion
from ecsel.discovery.lattice import Lattice
from ecsel.discovery.law import finish
from ecsel.discovery.model import Problem, Structure
from ecsel.discovery.ranking import TERM_EVIDENCE, simplest_of_the_best
from ecsel.discovery.rows import Rows


def laws_of(*exponents):
    """Finish laws of one variable, each given by the powers of its terms."""
    rng = np.random.default_rng(0)
    x = rng.uniform(1, 5, (40, 1))
    rows = Rows.from_table(x, 2 * x[:, 0] ** 2 + rng.normal(size=40))
    lattice = Lattice.build(signed=rows.signed, has_zero=rows.has_zero)
    problem = Problem(rows, Criterion(len(rows), rows.energy), lattice)
    columns = [np.array(e, dtype=float)[:, None] for e in exponents]
    return [finish(problem, Structure(b, (b % 2 == 1).astype(np.int8))) for b in columns]


def exponents_of_ties(laws, lengths):
    laws = [replace(law, shortest=length) for law, length in zip(laws, lengths, strict=True)]
    return simplest_of_the_best(sorted(laws, key=lambda law: law.shortest)).structure.exponents[:, 0].tolist()


def test_fewer_terms_win_unless_the_evidence_is_strong():
    laws = laws_of([2], [2, 1])
    assert exponents_of_ties(laws, [0.9 * STRONG_EVIDENCE, 0.0]) == [2]
    assert exponents_of_ties(laws, [1.1 * TERM_EVIDENCE, 0.0]) == [2, 1]


def test_whole_powers_win_over_fractions():
    assert exponents_of_ties(laws_of([2], [1.5]), [1.0, 0.0]) == [2]
    assert exponents_of_ties(laws_of([2], [1.5]), [1.1 * STRONG_EVIDENCE, 0.0]) == [1.5]


def test_of_whole_powers_the_shorter_code_wins():
    """The cheaper exponent of the longer law is in its code length already."""
    cheap, dear = laws_of([1], [3])
    assert cheap.structure_cost < dear.structure_cost
    assert exponents_of_ties([cheap, dear], [1.0, 0.0]) == [3]
