"""Factors as expressions have the values of `ecsel.signomial`, be they products or exponentials."""

import math
from dataclasses import fields, is_dataclass
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from ecsel import Signomial
from ecsel.export import to_python, to_sql
from ecsel.export.program.accepted import LARGEST
from ecsel.export.program.expr import Const, Exp, Log, Mul, Sqrt, Var
from ecsel.export.program.factors import Base, domain, factor_value, harmless_value, is_bounded
from ecsel.export.program.lowering import lower
from ecsel.export.program.reading import FeatureValue
from ecsel.export.program.writing import fold
from ecsel.export.targets import python
from ecsel.signomial import Factor, Parity, ScoreTerms
from ecsel.signomial.columns import base_values, refuse_outside_domain
from ecsel.signomial.factor import canonical_factor
from ecsel.signomial.factor_values import factor_values

EXPONENTS = [Fraction(n, 2) for n in range(-6, 9)] + [0.3, -1.7, 7.0, Fraction(1, 3)]


def value_of(expression, x):
    """Let Python evaluate an expression of x."""
    return eval(fold(expression, python._rules([])), {"x": x, **vars(math)})


def holds(condition, x):
    return value_of(condition, x)


@st.composite
def factors(draw):
    parity = draw(st.sampled_from(Parity))
    factor = canonical_factor(
        "x",
        draw(st.sampled_from(EXPONENTS)),
        parity,
        shift=draw(st.sampled_from([0.0, 3.0, -2.5])),
        log=draw(st.booleans()),
    )
    return factor or Factor("x", Fraction(1), Parity.ODD)


def is_defined(factor, x):
    try:
        refuse_outside_domain(factor, base_values(factor, np.array([x])))
    except ValueError:
        return False
    return True


@settings(max_examples=300, deadline=None)
@given(factors(), st.floats(-20, 20) | st.sampled_from([0.0, -3.0, 2.5, 1.0, -2.0, 3.5]))
def test_values_and_domains_are_those_of_signomials(factor, x):
    feature = FeatureValue(Var("x"), -20.0, 20.0)
    defined = all(holds(condition, x) for condition in domain([factor], feature))
    assert defined == is_defined(factor, x)
    if defined:
        wanted = factor_values(factor, np.array([x]))[0]
        assume(abs(wanted) < 1e300)  # a term with such a factor is no product
        np.testing.assert_allclose(value_of(factor_value(factor, feature).value, x), wanted, rtol=1e-12, atol=1e-300)


@settings(deadline=None)
@given(factors(), st.floats(-20, 20), st.floats(0, 20))
def test_an_interval_inside_the_domain_needs_no_condition(factor, low, width):
    inside = domain([factor], FeatureValue(Var("x"), low, low + width))
    ends = [is_defined(factor, low), is_defined(factor, low + width)]
    if not inside:
        assert all(ends)
    origin = -factor.shift + (1.0 if factor.log else 0.0)
    if all(ends) and not low <= origin <= low + width:
        assert not inside


@given(st.lists(factors(), min_size=1, max_size=4))
def test_a_harmless_value_is_in_every_domain(several):
    x = harmless_value(several)
    assert all(is_defined(factor, x) for factor in several)


@settings(deadline=None)
@given(factors(), st.floats(-20, 20), st.floats(0, 20), st.floats(0, 1))
def test_bases_lie_in_their_interval(factor, low, width, share):
    base = Base.of(factor, FeatureValue(Var("x"), low, low + width))
    x = min(low + share * width, low + width)
    if factor.log and x + factor.shift <= 0:
        return
    g = value_of(base.value, x)
    assert base.low <= g <= base.high
    smallest, largest = base.log_limits
    if g:
        assert smallest - 1e-12 <= math.log(abs(g)) <= largest + 1e-12


def test_training_ranges_bound_products_and_unlimited_columns_do_not():
    terms = ScoreTerms.from_signomials([Signomial.parse("0.5*x**2*log(y)/z + 2*log(y)")], ["x", "y", "z"])
    ranges = {0: FeatureValue(Var("a"), -5.0, 90.0), 1: FeatureValue(Var("b"), 0.1, 7.0)}
    away, around = FeatureValue(Var("c"), 0.5, 3.0), FeatureValue(Var("c"), -0.5, 3.0)
    assert is_bounded(0.5, terms.factors[0], {**ranges, 2: away})
    assert not is_bounded(0.5, terms.factors[0], {**ranges, 2: around})
    assert not is_bounded(1e-200, terms.factors[0], {**ranges, 2: away})
    unlimited = dict.fromkeys(range(3), FeatureValue(Var("a"), -LARGEST, LARGEST))
    assert not is_bounded(0.5, terms.factors[0], unlimited)
    assert is_bounded(2.0, terms.factors[1], unlimited)  # no logarithm is large


def assignments(model):
    return {each.name: each.value for each in lower(model).assignments}


def test_powers_of_one_column_are_clipped_rather_than_logarithms():
    named = assignments(Signomial.parse("3*x**2 - 0.25*x + 2*log(x + 1)"))
    assert not any(isinstance(value, Exp) for value in named.values())
    assert isinstance(named["t0"], Mul)
    namespace = {}
    exec(to_python(Signomial.parse("3*x**2 - 0.25*x")), namespace)
    reported = [namespace["predict"]({"x": x})["prediction"] for x in (-7.0, 1e100, 1e300)]
    assert reported == pytest.approx([3 * 49 + 0.25 * 7, 3e200, 3 * math.exp(700) - 0.25e300], rel=1e-12)


def has(node, kind):
    names = [each.name for each in fields(node)] if is_dataclass(node) else []
    parts = node if isinstance(node, tuple) else [getattr(node, name) for name in names]
    return isinstance(node, kind) or any(has(part, kind) for part in parts)


def test_a_fitted_model_has_the_digits_of_its_equation(all_cases):
    """No logarithm is taken only to be undone, and every coefficient is the decimal that is printed."""
    for name in ("default_of_two", "default_of_three", "default_with_thresholds", "raw_0"):
        case = all_cases[name]
        named = assignments(case.model)
        source, query = to_python(case.model), to_sql(case.model)
        for k, alpha in enumerate(case.view.terms.coefficients.tolist()):
            if not case.view.factors[k]:
                continue
            powers = {f.exponent for f in case.view.factors[k]}
            assert has(named[f"t{k}"], Exp) == any(not isinstance(b, Fraction) for b in powers)
            assert has(named[f"t{k}"], Sqrt) == any(Fraction(b).denominator == 2 for b in powers)
            assert has(named[f"t{k}"], Log) == any(f.log or isinstance(f.exponent, float) for f in case.view.factors[k])
            assert alpha == 1.0 or has(named[f"t{k}"], Const)
            assert repr(abs(alpha)) in source
            assert repr(abs(alpha)) in query
