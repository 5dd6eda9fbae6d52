"""Errors of readable equations: the sandwich by finite differences, coverage by simulation, what rows cannot tell."""

import numpy as np
import pandas as pd
import pytest
from scipy.special import expit, log_softmax, ndtri, softmax

import ecsel
from ecsel import ECSELClassifier
from ecsel.estimators.glm_errors import glm_sandwich
from ecsel.search.losses import Logistic, Softmax

pytestmark = pytest.mark.filterwarnings("ignore:.*rows lie:UserWarning")


def design(n=250, n_scores=1, seed=0):
    """Pieces far from zero and of very different scales, the score of each, classes and weights of rows."""
    rng = np.random.default_rng(seed)
    values = np.stack([2000 + 20 * rng.random(n), rng.normal(size=n), 1e-3 * rng.gamma(2, size=n), rng.random(n) < 0.4])
    owners = np.array([0, 0, 0, 0]) if n_scores == 1 else np.array([0, 1, 2, 2])
    standard = (values - values.mean(axis=1)[:, None]) / values.std(axis=1)[:, None]
    if n_scores == 1:
        codes = (rng.random(n) < expit(0.8 * standard[0] - standard[1] + 0.3)).astype(float)
    else:
        z = np.stack([standard[0], 0.5 - standard[1], standard[2] + 0.5 * standard[3]])
        codes = (z + rng.gumbel(size=z.shape)).argmax(axis=0).astype(float)
    return values, owners, codes, rng.integers(1, 4, n).astype(float), rng.uniform(0.5, 2, n)


def fit(n_scores, shared=None, **options):
    values, owners, codes, counts, class_weight = design(n_scores=n_scores, **options)
    loss = Logistic() if n_scores == 1 else Softmax(3)
    start = (np.full(n_scores, 0.25), np.zeros(len(owners)))
    constrained = np.zeros(len(owners), dtype=bool) if shared is None else shared
    result = glm_sandwich(loss, values, owners, codes, counts, class_weight, start, constrained)
    return result, (values, owners, codes, counts, class_weight)


def row_losses(theta, n_scores, values, owners, codes):
    """The loss of every row as a function of intercepts and coefficients of the raw pieces."""
    scores = np.array([theta[c] + theta[n_scores:][owners == c] @ values[owners == c] for c in range(n_scores)])
    if n_scores == 1:
        return np.logaddexp(0, scores[0]) - codes * scores[0]
    return -log_softmax(scores, axis=0)[codes.astype(int), np.arange(len(codes))]


@pytest.mark.parametrize("n_scores", [1, 3])
def test_the_sandwich_is_that_of_finite_differences(n_scores):
    result, (values, owners, codes, counts, class_weight) = fit(n_scores)
    estimates, errors = result.numbers()
    assert result.converged
    free = np.arange(len(estimates)) if n_scores == 1 else np.arange(1, len(estimates))
    if n_scores > 1:
        assert estimates[0] == 0.25
        assert np.isnan(errors[0])
    # in units of the errors, so that all steps are alike; pieces are centred, since theirs are far from zero
    centre, scale = values.mean(axis=1), values.std(axis=1)
    centred = (values - centre[:, None]) / scale[:, None]
    theta = estimates.copy()
    np.add.at(theta, owners, estimates[n_scores:] * centre)
    theta[n_scores:] *= scale
    h = 1e-4

    def rows(at):
        return row_losses(at, n_scores, centred, owners, codes)

    unit = np.eye(len(theta))[free]
    gradients = np.array([(rows(theta + h * u) - rows(theta - h * u)) / (2 * h) for u in unit])
    weights = counts * class_weight
    np.testing.assert_allclose(gradients @ weights, 0, atol=1e-6)
    hessian = np.array(
        [
            [
                weights
                @ (
                    rows(theta + h * (u + v))
                    - rows(theta + h * (u - v))
                    - rows(theta - h * (u - v))
                    + rows(theta - h * (u + v))
                )
                / (4 * h * h)
                for v in unit
            ]
            for u in unit
        ]
    )
    meat = (gradients * counts * class_weight**2) @ gradients.T
    covariance = np.zeros((len(theta), len(theta)))
    covariance[np.ix_(free, free)] = np.linalg.inv(hessian) @ meat @ np.linalg.inv(hessian)
    back = np.diag(np.concatenate([np.ones(n_scores), 1 / scale]))
    back[owners, n_scores + np.arange(len(owners))] = -centre / scale
    if n_scores > 1:
        back[:n_scores] -= back[0].copy()
    expected = np.sqrt(np.diagonal(back @ covariance @ back.T))
    np.testing.assert_allclose(errors[free], expected[free], rtol=1e-5)


def test_a_piece_of_every_class_is_relative_to_the_first():
    values, _, codes, counts, class_weight = design(n_scores=3)
    every = np.repeat(values[:2], 3, axis=0)
    owners = np.tile([0, 1, 2], 2)
    start = (np.zeros(3), np.tile([0.5, 0.0, 0.0], 2))
    constrained = owners == 0
    result = glm_sandwich(Softmax(3), every, owners, codes, counts, class_weight, start, constrained)
    estimates, errors = result.numbers()
    assert result.converged
    np.testing.assert_allclose(estimates[3:][constrained], 0.5)
    assert np.isnan(errors[3:][constrained]).all()
    assert (errors[3:][~constrained] > 0).all()
    # another value of the reference moves every coefficient of its piece, and no error
    other = glm_sandwich(
        Softmax(3), every, owners, codes, counts, class_weight, (np.zeros(3), np.tile([2.0, 0.0, 0.0], 2)), constrained
    )
    moved, same = other.numbers()
    np.testing.assert_allclose(moved[3:], estimates[3:] + 1.5, rtol=1e-6)
    np.testing.assert_allclose(same, errors, rtol=1e-6)


@pytest.mark.parametrize("n_scores", [1, 3])
def test_counts_are_repetitions(n_scores):
    result, (values, owners, codes, counts, class_weight) = fit(n_scores)
    rows = np.repeat(np.arange(len(codes)), counts.astype(int))
    start = (np.full(n_scores, 0.25), np.zeros(len(owners)))
    repeated = glm_sandwich(
        result.loss,
        values[:, rows],
        owners,
        codes[rows],
        np.ones(len(rows)),
        class_weight[rows],
        start,
        np.zeros(len(owners), dtype=bool),
    )
    for mine, theirs in zip(result.numbers(), repeated.numbers(), strict=True):
        np.testing.assert_allclose(mine, theirs, rtol=1e-7)


@pytest.mark.parametrize("n_scores", [1, 3])
def test_errors_of_probabilities_are_those_of_the_delta_method(n_scores):
    result, (values, *_) = fit(n_scores)
    quantile = float(ndtri(0.975))
    p, errors, low, high = result.probabilities(values[:, :20], quantile)
    np.testing.assert_allclose(p.sum(axis=0), 1)
    assert ((low <= p) & (p <= high)).all()
    gradients = result.score_gradients(values[:, :20])
    link = (lambda z: np.stack([expit(-z[0]), expit(z[0])])) if n_scores == 1 else (lambda z: softmax(z, axis=0))

    def probability(theta):
        return link(np.einsum("cpn,p->cn", gradients, theta))

    h = 1e-6
    jacobian = np.array(
        [
            (probability(result.theta + h * u) - probability(result.theta - h * u)) / (2 * h)
            for u in np.eye(len(result.theta))
        ]
    )
    expected = np.sqrt(np.einsum("pcn,pq,qcn->cn", jacobian, result.covariance, jacobian))
    np.testing.assert_allclose(errors, expected, rtol=1e-5)
    if n_scores == 1:  # the interval of the score, put through the link
        centre, reach = np.log(p[1] / p[0]), quantile * errors[1] / (p[0] * p[1])
        np.testing.assert_allclose(low[1], expit(centre - reach))
        np.testing.assert_allclose(high[0], expit(-centre + reach))
    else:
        np.testing.assert_allclose(high, np.minimum(p + quantile * errors, 1))


def test_intervals_cover_as_often_as_they_say():
    rng = np.random.default_rng(0)
    n, n_draws, level = 400, 400, 0.9
    x = np.stack([rng.normal(size=n), np.log(rng.gamma(2, size=n))])
    truth = np.array([-0.4, 0.7, 0.5])
    score = truth[0] + truth[1:] @ x
    quantile = float(ndtri((1 + level) / 2))
    inside, rows_inside = np.zeros(3), np.zeros(n)
    for _ in range(n_draws):
        y = (rng.random(n) < expit(score)).astype(float)
        result = glm_sandwich(
            Logistic(),
            x,
            np.zeros(2, dtype=int),
            y,
            np.ones(n),
            np.ones(n),
            (np.zeros(1), np.zeros(2)),
            np.zeros(2, bool),
        )
        estimates, errors = result.numbers()
        inside += np.abs(estimates - truth) < quantile * errors
        _, _, low, high = result.probabilities(x, quantile)
        rows_inside += (low[1] < expit(score)) & (expit(score) < high[1])
    # four binomial standard errors, and a little for 400 rows being less than infinity
    slack = 4 * np.sqrt(level * (1 - level) / n_draws) + 0.01
    np.testing.assert_allclose(inside / n_draws, level, atol=slack)
    assert rows_inside.mean() / n_draws == pytest.approx(level, abs=slack)


def test_what_rows_do_not_determine_has_no_error():
    values, _, codes, counts, class_weight = design()
    values = np.vstack([values, 3 * values[1] - 7, np.full(len(codes), 4.0)])  # collinear, and constant
    result = glm_sandwich(
        Logistic(),
        values,
        np.zeros(6, dtype=int),
        codes,
        counts,
        class_weight,
        (np.zeros(1), np.zeros(6)),
        np.zeros(6, bool),
    )
    _, errors = result.numbers()
    assert result.converged
    assert np.isnan(errors[[0, 2, 5, 6]]).all()
    assert (errors[[1, 3, 4]] > 0).all()
    plain, _ = fit(1)
    # the score is determined all the same
    for mine, theirs in zip(
        result.probabilities(values[:, :5], 1.0), plain.probabilities(values[:4, :5], 1.0), strict=True
    ):
        np.testing.assert_allclose(mine, theirs, rtol=1e-6)


def test_separated_classes_have_no_minimum():
    x = np.linspace(-1, 1, 40)[None]
    arguments = (np.zeros(1, dtype=int), (x[0] > 0).astype(float), np.ones(40), np.ones(40))
    result = glm_sandwich(Logistic(), x, *arguments, (np.zeros(1), np.zeros(1)), np.zeros(1, bool))
    assert not result.converged
    assert np.isnan(result.numbers()[1]).any()


@pytest.fixture(scope="module")
def table(make_customers):
    return make_customers(400)


@pytest.fixture(scope="module")
def model(table):
    return ECSELClassifier().fit(*table)


def test_numbers_are_named_by_class_and_piece(table, model, reloaded_with_errors):
    X, y = table
    errors = model.standard_errors(X, y)
    frame = errors.to_frame()
    assert frame.columns.tolist() == ["class", "parameter", "piece", "estimate", "standard_error", "low", "high"]
    (equation,) = model.equations_.values()
    assert frame["piece"].tolist()[0] == ""
    coefficients = {row.piece: row for row in frame.itertuples() if row.parameter == "coefficient"}
    columns = dict(zip(model.encoder_.feature_names, model.to_model_features(X).T, strict=True))
    z = np.full(len(y), frame["estimate"][0])
    for term in equation.terms:
        if not term.is_constant:
            row = coefficients.pop(str(ecsel.Signomial([term / term.coefficient])))
            assert np.sign(row.estimate) == np.sign(term.coefficient)
            # the estimate is free of the ridge, which draws coefficients towards zero, and of rounding
            assert abs(term.coefficient) < abs(row.estimate) + row.standard_error
            z += row.estimate * term.evaluate(columns) / term.coefficient
    assert not coefficients
    found = errors.probabilities(X)
    np.testing.assert_allclose(found["probability"][found["class"] == "stays"], expit(z), rtol=1e-9)
    target = y == "stays"
    own = model.decision_function(X)
    assert np.mean(np.logaddexp(0, z) - target * z) < np.mean(np.logaddexp(0, own) - target * own)
    assert (found["low"] < found["high"]).all()
    other = reloaded_with_errors(model, errors)
    assert "conditional on the selected pieces" in model.summary()
    assert other.standard_errors_.to_frame().equals(frame)
    with pytest.raises(ValueError, match="have no covariance"):
        other.standard_errors_.probabilities(X)


def test_class_and_sample_weights_are_those_of_the_fit(table):
    X, y = table
    counts = np.random.default_rng(0).integers(0, 3, len(y))
    model = ECSELClassifier(max_terms=2, class_weight="balanced").fit(X, y, counts)
    rows = np.repeat(np.arange(len(y)), counts)
    one = model.standard_errors(X, y, counts).to_frame()
    other = model.standard_errors(X.iloc[rows], y[rows]).to_frame()
    np.testing.assert_allclose(one["standard_error"], other["standard_error"], rtol=1e-6)
    np.testing.assert_allclose(one["estimate"], other["estimate"], rtol=1e-6)
    p = model.standard_errors_.probabilities(X.iloc[rows])
    second = p[p["class"] == "stays"]["probability"].to_numpy()
    w = np.where(y[rows] == "stays", 1 / np.mean(y[rows] == "stays"), 1 / np.mean(y[rows] == "leaves"))
    assert np.average(second, weights=w) == pytest.approx(0.5, abs=1e-8)


def test_a_softmax_has_its_first_class_as_the_reference():
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"a": rng.uniform(0, 4, 400), "b": rng.uniform(0, 4, 400)})
    z = np.stack([np.zeros(400), X["a"] - 2, X["b"] - 2])
    y = (z + rng.gumbel(size=z.shape)).argmax(axis=0)
    model = ECSELClassifier().fit(X, y)
    errors = model.standard_errors(X, y)
    first = next(number for number in errors.numbers if number.label == 0)
    assert (first.parameter, first.standard_error) == ("intercept", None)
    constant = [term.coefficient for term in model.equations_[0].terms if term.is_constant]
    assert first.estimate == pytest.approx(sum(constant))
    others = [number for number in errors.numbers if number.label != 0]
    assert all(number.standard_error > 0 for number in others)
    frame = errors.probabilities(X.iloc[:7])
    assert frame["class"].tolist() == [0] * 7 + [1] * 7 + [2] * 7
    np.testing.assert_allclose(frame.groupby("row")["probability"].sum(), 1)
    assert frame["low"].min() >= 0
    assert frame["high"].max() <= 1


def test_elasticities_are_those_of_finite_differences(table, model):
    X, y = table
    errors = model.standard_errors(X, y)
    rows = X[X["tenure"].between(5, 60)].iloc[:25]
    frame = errors.elasticity(rows, absolute=True)
    mine = frame[frame["feature"] == "tenure"]

    def score(tenure):
        p = errors.probabilities(rows.assign(tenure=tenure))
        p = p[p["class"] == "stays"]["probability"].to_numpy()
        return np.log(p / (1 - p))

    h = 1e-5
    expected = (score(rows["tenure"] * (1 + h)) - score(rows["tenure"] * (1 - h))) / (2 * h) / score(rows["tenure"])
    np.testing.assert_allclose(mine["elasticity"], expected, rtol=1e-5)
    assert (mine["standard_error"] > 0).all()
    assert errors.elasticity(rows)["elasticity"].isna().any() == (score(rows["tenure"]) <= 0).any()


def test_an_equation_without_columns_has_an_intercept(make_customers):
    X, _ = make_customers(100)
    y = np.arange(100) % 2
    model = ECSELClassifier(max_terms=1).fit(X, y).select(0)
    errors = model.standard_errors(X, y)
    (number,) = errors.numbers
    assert number.estimate == pytest.approx(0, abs=1e-9)
    assert number.standard_error == pytest.approx(2 / np.sqrt(100))  # √(1/(n p (1 − p)))
    assert errors.probabilities(X)["probability"].tolist() == pytest.approx([0.5] * 200)


def test_intervals_of_probabilities_are_for_pieces(make_numbers, quick):
    X, y = make_numbers()
    errors = quick().fit(X, y).standard_errors(X, y)
    with pytest.raises(ValueError, match="are for readable equations"):
        errors.probabilities(X)
