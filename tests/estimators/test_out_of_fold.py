"""Temperature, threshold and quality out of fold: what is chosen is best on held-out rows, and only there."""

import json

import numpy as np
import pytest
from scipy.special import expit
from sklearn.metrics import f1_score, roc_auc_score
from sklearn.model_selection import KFold, RepeatedStratifiedKFold

import ecsel
from ecsel import ECSELClassifier
from ecsel.estimators import classifier, training
from ecsel.files import ModelFileError
from ecsel.quality import fit_temperature
from ecsel.quality.calibration import log_loss

pytestmark = pytest.mark.filterwarnings("ignore:.*rows lie:UserWarning")


@pytest.fixture
def seen(monkeypatch):
    """The held-out scores of the last fit."""
    kept = []

    def watched(*arguments, **options):
        kept.append(original(*arguments, **options))
        return kept[-1]

    original = classifier.out_of_fold
    monkeypatch.setattr(classifier, "out_of_fold", watched)
    return kept


AVERAGES = {"f1": "binary", "weighted_f1": "weighted"}


def decisions_value(rule, y, p, w, t):
    decided = (p >= t).astype(int)
    if rule in ("f1", "weighted_f1"):
        return f1_score(y, decided, sample_weight=w, zero_division=0, average=AVERAGES[rule])
    if rule == "youden":
        return (
            w[(y == 1) & (decided == 1)].sum() / w[y == 1].sum() - w[(y == 0) & (decided == 1)].sum() / w[y == 0].sum()
        )
    return -float(w @ np.asarray(rule)[y, decided])


@pytest.mark.parametrize("rule", ["f1", "weighted_f1", "youden", [[0, 1], [4, 0]], [[-1, 3], [2, -0.5]]], ids=str)
@pytest.mark.parametrize("calibrate", [False, True])
def test_no_cut_of_the_held_out_probabilities_is_better(make_numbers, quick, seen, rule, calibrate):
    X, y = make_numbers(n=150)
    weights = np.random.default_rng(0).integers(1, 4, len(y)).astype(float)
    model = quick(threshold=rule, calibrate=calibrate, cv=4).fit(X, y, weights)
    (unseen,) = seen
    assert len(unseen.codes) >= len(y)  # a row that stands for several is dealt like them
    assert unseen.weights.sum() == pytest.approx(weights.sum())
    p = expit(unseen.scores[:, 0] / model.temperature_)
    cuts = np.concatenate([[0.0], p, np.nextafter(p, 2)])
    best = max(decisions_value(rule, unseen.codes, p, unseen.weights, t) for t in cuts)
    reached = decisions_value(rule, unseen.codes, p, unseen.weights, model.threshold_)
    assert reached == pytest.approx(best, abs=1e-9)
    np.testing.assert_array_equal(model.predict(X), (model.predict_proba(X)[:, 1] >= model.threshold_).astype(int))
    np.testing.assert_allclose(model.decision_function(X), -np.log(1 / model.predict_proba(X)[:, 1] - 1), atol=1e-9)


def test_costs_give_the_share_of_the_cost_where_probabilities_are_right(make_numbers, quick):
    X, y = make_numbers(n=6000)
    for false_alarm, miss in ((1, 3), (2, 1)):
        model = quick(threshold=[[0, false_alarm], [miss, 0]], l1=1e-3, cv=3).fit(X, y)
        assert model.threshold_ == pytest.approx(false_alarm / (false_alarm + miss), abs=0.1)


def test_held_out_scores_are_those_of_fits_without_these_rows(make_numbers, quick, seen):
    X, y = make_numbers(n=90)
    splits = list(KFold(3).split(X))
    options = {"scaling": "ratio", "out_of_range": "extrapolate"}
    quick(threshold="f1", cv=splits, **options).fit(X, y)
    (unseen,) = seen
    expected = []
    for train, test in splits:
        w = np.zeros(len(y))
        w[train] = 1.0
        part = quick(**options).fit(X, y, w)  # ratio scaling divides by powers of ten: the same features
        expected.append(part.decision_function(X[test]))
    np.testing.assert_allclose(unseen.scores[:, 0], np.concatenate(expected), atol=1e-4)
    np.testing.assert_array_equal(unseen.codes, y[np.concatenate([test for _, test in splits])])


@pytest.mark.parametrize("n_classes", [2, 3])
def test_the_temperature_is_folded_into_the_formula(make_numbers, quick, seen, n_classes):
    X, y = make_numbers(n_classes=n_classes, n=100, m=5)
    plain, model = (quick(l1=1e-2, calibrate=c).fit(X, y) for c in (False, True))
    (unseen,) = seen
    assert plain.temperature_ == 1
    assert model.temperature_ > 1.05  # a weak penalty on 100 rows is too sure of itself
    assert model.temperature_ == pytest.approx(fit_temperature(unseen.scores, unseen.codes, unseen.weights))
    cooled = log_loss(unseen.scores / model.temperature_, unseen.codes, unseen.weights)
    assert cooled < log_loss(unseen.scores, unseen.codes, unseen.weights)
    assert model.out_of_fold_.log_loss == pytest.approx(cooled)
    np.testing.assert_allclose(
        model.decision_function(X) * model.temperature_, plain.decision_function(X), rtol=1e-9, atol=1e-9
    )
    for label, equation in model.equations_.items():
        for mine, theirs in zip(equation.terms, plain.equations_[label].terms, strict=True):
            assert mine.coefficient == pytest.approx(theirs.coefficient / model.temperature_, rel=1e-12)
            assert mine.exponents == theirs.exponents


def test_the_quality_is_that_of_the_held_out_rows(make_numbers, quick, seen):
    X, y = make_numbers(n=200)
    model = quick(threshold="youden").fit(X, y)
    (unseen,) = seen
    quality = model.out_of_fold_
    p = expit(unseen.scores[:, 0])
    assert quality.auc == pytest.approx(roc_auc_score(unseen.codes, p))
    assert quality.accuracy == pytest.approx(np.mean((p >= model.threshold_) == unseen.codes))
    assert quality.n_rows == 200
    assert np.sum(quality.confusion) == pytest.approx(200)
    assert model.n_folds_ == 5
    text = model.summary()
    section = text[text.index("out of fold (5 folds, 200 distinct rows") :]
    assert "the same folds chose the threshold" in section
    assert f"AUC {quality.auc:.4f} (95 % interval {quality.auc_low:.4f} to {quality.auc_high:.4f})" in section
    rarest = model.classes_.tolist()[quality.minority]
    assert f"recall of the rarest class {rarest!r}: {quality.minority_recall:.4f}" in section


def test_class_weights_change_neither_the_rule_nor_the_quality(make_numbers, quick, seen):
    X, y = make_numbers(n=150)
    rows = np.r_[np.flatnonzero(y == 0), np.flatnonzero(y == 1)[:20]]
    model = quick(threshold="f1", class_weight={1: 5.0}).fit(X[rows], y[rows])
    (unseen,) = seen
    p = expit(unseen.scores[:, 0])
    best = max(f1_score(unseen.codes, p >= t, zero_division=0) for t in p)
    assert f1_score(unseen.codes, p >= model.threshold_) == pytest.approx(best)
    assert np.sum(model.out_of_fold_.confusion, axis=1).tolist() == pytest.approx([len(rows) - 20, 20])


def test_rows_held_out_several_times_count_once(make_numbers, quick, seen):
    X, y = make_numbers(n=60)
    model = quick(threshold="f1", cv=RepeatedStratifiedKFold(n_splits=3, n_repeats=4, random_state=0)).fit(X, y)
    assert len(seen[0].codes) == 240
    assert np.sum(model.out_of_fold_.confusion) == pytest.approx(60)


def test_thinned_rows_count_as_the_rows_that_they_are(monkeypatch, make_numbers, quick):
    monkeypatch.setattr("ecsel.estimators.folds.VALIDATION_ROWS", 150)
    X, y = make_numbers(n=400)
    model = quick(threshold="f1").fit(X, y)
    assert np.sum(model.out_of_fold_.confusion) == pytest.approx(150, abs=2)


def test_order_and_repetition_leave_no_trace(make_numbers, quick):
    X, y = make_numbers()
    counts = np.random.default_rng(0).integers(0, 4, len(y))
    options = {"threshold": "f1", "calibrate": True, "cv": 3, "scaling": "minmax"}
    weighted = quick(**options).fit(X, y, counts)
    order = np.random.default_rng(1).permutation(counts.sum())
    repeated = quick(**options).fit(np.repeat(X, counts, axis=0)[order], np.repeat(y, counts)[order])
    assert weighted.threshold_ == repeated.threshold_
    assert weighted.temperature_ == repeated.temperature_
    assert weighted.equations_ == repeated.equations_


def test_without_folds_nothing_is_claimed(make_numbers, quick):
    X, y = make_numbers()
    model = quick(threshold=0.3).fit(X, y)
    assert model.out_of_fold_ is None
    assert (model.n_folds_, model.temperature_, model.threshold_) == (0, 1.0, 0.3)
    assert "out of fold" not in model.summary()


def test_choosing_a_size_measures_too(make_numbers):
    X, y = make_numbers(n_classes=3)
    model = ECSELClassifier(max_terms=1, cv=3).fit(X, y)
    assert model.out_of_fold_.accuracy > 0.5
    assert model.n_folds_ == 3
    assert np.sum(model.out_of_fold_.confusion) == pytest.approx(len(y))
    assert "the same folds chose the size)" in model.summary()
    assert model.select(0).out_of_fold_ is None


def test_a_saved_model_keeps_all_of_it(make_numbers, quick, tmp_path):
    X, y = make_numbers()
    model = quick(threshold=np.array([[0, 1], [3, 0]]), calibrate=True, cv=3).fit(X, y)
    model.save(tmp_path / "model.json")
    other = ecsel.load(tmp_path / "model.json")
    assert other.out_of_fold_ == model.out_of_fold_
    assert (other.threshold_, other.temperature_, other.n_folds_) == (model.threshold_, model.temperature_, 3)
    assert other.summary() == model.summary()
    assert other.threshold == [[0, 1], [3, 0]]
    assert other.predict_proba(X).tobytes() == model.predict_proba(X).tobytes()
    document = json.loads((tmp_path / "model.json").read_text())
    document["metrics"] = {}  # a file of a version that measured nothing
    (tmp_path / "old.json").write_text(json.dumps(document))
    old = ecsel.load(tmp_path / "old.json")
    assert (old.out_of_fold_, old.temperature_, old.n_folds_) == (None, 1.0, 0)
    assert old.threshold_ == model.threshold_


@pytest.mark.parametrize(
    "spoil",
    [
        lambda m: m.update(temperature=None),
        lambda m: m.update(out_of_fold=[1, 2]),
        lambda m: m["out_of_fold"].pop("ece"),
        lambda m: m["out_of_fold"].update(surprise=1),
        lambda m: m["out_of_fold"].update(brier="good"),
        lambda m: m["out_of_fold"].update(reliability=3),
        lambda m: m["out_of_fold"].update(confusion=[1, 2]),
        lambda m: m["standard_errors"].update(numbers=[{"label": 1}]),
        lambda m: m["standard_errors"]["numbers"][0].update(estimate="much"),
    ],
)
def test_spoilt_measures_give_one_error(make_numbers, quick, tmp_path, spoil):
    X, y = make_numbers()
    model = quick(calibrate=True, cv=2).fit(X, y)
    model.standard_errors(X, y)
    model.save(tmp_path / "model.json")
    document = json.loads((tmp_path / "model.json").read_text())
    spoil(document["metrics"])
    (tmp_path / "model.json").write_text(json.dumps(document))
    with pytest.raises(ModelFileError, match=r"model\.json"):
        ecsel.load(tmp_path / "model.json")


def test_a_calibrated_model_continues_from_its_own_fit(make_numbers, quick):
    X, y = make_numbers(n=200)
    model = quick(n_terms=2, l1=1e-3, calibrate=True, warm_start=True).fit(X, y)
    first = model.fit_report_
    second = model.fit(X, y).fit_report_
    assert second.passes < first.passes / 2
    assert second.objective == pytest.approx(first.objective, rel=1e-4)


def test_folds_that_are_far_too_sure_are_reported(quick):
    # What holds in the training parts is wrong in the parts held out, so that no temperature is high enough.
    x = np.linspace(1, 3, 80)
    rows = np.arange(80)
    y = np.where(rows % 2 == 0, x > 2, x <= 2).astype(int)
    even, odd = rows[rows % 2 == 0], rows[rows % 2 == 1]
    with pytest.warns(UserWarning, match="temperature reached its limit of 20"):
        model = quick(calibrate=True, cv=[(even, odd), (odd, even)]).fit(x[:, None], y)
    assert model.temperature_ == 20


@pytest.mark.parametrize("after", [0, 2])
def test_an_interrupt_keeps_the_folds_that_are_done(monkeypatch, make_numbers, quick, after):
    X, y = make_numbers()
    calls = []

    def interrupted(*arguments, **options):
        calls.append(arguments)
        if len(calls) == after + 2:  # the first call is the fit itself

            def watch(*_):
                raise KeyboardInterrupt

            options["watch"] = watch
        return original(*arguments, **options)

    original = training.fit_scores
    monkeypatch.setattr(training, "fit_scores", interrupted)
    with pytest.warns(UserWarning, match=f"interrupted after {after} of 5 folds"):
        model = quick(threshold="f1", calibrate=True).fit(X, y)
    assert model.n_folds_ == after
    assert (model.out_of_fold_ is None) == (after == 0)
    assert model.score(X, y) > 0.6
    if after == 0:
        assert (model.threshold_, model.temperature_) == (0.5, 1.0)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"threshold": "f3"}, "threshold='f3' is not known"),
        ({"threshold": [[0, 1], [0, 1]]}, "a wrong decision must cost more"),
        ({"threshold": True}, "threshold=True is not known"),
        ({"calibrate": "yes"}, "calibrate='yes' must be True or False"),
        ({"threshold": "f1", "cv": 1}, "cv=1"),
        ({"threshold": "f1", "cv": [(range(5, 120), range(5))]}, "rows of one class only"),
    ],
)
def test_options_that_mean_nothing_are_named(make_numbers, quick, options, message):
    X, y = make_numbers()
    order = np.argsort(y, kind="stable")
    with pytest.raises(ValueError, match=message):
        quick(**options).fit(X[order], y[order])


def test_rules_are_for_two_classes(make_numbers, quick):
    X, y = make_numbers(n_classes=3)
    with pytest.raises(ValueError, match="threshold='f1' is for two classes only, but y has 3"):
        quick(threshold="f1").fit(X, y)


def test_progress_names_the_folds(make_numbers, quick, capsys):
    X, y = make_numbers()
    quick(calibrate=True, cv=2, verbose=1).fit(X, y)
    assert "out of fold: fold 2 of 2" in capsys.readouterr().err
