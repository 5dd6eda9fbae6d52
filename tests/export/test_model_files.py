"""A model that was written to a JSON file and loaded again says what it said before, bit by bit."""

import json
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

import ecsel
from ecsel import ECSELClassifier, ECSELRegressor
from ecsel.explain import ModelView
from ecsel.files import read, write


@pytest.fixture(scope="session")
def load_again(tmp_path_factory):
    """Return the function that writes and loads a model, with only standard JSON in the file."""
    path = tmp_path_factory.mktemp("files") / "model.json"
    fitted = {}
    for is_raw, options in {False: {"n_terms": 1, "l1": 0.01}, True: {}}.items():
        ECSELClassifier(**options).fit([[1.0], [2.0], [3.0], [4.0]] * 5, [0, 0, 1, 1] * 5).save(path)
        fitted[is_raw] = read(path)

    def run(model):
        if isinstance(model, ModelView):  # nobody fitted it: it goes into the file of another one
            other = fitted[model.encoder.is_raw]
            record = {**other.report, "near_ties": []}  # the candidates and the quality are those of the other one
            write(replace(other, **parts_of(model), report=record, path=(), metrics={}), path)
        else:
            model.save(path)
        json.loads(path.read_text(encoding="utf-8"), parse_constant=pytest.fail)
        return ecsel.load(path)

    return run


def parts_of(view):
    return {
        "link": view.link.name,
        "inputs": view.raw_names,
        "classes": view.classes,
        "encoder": view.encoder,
        "equations": tuple(view.terms.to_signomials(view.feature_names)),
        "threshold": view.threshold if len(view.classes) == 2 else None,
    }


@pytest.mark.parametrize(
    "case",
    [
        *("sigmoid_with_gaps", "softmax_of_three", "two_class_softmax_without_intercept", "median_and_threshold"),
        *("out_of_range_is_an_error", "law_with_signs", "random_0", "random_1", "random_2", "random_5"),
        *("raw_0", "raw_1", "raw_2", "default_of_two", "default_of_three", "default_with_thresholds"),
    ],
    indirect=True,
)
def test_equals_the_model_on_awkward_rows(case, tell, load_again):
    model = load_again(case.model)
    rows = case.take([r for r, outputs in enumerate(case.outputs) if outputs is None or r % 3 == 0])
    reported = [tell(model, row) for row in rows.rows]
    rows.assert_same([each[0] for each in reported], [each[1] for each in reported], tolerance=1e-15)


def test_a_regressor_of_an_array_is_loaded(load_again):
    X = np.random.default_rng(0).uniform(1, 3, (40, 2))
    model = ECSELRegressor(form="a*x0**2/x1 + b").fit(X, 3 * X[:, 0] ** 2 / X[:, 1] + 1)
    np.testing.assert_array_equal(load_again(model).predict(X), model.predict(X))


def check_names(hostile, load_again):
    model = load_again(hostile.view)
    X = pd.DataFrame({name: [row[name] for row in hostile.rows] for name in hostile.columns})
    np.testing.assert_array_equal(model.predict_proba(X), hostile.probabilities)
    assert model.predict(X).tolist() == hostile.labels


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.data())
def test_files_take_any_name(draw_hostile, load_again, data):
    hostile = draw_hostile(data)
    texts = [*hostile.columns, *hostile.levels, *hostile.classes]
    assume(not any("\ud800" <= character <= "\udfff" for text in texts for character in text))
    check_names(hostile, load_again)


def test_files_take_every_hostile_name(all_hostile, load_again):
    for hostile in all_hostile:
        check_names(hostile, load_again)
