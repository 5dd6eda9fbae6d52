"""Terms near the log-linear limit: the line in the logs agrees with the equation to within the error it states."""

import numpy as np
import pytest

from ecsel import ECSELClassifier
from ecsel.estimators.straight import straight_part
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


def test_the_largest_effects_come_first_and_bent_terms_stay_out():
    encoder = TableEncoder.fit(np.random.default_rng(0).uniform(1, 9, (50, 2)), scaling="ratio")
    part = straight_part(Signomial.parse("100*x0**0.001*x1**0.02 + 3*x1**2"), encoder)
    assert list(part.slopes) == ["x1", "x0"]
    assert [term.coefficient for term in part.terms] == [100.0]
    assert straight_part(Signomial.parse("3*x1**2 - 1"), encoder) is None


def test_logistic_regression_in_the_logs_is_told_as_such():
    rng = np.random.default_rng(0)
    X = np.exp(rng.normal(size=(400, 2)))
    y = rng.random(400) < 1 / (1 + np.exp(-np.log(X) @ [1.0, -2.0]))
    model = ECSELClassifier(n_terms=1, l1=0.05, scaling="ratio", two_sided=False).fit(X, y)
    (equation,) = model.equations_.values()
    part = straight_part(equation, model.encoder_)
    assert part is not None
    assert part.slopes["x0"] > 0 > part.slopes["x1"]
    assert str(part) in model.summary()
