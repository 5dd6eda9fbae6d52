"""What the page says first is true: whose figures it shows, what the map colours, and what nobody can change."""

import numpy as np
import pandas as pd
import pytest

from ecsel import ECSELClassifier
from ecsel.explain.frames import repeat_row, table_with
from ecsel.explain.reasons import reference_text
from ecsel.report import render_report
from ecsel.report.data import data_summary
from ecsel.report.drivers import drivers
from ecsel.report.effects import Around, effects
from ecsel.report.evidence import Evidence, typical_row
from ecsel.report.examples import examples
from ecsel.report.formulas import formulas
from ecsel.report.front import Front
from ecsel.report.maps import _occurring, _span
from ecsel.report.performance import class_performance


@pytest.fixture(scope="module")
def hearts():
    """Codes whose values are pieces, and columns that nobody can change."""
    rng = np.random.default_rng(7)
    n = 400
    X = pd.DataFrame(
        {
            "age": rng.integers(20, 80, n),
            "vessels": rng.choice([0, 1, 2, 3], n, p=[0.5, 0.2, 0.15, 0.15]),
            "pain": rng.integers(0, 4, n),
            "sex": rng.choice(["woman", "man"], n),
        }
    )
    z = 2.5 * (X["vessels"] == 0) - 2 * (X["pain"] == 2) + 0.03 * (X["age"] - 50) + 0.8 * (X["sex"] == "man") - 1
    y = pd.Series(np.where(rng.random(n) < 1 / (1 + np.exp(-z)), "ill", "well"), name="state")
    return ECSELClassifier(max_factors=5, cv=3).fit(X, y), X, y


def test_without_held_out_rows_the_headline_is_out_of_fold(hearts):
    model, X, y = hearts
    found = class_performance(Evidence.read(model, X, y, None, None), None)
    assert found.figures_of == "held-out folds of the training rows"
    assert {f.name: f.value for f in found.figures}["Log-loss"] == f"{model.out_of_fold_.log_loss:.3f}"
    page = render_report(model, X, y)
    assert "Quality on held-out folds of the training rows" in page
    assert "so they look too good" in page
    measured = class_performance(Evidence.read(model, X, y, X.head(200), y.head(200)), None)
    assert measured.figures_of == "held-out rows"
    p = model.predict_proba(X.head(200))
    loss = -np.log(p[np.arange(200), np.searchsorted(model.classes_, y.head(200))]).mean()
    assert {f.name: f.value for f in measured.figures}["Log-loss"] == f"{loss:.3f}"


def test_the_map_shows_values_that_occur(hearts):
    model, X, y = hearts
    evidence = Evidence.read(model, X, y, None, None)
    j = evidence.view.column_position("vessels")
    assert _span(evidence, j) == (-0.5, 3.5)
    cells = _occurring(evidence, j, np.linspace(-0.5, 3.5, 9)[:-1] + 0.25)
    assert cells.tolist() == [0, 0, 1, 1, 2, 2, 3, 3]
    row = evidence.evaluated.take(np.array([typical_row(evidence)]))
    p = model.predict_proba(table_with(repeat_row(row, 8), {j: cells}))[:, 0]
    assert p[0] == p[1] != p[2]
    age = evidence.view.column_position("age")
    middles = np.linspace(20, 80, 96)
    np.testing.assert_array_equal(_occurring(evidence, age, middles), middles)


def test_nobody_is_asked_to_change_age_or_sex(hearts):
    model, X, y = hearts
    page = render_report(model, X, y)
    assert "age, sex stay as they are." in page
    assert "If age were" not in page
    assert "sex were" not in page
    assert "Columns that may be protected attributes: age, sex." in page
    assert "They leave" not in render_report(model, X, y, immutable=[])


def test_each_piece_has_its_standard_error(hearts):
    model, X, y = hearts
    reported = model.standard_errors(X, y)
    errors = {n.piece: n.standard_error for n in reported.numbers}
    lines = formulas(Evidence.read(model, X, y, None, None)).pieces
    assert len(lines) == len(errors) - 1
    assert all(line.error.startswith("± ") for line in lines)
    for line, (piece, error) in zip(lines, [e for e in errors.items() if e[0]], strict=True):
        assert float(line.error[2:]) == pytest.approx(error, rel=0.06), piece


def test_one_column_of_rows_where_there_is_one(hearts):
    model, X, y = hearts
    assert render_report(model, X, y).count('<th scope="col">training rows</th>') == 1


def test_bands_are_intervals_of_the_effect(hearts):
    model, X, y = hearts
    evidence = Evidence.read(model, X, y, None, None)
    errors, start = model.standard_errors(X, y), typical_row(evidence)
    j = evidence.view.column_position("vessels")
    values, typical = np.array([0.0, 1.0, 2.0, 3.0]), np.array([1.0])
    low, high = Around(evidence, start).ends(j, values, typical, np.zeros((4, 1)))[..., 0]
    np.testing.assert_array_equal(-low, high)
    reach = high
    assert reach[1] == 0
    (equation,) = model.equations_.values()
    mine = [t for t in equation.terms if any("vessels" in f.name for f in t.factors)]
    assert [f.name for t in mine for f in t.factors] == ["[vessels = 0]"]  # so that the effect is one coefficient
    (error,) = [n.standard_error for n in errors.numbers if n.piece == "[vessels = 0]"]
    np.testing.assert_allclose(reach, [1.96 * error, 0, 0, 0], atol=1e-12)
    assert 'class="whisker c0"' in render_report(model, X, y)


def test_the_paper_s_model_has_no_bands(loan_case):
    assert loan_case.evidence.standard_errors is None
    assert 'class="whisker' not in loan_case.html
    assert 'class="band c' not in loan_case.html


@pytest.mark.parametrize("name", ["churn", "blooms", "loan", "law"])
def test_every_comparison_of_an_example_is_true(name, named_case, assert_true_sentence):
    case = named_case(name)
    evidence = case.evidence
    view, X = evidence.view, case.X
    start = evidence.baseline
    if start.word == "typical":
        reference = {
            column: float(X[column].dropna().quantile(0.5, interpolation="lower"))
            if pd.api.types.is_numeric_dtype(X[column])
            else X[column].mode()[0]
            for column in X
        }
    else:
        numbers = [f for f in view.encoder.features if f.kind == "numeric"]
        reference = {f.column: float(f.raw_value(np.exp(f.baseline))) for f in numbers}
    labels = [str(c) for c in view.classes] if view.has_classes else []

    def margin(rows, side):
        z = view.probabilities(rows)[0]
        if not view.has_classes:
            return float(z[0]) if side == "a higher value" else -float(z[0])
        a = labels.index(side)
        return float(np.log(z[a] / max(p for c, p in enumerate(z) if c != a)))

    column = {f.name: f.column for f in view.encoder.features} if view.encoder is not None else {}
    model = view.estimator
    equations = model.equations_.values() if view.has_classes else [model.equation_]
    terms = [{column.get(f.name, f.name) for f in t.factors} for e in equations for t in e.terms]
    sentences = [(each.position, text) for each in examples(evidence, ()) for text in each.reasons]
    assert sentences
    for position, text in sentences:
        name = text.partition(" = ")[0].partition(" is missing")[0]
        alone = len(labels) != 3 and all(len(t) == 1 for t in terms if name in t)
        row = evidence.evaluated.take(np.array([position]))
        assert_true_sentence(text, row, reference, margin, word=start.word, alone=alone)


def test_one_meaning_of_typical_in_every_section(hearts):
    model, X, y = hearts
    evidence = Evidence.read(model, X, y, None, None)
    lines = {line.name: line.typical for line in data_summary(evidence).columns}
    drawn = {e.name: e.typical for e in effects(evidence, drivers(evidence).ranking, typical_row(evidence)).columns}
    start = evidence.baseline
    for j, name in enumerate(evidence.view.raw_names):
        reported = reference_text(evidence.view, start, j)
        if evidence.view.levels(j) is None and reported is not None and not reported.startswith("no"):
            assert reported == lines[name] == drawn[name] == f"{X[name].quantile(0.5, interpolation='lower'):g}"


def test_bootstrap_draws_tell_how_often_a_piece_is_chosen_again(hearts):
    model, X, y = hearts
    draws = model.stability(X, y, n_bootstrap=3)
    lines = formulas(Evidence.read(model, X, y, None, None), draws).pieces
    for line, share in zip(lines, draws.piece_frequency, strict=True):
        assert line.chosen.startswith(f"{100 * share:.0f}\u202f% (")
    assert "chosen again" in render_report(model, X, y, n_bootstrap=2)
    assert "chosen again" not in render_report(model, X, y)


def test_bands_of_bootstrap_draws_are_those_of_their_curves(hearts):
    """Each draw is evaluated by hand: its equation at a value less its equation at the typical one."""
    model, X, y = hearts
    evidence = Evidence.read(model, X, y, None, None)
    draws, start = model.stability(X, y, n_bootstrap=4), typical_row(evidence)
    j, values = evidence.view.column_position("vessels"), np.array([0.0, 1.0, 2.0, 3.0])
    found = Around(evidence, start, draws).ends(j, values, np.array([1.0]), np.zeros((4, 1)))[..., 0]
    rows = pd.concat([X.iloc[[start]]] * 4, ignore_index=True).assign(vessels=values)
    encoder = draws.encoder
    features = dict(zip(encoder.feature_names, encoder.feature_rows(rows), strict=True))
    curves = np.array([equation.evaluate(features) for (equation,) in draws.draws])
    wanted = np.quantile(curves - curves[:, [1]], [0.025, 0.975], axis=0)
    np.testing.assert_allclose(found, wanted, rtol=1e-9, atol=1e-12)
    assert found[1, 0] > found[0, 0]
    page = render_report(model, X, y, n_bootstrap=2)
    assert "95 % of the effects in 2 bootstrap draws" in page
    assert "95 % intervals that take the pieces as given" not in page


def test_a_swarm_has_a_dot_for_every_row_and_column(hearts):
    model, X, y = hearts
    found = drivers(Evidence.read(model, X, y, None, None))
    assert str(found.swarm).count("h0") == len(found.ranking) * min(len(X), 400)


def test_examples_take_your_own_words(hearts):
    model, X, y = hearts
    page = render_report(model, X, y, column_texts=dict.fromkeys(X, "A reason in our words"))
    assert "<li>A reason in our words</li>" in page


def test_one_held_out_part_of_a_large_table_is_not_called_folds():
    """A large table is searched on one part of its rows and judged on the other: no folds, and fewer rows."""
    rng = np.random.default_rng(8)
    X = pd.DataFrame({"a": rng.normal(size=30_000), "b": rng.lognormal(size=30_000)})
    y = pd.Series(rng.random(30_000) < 1 / (1 + np.exp(-X["a"] + np.log(X["b"]))), name="outcome")
    model = ECSELClassifier(max_factors=2).fit(X, y)
    assert model.n_folds_ == 1
    evaluated = model.out_of_fold_.n_rows
    assert evaluated < len(X)
    page = render_report(model, X, y, sample_rows=0)
    assert f"{evaluated:,}".replace(",", "\u202f") in page.split("Judged on")[1].split("</div>")[0]
    assert "Quality on a held-out part of the training rows" in page
    for text in (page, model.summary(), Front.of(model).sentence()):
        assert "1 folds" not in text
        assert "held-out folds" not in text
    assert f"on held-out rows ({evaluated} distinct ones, judged by a fit that had not seen them" in model.summary()
