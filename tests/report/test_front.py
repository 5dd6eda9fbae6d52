"""The line about other sizes tells the losses that the folds have measured."""

import dataclasses
import re

import pytest

from ecsel.report.front import Front, n_factors
from ecsel.signomial.text import counted


def test_the_chosen_size_is_the_model(readable_case):
    model = readable_case.model
    front = Front.of(model)
    assert front.chosen.n_factors == n_factors(model.equations_.values())
    assert front.chosen.equations == tuple(model.equations_.values())
    assert [point.n_factors for point in front.points] == sorted(point.n_factors for point in front.points)
    other = model.select(1)
    assert Front.of(other).chosen.n_factors == model.path_[1].size


def test_the_line_has_the_losses_of_the_path(readable_case):
    model = readable_case.model
    losses = {candidate.size: candidate.loss for candidate in model.path_}
    reported = Front.of(model).sentence()
    first = re.match(r"(\d+) factors?: log-loss ([0-9.]+) on held-out folds", reported)
    assert float(first[2]) == pytest.approx(losses[int(first[1])], abs=6e-4)
    for n, loss, option in re.findall(r"(\d+) factors? would give ([0-9.]+) \(--select (\d+)\)", reported):
        assert n == option
        assert float(loss) == pytest.approx(losses[int(n)], abs=6e-4)
    assert Front.of(model).sentence(other_sizes=False) == first[0]


def test_what_cannot_be_seen_is_no_gain(readable_case):
    front = Front.of(readable_case.model)
    if front.larger is not None:
        assert float(front.larger.text) < float(front.chosen.text)
    smaller = front.smaller
    assert smaller is None or 2 * smaller.n_factors <= front.chosen.n_factors or smaller.error < front.chosen.error


def test_a_smaller_equation_that_is_better_is_named(readable_case):
    """Where the choice has its reasons for a larger one, a reader must still learn of the smaller."""
    front = Front.of(readable_case.model)
    *rest, last = front.points
    others = tuple(dataclasses.replace(point, is_chosen=False) for point in rest)
    worse = dataclasses.replace(last, is_chosen=True, error=9.0, text="9.000", n_factors=3 * last.n_factors)
    best = min((point for point in others if point.n_factors), key=lambda point: point.error)
    reported = Front((*others, worse), "log-loss", None).sentence()
    assert f"{counted(best.n_factors, 'factor')} would give {best.text}" in reported


def test_of_a_number_the_error_is_in_its_own_unit(house_case):
    model = house_case.model
    front = Front.of(model)
    assert front.chosen.equations == (model.equation_,)
    for point, candidate in zip(front.points, model.path_, strict=True):
        assert point.error == pytest.approx(candidate.loss**0.5)
        above = (candidate.loss + candidate.loss_se) ** 0.5 - point.error
        assert point.standard_error == pytest.approx(above, rel=0.2)
    assert f"root mean squared error {front.chosen.text} on held-out folds" in front.sentence()
    assert "root mean squared error" in house_case.html


def test_laws_have_a_front_of_their_own(law_case):
    assert Front.of(law_case.model).points == ()


def test_without_folds_there_is_no_front(loan_case):
    assert Front.of(loan_case.model).points == ()
    assert Front.of(loan_case.model).sentence() == ""
