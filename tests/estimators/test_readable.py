"""The search as seen from the estimator: the printed equation is the model, its coefficients are optimal given the
pieces, order and threads leave no trace, planted equations are found again, and every option does what it says."""

import ast
import re
import warnings
from decimal import Decimal

import numpy as np
import pandas as pd
import pytest
import sympy
from scipy.special import expit, softmax
from sklearn.datasets import load_breast_cancer, load_iris, load_wine
from sklearn.model_selection import GroupKFold, StratifiedKFold

from ecsel import ColumnWarning, ECSELClassifier, Signomial
from ecsel.estimators import readable
from ecsel.estimators.bounds import exponent_bounds, within_bounds
from ecsel.fitting import Status
from ecsel.search.rounding import NATS, SHARE
from ecsel.search.selection import RIDGES

pytestmark = pytest.mark.filterwarnings("ignore:.*rows lie:UserWarning")


def frame_of(load, n_columns=None):
    X, y = load(return_X_y=True, as_frame=True)
    return X.iloc[:, :n_columns], y.to_numpy()


def accounts(n=300, seed=1):
    """Whole numbers far from zero, negative amounts, counts with many zeros, truth values and three classes."""
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(
        {
            "year": rng.integers(1995, 2021, n),
            "balance": rng.normal(0, 500, n).round(),
            "visits": rng.poisson(1.2, n),
            "member": rng.random(n) < 0.4,
            "size [m]": rng.integers(1, 6, n),
        }
    )
    z = np.stack(
        [
            0.15 * (frame["year"] - 2000) - 1,
            frame["balance"] / 300 + 1.5 * frame["member"],
            1.5 * np.log(frame["visits"] + 1) + 0.4 * frame["size [m]"] - 1,
        ]
    )
    return frame, np.array(["a", "b", "c"])[(z + rng.gumbel(size=z.shape)).argmax(axis=0)]


@pytest.fixture(
    scope="module",
    params=[
        "iris",
        "wine",
        "breast cancer",
        "customers",
        "mixed",
        "accounts",
        "thresholds",
        "calibrated",
        "two scores",
    ],
)
def fitted(request, make_customers, make_mixed):
    """A table and its model, for every table and for options that change what is computed."""
    tables = {
        "iris": (lambda: frame_of(load_iris), {}),
        "wine": (lambda: frame_of(load_wine), {}),
        "breast cancer": (lambda: frame_of(load_breast_cancer, 10), {}),
        "customers": (make_customers, {}),
        "mixed": (lambda: make_mixed(200), {}),
        "accounts": (accounts, {}),
        "thresholds": (make_customers, {"thresholds": True, "rule": "best"}),
        "calibrated": (make_customers, {"calibrate": True, "digits": 1}),
        "two scores": (lambda: make_mixed(200), {"link": "softmax", "digits": None, "missing": "median"}),
    }
    make, options = tables[request.param]
    X, y = make()
    return X, y, ECSELClassifier(**options).fit(X, y)


def by_hand(name, X, model):
    """The values that a name stands for, read off the raw table; its rows lie inside the training range."""
    if match := re.fullmatch(r"\[(.+) (missing)\]|\[(.+) (=|>|above|below) (.+)\]", name):
        column, relation, other = (match[1], "missing", None) if match[2] else match.group(3, 4, 5)
        x = X[column]
        if relation == "missing":
            return x.isna().to_numpy(dtype=float)
        if relation == "=":
            return (x.astype(str) == other).to_numpy(dtype=float)
    else:
        column, relation, other = name, "", None
    x = X[column].astype(float).to_numpy()
    fill = {feature.name: feature.fill for feature in model.encoder_.features}[name] or 0.0
    if relation == ">":
        return np.where(np.isnan(x), fill, x > float(other))
    if relation:
        x = np.maximum(0.0, x - float(other) if relation == "above" else float(other) - x)
    return np.where(np.isnan(x), fill, x)


def read(text):
    """Replace the names in a printed equation by v0, v1, …; return the expression and what each stands for."""
    names = {}

    def slot(match):
        token = match[0]
        return names.setdefault(token[1:-1] if token[0] == "`" else token, f"v{len(names)}")

    return re.sub(r"\[[^\]]*\]|`[^`]*`|\b(?!(?:abs|log|sqrt)\()[A-Za-z_]\w*", slot, text), names


def evaluate(node, values):
    """Evaluate an arithmetic expression: the ten lines that a reader would need."""
    if isinstance(node, ast.Constant):
        return np.float64(node.value)
    if isinstance(node, ast.Name):
        return values[node.id]
    if isinstance(node, ast.UnaryOp):
        return -evaluate(node.operand, values)
    if isinstance(node, ast.Call):
        return {"abs": np.abs, "log": np.log, "sqrt": np.sqrt}[node.func.id](evaluate(node.args[0], values))
    left, right = evaluate(node.left, values), evaluate(node.right, values)
    operations = {ast.Add: np.add, ast.Sub: np.subtract, ast.Mult: np.multiply, ast.Div: np.divide, ast.Pow: np.power}
    return operations[type(node.op)](left, right)


def probabilities(scores, model):
    if model.link_ == "sigmoid":
        return np.stack([expit(-scores[0]), expit(scores[0])], axis=1)
    return softmax(np.stack(scores, axis=1), axis=1)


def test_the_printed_equation_is_the_model(fitted):
    X, _, model = fitted
    scores = []
    for equation in model.equations_.values():
        code, names = read(str(equation))
        values = {slot: by_hand(name, X, model) for name, slot in names.items()}
        scores.append(np.broadcast_to(evaluate(ast.parse(code, mode="eval").body, values), len(X)))
    np.testing.assert_allclose(probabilities(scores, model), model.predict_proba(X), rtol=0, atol=1e-12)


def test_sympy_reads_the_same_model(fitted):
    X, _, model = fitted
    scores = []
    for equation in model.equations_.values():
        code, names = read(str(equation))
        symbols = {slot: sympy.Symbol(slot) for slot in names.values()}
        function = sympy.lambdify(list(symbols.values()), sympy.sympify(code, locals=symbols), "numpy")
        scores.append(np.broadcast_to(function(*(by_hand(name, X, model) for name in names)), len(X)))
    np.testing.assert_allclose(probabilities(scores, model), model.predict_proba(X), rtol=0, atol=1e-12)


def test_the_text_is_in_the_summary_and_reads_back_as_the_equation(fitted):
    X, _, model = fitted
    for label, equation in model.equations_.items():
        assert f"score of {label!r}" in model.summary()
        assert f"  {equation}\n" in model.summary()
        assert Signomial.parse(str(equation)) == equation
        columns = dict(zip(model.encoder_.feature_names, model.to_model_features(X).T, strict=True))
        for name in equation.names:
            np.testing.assert_array_equal(columns[name], by_hand(name, X, model))


def residuals(model, X, y):
    """y − p by score and row."""
    hot = (np.asarray(y)[:, None] == model.classes_) - model.predict_proba(X)
    return hot.T[1:] if model.link_ == "sigmoid" else hot.T


@pytest.mark.parametrize("table", ["iris", "customers", "accounts"])
@pytest.mark.parametrize("class_weight", [None, "balanced"])
def test_coefficients_are_optimal_given_the_pieces(make_customers, table, class_weight):
    X, y = {"iris": lambda: frame_of(load_iris), "customers": make_customers, "accounts": accounts}[table]()
    model = ECSELClassifier(digits=None, class_weight=class_weight).fit(X, y)
    counts = pd.Series(y).map(pd.Series(y).value_counts()).to_numpy()
    w = np.ones(len(y)) if class_weight is None else len(y) / (len(model.classes_) * counts)
    columns = dict(zip(model.encoder_.feature_names, model.to_model_features(X).T, strict=True))
    strengths = []
    for r, equation in zip(residuals(model, X, y), model.equations_.values(), strict=True):
        assert w @ r == pytest.approx(0, abs=1e-4)
        for term in equation.terms:
            if not term.is_constant:
                x = term.evaluate(columns) / term.coefficient
                mean = np.average(x, weights=w)
                scale = np.sqrt(np.average((x - mean) ** 2, weights=w))
                z = (x - mean) / scale
                leverage = max(1.0, (np.abs(z).max() / 3) ** 2)
                # the gradient of the loss balances that of the ridge, ρ·leverage·θ
                strengths.append((w * r) @ z / (leverage * term.coefficient * scale))
    assert len(strengths) > 1
    ridge = min(RIDGES, key=lambda each: abs(each - np.median(strengths)))
    np.testing.assert_allclose(strengths, ridge, rtol=1e-3)


@pytest.mark.parametrize("options", [{}, {"thresholds": True, "calibrate": True, "threshold": "f1"}])
def test_the_order_of_rows_leaves_no_trace(make_customers, options):
    X, y = make_customers(250)
    order = np.random.default_rng(0).permutation(len(y))
    one = ECSELClassifier(**options).fit(X, y)
    other = ECSELClassifier(**options).fit(X.iloc[order], y[order])
    assert other.equations_ == one.equations_
    assert repr(other.path_) == repr(one.path_)
    assert (other.threshold_, other.temperature_) == (one.threshold_, one.temperature_)
    assert other.out_of_fold_ == one.out_of_fold_
    assert other.predict_proba(X).tobytes() == one.predict_proba(X).tobytes()


@pytest.mark.parametrize("table", ["iris", "customers"])
def test_the_number_of_threads_leaves_no_trace(make_customers, table):
    X, y = frame_of(load_iris) if table == "iris" else make_customers(250)
    models = [ECSELClassifier(n_jobs=n, digits=None).fit(X, y) for n in (1, 2, 5)]
    assert models[0].equations_ == models[1].equations_ == models[2].equations_
    assert len({repr(model.path_) for model in models}) == 1
    assert len({model.predict_proba(X).tobytes() for model in models}) == 1


@pytest.mark.parametrize("options", [{}, {"calibrate": True, "threshold": "youden", "class_weight": "balanced"}])
def test_an_integer_weight_is_that_many_rows(make_customers, options):
    X, y = make_customers(200)
    counts = np.random.default_rng(0).integers(0, 4, len(y))
    weighted = ECSELClassifier(**options).fit(X, y, sample_weight=counts)
    rows = np.random.default_rng(1).permutation(np.repeat(np.arange(len(y)), counts))
    repeated = ECSELClassifier(**options).fit(X.iloc[rows], y[rows])
    assert weighted.equations_ == repeated.equations_
    assert repr(weighted.path_) == repr(repeated.path_)
    assert weighted.encoder_.features == repeated.encoder_.features
    assert (weighted.threshold_, weighted.temperature_) == (repeated.threshold_, repeated.temperature_)
    assert weighted.predict_proba(X).tobytes() == repeated.predict_proba(X).tobytes()


PLANTED = {
    "logarithm and line": "1.5*log(a) - 0.8*b + 0.5",
    "indicator and root": "2.5*[kind = new] + 1.5*sqrt(a) - 4",
    "square": "0.9*b**2 - 2",
    "product": "0.8*b*log(a) + 0.3",
    "ratio": "3*c/a - 2",
}


def planted(text, n=4000, seed=0):
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(
        {
            "a": np.exp(rng.uniform(-1, 3, n)).round(3),
            "b": rng.uniform(-3, 3, n).round(3),
            "c": rng.uniform(0.5, 4, n).round(3),
            "kind": rng.choice(["old", "new", "other"], n),
        }
    )
    columns = {**{name: frame[name].to_numpy() for name in "abc"}, "[kind = new]": frame["kind"] == "new"}
    equation = Signomial.parse(text)
    z = equation.evaluate({name: np.asarray(values, dtype=float) for name, values in columns.items()})
    return frame, (rng.random(n) < expit(z)).astype(int), equation


@pytest.mark.parametrize("name", ["logarithm and line", "indicator and root", "square", "ratio"])
def test_planted_equations_are_found_again(name):
    X, y, truth = planted(PLANTED[name])
    model = ECSELClassifier().fit(X, y)
    found = shapes(model.equations_[1])
    assert shapes(truth) <= found
    assert len(found) <= len(shapes(truth)) + 1  # of many pieces one may look useful by chance
    errors = {number.piece: number for number in model.standard_errors(X, y).numbers}
    for term in truth.terms:
        if not term.is_constant:
            number = errors[str(Signomial([term / term.coefficient]))]
            assert abs(number.estimate - term.coefficient) < 4 * number.standard_error


def test_planted_products_are_found_as_products_of_their_columns():
    X, y, truth = planted(PLANTED["product"])
    model = ECSELClassifier().fit(X, y)
    best = model.out_of_fold_.log_loss
    z = truth.evaluate({"a": X["a"].to_numpy(), "b": X["b"].to_numpy()})
    assert best < 1.02 * np.mean(np.logaddexp(0, z) - y * z)
    assert any(set(term.names) == {"a", "b"} for term in model.equations_[1].terms)
    assert set(model.equations_[1].names) == {"a", "b"}


def shapes(equation):
    return {term.factors for term in equation.terms if not term.is_constant}


def test_noise_is_left_alone():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(300, 4)), rng.integers(0, 2, 300)
    model = ECSELClassifier().fit(X, y)
    assert shapes(model.equations_[1]) == set()
    assert "no column is used" in model.summary()


@pytest.fixture(scope="module")
def table(make_customers):
    return make_customers(300)


def n_terms(equation):
    return sum(not term.is_constant for term in equation.terms)


@pytest.mark.parametrize("most", [1, 2])
def test_max_terms_bounds_every_candidate(table, most):
    model = ECSELClassifier(max_terms=most).fit(*table)
    assert max(n_terms(e) for c in model.path_ for e in c.equations) <= most
    assert model.n_terms_ <= most


@pytest.mark.parametrize("exactly", [1, 3])
@pytest.mark.parametrize("make", ["customers", "accounts"])
def test_n_terms_is_exact(table, exactly, make):
    X, y = table if make == "customers" else accounts()
    model = ECSELClassifier(n_terms=exactly).fit(X, y)
    total = sum(map(n_terms, model.equations_.values()))
    assert total == exactly * len(model.equations_) if make == "customers" else total <= 3 * exactly
    assert max(map(n_terms, model.equations_.values())) <= exactly


@pytest.mark.parametrize("most", [1, 3])
def test_max_factors_bounds_every_candidate(table, most):
    model = ECSELClassifier(max_factors=most, rule="best").fit(*table)
    assert max(c.size for c in model.path_) <= most
    assert sum(e.n_factors for e in model.equations_.values()) == most


@pytest.mark.parametrize("most", [1, 2])
@pytest.mark.parametrize("make", ["customers", "accounts"])
def test_max_features_bounds_the_columns_of_all_equations(table, most, make):
    X, y = table if make == "customers" else accounts()
    model = ECSELClassifier(max_features=most, thresholds=True).fit(X, y)
    column = {feature.name: feature.column for feature in model.path_encoder_.features}
    for candidate in model.path_:
        assert len({column[name] for equation in candidate.equations for name in equation.names}) <= most
    assert f"guaranteed: at most {most} column{'' if most == 1 else 's'}" in model.summary()


def factors_of(model):
    return {f for c in model.path_ for e in c.equations for term in e.terms for f in term.factors}


@pytest.mark.parametrize("allowed", [[1], [1, 2], ["log"], [0.5, -1]])
def test_allowed_exponents(table, allowed):
    model = ECSELClassifier(allowed_exponents=allowed).fit(*table)
    straight = {f.name for f in model.path_encoder_.features if f.kind in {"level", "missing"}}
    found = {"log" if f.log else float(f.exponent) for f in factors_of(model) if f.name not in straight}
    assert found <= set(allowed)
    assert any(c.size for c in model.path_)


def test_exponent_bounds(table):
    bounds = {"monthly charge": (0, 1), "tenure": (None, 0)}
    model = ECSELClassifier(exponent_bounds=bounds).fit(*table)
    for factor in factors_of(model):
        exponent = 0 if factor.log else factor.exponent
        assert not (factor.name == "monthly charge" and not 0 <= exponent <= 1)
        assert not (factor.name == "tenure" and exponent > 0)
    exponent_range = exponent_bounds(bounds, model.path_encoder_)
    assert all(within_bounds(c.equations, model.path_encoder_, exponent_range) for c in model.path_)
    assert "guaranteed: every exponent of 'monthly charge' is in [0, 1]" in model.summary()
    assert "guaranteed: every exponent of 'tenure' is at most 0" in model.summary()


def total_loss(model, X, y):
    p = model.predict_proba(X)[np.arange(len(y)), np.searchsorted(model.classes_, y)]
    return -np.log(p).sum()


def significant(value):
    return len(Decimal(repr(float(value))).normalize().as_tuple().digits)


@pytest.mark.parametrize("make", ["customers", "accounts"])
def test_digits_are_few_and_cost_nothing(table, make):
    X, y = table if make == "customers" else accounts(200)
    exact = ECSELClassifier(n_terms=2, digits=None).fit(X, y)
    before = total_loss(exact, X, y)
    for digits in (1, 2, 3):
        rounded = ECSELClassifier(n_terms=2, digits=digits).fit(X, y)
        assert total_loss(rounded, X, y) <= before + max(NATS, SHARE * before) + 1e-9
        for label, equation in rounded.equations_.items():
            assert shapes(equation) == shapes(exact.equations_[label])
        numbers = [term.coefficient for e in rounded.equations_.values() for term in e.terms]
        assert max(map(significant, numbers)) <= digits + 4
        assert np.median([significant(number) for number in numbers]) <= digits + 1


def test_a_time_limit_ends_with_what_there_is(table):
    X, y = table
    with pytest.warns(UserWarning, match="The search was stopped before its end"):
        model = ECSELClassifier(time_limit=1e-6).fit(X, y)
    assert not model.fit_report_.converged
    assert np.isfinite(model.predict_proba(X)).all()
    assert "stopped before its end" in model.summary()
    assert "held-out" not in model.summary()
    assert all(np.isnan(candidate.loss) for candidate in model.path_)
    assert model.out_of_fold_ is None
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.simplefilter("ignore", ColumnWarning)
        patient = ECSELClassifier(time_limit=600).fit(X, y)
    assert patient.equations_ == ECSELClassifier().fit(X, y).equations_


@pytest.mark.parametrize("at", ["choose_again", "fit_streamed"])
def test_an_interrupt_after_the_search_keeps_what_it_found(monkeypatch, table, at):
    """More rows would choose again and all rows fit again; who interrupts gets the equation of the sample."""
    X, y = table
    monkeypatch.setattr(readable, "SEARCH_ROWS", 150)
    monkeypatch.setattr(readable, "VALIDATION_ROWS", 200)

    def interrupt(*_args, **_options):
        raise KeyboardInterrupt

    monkeypatch.setattr(readable, at, interrupt)
    with pytest.warns(UserWarning, match=re.escape(readable.STOPPED)):
        model = ECSELClassifier(random_state=0).fit(X, y)
    assert model.fit_report_.status is Status.INTERRUPTED
    assert model.score(X, y) > 0.5


def test_folds_may_be_groups(table):
    X, y = table
    groups = np.arange(len(y)) // 10
    model = ECSELClassifier(cv=list(GroupKFold(3).split(X, y, groups)), max_terms=3).fit(X, y)
    assert model.n_folds_ == 3
    assert np.sum(model.out_of_fold_.confusion) == pytest.approx(len(y))
    splitter = StratifiedKFold(3, shuffle=True, random_state=0)
    splits = [(train[::-1], test[::-1]) for train, test in splitter.split(X, y)]
    one, other = (ECSELClassifier(cv=cv, max_terms=3).fit(X, y) for cv in (splitter, splits))
    assert one.equations_ == other.equations_
    assert one.out_of_fold_ == other.out_of_fold_


def test_class_weights_move_the_probabilities(table):
    X, y = table
    share = np.mean(y == "stays")
    for rule, expected in (("balanced", 0.5), ({"stays": 3.0}, 3 * share / (3 * share + 1 - share))):
        model = ECSELClassifier(class_weight=rule, digits=None).fit(X, y)
        per_class = {"stays": 0.5 / share, "leaves": 0.5 / (1 - share)} if rule == "balanced" else rule
        w = pd.Series(y).map(per_class).fillna(1.0).to_numpy()
        assert np.average(model.predict_proba(X)[:, 1], weights=w) == pytest.approx(expected, abs=1e-6)
        assert np.sum(model.out_of_fold_.confusion) == pytest.approx(len(y))


def test_the_threshold_and_the_temperature_come_from_the_folds(table):
    X, y = table
    plain = ECSELClassifier().fit(X, y)
    model = ECSELClassifier(threshold=[[0, 1], [6, 0]], calibrate=True).fit(X, y)
    assert model.threshold_ < 0.4
    assert plain.threshold_ == 0.5
    np.testing.assert_array_equal(model.predict(X) == "stays", model.predict_proba(X)[:, 1] >= model.threshold_)
    assert model.temperature_ != 1
    assert model.out_of_fold_.log_loss <= plain.out_of_fold_.log_loss
    assert shapes(model.equations_["stays"]) == shapes(plain.equations_["stays"])
    warm = model.decision_function(X) * model.temperature_ - plain.decision_function(X)
    assert np.abs(warm).mean() < 0.1  # both are rounded
    assert "calibrated: the scores before rounding were divided by the temperature" in model.summary()


def hump(n=400, seed=0, n_classes=2):
    """The second class is likely in the middle of `income`, for small `debt` and in `kind` a."""
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(
        {
            "income": np.where(rng.random(n) < 0.1, np.nan, rng.uniform(-5, 10, n)),
            "debt": rng.integers(0, 6, n),
            "kind": rng.choice(["a", "b"], n),
        }
    )
    income = frame["income"].fillna(0.0)
    z = 2 - 0.15 * (income - 3) ** 2 - 0.4 * frame["debt"] + 0.2 * income * (frame["kind"] == "a")
    y = np.where(rng.random(n) < expit(z), 1, 0)
    return frame, np.where((y == 1) & (rng.random(n) < 0.4), 2, y) if n_classes == 3 else y


@pytest.mark.parametrize("direction", [1, -1])
@pytest.mark.parametrize("options", [{}, {"thresholds": True, "rule": "best"}, {"n_classes": 3}], ids=str)
def test_no_counterexample_to_a_monotone_promise(direction, options):
    options = dict(options)
    n_classes = options.pop("n_classes", 2)
    X, y = hump(n_classes=n_classes)
    promise = {"income": direction} if n_classes == 2 else {"income": {1: direction}}
    model = ECSELClassifier(monotone=promise, **options).fit(X, y)
    rng = np.random.default_rng(1)
    n = 4000
    rows = pd.DataFrame({"debt": rng.integers(-2, 9, n), "kind": rng.choice(["a", "b", "new"], n)})
    # inside and far outside the training range, small steps and large ones
    low = rng.choice([1.0, 3.0], n) * rng.uniform(-5, 10, n)
    step = rng.choice([1e-6, 0.1, 3.0, 40.0], n) * rng.random(n)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        before, after = (model.predict_proba(rows.assign(income=x)[X.columns])[:, 1] for x in (low, low + step))
    assert ((after - before) * direction).min() >= -1e-12
    assert "guaranteed: the probability of 1 never " in model.summary()
    for i in range(len(model.path_)):
        assert "NOT guaranteed" not in model.select(i).summary()


def test_a_free_search_would_break_the_promise():
    X, y = hump()
    model = ECSELClassifier().fit(X, y)
    grid = pd.DataFrame({"income": np.linspace(-5, 10, 200), "debt": 2, "kind": "b"})
    p = model.predict_proba(grid)[:, 1]
    assert np.diff(p).max() > 0 > np.diff(p).min()


def test_thresholds_are_round_cuts():
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"age": rng.integers(18, 80, 1500), "dose": rng.uniform(0, 10, 1500).round(2)})
    z = 2.5 * (X["age"] > 50) - 2.5 * np.maximum(0, X["dose"] - 6) + 1
    y = (rng.random(1500) < expit(z)).astype(int)
    plain, cut = (ECSELClassifier(thresholds=t).fit(X, y) for t in (False, True))
    assert not any(name.startswith("[") for name in plain.equations_[1].names)
    names = cut.equations_[1].names
    steps = [float(name.split(">")[1].rstrip("]")) for name in names if " > " in name]
    assert steps
    assert min(abs(step - 50) for step in steps) <= 3
    assert cut.out_of_fold_.log_loss < plain.out_of_fold_.log_loss
    kinds = {feature.name: feature.kind for feature in cut.encoder_.features}
    for factor in (f for term in cut.equations_[1].terms for f in term.factors):
        if kinds[factor.name] in {"step", "above", "below"}:
            assert (factor.exponent, factor.shift, factor.log) == (1, 0.0, False)


def test_seeds_change_the_folds_alone(table):
    models = [ECSELClassifier(random_state=seed, max_terms=3).fit(*table) for seed in (None, 0, 1)]
    assert models[0].equations_ == models[1].equations_
    assert [c.loss for c in models[1].path_] != [c.loss for c in models[2].path_]


def test_columns_of_the_equations_alone_are_read(table):
    X, y = table
    model = ECSELClassifier(max_features=1).fit(X, y)
    (used,) = {feature.column for feature in model.encoder_.features}
    spoilt = X.copy()
    for column in set(X.columns) - {used}:
        spoilt[column] = "anything"
    np.testing.assert_array_equal(model.predict_proba(spoilt), model.predict_proba(X))


def test_progress_tells_the_walks(table, capsys):
    ECSELClassifier(verbose=1, cv=3).fit(*table)
    out, err = capsys.readouterr()
    assert out == ""
    assert "walk 4 of 4" in err
    ECSELClassifier().fit(*table)
    assert capsys.readouterr() == ("", "")
