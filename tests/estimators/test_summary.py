"""What a fitted classifier says of itself: every equation, how it was found, and nothing that a page would execute."""

import numpy as np
import pandas as pd
import pytest
from sklearn import config_context

from ecsel import ECSELClassifier, ECSELRegressor
from ecsel.estimators.odds import odds_phrases
from ecsel.estimators.summary import remarks
from ecsel.signomial import Signomial
from ecsel.signomial.text import print_term
from ecsel.tables import TableEncoder

HOSTILE = ["<script>alert(1)</script>", "a\"b'c", "x & y", "__import__('os')", "line\nbreak"]


def test_every_equation_and_the_report_are_reported(make_numbers, quick):
    X, y = make_numbers(n_classes=3)
    model = quick(n_terms=2).fit(X, y)
    text = model.summary()
    for label, equation in model.equations_.items():
        assert f"score of {label!r}:" in text
        assert format(equation, ".4g") in text
    for part in ("3 classes", "softmax link", "l1 = 0.01", model.fit_report_.status.value, "KKT residual"):
        assert part in text
    assert f"{model.fit_report_.objective:.6g}" in text


def test_the_threshold_and_the_columns_are_reported(make_mixed, quick):
    X, y = make_mixed()
    text = quick(threshold=0.25).fit(X, y).summary()
    assert "predicts 'good' where its probability is at least 0.25" in text
    assert "page value" in text.split("columns:")[1]


def test_terms_near_the_log_linear_limit_are_named(make_numbers, quick):
    X, y = make_numbers()
    model = quick().fit(X, y)
    encoder = model.encoder_
    name = encoder.feature_names[0]
    (remark,) = remarks(Signomial.parse(f"4000*{name}**0.001 - 4000 + 2*{name}**3"), encoder)
    assert "4000" in remark
    assert "linear in the logs" in remark


def test_the_page_escapes_every_name(quick):
    rng = np.random.default_rng(0)
    X = pd.DataFrame(np.exp(rng.normal(size=(60, len(HOSTILE)))), columns=HOSTILE)
    y = np.where(X.sum(axis=1) > X.sum(axis=1).median(), "<b>yes</b>", "no")
    model = quick(l1=1e-3).fit(X, y)
    page = model._repr_html_()
    assert "<script>alert" not in page
    assert "<b>yes" not in page
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in page
    assert "x &amp; y" in page


@pytest.mark.parametrize("classes", [True, False])
def test_notebooks_get_the_page_with_the_equation(classes):
    x = np.linspace(1, 9, 40)
    estimator, y = (ECSELClassifier(n_terms=1, l1=0.01), x > 5) if classes else (ECSELRegressor(), 2 * x**2)
    model = estimator.fit(pd.DataFrame({"width": x}), y)
    shown = model._repr_mimebundle_()
    assert shown["text/plain"] == repr(model)
    assert "<math" in shown["text/html"]
    assert "sk-top-container" in shown["text/html"]
    with config_context(display="text"):
        assert set(model._repr_mimebundle_()) == {"text/plain"}


def test_the_page_of_an_unfitted_model_shows_its_options():
    page = ECSELClassifier(l1=0.125)._repr_html_()
    assert "0.125" in page
    assert "KKT" not in page


@pytest.mark.parametrize("options", [{}, {"n_terms": 2, "l1": 0.1}])
def test_repr_shows_what_differs_from_the_defaults(options):
    assert repr(ECSELClassifier(**options)).startswith("ECSELClassifier(")
    for name, value in options.items():
        assert f"{name}={value!r}" in repr(ECSELClassifier(**options))


@pytest.fixture(scope="module")
def readable(make_customers):
    X, y = make_customers()
    return X, y, ECSELClassifier().fit(X, y)


def test_a_readable_summary_tells_what_is_computed(readable):
    X, _, model = readable
    text = model.summary()
    (equation,) = model.equations_.values()
    n_pieces = sum(not term.is_constant for term in equation.terms)
    columns = {feature.column for feature in model.encoder_.features}
    assert text.startswith(
        f"ECSELClassifier: 2 classes ('leaves', 'stays'), sigmoid link, {n_pieces} pieces with {equation.n_factors} "
        f"factors, {len(columns)} of 5 columns\n"
    )
    assert f"score of 'stays' (the logarithm of its odds):\n  {equation}\n" in text
    for term in equation.terms:
        if not term.is_constant:
            assert f"\n  {print_term(term)}\n    {odds_phrases(term, model.encoder_)[0]}\n" in text
    assert "training ranges (a value outside counts as the nearest end):\n" in text
    for column in columns & {"tenure", "monthly charge", "age", "calls"}:
        if any(f.name == column for f in model.encoder_.features):
            name = "`monthly charge`" if column == "monthly charge" else column
            assert f"\n  {name}: {X[column].min():g} to {X[column].max():g}\n" in text
    assert "that was not in training counts as none of those named" in text
    fill = next((f.fill for f in model.encoder_.features if f.name == "age"), None)
    assert fill is None or f"age counts as {fill:g}" in text
    assert "missing values are refused in tenure" in text
    assert f"search: {model.fit_report_.n_pieces} pieces to choose from, 400 distinct rows" in text
    assert "log-loss on them" in text
    assert "out of fold (5 folds" in text
    assert all(f"  {note}" in text for note in model.encoder_.notes)


def test_the_front_is_reported_with_the_model_marked(readable):
    _, _, model = readable
    for i in range(len(model.path_)):
        other = model.select(i)
        lines = other.summary().splitlines()
        marked = [line for line in lines if line.startswith("  * ") and "select(" in line and "this model" not in line]
        candidate = model.path_[i]
        figures = f"{candidate.loss:.4f} ± {candidate.loss_se:.4f}, smoothed {candidate.smoothed_loss:.4f}"
        assert marked == [f"  * {candidate.size:>3}: {figures}  select({i})"]
        assert sum(" ± " in line and "select(" in line for line in lines) == len(model.path_)


def test_near_ties_are_reported_in_one_line(readable):
    _, _, model = readable
    tied = model.select(model.near_ties_[0])
    others = [i for i in (len(model.path_) - 1, 1, 0) if i != model.near_ties_[0]]
    tied.near_ties_ = (model.near_ties_[0], *others)
    (line,) = [line for line in tied.summary().splitlines() if "cannot tell" in line]
    others = ", ".join(f"{model.path_[i].size} factors, select({i})" for i in tied.near_ties_[1:])
    assert line == f"the folds cannot tell the chosen one from {others}; see path_"
    alone = model.select(0)
    alone.near_ties_ = (0,)
    assert "cannot tell" not in alone.summary()
    far = model.select(0)
    far.near_ties_ = (1, 2)
    assert "cannot tell" not in far.summary()


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"out_of_range": "extrapolate"}, "(a value outside is taken as it is)"),
        ({"out_of_range": "error"}, "(a value outside is refused)"),
        ({"threshold": 0.25}, "predicts 'stays' where its probability is at least 0.25"),
        ({"calibrate": True}, "calibrated: the scores before rounding were divided by the temperature"),
        ({"max_features": 2}, "(a limit of the search, which every candidate keeps)"),
        (
            {"exponent_bounds": {"[calls = 6]": (0, 1), "tenure": (0, 2)}},
            "every exponent of '[calls = 6]' is in [0, 1]",
        ),
        ({"monotone": {"tenure": 1}}, "the probability of 'stays' never falls as 'tenure' rises"),
    ],
)
def test_options_of_a_search_are_reported(make_customers, options, words):
    X, y = make_customers(200)
    assert words in ECSELClassifier(max_terms=3, cv=3, **options).fit(X, y).summary()


def test_columns_in_several_pieces_are_named(make_customers):
    X, y = make_customers(200)
    model = ECSELClassifier(max_terms=1).fit(X, y)
    encoder = TableEncoder.fit(X, scaling="raw")
    model.encoder_ = encoder
    model.equations_ = {"stays": Signomial.parse("age - 0.5*log(age) + 2*[age missing] + 0.1*tenure")}
    assert "age is in 3 pieces: read them together" in model.summary()
    assert "tenure is in" not in model.summary()


def test_a_readable_page_escapes_every_name():
    rng = np.random.default_rng(0)
    X = pd.DataFrame(np.exp(rng.normal(size=(80, len(HOSTILE)))), columns=HOSTILE)
    y = np.where(X.sum(axis=1) > X.sum(axis=1).median(), "<b>yes</b>", "no")
    model = ECSELClassifier(n_terms=3, cv=2).fit(X, y)
    page = model._repr_html_()
    assert "<script>alert" not in page
    assert "<b>yes" not in page
    assert "\nbreak" not in model.summary().split("columns:")[0].replace("\\nbreak", "")


def test_the_page_of_a_law_shows_its_equation():
    from ecsel import ECSELRegressor

    x = np.linspace(1.0, 9.0, 40)
    model = ECSELRegressor().fit(pd.DataFrame({"a<b": x}), 2 * x**1.5)
    page = model._repr_html_()
    assert "a&lt;b" in page
    assert "<pre>y = 2" in page
    assert "<pre>y = " not in ECSELRegressor()._repr_html_()


def test_one_thing_is_no_plural():
    x = np.linspace(1.0, 9.0, 60)
    model = ECSELClassifier(max_factors=1, cv=2).fit(pd.DataFrame({"x": x}), np.where(x + np.sin(9 * x) > 5, 1, 0))
    assert model.summary().startswith(
        "ECSELClassifier: 2 classes (0, 1), sigmoid link, 1 piece with 1 factor, 1 of 1 column\n"
    )
    assert "(s)" not in model.summary()


def test_the_equation_is_typeset_in_a_notebook(readable):
    _, _, model = readable
    page = model._repr_html_()
    (equation,) = model.equations_.values()
    assert "<mtext>log-odds of stays</mtext>" in page
    for term in equation.terms:
        number = f"{abs(term.coefficient)!r}".removesuffix(".0")
        assert f"<mn>{number}</mn>" in page
    assert page.index("<math>") < page.index("<details><summary>summary</summary><pre>ECSELClassifier: 2 classes")


def test_a_law_is_typeset_with_the_names_of_its_numbers():
    from ecsel import ECSELRegressor

    x = np.linspace(1.0, 9.0, 40)
    page = ECSELRegressor().fit(pd.DataFrame({"a": x}), 2 * np.pi * x**1.5)._repr_html_()
    assert "<mn>2π</mn>" in page
    assert "<msup><mi>a</mi><mn>3/2</mn></msup>" in page


def test_the_box_links_to_the_documentation_that_the_package_names():
    from ecsel.estimators.notebook import documentation

    assert documentation([]) == ""
    assert documentation(["Source, https://example.org"]) == ""
    assert documentation(["Documentation, https://example.org/a/"]) == "https://example.org/a"

    class Linked(ECSELClassifier):
        _doc_link_template = "https://example.org/a/api/ecsel.html#ecsel.ECSELClassifier"

    Linked.__module__ = "ecsel.estimators.classifier"
    assert "https://example.org/a/api/ecsel.html#ecsel.ECSELClassifier" in Linked()._repr_html_()


def test_the_repr_of_a_path_is_short(readable):
    _, _, model = readable
    lines = repr(model.path_).splitlines()
    assert lines[0] == f"Path of {len(model.path_)} candidates"
    one = model.path_[1]
    assert lines[2] == f"  [1] 1 factor, loss {one.loss:.4f} ± {one.loss_se:.4f}, smoothed {one.smoothed_loss:.4f}"
    assert len(lines) == 1 + len(model.path_)
    assert max(map(len, lines)) < 60
