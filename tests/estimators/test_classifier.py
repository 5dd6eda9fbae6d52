"""The classifier: the formula is the model, whatever the labels, the weights and the kind of table."""

import copy
import pickle

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from scipy.special import expit, softmax
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning, NotFittedError

from ecsel import ECSELClassifier
from ecsel.estimators import training
from ecsel.fitting import Adam, Status

pytestmark = pytest.mark.filterwarnings("ignore:.*rows lie:UserWarning")


def probabilities_of_the_formula(model, X):
    """The sigmoid or softmax of the equations at the model's features, and nothing else."""
    columns = dict(zip(model.encoder_.feature_names, model.to_model_features(X).T, strict=True))
    n = len(model.to_model_features(X))
    z = np.column_stack([np.broadcast_to(e(columns), n) for e in model.equations_.values()])
    return np.column_stack([expit(-z[:, 0]), expit(z[:, 0])]) if model.link_ == "sigmoid" else softmax(z, axis=1)


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"n_terms": 3},
        {"link": "softmax"},
        {"fit_intercept": False},
        {"penalty": "paper", "fit_intercept": False},
        {"l1": 1e3},
        {"scaling": "minmax", "two_sided": True},
    ],
    ids=str,
)
@pytest.mark.parametrize("n_classes", [2, 3])
def test_the_formula_is_the_model(make_numbers, quick, options, n_classes):
    X, y = make_numbers(n_classes=n_classes)
    fresh, _ = make_numbers(n_classes=n_classes, seed=1)
    model = quick(**options).fit(X, y)
    for table in (X, fresh):
        np.testing.assert_allclose(model.predict_proba(table), probabilities_of_the_formula(model, table), atol=1e-12)


def test_the_formula_is_the_model_for_every_kind_of_column(make_mixed, quick):
    X, y = make_mixed()
    model = quick(n_terms=2, l1=5e-3).fit(X, y)
    assert {"purpose=car", "page value=?", "owner=True"} <= set(model.encoder_.feature_names)
    np.testing.assert_allclose(model.predict_proba(X), probabilities_of_the_formula(model, X), atol=1e-12)


@pytest.mark.parametrize("link", ["sigmoid", "softmax"])
def test_decision_probability_and_prediction_agree(make_numbers, quick, link):
    X, y = make_numbers()
    model = quick(link=link).fit(X, y)
    p, z = model.predict_proba(X), model.decision_function(X)
    assert z.shape == (len(y),)
    np.testing.assert_allclose(p.sum(axis=1), 1)
    np.testing.assert_allclose(p[:, 1], expit(z), atol=1e-12)
    np.testing.assert_array_equal(model.predict(X), (z >= 0).astype(int))
    assert model.score(X, y) == np.mean(model.predict(X) == y) > 0.7
    assert list(model.equations_) == ([1] if link == "sigmoid" else [0, 1])


def test_two_scores_fit_at_least_as_well_as_one(make_numbers, quick):
    # z₁ − z₀ of a softmax with one term each holds every score of one term.
    X, y = make_numbers()
    one, two = (quick(link=link, l1=1e-3).fit(X, y).fit_report_.objective for link in ("sigmoid", "softmax"))
    assert two <= one * (1 + 1e-6)


def test_three_classes_have_a_score_each(make_numbers, quick):
    X, y = make_numbers(n_classes=3)
    model = quick().fit(X, y)
    z = model.decision_function(X)
    assert z.shape == (len(y), 3)
    np.testing.assert_allclose(model.predict_proba(X), softmax(z, axis=1))
    np.testing.assert_array_equal(model.predict(X), z.argmax(axis=1))
    assert model.threshold_ is None


LABELS = {
    "text": np.array(["no", "yes"]),
    "bool": np.array([False, True]),
    "int": np.array([-3, 7]),
    "float": np.array([1.0, 2.0]),
    "object": np.array(["a", "b"], dtype=object),
    "numbers as objects": np.array([0, 1], dtype=object),
    "uint8": np.array([5, 200], dtype=np.uint8),
}


@pytest.mark.parametrize("name", LABELS)
def test_labels_of_any_type(make_numbers, quick, name):
    X, codes = make_numbers()
    labels = LABELS[name]
    model = quick().fit(X, labels[codes])
    reference = quick().fit(X, codes)
    np.testing.assert_array_equal(model.classes_, labels)
    np.testing.assert_array_equal(model.predict(X), labels[reference.predict(X)])
    np.testing.assert_array_equal(model.predict_proba(X), reference.predict_proba(X))
    assert list(model.equations_) == [labels.tolist()[1]]


@pytest.mark.parametrize("as_labels", [list, pd.Series, pl.Series, pa.array, lambda y: pd.Series(y).astype("category")])
def test_labels_from_any_container(make_mixed, quick, as_labels):
    X, y = make_mixed()
    model = quick().fit(X, as_labels(y.tolist()))
    assert model.classes_.tolist() == ["bad", "good"]
    np.testing.assert_array_equal(model.predict_proba(X), quick().fit(X, y).predict_proba(X))


@pytest.mark.parametrize(
    ("convert", "table"),
    [
        (lambda f: f.convert_dtypes(), "pandas nullable"),
        (lambda f: pl.from_pandas(f, nan_to_null=True), "polars"),
        (lambda f: pa.Table.from_pandas(f, preserve_index=False), "pyarrow"),
    ],
    ids=["nullable", "polars", "pyarrow"],
)
def test_every_kind_of_frame_gives_the_same_model(make_mixed, quick, convert, table):
    X, y = make_mixed()
    one, other = quick(n_terms=2).fit(X, y), quick(n_terms=2).fit(convert(X), y)
    assert one.equations_ == other.equations_, table
    assert other.feature_names_in_.tolist() == list(X.columns)
    assert other.n_features_in_ == 4
    np.testing.assert_array_equal(one.predict_proba(X), other.predict_proba(convert(X)))


def test_a_frame_and_its_numbers_give_the_same_probabilities(make_numbers, quick):
    X, y = make_numbers()
    named = pd.DataFrame(X, columns=["a", "b", "c"])
    one, other = quick().fit(X, y), quick().fit(named, y)
    np.testing.assert_array_equal(one.predict_proba(X), other.predict_proba(named))
    assert not hasattr(one, "feature_names_in_")
    assert other.feature_names_in_.tolist() == ["a", "b", "c"]


def test_two_fits_give_the_same_bits_and_the_number_of_threads_leaves_no_trace(monkeypatch, make_numbers, quick):
    monkeypatch.setattr("ecsel.fitting.rows.blocks.TILE_ROWS", 32)
    X, y = make_numbers(n_classes=3)
    bits = [quick(n_terms=2, n_jobs=n).fit(X, y).predict_proba(X).tobytes() for n in (1, 1, 2, 4, -1, None)]
    assert len(set(bits)) == 1


@pytest.mark.parametrize("copied", [lambda m: pickle.loads(pickle.dumps(m)), copy.deepcopy], ids=["pickle", "deepcopy"])
def test_copies_predict_the_same_bits(make_mixed, quick, copied):
    X, y = make_mixed()
    model = quick().fit(X, y)
    other = copied(model)
    assert other.predict_proba(X).tobytes() == model.predict_proba(X).tobytes()
    assert other.equations_ == model.equations_
    assert repr(other.path_) == repr(model.path_)
    assert other.fit_report_ == model.fit_report_


def test_a_clone_has_the_options_and_nothing_else(make_numbers, quick):
    X, y = make_numbers()
    model = quick(threshold=0.3, solver=Adam(epochs=3), class_weight={0: 2.0, 1: 1.0})
    with pytest.warns(ConvergenceWarning):
        model.fit(X, y)
    other = clone(model)
    assert other.get_params() == model.get_params()
    with pytest.raises(NotFittedError):
        other.predict(X)


def test_a_warm_start_needs_fewer_passes_and_ends_at_the_same_objective(make_numbers, quick):
    X, y = make_numbers(n=300, n_classes=3)
    model = quick(n_terms=2, warm_start=True).fit(X, y)
    first = model.fit_report_
    second = model.fit(X, y).fit_report_
    assert second.passes < first.passes / 2
    assert second.objective == pytest.approx(first.objective, rel=1e-4)
    cold = quick(n_terms=2).fit(X, y).fit(X, y).fit_report_
    assert cold.passes == first.passes


def test_a_warm_start_that_cannot_continue_starts_anew(make_numbers, quick):
    X, y = make_numbers()
    model = quick(warm_start=True).fit(X, y)
    model.set_params(n_terms=2).fit(X, y)
    np.testing.assert_array_equal(model.predict_proba(X), quick(n_terms=2).fit(X, y).predict_proba(X))
    model.fit(X, y + 1)
    assert model.classes_.tolist() == [1, 2]


def test_an_integer_weight_is_that_many_rows_and_a_zero_weight_none(make_numbers, quick):
    X, y = make_numbers()
    counts = np.random.default_rng(0).integers(0, 4, len(y))
    weighted = quick(n_terms=2).fit(X, y, sample_weight=counts)
    repeated = quick(n_terms=2).fit(np.repeat(X, counts, axis=0), np.repeat(y, counts))
    assert weighted.equations_ == repeated.equations_
    order = np.random.default_rng(1).permutation(len(y))
    assert quick(n_terms=2).fit(X[order], y[order], counts[order]).equations_ == weighted.equations_


def test_class_weights_are_weights_of_rows(make_numbers, quick):
    X, y = make_numbers(n_classes=3)
    totals = np.bincount(y)
    balanced = len(y) / (3 * totals)
    cases = {
        "balanced": balanced,
        "dict": np.array([1.0, 4.0, 1.0]),
        "number": np.where(totals == totals.min(), 2.5 * balanced, balanced),
    }
    rules = {"balanced": "balanced", "dict": {1: 4.0}, "number": 2.5}
    for name, per_class in cases.items():
        # Class weights leave the features alone; sample weights move the quantiles of all scalings but this one.
        one = quick(class_weight=rules[name], scaling="minmax").fit(X, y).predict_proba(X)
        other = quick(scaling="minmax").fit(X, y, sample_weight=per_class[y]).predict_proba(X)
        np.testing.assert_allclose(one, other, atol=1e-9, err_msg=name)
    plain = quick().fit(X, y).predict_proba(X).mean(axis=0)
    np.testing.assert_allclose(plain, totals / len(y), atol=1e-4)
    assert quick(class_weight={1: 4.0}).fit(X, y).predict_proba(X).mean(axis=0)[1] > plain[1]


@pytest.mark.parametrize("link", ["sigmoid", "softmax"])
@pytest.mark.parametrize("penalty", ["l1", "paper"])
def test_without_an_intercept_there_is_no_constant_term(make_numbers, quick, link, penalty):
    X, y = make_numbers()
    with_one = quick(link=link, penalty=penalty, l1=1e-3).fit(X, y)
    without = quick(link=link, penalty=penalty, l1=1e-3, fit_intercept=False).fit(X, y)
    assert any(not term.exponents for e in with_one.equations_.values() for term in e.terms)
    assert all(term.exponents for e in without.equations_.values() for term in e.terms)
    if link == "softmax":
        assert without.score(X, y) > 0.7
    else:  # a single term has one sign
        assert len(np.unique(np.sign(without.decision_function(X)))) == 1


def test_the_threshold_moves_the_prediction_and_not_the_score(make_numbers, quick):
    X, y = make_numbers()
    plain = quick().fit(X, y)
    p = plain.predict_proba(X)[:, 1]
    assert plain.threshold_ == 0.5
    for threshold in (0.0, 0.2, float(p[3]), 0.9, 1.0):
        model = quick(threshold=threshold).fit(X, y)
        assert model.threshold_ == threshold
        np.testing.assert_array_equal(model.predict(X), (p >= threshold).astype(int))
        np.testing.assert_array_equal(model.decision_function(X), plain.decision_function(X))


def test_progress_goes_to_standard_error(make_numbers, quick, capsys):
    X, y = make_numbers()
    quick(verbose=1).fit(X, y)
    out, err = capsys.readouterr()
    assert out == ""
    assert "iteration" in err
    assert "KKT residual" in err
    quick().fit(X, y)
    assert capsys.readouterr() == ("", "")


def test_an_interrupt_keeps_a_usable_model_and_warns(monkeypatch, make_numbers, quick):
    X, y = make_numbers()
    seen = []

    def interrupt(iteration, objective, residual):
        seen.append((iteration, objective, residual))
        if len(seen) == 4:
            raise KeyboardInterrupt

    monkeypatch.setattr(training, "show_progress", interrupt)
    with pytest.warns(UserWarning, match="interrupted after 3 iterations; the best equations so far were kept"):
        model = quick(verbose=1, l1=1e-4).fit(X, y)
    assert model.fit_report_.status is Status.INTERRUPTED
    assert model.fit_report_.objective == pytest.approx(seen[-1][1], rel=1e-6)
    assert model.score(X, y) > 0.5


def test_an_unfinished_fit_warns_with_its_numbers(make_numbers, quick):
    X, y = make_numbers(n_classes=3)
    with pytest.warns(ConvergenceWarning, match=r"KKT residual \d.*after \d iterations with max_iter=2"):
        quick(max_iter=2, l1=1e-4).fit(X, y)


@pytest.mark.parametrize("solver", ["newton", "lbfgs", "adam", Adam(learning_rate=0.05, epochs=800, patience=100)])
def test_every_solver_learns(make_numbers, quick, solver):
    X, y = make_numbers(600)
    model = quick(solver=solver, l1=1e-3, penalty="l1" if isinstance(solver, str) else "paper").fit(X, y)
    assert model.fit_report_.solver == ("adam" if isinstance(solver, Adam) else solver)
    # where an impatient Adam stops hangs on the last bits, which differ between processors
    assert model.score(X, y) > 0.75


def test_calibrated_in_the_large(make_numbers, quick):
    # The score of an intercept is zero at the optimum: mean probabilities are the class shares.
    X, y = make_numbers(n=300, n_classes=3)
    w = np.random.default_rng(0).uniform(0.5, 2, len(y))
    model = quick(n_terms=2, l1=5e-3).fit(X, y, sample_weight=w)
    np.testing.assert_allclose(w @ model.predict_proba(X) / w.sum(), np.bincount(y, weights=w) / w.sum(), atol=1e-4)


def test_mixed_columns_are_learnt_by_default(make_mixed):
    X, y = make_mixed(n=200)
    model = ECSELClassifier(max_terms=1, cv=3).fit(X, y)
    assert model.score(X, y) > 0.65
