"""The words and tables of the sections, against the tables themselves."""

import dataclasses
import re

import numpy as np
import pandas as pd
import pytest
from sklearn.metrics import accuracy_score, log_loss, r2_score, roc_auc_score

from ecsel import ECSELClassifier, Signomial, __version__, explain
from ecsel.estimators.odds import odds_phrases
from ecsel.report import render_report
from ecsel.report.data import data_summary
from ecsel.report.drivers import drivers
from ecsel.report.evidence import Evidence
from ecsel.report.examples import examples
from ecsel.report.formulas import formulas
from ecsel.report.limits import limits
from ecsel.report.performance import class_performance
from ecsel.report.regression import value_performance
from ecsel.report.wording import DASH
from ecsel.signomial.text import format_name


def test_columns_are_described(loan_case):
    reported = {line.name: line for line in data_summary(loan_case.evidence).columns}
    X = loan_case.X
    assert reported["years"].missing == f"{100 * X['years'].isna().mean():.1f}\u202f%"
    assert reported["age"].kind == "whole numbers"
    assert reported["age"].span == f"{X['age'].min()} to {X['age'].max()}"
    assert reported["city"].span == "3 levels"
    assert reported["city"].typical.startswith(X["city"].mode()[0])
    assert [name for name, line in reported.items() if not line.used] == ["constant"]


def test_a_column_that_was_left_out_is_not_called_empty():
    rng = np.random.default_rng(2)
    X = pd.DataFrame({"customer_id": rng.permutation(5000)[:300], "load": rng.uniform(1, 9, 300), "nothing": np.nan})
    y = np.where(rng.random(300) < X["load"] / 10, "yes", "no")
    model = ECSELClassifier(max_factors=1, cv=3).fit(X, y)
    reported = {line.name: line for line in data_summary(Evidence.read(model, X, y, None, None)).columns}
    assert (reported["customer_id"].kind, reported["customer_id"].missing) == ("left out", "—")
    assert (reported["nothing"].kind, reported["nothing"].missing) == ("empty", "100.0\u202f%")


def test_shares_of_classes(loan_case):
    reported = data_summary(loan_case.evidence).classes
    assert [line.label for line in reported] == ["defaulted", "repaid"]
    assert reported[1].training.startswith(str((loan_case.y == "repaid").sum()))


def test_figures_of_a_classifier(class_case):
    X, y, model = class_case.X_test, class_case.y_test, class_case.model
    reported = {figure.name: figure.value for figure in class_performance(class_case.evidence, None).figures}
    p = model.predict_proba(X)
    labels = model.classes_.tolist()
    assert reported["Accuracy"] == f"{100 * accuracy_score(y, model.predict(X)):.1f}\u202f%"
    assert reported["Log-loss"] == f"{log_loss(y, p, labels=labels):.3f}"
    area = roc_auc_score(y, p[:, 1] if len(labels) == 2 else p, multi_class="ovr", labels=labels)
    assert reported["AUC"] == f"{area:.3f}"


def test_figures_of_a_law(law_case):
    reported = value_performance(law_case.evidence)
    assert reported.figures[0].value == f"{r2_score(law_case.y_test, law_case.model.predict(law_case.X_test)):.4f}"
    assert [line.chosen for line in reported.front] == [
        law.equation == law_case.model.equation_ for law in law_case.model.path_
    ]
    assert {line.what for line in reported.parameters} >= {"constant a", "constant b", "constant c"}


@pytest.mark.filterwarnings("ignore:.*training maximum:UserWarning")  # of ten per cent more
def test_drivers_are_mean_contributions(loan_case):
    reported = drivers(loan_case.evidence)
    found = explain.reasons(loan_case.model, loan_case.X_test, toward="repaid")
    expected = np.abs(found.values).mean(axis=0)
    assert list(reported.ranking) == sorted(loan_case.evidence.used, key=lambda j: -expected[j])
    assert float(reported.lines[0].size) == pytest.approx(expected.max(), rel=1e-2)
    assert set(reported.categories) == {"city", "employed", "sex"}


@pytest.mark.filterwarnings("ignore:.*training maximum:UserWarning")  # of ten per cent more
def test_ten_per_cent_more(loan_case):
    table = drivers(loan_case.evidence).tables[0]
    assert table.label == "repaid"
    more = loan_case.X_test.assign(income=1.1 * loan_case.X_test["income"])
    after = loan_case.model.predict_proba(more)[:, 1]
    change = (after - loan_case.model.predict_proba(loan_case.X_test)[:, 1]).mean()
    line = next(line for line in table.lines if line.name == "income")
    assert line.effect == f"{100 * change:+.2f} points"


@pytest.mark.parametrize("rule", ["error", "extrapolate"])
def test_a_model_that_refuses_rows_beyond_its_range_has_drivers_too(rule, loan_case):
    X, y = loan_case.X[["income", "age"]], loan_case.y
    model = ECSELClassifier(n_terms=1, l1=0.001, out_of_range=rule).fit(X, y)
    assert len(drivers(Evidence.read(model, X, y, None, None)).lines) == 2


def test_examples_tell_why_and_what_would_change_it(loan_case):
    reported = examples(loan_case.evidence, {"age", "sex"})
    assert reported[0].heading == "The closest call"
    p = loan_case.model.predict_proba(loan_case.X_test)[:, 1]
    assert reported[0].position == np.abs(p - 0.35).argmin()
    assert reported[-1].right is False
    changed = " ".join(change for example in reported for change in example.changes)
    assert changed
    assert "age were" not in changed
    assert "sex were" not in changed
    assert all(example.reasons for example in reported)


def test_limits_say_what_the_rows_say(loan_case):
    reported = limits(loan_case.evidence, ["Ours first."])
    assert reported[0] == "Ours first."
    assert any(f"{len(loan_case.X_test)} held-out rows" in text for text in reported)
    assert any(
        text == "The equation does not use these columns, so they change nothing: constant." for text in reported
    )
    assert any("rare" in text or "rough" in text for text in reported) == ((loan_case.y_test == "defaulted").sum() < 50)
    again = dataclasses.replace(loan_case.evidence, evaluated=loan_case.evidence.training)
    assert any("too good" in text for text in limits(again, []))


@pytest.mark.filterwarnings("ignore::UserWarning")  # these rows are the point
def test_limits_count_rows_unlike_those_of_training(loan_case):
    X = loan_case.X_test.assign(income=-1.0, city=["Paris", *["Rome"] * (len(loan_case.X_test) - 1)])
    reported = limits(Evidence.read(loan_case.model, loan_case.X, loan_case.y, X, loan_case.y_test), [])
    assert f"Judged rows outside the training range, by column: income ({len(X)})." in reported
    assert "Judged rows with a level that training never saw, by column: city (1)." in reported


def test_promises_are_reported(loan_case):
    X, y = loan_case.X[["income", "age"]], loan_case.y
    model = ECSELClassifier(n_terms=1, l1=0.001, monotone={"income": 1}).fit(X, y)
    reported = formulas(Evidence.read(model, X, y, None, None))
    assert reported.promises[0].startswith("guaranteed: the probability of 'repaid' never falls as 'income' rises")


def test_exact_equations_are_there_in_full(case):
    reported = [formula.exact for formula in formulas(case.evidence).formulas]
    equations = [case.model.equation_] if hasattr(case.model, "equation_") else case.model.equations_.values()
    assert [Signomial.parse(text) for text in reported] == list(equations)


def test_the_typeset_equation_on_the_page_gives_the_model_s_probability(readable_case, evaluate_typeset):
    """The equation is read off the page as a person sees it, and evaluated with the raw values."""
    model, X = readable_case.model, readable_case.X_test
    seen = re.findall(r'<div class="equation" [^>]*>(.*?)</div>', readable_case.html)[: len(model.equations_)]
    values = pd.DataFrame(model.to_model_features(X), columns=model.encoder_.feature_names)
    for i in range(0, len(X), 9):
        point = values.iloc[i].to_dict()
        z = np.array([[evaluate_typeset(text, point) for text in seen]])
        reported = readable_case.evidence.view.outputs_of(z)[0]
        np.testing.assert_allclose(reported, model.predict_proba(X.iloc[i : i + 1])[0], rtol=1e-10, atol=1e-12)


def test_pieces_rules_sizes_and_a_row_by_hand_are_on_the_page(readable_case):
    page = readable_case.html
    for wanted in (
        "How it reads its columns",
        "One row by hand",
        "Smaller and larger equations",
        "What each column does",
    ):
        assert wanted in page
    for gone in ("positive scale", "mirror image", "Strength of the penalty", "Elasticities", "linear in the logs"):
        assert gone not in page


def test_the_paper_s_model_keeps_its_scales(loan_case):
    assert "positive scale" in loan_case.html
    assert "Strength of the penalty" in loan_case.html
    assert "How it reads its columns" not in loan_case.html


@pytest.mark.filterwarnings("ignore:.*training maximum")
def test_elasticities_say_for_how_many_rows_they_hold(loan_case):
    """The median over the rows where the score is positive, or a dash where there are none."""
    evidence = loan_case.evidence
    X, view = evidence.explained.table, evidence.view
    elasticity = explain.elasticity(view, X, units="raw")
    values = elasticity.values[:, 0]  # noqa: PD011 - an explanation is no data frame
    (table,) = drivers(evidence).tables
    assert table.lines
    for line in table.lines:
        j = [format_name(name) for name in view.raw_names].index(line.name)
        defined = elasticity.mask[:, 0, j]
        if not defined.any():
            assert line.elasticity == DASH
            continue
        middle, share = re.fullmatch(r"(\S+) \((\d+).?% of rows\)", line.elasticity).groups()
        assert float(middle.replace("−", "-")) == pytest.approx(np.median(values[defined, j]), rel=0.01)
        assert int(share) == round(100 * defined.mean()) > 0


def test_what_a_piece_does_to_the_odds_is_so(churn_case):
    """A phrase about units or levels is checked by moving one column of a row."""
    reported = formulas(churn_case.evidence)
    assert reported.label == "stays"
    assert len(reported.pieces) == sum(not t.is_constant for t in churn_case.model.equations_["stays"].terms)
    sentence = next(line.meaning for line in reported.pieces if "each further unit of monthly charge" in line.meaning)
    change = re.search(r"(raises|lowers) the odds by ([0-9.]+) %", sentence)
    row = churn_case.X_test.head(1).assign(**{"monthly charge": 60.0})
    z = churn_case.model.decision_function
    ratio = np.exp(z(row.assign(**{"monthly charge": 61.0})) - z(row))[0]
    assert (ratio > 1) == (change[1] == "raises")
    assert 100 * abs(ratio - 1) == pytest.approx(float(change[2]), rel=0.05)


def test_every_class_has_a_score_in_every_equation_of_the_front(named_case):
    """A class whose score is 0 is written down too: without it nobody could compute a probability."""
    case = named_case("blooms")
    reported = formulas(case.evidence)
    assert any(not equation.terms for candidate in case.model.path_ for equation in candidate.equations)
    for line in reported.front:
        assert [re.search("score of (.+?) =<", each.text)[1] for each in line.equations] == list(case.model.classes_)


def test_pieces_of_several_classes_have_meanings_that_are_so(named_case):
    """A piece multiplies the odds of its class against any other by what its words say."""
    case = named_case("blooms")
    reported = formulas(case.evidence)
    assert reported.label is None
    assert all(line.meaning for line in reported.pieces)
    assert "divided by that of any other" in case.html
    words = case.model.summary()
    assert "what a piece does to the odds of its class against any other, all others fixed:" in words
    for line, (label, term) in zip(
        reported.pieces,
        [(k, t) for k, right in case.model.equations_.items() for t in right.terms if not t.is_constant],
        strict=True,
    ):
        assert line.label == str(label)
        assert line.meaning == "; ".join(odds_phrases(term, case.model.encoder_)).replace("`", "")


def test_a_product_of_odds_is_typeset_where_there_is_one(evaluate_typeset):
    rng = np.random.default_rng(1)
    X = pd.DataFrame({"income": rng.lognormal(10, 1, 400).round(), "contract": rng.choice(["month", "year"], 400)})
    z = 1.5 * (np.log(X["income"]) - 10) - 2 * (X["contract"] == "year")
    y = pd.Series(np.where(rng.random(400) < 1 / (1 + np.exp(-z)), "good", "bad"), name="loan")
    model = ECSELClassifier(max_factors=2).fit(X, y)
    reported = formulas(Evidence.read(model, X, y, None, None))
    assert reported.product is not None
    row = dict(zip(model.encoder_.feature_names, model.to_model_features(X.iloc[[3]])[0].tolist(), strict=True))
    odds = evaluate_typeset(reported.product.text, {**row, "e": np.e})
    assert odds / (1 + odds) == pytest.approx(model.predict_proba(X.iloc[[3]])[0, 1], rel=1e-12)
    assert reported.product.text in render_report(model, X, y)


def test_the_head_names_author_date_and_version(loan_case):
    details = {"Author": "A. Analyst", "Date": "2026-03-01", "Digest": "0" * 64}
    html = render_report(loan_case.model, loan_case.X, loan_case.y, details=details)
    head = html.split("<header>")[1].split("</header>")[0]
    for text in ("Author: A. Analyst", "Date: 2026-03-01", f"ecsel {__version__}"):
        assert text in head
    assert "0" * 64 not in head
    assert "0" * 64 in html


def test_no_line_breaks_before_a_per_cent_sign_or_at_an_equals_sign(named_case):
    for part in re.findall(r"<li>.*?</li>|<td class=\"text\">.*?</td>", named_case("churn").html):
        assert " %" not in part
        assert "probability of" in part or not re.search(r"\w = \w", part)
