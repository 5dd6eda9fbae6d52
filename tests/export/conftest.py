"""Models of every kind, awkward rows for each, and what the model itself says of them; every export is held to it."""

import datetime as dt
import functools
import os
import shutil
import warnings
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import assume
from hypothesis import strategies as st

from ecsel import ECSELClassifier, ECSELRegressor, Signomial
from ecsel.explain import ModelView
from ecsel.export.program.expr import Input
from ecsel.export.program.lowering import lower
from ecsel.export.program.program import Assignment, InputColumn, Program
from ecsel.signomial import ScoreTerms
from ecsel.tables import TableEncoder
from ecsel.tables.dates import learn_dates
from ecsel.tables.number_text import NumberText
from ecsel.tables.raw import RawColumn
from ecsel.tables.reading import RawTable

QUANTITIES = [None, np.nan, np.inf, -np.inf, 1.7976931348623157e308, -1.7976931348623157e308, 1e300, -1e300, 5e-324]
QUANTITIES += [0.0, -0.0, -1.0, -5.0, 1e6, -999.0, 2, 3, 4.0, 0.7, 11.5, 40.0]


@dataclass(frozen=True, eq=False)
class Case:
    """A model, rows, and per row its probabilities (or one prediction) and label; None where the model refuses."""

    model: Any
    rows: list[dict[str, Any]]
    outputs: list[list[float] | None]
    labels: list[Any]

    @property
    def view(self):
        return ModelView.of(self.model)

    def every(self, step):
        """Return the case with fewer rows."""
        return self.take(range(0, len(self.rows), step))

    def where(self, predicate):
        """Return the case with the rows that have a property."""
        return self.take([r for r, row in enumerate(self.rows) if predicate(row)])

    @property
    def accepted(self):
        """The case with the rows that the model accepts."""
        return self.take([r for r, outputs in enumerate(self.outputs) if outputs is not None])

    def take(self, kept):
        """Return the case with the rows at these positions."""
        return Case(self.model, *([each[r] for r in kept] for each in (self.rows, self.outputs, self.labels)))

    def in_single_precision(self):
        """Return the case with all numbers rounded, and what the model says of these."""
        rows = [{name: single(value) for name, value in row.items()} for row in self.rows]
        reported = [reported_by(self.model, row) for row in rows]
        return Case(self.model, rows, [each[0] for each in reported], [each[1] for each in reported])

    @property
    def ordinary(self):
        """The positions of the first rows that are nothing special and that the model accepts."""
        return [r for r, outputs in enumerate(self.outputs[:10]) if outputs is not None]

    def assert_same(self, outputs, labels, tolerance=1e-9):
        """Compare what an export says of all rows, in order."""
        assert len(outputs) == len(labels) == len(self.rows)
        for row, mine, label, theirs, their_label in zip(
            self.rows, self.outputs, self.labels, outputs, labels, strict=True
        ):
            if mine is None:
                assert theirs is None or all(value is None for value in theirs), row
                assert their_label is None, row
            else:
                np.testing.assert_allclose(theirs, mine, rtol=tolerance, atol=tolerance, err_msg=repr(row))
                assert their_label == label, row
                assert isinstance(their_label, bool) == isinstance(label, bool), row


def single(value):
    with np.errstate(over="ignore"):
        return float(np.float32(value)) if isinstance(value, float) else value


def frame_of(rows, names):
    """Return a table of rows, columns of text and of truth values as objects, which take any value."""
    columns = {name: [row[name] for row in rows] for name in names}
    dtypes = {
        name: object if any(isinstance(value, (str, bool)) for value in values) else float
        for name, values in columns.items()
    }
    return pd.DataFrame({name: pd.Series(values, dtype=dtypes[name]) for name, values in columns.items()})


def reported_by(model, row):
    """Return the outputs and the label of one row, or twice None where the model refuses it."""
    view = ModelView.of(model)
    table = frame_of([row], view.raw_names)
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        try:
            outputs = view.probabilities(table)
            if not view.has_classes:
                return outputs[0].tolist(), None
            label = view.classes[view.decisions(outputs)[0]]
            if view.estimator is not None:
                label = view.estimator.predict(table).tolist()[0]
        except ValueError:
            return None, None
    return outputs[0].tolist(), label


def make_case(model, rows):
    """Add, to ordinary rows, ones in which one column that the model reads is out of the ordinary."""
    rows = list(rows)
    for i, column in enumerate(lower(model).inputs):
        values = QUANTITIES
        if column.levels is not None:
            unseen = {"text": ["never seen", "", "NULL"], "number": [12345, -0.5, True], "boolean": []}[column.kind]
            values = [None, np.nan, *unseen, *column.levels]
        rows += [{**rows[i % len(rows)], column.name: value} for value in (*values, *column.missing_codes)]
    reported = [reported_by(model, row) for row in rows]
    return Case(model, rows, [each[0] for each in reported], [each[1] for each in reported])


def table(n=160, seed=0):
    rng = np.random.default_rng(seed)
    X = pd.DataFrame(
        {
            "age": rng.uniform(18, 90, n),
            "income": rng.lognormal(8, 1.5, n),
            "balance": rng.normal(0, 300, n),
            "city": rng.choice(["Rome", "Oslo", "Bonn"], n),
            "grade": rng.choice(["low", "mid", "high"], n),
            "plan": rng.choice([1, 2, 7], n),
            "member": rng.random(n) < 0.4,
        }
    )
    z = np.log(X["income"]) - 8 + (X["age"] - 50) / 20 + (X["city"] == "Oslo") * 1.5 + X["member"]
    z += 1.0 * (X["grade"] == "high") - 1.0 * (X["plan"] == 7) + rng.normal(0, 0.6, n)
    return X, z.to_numpy()


def gappy(X):
    X = X.astype({"city": object, "grade": object})
    for j, name in enumerate(["age", "city", "grade"]):
        X.loc[X.index[j::9], name] = None
    return X


OPTIONS = {"n_terms": 2, "l1": 0.002, "categorical": ["plan"], "ordinal": {"grade": ["low", "mid", "high"]}}


def fitted(X, y, **options):
    model = ECSELClassifier(**{**OPTIONS, **options}).fit(X, y)
    return make_case(model, X.head(25).to_dict("records"))


def sigmoid_with_gaps():
    X, z = table()
    return fitted(gappy(X), np.where(z > 1, "yes", "no"), two_sided=True)


def softmax_of_three():
    X, z = table(seed=1)
    return fitted(gappy(X), np.digitize(z, [0.3, 1.5]) * 10, n_terms=1, l1=0.01, calibrate=True, cv=3)


def two_class_softmax_without_intercept():
    X, z = table(seed=2)
    return fitted(X, z > 1, link="softmax", fit_intercept=False, scaling="minmax")


def median_and_threshold():
    X, z = table(seed=3)
    return fitted(gappy(X), z > 1.5, n_terms=1, l1=0.02, missing="median", threshold="f1", calibrate=True, cv=3)


def out_of_range_is_an_error():
    X, z = table(seed=4)
    return fitted(X, np.where(z > 1, 1.0, -2.0), out_of_range="error", two_sided=["age"])


def extrapolating_array():
    X, z = table(seed=5)
    X = X[["age", "income", "balance"]].to_numpy()
    model = ECSELClassifier(n_terms=2, l1=0.002, out_of_range="extrapolate", two_sided=[0]).fit(X, z > 1)
    rows = [{f"x{j}": value for j, value in enumerate(row)} for row in X[:20].tolist()]
    view = replace(ModelView.of(model), estimator=None)  # the estimator would miss its array
    return make_case(view, rows)


def law_with_signs():
    rng = np.random.default_rng(6)
    X = pd.DataFrame({"x": rng.normal(0, 2, 40), "y": rng.uniform(1, 3, 40), "unused": rng.normal(size=40)})
    y = 2 * X["x"] ** 3 / X["y"] - 0.5 * X["y"] ** 2 + 1
    model = ECSELRegressor(form="a*x**3/y + b*y**2 + c").fit(X, y)
    return make_case(model, X.head(10).to_dict("records"))


def equation_with_parities():
    equation = Signomial.parse("2*abs(x)**0.5*y - 3*sign(z)*abs(z)**1.5 + x**2/w + v**0.5*w**-1 + 0.25")
    rng = np.random.default_rng(7)
    return make_case(equation, [dict(zip("xyzwv", rng.normal(size=5).tolist(), strict=True)) for _ in range(10)])


def random_model(seed):
    """A model nobody fitted: all features in use, missing codes, clips that bite, four classes or two."""
    rng = np.random.default_rng(seed)
    X, _ = table(seed=seed)
    X = gappy(X)
    X.loc[X.index[::7], "balance"] = -999.0
    encoder = TableEncoder.fit(
        X,
        missing="median" if seed % 3 == 0 else "factor",
        missing_codes={"balance": [-999], "city": ["Bonn"], "plan": [7]},
        out_of_range=["clip", "extrapolate", "error"][seed % 3] if seed % 2 else "clip",
        categorical=["plan"],
        ordinal={"grade": ["low", "mid", "high"]},
        two_sided=True,
    )
    link = "softmax" if seed % 2 else "sigmoid"
    classes = ("a", "b", "c", "d") if seed % 2 else (False, True)
    n_scores = len(classes) if link == "softmax" else 1
    n_terms = 3 * n_scores
    exponents = rng.normal(0, 1, (n_terms, len(encoder.features))) * (
        rng.random((n_terms, len(encoder.features))) < 0.6
    )
    terms = ScoreTerms(rng.normal(0, 0.5, n_terms), exponents, np.arange(n_terms) % n_scores, n_scores)
    equations = terms.to_signomials(encoder.feature_names)
    terms = ScoreTerms.from_signomials(equations, encoder.feature_names)
    view = ModelView(
        terms=terms,
        link=link,
        classes=classes,
        feature_names=encoder.feature_names,
        raw_names=encoder.raw_names,
        feature_groups=encoder.feature_groups,
        encoder=encoder,
        threshold=None if link == "softmax" else 0.3,
    )
    return make_case(view, X.head(25).to_dict("records"))


def raw_table(n=200, seed=0):
    """A table for raw encoders: numbers, counts, text, ordered levels, truth values, with gaps and a missing code."""
    rng = np.random.default_rng(seed)
    X, z = table(n, seed)
    X = gappy(X.assign(**{"visits": rng.integers(0, 4, n), "page value": rng.lognormal(0, 2, n)}))
    X["visits"] = X["visits"].astype(float)
    X.loc[X.index[4::11], "visits"] = np.nan
    X.loc[X.index[::7], "balance"] = -999.0
    return X, z + 0.7 * (X["visits"] == 2) + 0.5 * np.log(X["page value"])


RAW_OPTIONS = {"categorical": ["plan"], "ordinal": {"grade": ["low", "mid", "high"]}}
CUTS = {
    "age": [("step", 40.0), ("above", 50.0), ("below", 30.0)],
    "balance": [("step", -20.0), ("above", -50.0)],
    "visits": [("step", 1.0)],
}
PIECES = [
    "1.2*log(age) - 0.003*balance - 90/(age + 5) + 0.4*[city = Rome] + 0.2*[visits = 2] - 1.25",
    "0.004*age*sqrt(income + 20)/3 - 0.7*[city missing] + 0.4*grade + 0.9*[member = True]*log(`page value` + 0.5)",
    "0.02*[age above 50] - 0.05*[age below 30] + 0.3*[age > 40] + 1e-4*(balance - 2000)*[plan = 2] + 0.3*visits**2",
    "0.3*(grade + 1)**-2 + 0.1*`page value`**0.3 - 0.2*[visits > 1] + 20/sqrt(income + 300) + 0.5*[grade missing]",
    "-0.002*[balance above -50] + 0.7*[balance > -20]*[visits missing] - 0.6*[age missing] + 1/log(income + 40) + 2",
    "1e-9*income**(3/2) - 0.1*log(`page value`)**2 + 1e-3*abs(balance) + 1e-6*sign(balance)*abs(balance)**2",
    "-0.03*`page value`*log(`page value`) + 0.002*[age > 40]*age/(age + 5)",
]
"""Every kind of feature, factor and product between them."""


def raw_model(seed):
    """A model of raw features that nobody fitted: every piece above, in one score or in three."""
    X, _ = raw_table(seed=seed)
    encoder = TableEncoder.fit(
        X,
        scaling="raw",
        missing="median" if seed % 3 == 2 else "factor",
        out_of_range=["clip", "extrapolate", "error"][seed],
        missing_codes={"balance": [-999], "city": ["Bonn"]},
        **RAW_OPTIONS,
    ).with_cuts(CUTS)
    n_scores = 1 if seed == 0 else 3
    known = set(encoder.feature_names)
    equations = [sum(map(Signomial.parse, PIECES[c::n_scores]), Signomial()) for c in range(n_scores)]
    equations = [Signomial(t for t in each.terms if known.issuperset(t.names)) for each in equations]
    encoder = encoder.keep_features({name for each in equations for name in each.names})
    view = ModelView(
        terms=ScoreTerms.from_signomials(equations, encoder.feature_names),
        link="sigmoid" if n_scores == 1 else "softmax",
        classes=("no", "yes") if n_scores == 1 else (1, 2, 5),
        feature_names=encoder.feature_names,
        raw_names=encoder.raw_names,
        feature_groups=encoder.feature_groups,
        encoder=encoder,
        threshold=0.35 if n_scores == 1 else None,
    )
    return make_case(view, X.head(25).to_dict("records"))


def default_model(n_classes, **options):
    """The model that the default search finds."""
    X, z = raw_table(seed=10 + n_classes)
    X = X.drop(columns="balance")
    if options.get("thresholds"):
        z = 0.3 * z + 3.0 * (X["age"] > 55) - 0.5
    y = np.where(z > 1, "yes", "no") if n_classes == 2 else np.digitize(z, [0.5, 2.0])
    model = ECSELClassifier(**RAW_OPTIONS, max_factors=8, **options).fit(X, y)
    return make_case(model, X.head(25).to_dict("records"))


def equation_with_shifts():
    """Logarithms, shifts and roots of columns that may hold any number."""
    equation = Signomial.parse(
        "2*log(x + 3) - 0.5*sqrt(y + 1)/(z - 4) + 0.3*sqrt(x + 3)*w - 2*w**3 + 0.1*log(v)**2 + 3/log(u) + x*log(x + 3)"
    )
    rng = np.random.default_rng(8)
    rows = [dict(zip("xyzwvu", [*rng.uniform(-0.9, 3, 4), *rng.uniform(1.5, 9, 2)], strict=True)) for _ in range(10)]
    return make_case(equation, [{name: float(value) for name, value in row.items()} for row in rows])


CASES: dict[str, Callable[[], Case]] = {
    each.__name__: each
    for each in (
        sigmoid_with_gaps,
        softmax_of_three,
        two_class_softmax_without_intercept,
        median_and_threshold,
        out_of_range_is_an_error,
        extrapolating_array,
        law_with_signs,
        equation_with_parities,
        equation_with_shifts,
    )
}
CASES |= {f"random_{seed}": functools.partial(random_model, seed) for seed in (0, 1, 2, 5)}
CASES |= {f"raw_{seed}": functools.partial(raw_model, seed) for seed in range(3)}
CASES |= {
    "default_of_two": functools.partial(default_model, 2),
    "default_of_three": functools.partial(default_model, 3),
    "default_with_thresholds": functools.partial(default_model, 2, thresholds=True),
}


@functools.cache
def case_named(name):
    return CASES[name]()


@pytest.fixture(params=CASES)
def case(request) -> Case:
    return case_named(request.param)


@pytest.fixture
def all_cases() -> dict[str, Case]:
    """All cases at once, for programs that are slow to start."""
    return {name: case_named(name) for name in CASES}


@pytest.fixture(params=CASES)
def moderate_case(request) -> Case:
    """A case with the rows that the model accepts and on which no power overflows: formulas do not clip."""
    case = case_named(request.param)
    return case.accepted.where(is_moderate)


VALUE_MODELS = [name for name in CASES if name.startswith(("law", "equation", "raw", "default"))]
"""Cases whose equations speak of raw columns; the others are the paper's, with positive images of them."""


@pytest.fixture(params=[name for name in CASES if name not in VALUE_MODELS])
def paper_case(request) -> Case:
    """A case of the paper's model with moderate rows."""
    return case_named(request.param).accepted.where(is_moderate)


@pytest.fixture(params=VALUE_MODELS)
def value_case(request) -> Case:
    """A case of any other model with moderate rows."""
    return case_named(request.param).accepted.where(is_moderate)


def is_moderate(row):
    sizes = [abs(value) for value in row.values() if isinstance(value, float)]
    return not any(x >= 1e200 or 0 < x <= 1e-200 for x in sizes)


@pytest.fixture(params=[name for name in CASES if not name.startswith("random")])
def fitted_case(request) -> Case:
    return case_named(request.param)


@pytest.fixture(params=[name for name in CASES if not name.startswith(("random", "law", "equation"))])
def encoded_case(request) -> Case:
    """A classifier, whose encoder remembers the training rows."""
    return case_named(request.param)


@pytest.fixture(scope="session")
def make_frame():
    return frame_of


@pytest.fixture(scope="session")
def tell():
    return reported_by


@pytest.fixture(scope="session")
def need_program():
    """Return the path of a program; without it a test is skipped, but fails in continuous integration."""

    def find(name, package):
        path = shutil.which(name)
        if path is None:
            message = f"{name} is not installed (Debian package {package})"
            pytest.fail(message) if os.environ.get("CI") else pytest.skip(message)
        return path

    return find


HOSTILE = [
    "'); DROP TABLE t; --",
    '"; throw 1; //',
    "</script><script>alert(1)</script>",
    "=1+1",
    "@SUM(A1)",
    "+a",
    "-b",
    "\n    raise SystemExit\n#",
    '"""',
    "\\",
    "${x}`",
    "%s{0}",
    "\u2028\u2029",
    "😀",
    "class",
    "SELECT",
    "None",
    "__proto__",
    "constructor",
    "row",
    "v0",
    "",
    " ",
    "\x00",
    "*/",
    "<!--",
]
NAMES = st.lists(st.one_of(st.sampled_from(HOSTILE), st.text(max_size=8)), min_size=2, max_size=2, unique=True)


@dataclass(frozen=True, eq=False)
class Hostile:
    """A model with a column of quantities and one of levels under hostile names, rows, and what the model says."""

    view: ModelView
    columns: list[str]
    levels: list[str]
    rows: list[dict[str, Any]]
    probabilities: np.ndarray
    labels: list[str]

    @property
    def classes(self):
        return list(self.view.classes)

    @property
    def table(self):
        """The rows as a table, whatever data frames say to the names."""
        columns = [np.array([row[name] for row in self.rows], dtype=object) for name in self.columns]
        return RawTable(tuple(map(RawColumn, self.columns, columns)), len(self.rows), named=True)


def hostile_case(columns, levels, classes, *, is_raw):
    raw = (np.arange(1.0, 13.0) * 1.25, np.array(levels * 6, dtype=object))
    table = RawTable(tuple(map(RawColumn, columns, raw)), 12, named=True)
    try:
        encoder = TableEncoder.fit(table, scaling="raw" if is_raw else "auto")
    except ValueError:  # the table itself is refused: two features of one name, text that reads as numbers
        return None
    if len(encoder.features) != 3:
        return None
    exponents = [[1.0, 1.0, 0.0], [0.3, 0.0, 2.0]] if is_raw else [[1.0, 0.5, -0.5], [0.3, 0.0, 1.0]]
    equations = ScoreTerms([0.7, -0.2], exponents, [0, 1], 2).to_signomials(encoder.feature_names)
    terms = ScoreTerms.from_signomials(equations, encoder.feature_names)
    view = ModelView(
        terms=terms,
        link="softmax",
        classes=tuple(classes),
        feature_names=encoder.feature_names,
        raw_names=encoder.raw_names,
        feature_groups=encoder.feature_groups,
        encoder=encoder,
        threshold=0.5,
    )
    rows = [dict(zip(columns, row, strict=True)) for row in zip(*(each.tolist() for each in raw), strict=True)][:4]
    p = view.probabilities(table)[:4]
    return Hostile(view, columns, levels, rows, p, [view.classes[c] for c in view.decisions(p)])


@pytest.fixture(scope="session")
def make_hostile():
    """Return the function that makes a `Hostile` of two columns, two levels and two classes."""
    return functools.partial(hostile_case, is_raw=True)


@pytest.fixture(scope="session")
def draw_hostile():
    """Return the function that draws hostile names from hypothesis' data and makes a `Hostile` of them."""

    def draw(data, columns=None):
        names = [columns or data.draw(NAMES), data.draw(NAMES), data.draw(NAMES)]
        made = hostile_case(*names, is_raw=data.draw(st.booleans()))
        assume(made is not None)
        return made

    return draw


@pytest.fixture(scope="session")
def all_hostile():
    """Models that together have every hostile name as a column, as a level and as a class."""
    pairs = [list(pair) for pair in zip(HOSTILE[::2], HOSTILE[1::2], strict=True)]
    made = [hostile_case(pair, pairs[n - 3], pairs[n - 7], is_raw=n % 2 == 1) for n, pair in enumerate(pairs)]
    assert None not in made
    return made


AWKWARD = Path(__file__).parents[1] / "data" / "awkward.csv"


@pytest.fixture(scope="session")
def awkward_rows():
    """A table with every awkward kind of column."""
    return pd.read_csv(AWKWARD).drop(columns=["bad", "recoveries"])


@pytest.fixture(scope="session", params=["search", "paper", "prediction"])
def awkward_model(request, awkward_rows):
    bad = pd.read_csv(AWKWARD)["bad"]
    if request.param == "prediction":
        return ECSELRegressor(criterion="prediction", max_factors=6).fit(awkward_rows, (bad == "yes") + 0.0)
    options = {"n_terms": 1, "l1": 0.001} if request.param == "paper" else {"max_factors": 8, "random_state": 0}
    return ECSELClassifier(**options).fit(awkward_rows, bad)


def column_of(values):
    column = np.empty(len(values), dtype=object)
    column[:] = values
    return column


def program_of(reading, name):
    """Return a program that answers with one input."""
    kind, levels = ("text", ("Monday",)) if name.endswith("weekday") else ("number", None)
    column = InputColumn(name, kind, levels, (), refuses_missing=False, reading=reading)
    return Program((column,), (Assignment("prediction", Input(0), "output", ""),), (), (), ("prediction",), None)


NUMBER_TEXTS = [
    (NumberText("x", ".", ",", "$"), ["$1,200.50", "(300)", "-$5", "($-4.5)", "1200 USD", "+7", "?", "N/a", "5e3"]),
    (NumberText("x", ",", ".", "%"), ["1.234,5%", "-12,5 %", "\N{MINUS SIGN}3", ",5", "7", "-"]),
    (NumberText("x", ",", " ", ""), ["1\u00a0234,5", "1\u202f234", "1 234 567", "12."]),
    (NumberText("x", ".", "'", ""), ["1'234.5", "1\u2019234", "null"]),
    (NumberText("x", ".", "", "months"), [" 36 months", "1 month", "60", "12 months "]),
    (NumberText("x", ".", "", "m", lenient=True), ["7 m", "7m", "7 ms", "oops", "1,5", "1.2.3", "(4"]),
]  # fmt: skip
DATES = [
    ("year-month-day", ["2018-02-28", "2019/3/1", "2020.12.31", "2018-05-06T07:08:09Z", "2018-05-06 17:08", "?", ""]),
    ("day.month.year", ["28.02.2018", "1/3/19", "31-12-2020 23:59:59", "2019-01-31", "01/02/29", "01/02/30"]),
    ("month/day/year", ["02/28/2018", "3/1/2019 1:05 PM", "12/31/2020 12:00 am", "12/31/2020 12:30pm"]),
    ("day month-name year", ["28 Feb 2018", "1-March-19", "31/Dec/2020", "5 sept. 2020"]),
    ("month-name day, year", ["Feb 28, 2018", "March 1 2019", "December 31, 2020 08:15"]),
    ("month-name year", ["Feb-2018", "march 2019", "Dec/20"]),
    ("year-month", ["2018-02", "2019-03", "2020-12"]),
    ("typed", [dt.date(2018, 2, 28), pd.Timestamp("2018-03-01 12:30:15.25"), pd.Timestamp("2018-03-04"), None]),
]  # fmt: skip


def date_reading(form, values):
    return learn_dates(RawColumn("when", column_of(values)), form, lambda name: name)


def plain_of(reading, values):
    return [column.objects().tolist() for column in reading.plain(RawColumn(reading.column, column_of(values)))]


@pytest.fixture(scope="session")
def reading_program():
    return program_of


@pytest.fixture(params=NUMBER_TEXTS, ids=lambda case: repr(case[0].unit))
def number_text_case(request):
    """A reading, texts, and the numbers that the model makes of them."""
    reading, texts = request.param
    return reading, texts, plain_of(reading, texts)


@pytest.fixture(params=DATES, ids=[form for form, _ in DATES])
def date_case(request):
    """A reading, dates, and the parts that the model makes of them."""
    form, values = request.param
    reading = date_reading(form, values)
    return reading, values, plain_of(reading, values)


@pytest.fixture(scope="session")
def product_of():
    """Return the function that gives the model of one term, the product of an encoder's features to given powers."""

    def of(encoder, exponents):
        return ModelView(
            terms=ScoreTerms([1.0], [exponents], [0], 1),
            link="identity",
            classes=("prediction",),
            feature_names=encoder.feature_names,
            raw_names=encoder.raw_names,
            feature_groups=encoder.feature_groups,
            encoder=encoder,
        )

    return of
