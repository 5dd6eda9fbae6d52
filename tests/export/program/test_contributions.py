"""Exported contributions are those of `ecsel.explain`, in raw units, against one baseline row."""

import warnings

import numpy as np
import pytest

from ecsel import Signomial, explain
from ecsel.export import to_python
from ecsel.export.program.lowering import lower


def exported(case, method, baseline=None):
    """Return the function that tells of a row, by its position."""
    namespace = {}
    exec(to_python(case.model, contributions=method, baseline=baseline), namespace)
    return lambda r: namespace["predict"](case.rows[r])


def compare(reported, values, base, names, axes):
    """Compare all contributions of one row; values (classes, …, columns)."""
    for each in reported["contributions"]:
        c = axes.index(each["class"])
        at = (c,) if "term" not in each else (c, each["term"])
        mine = dict(zip(names, values[at], strict=True))
        np.testing.assert_allclose(np.array(each["base_value"], dtype=float), base[at], rtol=1e-9)
        for column, value in each["values"].items():
            if value is None:
                assert np.isnan(mine[column])
            else:
                scale = np.nanmax(np.abs(values[at]), initial=1.0)
                np.testing.assert_allclose(value, mine[column], rtol=1e-9, atol=1e-9 * scale)
        left_out = set(names) - set(each["values"])
        assert not any(np.nan_to_num(mine[column]) for column in left_out)


def explained(case, method, rows, baseline, make_frame):
    frame = make_frame([case.rows[r] for r in rows], case.view.raw_names)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        if method == "shapley":
            return explain.shapley(case.model, frame, baseline)
        return getattr(explain, method)(case.model, frame, baseline, units="raw")


@pytest.mark.parametrize("method", ["log_additive", "attribution", "shapley"])
def test_equal_the_explanations_against_a_row(case, method, make_frame):
    rows = case.ordinary
    start = case.rows[rows[-1]]
    baseline = make_frame([start], case.view.raw_names)
    result = explained(case, method, rows, baseline, make_frame)
    reported = exported(case, method, start)
    for place, r in enumerate(rows):
        compare(reported(r), result.values[place], result.base_values, list(result.feature_names), list(result.classes))


def test_refused_rows_have_none(case):
    reported = exported(case, "attribution", case.rows[case.ordinary[0]])
    for r, outputs in enumerate(case.outputs):
        if outputs is None:
            assert {value for each in reported(r)["contributions"] for value in each["values"].values()} == {None}


@pytest.mark.parametrize("method", ["attribution", "shapley"])
def test_scores_add_up(case, method):
    """Shapley values add up to the score exactly; first-order ones do at the baseline itself."""
    rows = case.ordinary
    start = case.rows[rows[0]]
    reported = exported(case, method, start)
    for r in rows if method == "shapley" else rows[:1]:
        outputs = np.array(case.outputs[r])
        totals = [each["base_value"] + sum(each["values"].values()) for each in reported(r)["contributions"]]
        if not case.view.has_classes:
            np.testing.assert_allclose(totals, outputs, rtol=1e-9)
        else:
            np.testing.assert_allclose(case.view.outputs_of(np.array([totals]))[0], outputs, atol=1e-9)


def test_the_default_baseline_is_the_training_mean(encoded_case, make_frame):
    rows = encoded_case.ordinary
    result = explained(encoded_case, "attribution", rows, None, make_frame)
    reported = exported(encoded_case, "attribution")
    for place, r in enumerate(rows):
        compare(reported(r), result.values[place], result.base_values, list(result.feature_names), list(result.classes))


def test_a_baseline_of_some_columns_keeps_the_others_at_the_mean(encoded_case, make_frame):
    rows = encoded_case.ordinary
    name = lower(encoded_case.model).inputs[0].name
    start = {name: encoded_case.rows[rows[3]][name]}
    result = explained(encoded_case, "attribution", rows, start, make_frame)
    reported = exported(encoded_case, "attribution", start)
    compare(reported(rows[0]), result.values[0], result.base_values, list(result.feature_names), list(result.classes))


def test_a_list_is_a_baseline_of_all_columns():
    model = Signomial.parse("x*y")
    assert lower(model, contributions="shapley", baseline=[2.0, 3.0]) == lower(
        model, contributions="shapley", baseline={"x": 2.0, "y": 3.0}
    )
    with pytest.raises(ValueError, match="one value per column, 2, not 3"):
        lower(model, contributions="shapley", baseline=[1.0, 2.0, 3.0])


def test_wrong_options_are_refused():
    model = Signomial.parse("x*y")
    with pytest.raises(ValueError, match="contributions must be one of 'log_additive', 'attribution', 'shapley'"):
        lower(model, contributions="lime", baseline={"x": 1.0, "y": 1.0})
    with pytest.raises(ValueError, match="does not remember its training rows: give the baseline"):
        lower(model, contributions="shapley")
    with pytest.raises(ValueError, match="'y' has none"):
        lower(model, contributions="shapley", baseline={"x": 1.0})


def test_undefined_contributions_are_none():
    def reported(method, row):
        namespace = {}
        exec(to_python(Signomial.parse("x*y + y"), contributions=method, baseline=[1.0, 1.0]), namespace)
        return [list(each["values"].values()) for each in namespace["predict"](row)["contributions"]]

    assert reported("attribution", {"x": -1.0, "y": 2.0}) == [[None, pytest.approx(2 * np.log(2.0))]]
    zero = reported("log_additive", {"x": 0.0, "y": 2.0})
    assert zero[0] == [None, None]
    assert zero[1] == pytest.approx([0.0, np.log(2.0)])
    assert reported("shapley", {"x": 0.0, "y": 2.0}) == [pytest.approx([-1.5, 0.5 + 1.0])]
    assert reported("shapley", {"x": 1e200, "y": 1e200}) == [[None, None]]
