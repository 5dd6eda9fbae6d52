"""Terms near the log-linear limit: the line in the logs agrees with the equation to within the error it states."""

import numpy as np
import pytest

from ecsel import ECSELClassifier, load
from ecsel.estimators import straight
from ecsel.estimators.equations import power_laws
from ecsel.estimators.straight import straight_part, with_log_pieces
from ecsel.signomial import Signomial
from ecsel.tables import TableEncoder


def line(part, encoder, X):
    logs = dict(zip(encoder.feature_names, encoder.log_features(X), strict=True))
    return part.constant + sum(slope * logs[name] for name, slope in part.slopes.items())


@pytest.mark.parametrize("scaling", ["ratio", "minmax", "spread"])
def test_the_line_is_the_equation_to_within_its_error(scaling):
    rng = np.random.default_rng(0)
    X = rng.uniform(1, 9, (300, 3))
    encoder = TableEncoder.fit(X, scaling=scaling, two_sided=[0])
    equation = Signomial.parse("700*x0**0.004*col('x0~')**-0.002*x1**0.01 - 300*x2**0.02 - 395")
    part = straight_part(equation, encoder)
    assert len(part.terms) == 2
    features = dict(zip(encoder.feature_names, encoder.model_features(X).T, strict=True))
    gap = np.abs(line(part, encoder, X) - equation.evaluate(features))
    assert gap.max() <= part.error
    assert part.error < 20 * gap.max()  # the bound takes the corner of the box, which few rows come near to


def test_the_largest_effects_come_first_and_nonlinear_terms_stay_out():
    encoder = TableEncoder.fit(np.random.default_rng(0).uniform(1, 9, (50, 2)), scaling="ratio")
    part = straight_part(Signomial.parse("100*x0**0.001*x1**0.02 + 3*x1**2"), encoder)
    assert list(part.slopes) == ["x1", "x0"]
    assert [term.coefficient for term in part.terms] == [100.0]
    assert straight_part(Signomial.parse("3*x1**2 - 1"), encoder) is None


def test_logistic_regression_in_the_logs_is_reported_as_such():
    rng = np.random.default_rng(0)
    X = np.exp(rng.normal(size=(400, 2)))
    y = rng.random(400) < 1 / (1 + np.exp(-np.log(X) @ [1.0, -2.0]))
    model = ECSELClassifier(n_terms=1, l1=0.05, scaling="ratio", two_sided=False).fit(X, y)
    (equation,) = model.equations_.values()
    part = straight_part(equation, model.encoder_)
    assert part is not None
    assert part.slopes["x0"] > 0 > part.slopes["x1"]
    assert str(part) in model.summary()


@pytest.mark.parametrize("scaling", ["ratio", "minmax", "spread"])
def test_terms_at_the_limit_become_logarithms(scaling):
    rng = np.random.default_rng(0)
    X = rng.uniform(1, 9, (300, 3))
    encoder = TableEncoder.fit(X, scaling=scaling)
    equation = Signomial.parse("700000*x0**0.00000000004*x1**-0.00000000003 - 699999 + 2*x2**1.5 - 5000*x2**0.001")
    written = with_log_pieces(equation, encoder)
    logs = {term.names[0]: term.coefficient for term in written.terms if not term.is_power_law}
    assert logs == pytest.approx({"x0": 2.8e-5, "x1": -2.1e-5}, rel=1e-6)
    assert (
        len([term for term in written.terms if term.exponents]) == 2
    )  # the bent one, and one that is not quite straight
    features = dict(zip(encoder.feature_names, encoder.model_features(X).T, strict=True))
    np.testing.assert_allclose(written.evaluate(features), equation.evaluate(features), rtol=0, atol=1e-9)
    assert with_log_pieces(written, encoder) == written
    constant = sum(term.coefficient for term in written.terms if term.is_constant)
    assert constant == pytest.approx(1, abs=1e-3)


def test_logarithms_are_read_back_as_a_term_at_the_limit():
    encoder = TableEncoder.fit(np.random.default_rng(0).uniform(1, 9, (50, 2)), scaling="ratio")
    written = Signomial.parse("0.003*log(x0) - 0.002*log(x1) + 2*x1**1.5 - 0.4")
    (again,) = power_laws([written], encoder.feature_names).to_signomials(encoder.feature_names)
    assert [len(term.exponents) for term in again.terms] == [1, 2, 0]
    x = np.random.default_rng(1).uniform(1, 9, (40, 2))
    features = dict(zip(encoder.feature_names, encoder.model_features(x).T, strict=True))
    np.testing.assert_allclose(again.evaluate(features), written.evaluate(features), rtol=0, atol=1e-9)
    assert sorted(t.coefficient for t in with_log_pieces(again, encoder).terms) == pytest.approx(
        sorted(t.coefficient for t in written.terms), rel=1e-5
    )


@pytest.mark.filterwarnings("ignore:.*rows lie:UserWarning")
def test_errors_draws_files_and_warm_starts_read_logarithms(monkeypatch, tmp_path):
    rng = np.random.default_rng(0)
    X = np.exp(rng.normal(size=(400, 2)))
    y = (rng.random(400) < 1 / (1 + np.exp(-np.log(X) @ [1.0, -2.0]))).astype(int)
    options = {"n_terms": 1, "l1": 0.2, "scaling": "ratio", "warm_start": True}
    plain = ECSELClassifier(**options).fit(X, y)
    assert plain.equations_[1].terms[0].is_power_law
    monkeypatch.setattr(straight, "EXACT", 0.1)  # a fit is hardly ever at the limit itself
    model = ECSELClassifier(**options).fit(X, y)
    (equation,) = model.equations_.values()
    assert [term.names for term in equation.terms if not term.is_power_law] == [("x0",), ("x1",)]
    np.testing.assert_allclose(model.decision_function(X), plain.decision_function(X), atol=0.1)
    for mine, theirs in zip(model.standard_errors(X, y).numbers, plain.standard_errors(X, y).numbers, strict=True):
        if mine.parameter == "slope":
            assert mine.estimate == pytest.approx(theirs.estimate, rel=0.05)
            assert mine.standard_error == pytest.approx(theirs.standard_error, rel=0.1)
    effects = [m.stability(X, y, n_bootstrap=1).effect for m in (model, plain)]
    np.testing.assert_allclose(effects[0], effects[1], rtol=0.05)
    model.save(tmp_path / "model.json")
    assert load(tmp_path / "model.json").predict_proba(X).tobytes() == model.predict_proba(X).tobytes()
    assert f"{equation:.4g}" in model.summary()
    assert "linear in the logs" not in model.summary()
    first = model.fit_report_
    second = model.fit(X, y).fit_report_
    assert second.passes < first.passes
    assert second.objective == pytest.approx(first.objective, rel=1e-4)
