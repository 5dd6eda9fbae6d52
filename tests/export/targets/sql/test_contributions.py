"""Contributions in a query are those of `ecsel.explain`."""

import warnings
from dataclasses import replace

import numpy as np
import pytest

from ecsel import Signomial, explain
from ecsel.explain import ModelView
from ecsel.export.program.lowering import lower
from ecsel.tables import TableEncoder


def explained(case, method, rows, start, make_frame):
    frame, baseline = (make_frame(each, case.view.raw_names) for each in (rows, [start]))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        if method == "shapley":
            return explain.shapley(case.model, frame, baseline)
        return getattr(explain, method)(case.model, frame, baseline, units="raw")


def wanted(result, reported):
    """Return base value and contributions of what was told, by row, from an explanation."""
    at = (list(result.classes).index(reported.label),) + (() if reported.term is None else (reported.term,))
    columns = [list(result.feature_names).index(column) for column, _ in reported.by_column]
    values = result.values[(slice(None), *at)][:, columns]
    base = np.broadcast_to(result.base_values[at], len(values))
    return np.column_stack([base, values])


@pytest.mark.parametrize("method", ["log_additive", "attribution", "shapley"])
def test_equal_the_explanations_against_a_row(fitted_case, method, in_duckdb, make_frame):
    case = fitted_case
    rows = [case.rows[r] for r in case.ordinary]
    start = rows[-1]
    answers = in_duckdb.score(case.model, rows, contributions=method, baseline=start)
    result = explained(case, method, rows, start, make_frame)
    first = 1 + len(case.view.classes) if case.view.has_classes else 1
    for reported in lower(case.model, contributions=method, baseline=start).contributions:
        last = first + 1 + len(reported.by_column)
        mine = np.array([each[first:last] for each in answers], dtype=float)  # NULL is NaN, as what is undefined
        theirs = wanted(result, reported)
        scale = np.nanmax(np.abs(theirs), initial=1.0)
        np.testing.assert_allclose(mine, theirs, rtol=1e-9, atol=1e-9 * scale)
        first = last
    assert {len(each) for each in answers} == {first}


def test_databases_agree_on_awkward_rows(fitted_case, in_duckdb, in_sqlite, in_postgres):
    """PostgreSQL in particular computes without underflow, at which it would stop."""
    case = fitted_case
    options = {"contributions": "shapley", "baseline": case.rows[case.ordinary[0]]}
    first = 1 if case.view.has_classes else 0  # after the label
    reported, *others = (
        np.array([each[first:] for each in database.score(case.model, case.rows, **options)], dtype=float)
        for database in (in_duckdb, in_sqlite, in_postgres)
    )
    scale = np.nanmax(np.abs(reported[: len(case.ordinary)]), initial=1.0)
    for again in others:
        np.testing.assert_allclose(again, reported, rtol=1e-9, atol=1e-9 * scale)
    refused = [outputs is None for outputs in case.outputs]
    n_base_values = len(case.view.score_classes)
    assert (np.isfinite(reported[refused]).sum(axis=1) == n_base_values).all()


@pytest.mark.parametrize("method", ["attribution", "shapley"])
def test_the_smallest_numbers_are_no_error(method, database):
    """Each product here is smaller than any double; PostgreSQL stops at such a product."""
    model = Signomial.parse("1e-300*x**3*y + 1e-300*x")
    rows = [{"x": 1e-100, "y": 1e-120}, {"x": 5e-324, "y": 5e-324}, {"x": 1e-5 * (1 + 1e-15), "y": 1.0}]
    answers = database.score(model, rows, contributions=method, baseline=[1e-5, 1.0])
    np.testing.assert_allclose(np.array(answers, dtype=float), 0.0, atol=1e-200)


@pytest.mark.parametrize("method", [None, "log_additive", "attribution", "shapley"])
def test_the_smallest_numbers_of_a_raw_encoder_are_no_error(method, database):
    """Products of numbers and quotients of them that are smaller than any double."""
    X = [[0.0, 0.0, 1e5], [1.0, 2.0, 2e5], [0.5, 1.0, 3e5]]
    encoder = TableEncoder.fit(X, scaling="raw")
    equation = Signomial.parse("x0/x2 + 0.5*x0**2*x1/x2 + 1e-3*x1 + 2*x0**3/x2**2")
    view = ModelView.of_equations(equation, encoder.feature_names)
    view = replace(view, encoder=encoder, raw_names=encoder.raw_names, feature_groups=encoder.feature_groups)
    rows = [{"x0": x, "x1": y, "x2": 2e5} for x in (0.0, 5e-324, 1e-310, 1e-200) for y in (0.0, 5e-324, 1e-110)]
    answers = database.score(view, rows, contributions=method)
    reported = np.array(answers, dtype=float)
    np.testing.assert_allclose(reported[:, 0], 0.0, atol=1e-100)
    base_values = 0 if method is None else (4 if method == "log_additive" else 1)
    assert reported.shape[1] == 1 + base_values * 4
