"""The whole search: planted equations, invariances, limits, interrupts."""

import threading
import time
from dataclasses import replace

import numpy as np
import pytest
from scipy.special import expit

from ecsel.search import search as module
from ecsel.search.dictionary import PieceValues, SearchColumn, make_atoms, single_pieces, standardisation
from ecsel.search.glm import fit
from ecsel.search.large import GlmPass, choose_again, fit_streamed
from ecsel.search.losses import Logistic, Softmax, Squared
from ecsel.search.path import Family, Found, SizeConstraints, Training
from ecsel.search.screening import screened_atoms
from ecsel.search.search import SearchOptions, equations_of, fit_pieces, search
from ecsel.search.selection import (
    BANDWIDTH,
    EVIDENCE,
    NONLINEAR,
    RIDGES,
    STRAIGHT,
    HeldOut,
    Key,
    Validated,
    Walked,
    by_code_length,
    choose,
    smoothed,
    validate,
    walk_all,
)


def planted(columns, seed=100):
    z = 1.8 * np.log(columns[1].values) - 0.5 * columns[0].values + 1.5 * columns[3].values
    return (np.random.default_rng(seed).random(len(z)) < expit(z)) * 1.0


def chosen(result, columns):
    return result.front[result.chosen].equations.signomials(columns)


@pytest.fixture(scope="module")
def searched(make_columns, folds_of):
    """The columns of a planted table, and what their search with all options as they are comes to."""
    columns, w = make_columns(), np.ones(300)
    return columns, search(columns, planted(columns), w, Logistic(), folds_of(w), SearchOptions())


def test_a_planted_equation_is_found_with_two_digits(make_columns, folds_of):
    columns = make_columns(n=1500)
    w = np.ones(1500)
    result = search(columns, planted(columns), w, Logistic(), folds_of(w), SearchOptions())
    (equation,) = chosen(result, columns)
    assert {tuple(map(str, term.names)) for term in equation.terms if not term.is_constant} == {
        ("a",),
        ("b",),
        ("[d = yes]",),
    }
    assert "log(b)" in str(equation)
    for term in equation.terms:
        assert float(f"{term.coefficient:.3g}") == term.coefficient


@pytest.mark.parametrize(("wrong", "ridge"), [(0, RIDGES[0]), (9, RIDGES[1])])
def test_a_rule_without_exceptions_is_shrunk_least(make_columns, folds_of, wrong, ridge):
    """The smallest ridge is for classes that are separated on held-out rows too; a few exceptions forbid it."""
    columns = make_columns(n=500)
    w, y = np.ones(500), columns[3].values.copy()
    y[:wrong] = 1.0 - y[:wrong]
    result = search(columns, y, w, Logistic(), folds_of(w), SearchOptions())
    point = result.front[result.chosen]
    assert {columns[part.column].name for piece in point.equations.pieces for part in piece} == {"[d = yes]"}
    assert point.equations.ridge == ridge if not wrong else point.equations.ridge >= ridge
    assert (point.loss < 1e-3) == (not wrong)


def test_without_folds_nothing_asks_for_the_smallest_ridge(make_columns):
    columns = make_columns()
    w, y = np.ones(300), columns[3].values.copy()
    atoms, masks = screened_atoms(columns, Logistic(), y, [w])
    walked = walk_all(Training(Logistic(), atoms, y, w, masks[0]), module.FAMILIES, SizeConstraints(20))
    assert any(key.ridge == 0 for key in walked.found)
    assert all(each.key.ridge for each in by_code_length(walked))


@pytest.mark.parametrize("loss", [Logistic(), Softmax(3)], ids=lambda loss: loss.name)
def test_coefficients_are_optimal_given_the_pieces(make_columns, folds_of, loss):
    columns = make_columns()
    w = np.random.default_rng(1).integers(1, 3, 300).astype(float)
    y = planted(columns) + (loss.name != "logistic") * (columns[2].values > 0)
    result = search(columns, y, w, loss, folds_of(w), SearchOptions(digits=None))
    point = result.front[result.chosen].equations
    raw = np.array([PieceValues(columns).piece(piece) for piece in point.pieces])
    mean, scale, leverage = standardisation(raw, w)
    scores = np.repeat(point.intercepts[:, None], 300, axis=1)
    for k, c in enumerate(point.owners):
        scores[c] += point.coefficients[k] * raw[k]
    residual = w * loss.residuals(loss.means(scores), y)
    theta = point.coefficients * scale
    z = (raw - mean[:, None]) / scale[:, None]
    slopes = [point.ridge * leverage[k] * theta[k] - z[k] @ residual[c] for k, c in enumerate(point.owners)]
    np.testing.assert_allclose(slopes, 0, atol=2e-3)


@pytest.mark.parametrize("n_threads", [2, 5])
def test_threads_and_their_number_change_nothing(searched, folds_of, n_threads):
    columns, alone = searched
    w = np.ones(300)
    result = search(columns, planted(columns), w, Logistic(), folds_of(w), SearchOptions(n_threads=n_threads))
    assert chosen(result, columns) == chosen(alone, columns)
    assert [point.loss for point in result.front] == [point.loss for point in alone.front]


def test_the_front_falls_and_holds_the_choice(searched):
    _, result = searched
    sizes = [point.equations.n_factors for point in result.front]
    assert sizes == sorted(set(sizes))
    assert result.chosen in result.near_ties or result.front[result.chosen].loss >= min(p.loss for p in result.front)
    free = [point.loss for i, point in enumerate(result.front) if i != result.chosen]
    assert free == sorted(free, reverse=True)


@pytest.mark.parametrize(
    ("options", "check"),
    [
        (SearchOptions(n_terms=2), lambda e: len(e.pieces) == 2),
        (SearchOptions(max_terms=1), lambda e: len(e.pieces) <= 1),
        (SearchOptions(max_factors=2), lambda e: e.n_factors <= 2),
        (SearchOptions(max_columns=1), lambda e: len({part.column for piece in e.pieces for part in piece}) <= 1),
    ],
)
def test_limits(make_columns, folds_of, options, check):
    columns = make_columns()
    w = np.ones(300)
    result = search(columns, planted(columns), w, Logistic(), folds_of(w), options)
    assert check(result.front[result.chosen].equations)


def test_noise_alone_gives_the_empty_equation(make_columns, folds_of):
    columns = make_columns(seed=11)
    y = (np.random.default_rng(12).random(300) < 0.4) * 1.0
    w = np.ones(300)
    result = search(columns, y, w, Logistic(), folds_of(w), SearchOptions())
    assert result.front[result.chosen].equations.n_factors == 0


def test_signs_are_asked_for_once_per_dictionary(make_columns, folds_of):
    columns = make_columns()
    w = np.ones(300)

    def signs(pieces):
        return np.array([[np.nan if any(p.column == 1 for p in piece) else 0.0 for piece in pieces]])

    result = search(columns, planted(columns), w, Logistic(), folds_of(w), SearchOptions(), signs)
    assert all("b" not in equation.names for point in result.front for equation in point.equations.signomials(columns))


def test_time_that_is_over_gives_an_answer_all_the_same(make_columns, folds_of):
    columns = make_columns()
    w = np.ones(300)
    result = search(columns, planted(columns), w, Logistic(), folds_of(w), SearchOptions(time_limit=1e-9))
    assert result.stopped
    assert result.front


def test_the_last_fits_have_their_share_of_the_time_limit(monkeypatch, make_columns, folds_of):
    """Walkers stop while there is time left, because the chosen equation must still be fitted and rounded."""
    columns, w, now = make_columns(), np.ones(300), 0.0
    monkeypatch.setattr(module.time, "monotonic", lambda: now)
    walk_all, fit_pieces, stops = module.walk_all, module.fit_pieces, []

    def walk(training, families, limits, stopped):
        nonlocal now
        while not stopped():
            now += 0.125
        stops.append(now)
        return walk_all(training, families, limits, stopped)

    def fit(*args):
        stops.append(now)
        return fit_pieces(*args)

    monkeypatch.setattr(module, "walk_all", walk)
    monkeypatch.setattr(module, "fit_pieces", fit)
    result = search(columns, planted(columns), w, Logistic(), folds_of(w), SearchOptions(time_limit=10.0))
    assert result.stopped
    assert len(stops) > 1
    assert max(stops) <= (1 - module.LAST_SHARE) * 10.0 + 0.125


def test_an_interrupt_keeps_what_was_found(monkeypatch, make_columns, folds_of):
    """The main thread is interrupted while folds are walked: the walkers stop, the result has the first walk."""
    columns = make_columns()
    w = np.ones(300)
    walk_all = module.walk_all
    entered = threading.Event()

    def slow(*args):
        if threading.current_thread().name.endswith("_0"):
            return walk_all(*args)
        entered.set()
        while not args[3]():
            time.monotonic()
        return walk_all(*args)

    def interrupt(done, total):
        assert total == 6
        if done == 1:
            entered.wait(20)
            raise KeyboardInterrupt

    monkeypatch.setattr(module, "walk_all", slow)
    result = search(columns, planted(columns), w, Logistic(), folds_of(w), SearchOptions(n_threads=2), None, interrupt)
    assert result.stopped
    assert result.front


@pytest.mark.parametrize(("patience", "alone"), [(0.0, True), (1e9, False)])
def test_nobody_who_has_stopped_a_search_waits_for_the_candidates_that_were_not_chosen(
    monkeypatch, searched, folds_of, patience, alone
):
    columns, whole = searched
    w = np.ones(300)
    monkeypatch.setattr(module, "PATIENCE", patience)

    def interrupt(done, total):
        if done == total:
            raise KeyboardInterrupt

    result = search(columns, planted(columns), w, Logistic(), folds_of(w), SearchOptions(), None, interrupt)
    assert result.stopped
    assert (len(result.front) == 1) is alone
    assert chosen(result, columns) == chosen(whole, columns)


def test_the_rule_takes_the_fewest_factors_that_are_as_good():
    weights = np.full(5, 20.0)
    noise = np.array([1.0, -1.0, 0.5, -0.5, 0.0])
    validated = [
        Validated(Key(0, 0, 0), 60.0 + noise, 3.0, 0),
        Validated(Key(1, 0, 0), 40.1 + 2 * noise, 2.005, 3),
        Validated(Key(2, 0, 0), 40.0 + noise, 2.0, 9),
    ]
    assert choose(validated, weights, 0.005).chosen == 1
    assert choose(validated, weights, 0.0).chosen == 2
    assert choose(validated, weights, 0.005).near == (1, 2)
    # six factors more save 0.25 % of the loss: at a price of 0.04 % a factor they are worth it
    assert choose(validated, weights, 0.0004).chosen == 2
    # all factors that are saved together may cost 3 %: no price buys the empty equation here
    assert choose(validated, weights, 0.2).chosen == 1


@pytest.mark.parametrize(("n", "chosen"), [(100.0, 0), (5000.0, 1)])
def test_many_rows_do_not_give_up_what_is_well_supported(n, chosen):
    """Two per cent of the loss are 1 nat of a hundred rows, and 50 of five thousand."""
    validated = [Validated(Key(0, 0, 0), np.ones(2), 0.51, 3), Validated(Key(0, 9, 0), np.ones(2), 0.5, 9)]
    assert choose(validated, np.full(2, n / 2)).chosen == chosen


def test_ties_are_what_the_folds_cannot_tell_from_the_choice():
    weights = np.full(5, 20.0)
    noise = np.array([1.0, -1.0, 0.5, -0.5, 0.0])
    chosen = Validated(Key(0, 3, 0), 40.0 + noise, 2.0, 3)
    unsure, sure = (Validated(Key(0, 9, 0), losses, 1.99, 9) for losses in (39.9 - noise, 39.9 + noise))
    found = choose([chosen, unsure, sure], weights, 0.005)
    assert found.near == (0, 1, 2)
    assert [found.is_tie(i) for i in range(3)] == [True, True, False]


@pytest.mark.parametrize("form", [STRAIGHT, NONLINEAR])
@pytest.mark.parametrize("dispersion", [1.0, 0.04])
def test_other_forms_need_evidence(form, dispersion):
    """Nats of all rows together count, in units of the dispersion; without a price the lowest loss wins."""
    weights = np.array([600.0, 400.0])
    plain = Validated(Key(1, 4, 0), np.ones(2), 1.0, 4, form)
    for nats, chosen in ((0.9 * EVIDENCE, 0), (1.1 * EVIDENCE, 1)):
        other = Validated(Key(0, 2, 0), np.ones(2), 1.0 - nats * dispersion / 1000, 3, form + 1, dispersion)
        assert choose([plain, other], weights).chosen == chosen
        assert choose([plain, other], weights, 0.0).chosen == 1


def test_a_much_lower_loss_needs_no_evidence():
    """A perfect fit of ten rows cannot be worth five nats."""
    straight, nonlinear = (
        Validated(Key(1, 4, 0), np.ones(2), 0.1, 4, STRAIGHT),
        Validated(Key(0, 2, 0), np.ones(2), 0.01, 3),
    )
    assert choose([straight, nonlinear], np.full(2, 5.0)).chosen == 1


def test_perfect_fits_differ_by_rounding_only():
    """Of fits whose errors are rounding, the smallest is taken; the mean has a loss of one half."""
    losses = {0: 0.5, 2: 3e-16, 3: 1e-16, 5: 2e-17}
    validated = [Validated(Key(0, 2 * size, 0), np.full(5, loss), loss, size) for size, loss in losses.items()]
    assert validated[choose(validated, np.ones(5)).chosen].n_factors == 2


def test_smoothing_keeps_lines_and_takes_luck_out():
    sizes = np.array([0.0, 1.0, 2.0, 4.0, 6.0, 7.0, 8.0, 9.0])
    np.testing.assert_allclose(smoothed(sizes, 3 + 0.5 * sizes, sizes), 3 + 0.5 * sizes, rtol=1e-9)
    np.testing.assert_allclose(smoothed(sizes, 3 + 0.5 * sizes, sizes + 9), 7.5 + 0.5 * sizes, rtol=1e-6)
    np.testing.assert_allclose(smoothed(sizes[:1], np.array([2.0]), sizes), np.full(8, 2.0))
    lucky = 0.5 * sizes - 2.0 * (sizes == 6)
    assert np.abs(smoothed(sizes, lucky, sizes) - 0.5 * sizes).max() < 0.6
    # linear in what is smoothed: an independent weighted regression says the same
    rng = np.random.default_rng(0)
    values = rng.standard_normal(len(sizes))
    for at, expected in zip(sizes, smoothed(sizes, values, sizes), strict=True):
        w = np.exp(-0.25 * ((sizes - at) / BANDWIDTH) ** 2)
        design = np.column_stack([np.ones(len(sizes)), sizes - at])
        line = np.linalg.lstsq(design * w[:, None], values * w, rcond=None)[0]
        np.testing.assert_allclose(line[0], expected, rtol=1e-9)


@pytest.mark.parametrize("loss", [Logistic(), Squared()])
def test_the_expected_loss_adds_the_optimism_of_the_folds(make_columns, folds_of, loss):
    """Summed over a path, expected and held-out losses tell the same of training rows: smoothing keeps the level."""
    columns = make_columns(n=400)
    y = planted(columns)
    w = np.ones(400)
    atoms, masks = screened_atoms(columns, loss, y, [w])
    family = Family("few", price=1.0, ridge=0.3, max_pieces=4)
    walked = walk_all(Training(loss, atoms, y, w, masks[0]), [family], SizeConstraints(20))
    inner = []
    for train, test in folds_of(w):
        rows = np.flatnonzero(test)
        inner.append(
            (
                walk_all(Training(loss, atoms, y, train, masks[0]), [family], SizeConstraints(20)),
                HeldOut(loss, rows, y[rows], test[rows]),
            )
        )
    validated, weights = validate(walked, inner)

    def mean_loss(training, found):
        return training.weights @ loss.values(found.fitted.scores, y) / training.weights.sum()

    for each in validated:
        own = walked.found[each.key]
        pairs = [(there.training, unseen, there.nearest(each.key)) for there, unseen in inner]
        direct = [
            unseen.losses_of([found])[0] / unseen.weights.sum() - mean_loss(train, found)
            for train, unseen, found in pairs
        ]
        assert each.losses.sum() == pytest.approx(sum(unseen.losses_of([found])[0] for _, unseen, found in pairs))
        training_loss = mean_loss(walked.training, own)
        assert each.expected > training_loss * 0.98
        assert abs(each.expected - training_loss - np.mean(direct)) < 0.1 * training_loss
    assert weights.sum() == pytest.approx(400)


def test_streamed_passes_end_where_arrays_do(make_columns):
    columns = make_columns(n=900)
    y = planted(columns)
    values = PieceValues(columns)
    w = np.random.default_rng(3).uniform(0.5, 2, 900)
    for loss, owners in ((Logistic(), [0, 0, 0]), (Softmax(2), [0, 1, 1])):
        pieces = tuple(p for p in _pieces(columns))
        raw = np.array([values.piece(piece) for piece in pieces])
        standard = standardisation(raw, w)
        own = np.array(owners)
        exact = fit_pieces(loss, raw, pieces, own, y, w, 0.3, standard, None)

        def total(one_pass: GlmPass, raw=raw):
            parts = [one_pass(raw[:, at], y[at], w[at]) for at in np.array_split(np.arange(900), 4)]
            return parts[0] + parts[1] + parts[2] + parts[3]

        found = fit_streamed(loss, total, own, 0.3, standard, (np.zeros(loss.n_scores), np.zeros(3)))
        np.testing.assert_allclose(found[1], exact.coefficients, rtol=1e-4)
        np.testing.assert_allclose(found[0] - found[0].mean(), exact.intercepts - exact.intercepts.mean(), atol=1e-4)


def _pieces(columns):
    from ecsel.search.dictionary import LOG, ONE, Part

    del columns
    return ((Part(0, ONE),), (Part(1, LOG),), (Part(3, ONE),))


def test_more_rows_choose_again_among_the_front(make_columns, folds_of):
    few, many = make_columns(n=200, seed=1), make_columns(n=3000, seed=2)
    w = np.ones(200)
    result = search(few, planted(few), w, Logistic(), folds_of(w), SearchOptions())
    everything = np.ones(3000)
    again = choose_again(
        result, many, planted(many, 5), everything, Logistic(), folds_of(everything)[0], SearchOptions()
    )
    assert len(again.front) == len(result.front)
    assert again.front[again.chosen].equations.pieces in [p.equations.pieces for p in result.front]
    best = min(point.loss for point in again.front)
    assert again.front[again.chosen].loss <= best * 1.01 + 1e-12
    for answers in ([True], [False] * len(result.front) + [True]):  # while candidates are judged, and fitted anew
        calls = iter(answers)
        cut = choose_again(
            result,
            many,
            planted(many, 5),
            everything,
            Logistic(),
            folds_of(everything)[0],
            SearchOptions(),
            calls.__next__,
        )
        assert cut.stopped
        assert (cut.front, cut.chosen) == (result.front, result.chosen)


def test_a_walk_that_is_cut_short_is_refitted_under_its_own_ridge_alone(make_columns):
    columns = make_columns()
    w = np.ones(300)
    atoms, masks = screened_atoms(columns, Logistic(), planted(columns), [w])
    training = Training(Logistic(), atoms, planted(columns), w, masks[0])
    families, constraints = module.FAMILIES, SizeConstraints(20)
    calls = iter([False] * 3)
    cut = walk_all(training, families, constraints, lambda: next(calls, True))
    assert {(key.family, RIDGES[key.ridge]) for key in cut.found} == {(0, 0.3), (1, 3.0), (2, 0.3)}
    assert cut.sizes[0] == (0, 1, 2, 3)


@pytest.mark.parametrize("digits", [None, 2])
def test_a_promised_sign_that_another_ridge_turns_goes(make_columns, digits):
    """Two columns that nearly agree: under a small ridge one takes the other's part with the wrong sign."""
    columns = make_columns(n=400)[:1]
    noise = np.random.default_rng(5).normal(size=400)
    columns.append(SearchColumn("a2", 1, columns[0].values + 0.05 * noise, shift=1.0))
    w, y = np.ones(400), (columns[0].values - 3 * noise > 5) * 1.0
    atoms = make_atoms(columns, single_pieces(columns), w)
    straight = np.flatnonzero(atoms.straight)
    signs = np.zeros((1, len(atoms)))
    signs[0, straight] = 1.0
    training = Training(Logistic(), atoms, y, w)
    fits = {r: _fit(training, straight, RIDGES[r]) for r in (1, 4)}
    assert (fits[1].fitted.coefficients < 0).any()
    walked = Walked(replace(training, signs=signs), {Key(0, 2, r): found for r, found in fits.items()}, ((0, 2),))
    equations = equations_of(walked, Key(0, 2, 1), PieceValues(columns), SearchOptions(digits=digits))
    assert len(equations.pieces) == 1
    assert (equations.coefficients > 0).all()


def _fit(training, places, ridge):
    fitted = fit(
        training.loss,
        training.atoms.values[places],
        np.zeros(len(places), dtype=np.intp),
        training.target,
        training.weights,
        ridge * training.atoms.leverage[places],
    )
    return Found(tuple(places.tolist()), (0,) * len(places), fitted, fitted.objective)


def test_classes_of_the_same_size_have_no_constants():
    """Their intercepts differ by rounding only, and an equation of -1.3e-16 would be printed."""
    none, nothing = np.empty(0), np.empty(0, dtype=np.intp)
    y = np.repeat([0.0, 1.0, 2.0], 37)
    fitted = fit_pieces(Softmax(3), np.empty((0, 111)), (), nothing, y, np.ones(111), 0.3, (none, none, none), None)
    np.testing.assert_array_equal(fitted.intercepts, 0.0)
