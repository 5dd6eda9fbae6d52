"""What a fitted classifier says of itself: every equation, how it was found, and nothing that a page would execute."""

import numpy as np
import pandas as pd
import pytest

from ecsel import ECSELClassifier
from ecsel.estimators.summary import remarks
from ecsel.signomial import Signomial

HOSTILE = ["<script>alert(1)</script>", "a\"b'c", "x & y", "__import__('os')", "line\nbreak"]


def test_every_equation_and_the_report_are_told(make_numbers, quick):
    X, y = make_numbers(n_classes=3)
    model = quick(n_terms=2).fit(X, y)
    text = model.summary()
    for label, equation in model.equations_.items():
        assert f"score of {label!r}:" in text
        assert format(equation, ".4g") in text
    for part in ("3 classes", "softmax link", "l1 = 0.01", model.fit_report_.status.value, "KKT residual"):
        assert part in text
    assert f"{model.fit_report_.objective:.6g}" in text


def test_the_threshold_and_the_columns_are_told(make_mixed, quick):
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


def test_the_page_of_an_unfitted_model_shows_its_options():
    page = ECSELClassifier(l1=0.125)._repr_html_()
    assert "0.125" in page
    assert "KKT" not in page


@pytest.mark.parametrize("options", [{}, {"n_terms": 2, "l1": 0.1}])
def test_repr_shows_what_differs_from_the_defaults(options):
    assert repr(ECSELClassifier(**options)).startswith("ECSELClassifier(")
    for name, value in options.items():
        assert f"{name}={value!r}" in repr(ECSELClassifier(**options))
