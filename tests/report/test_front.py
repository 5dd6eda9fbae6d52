"""The line about other sizes tells the losses that the folds have measured."""

import dataclasses
import re
from itertools import pairwise

import pytest

from ecsel.report.formulas import MAX_SIZES, telling
from ecsel.report.front import Front, FrontPoint, n_factors
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
    """The chosen size with what the folds have measured; sizes beside each other by what the choice has compared."""
    model = readable_case.model
    losses = {candidate.size: candidate.loss for candidate in model.path_}
    compared = {candidate.size: candidate.smoothed_loss for candidate in model.path_}
    reported = Front.of(model).sentence()
    first = re.match(r"(\d+) factors?: log-loss ([0-9.]+) on held-out folds", reported)
    assert float(first[2]) == pytest.approx(losses[int(first[1])], abs=6e-4)
    own = re.search(r"by which the size is chosen, ([0-9.]+)", reported)
    assert float(own[1]) == pytest.approx(compared[int(first[1])], abs=6e-4)
    others = re.findall(r"(\d+) factors? would give ([0-9.]+) \(--select (\d+)\)", reported)
    assert others
    for n, loss, option in others:
        assert n == option
        assert float(loss) == pytest.approx(compared[int(n)], abs=6e-4)
    assert Front.of(model).sentence(other_sizes=False) == first[0]


def test_what_cannot_be_seen_is_no_gain(readable_case):
    front = Front.of(readable_case.model)
    if front.larger is not None:
        assert float(front.larger.compared) < float(front.chosen.compared)
    smaller = front.smaller
    assert (
        smaller is None or 2 * smaller.n_factors <= front.chosen.n_factors or smaller.smoothed < front.chosen.smoothed
    )


def test_luck_of_the_folds_is_no_advice():
    """On ilpd, 4 factors had a held-out loss of .507 and the chosen 3 one of .522; the choice saw .513 and .512."""
    three = FrontPoint(3, 0.522, 0.01, "0.522", (), is_chosen=True, smoothed=0.512, smoothed_text="0.512")
    four = FrontPoint(4, 0.507, 0.01, "0.507", (), is_chosen=False, smoothed=0.513, smoothed_text="0.513")
    seven = FrontPoint(7, 0.509, 0.01, "0.509", (), is_chosen=False, smoothed=0.511, smoothed_text="0.511")
    assert Front((three, four), "log-loss", None).sentence() == "3 factors: log-loss 0.522 on held-out folds"
    assert Front((three, four, seven), "log-loss", None).sentence() == (
        "3 factors: log-loss 0.522 on held-out folds; smoothed over the sizes, by which the size is chosen, 0.512; "
        "7 factors would give 0.511 (--select 7)"
    )


def test_a_smaller_equation_that_is_better_is_named(readable_case):
    """Where the choice has its reasons for a larger one, a reader must still learn of the smaller."""
    front = Front.of(readable_case.model)
    *rest, last = front.points
    others = tuple(dataclasses.replace(point, is_chosen=False) for point in rest)
    worse = dataclasses.replace(last, is_chosen=True, smoothed=9.0, smoothed_text="9.000", n_factors=3 * last.n_factors)
    best = min((point for point in others if point.n_factors), key=lambda point: point.smoothed)
    reported = Front((*others, worse), "log-loss", None).sentence()
    assert f"{counted(best.n_factors, 'factor')} would give {best.compared}" in reported


def test_the_chosen_size_is_the_cheapest_by_the_smoothed_losses(readable_case):
    """What is shown explains the choice: no smaller size has a smoothed loss that is as low."""
    front = Front.of(readable_case.model)
    fewer = [point for point in front.points if point.n_factors < front.chosen.n_factors]
    assert all(point.smoothed > front.chosen.smoothed for point in fewer)


@pytest.mark.parametrize("chosen", [0, 7, 20])
def test_of_a_long_front_the_telling_sizes_are_shown(chosen):
    points = tuple(FrontPoint(k, 1 / (k + 1), 0.0, "", (), is_chosen=k == chosen) for k in range(21))
    shown = [point.n_factors for point in telling(points)]
    assert len(shown) == MAX_SIZES
    assert {0, max(0, chosen - 1), chosen, min(chosen + 1, 20), 20} <= set(shown)
    assert max(b - a for a, b in pairwise(shown)) <= 5
    assert telling(points[:MAX_SIZES]) == points[:MAX_SIZES]


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
