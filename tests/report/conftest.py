"""Models of every kind with their tables, their reports, and one browser to open them in."""

import functools
import math
import os
import shutil
import xml.etree.ElementTree as ET
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
import pytest

from ecsel import ECSELClassifier, ECSELRegressor
from ecsel.report import render_report
from ecsel.report.evidence import Evidence

HOSTILE_COLUMNS = (
    "</script><script>window.hacked=1</script>",
    "__proto__",
    "<img src=x onerror=window.hacked=1>",
    "constructor",
    "\"quoted\" & 'quoted'",
    "{{ 7*7 }} {% raw %}",
    "two\nlines\u2028and \u202eback",
)
HOSTILE_CLASSES = ("<b>bold</b>", "</style><script>window.hacked=1</script>", "__proto__")


@dataclass(frozen=True, eq=False)
class Case:
    """A fitted model, its tables and its report."""

    model: Any
    X: pd.DataFrame
    y: pd.Series
    X_test: pd.DataFrame
    y_test: pd.Series
    options: dict[str, Any]

    @functools.cached_property
    def evidence(self):
        return Evidence.read(self.model, self.X, self.y, self.X_test, self.y_test)

    @functools.cached_property
    def html(self):
        return render_report(self.model, self.X, self.y, X_test=self.X_test, y_test=self.y_test, **self.options)


def split(X, y, share=0.6):
    """Return training rows, and those of the rest that lie within their range, of which no model warns."""
    n = int(share * len(y))
    numbers = X.select_dtypes("number")
    outside = (numbers < numbers.iloc[:n].min()) | (numbers > numbers.iloc[:n].max())
    within = ~outside.any(axis=1).to_numpy()
    within[:n] = False
    return X.iloc[:n], y.iloc[:n], X[within], y[within]


def loan():
    """Two classes; numbers, whole numbers, levels, truth values, missing ones, a column that nothing uses."""
    rng = np.random.default_rng(0)
    n = 700
    X = pd.DataFrame(
        {
            "income": rng.lognormal(10, 0.6, n).round(2),
            "age": rng.integers(18, 80, n),
            "debt share": rng.beta(2, 5, n),
            "city": rng.choice(["Rome", "Oslo", "Bonn"], n),
            "employed": rng.random(n) < 0.8,
            "years": rng.integers(0, 30, n).astype(float),
            "sex": rng.choice(["woman", "man"], n),
            "constant": 3.0,
        }
    )
    X.loc[::11, "years"] = np.nan
    z = 0.9 * (np.log(X["income"]) - 10) - 3 * X["debt share"] + 0.02 * (X["age"] - 40) + 0.8 * X["employed"]
    z += 0.5 * (X["city"] == "Oslo") + 0.02 * X["years"].fillna(30) + rng.logistic(0, 0.5, n)
    y = pd.Series(np.where(z > 0.3, "repaid", "defaulted"), name="loan")
    parts = split(X, y)
    model = ECSELClassifier(n_terms=2, l1=0.002, threshold=0.35).fit(*parts[:2])
    options = {"group": "sex", "immutable": ["age"], "costs": [[0, 5], [1, 0]], "title": "Loans", "purpose": "A test."}
    return Case(model, *parts, options)


def hostile():
    """Three classes; every name is an attack."""
    rng = np.random.default_rng(1)
    n = 240
    X = pd.DataFrame({name: rng.uniform(1, 9, n) for name in HOSTILE_COLUMNS[:-1]})
    X[HOSTILE_COLUMNS[-1]] = rng.choice(["<i>x</i>", "</select>", "'\"&"], n)
    z = np.log(X[HOSTILE_COLUMNS[0]]) + np.log(X["__proto__"]) + (X[HOSTILE_COLUMNS[-1]] == "</select>")
    z = z + 0.5 * np.log(X["constructor"]) + 0.3 * np.log(X[HOSTILE_COLUMNS[2]]) - 0.3 * np.log(X[HOSTILE_COLUMNS[4]])
    z = z + 0.2 * np.log(X[HOSTILE_COLUMNS[5]]) + rng.normal(0, 0.6, n)
    y = pd.Series(np.array(HOSTILE_CLASSES)[np.digitize(z, np.quantile(z, [0.3, 0.7]))], name="<u>what</u>")
    parts = split(X, y)
    model = ECSELClassifier(n_terms=1, l1=1e-4).fit(*parts[:2])
    attack = "<script>window.hacked=1</script>"
    options = {
        "group": HOSTILE_COLUMNS[-1],
        "title": attack,
        "purpose": attack,
        "limits": [attack],
        "details": {attack: attack},
    }
    return Case(model, *parts, options)


def law():
    """A regression whose columns may be negative."""
    rng = np.random.default_rng(2)
    n = 160
    X = pd.DataFrame({"x": rng.normal(0, 2, n), "y": np.exp(rng.uniform(0, 6, n)), "unused": rng.normal(size=n)})
    y = pd.Series(2 * X["x"] ** 3 / np.sqrt(X["y"]) - 0.5 * X["y"] + 10 + rng.normal(0, 0.01, n), name="force")
    parts = split(X, y)
    model = ECSELRegressor(form="a*x**3*y**-0.5 + b*y + c").fit(*parts[:2])
    return Case(model, *parts, {"title": "A law", "group": np.where(parts[2]["unused"] > 0, "up", "down")})


def churn():
    """A readable equation of two classes: a logarithm or a quotient, levels, a missing value, a name with a space."""
    rng = np.random.default_rng(3)
    n = 600
    X = pd.DataFrame(
        {
            "tenure": rng.integers(0, 72, n),
            "monthly charge": rng.uniform(18, 120, n).round(2),
            "contract": rng.choice(["month to month", "one year", "two year"], n),
            "age": rng.integers(18, 80, n).astype(float),
            "unused": rng.normal(size=n),
        }
    )
    X.loc[::5, "age"] = np.nan
    z = 2 - 1.5 * np.log(X["tenure"] + 1) + 0.03 * X["monthly charge"] - 1.8 * (X["contract"] == "two year")
    z += np.where(X["age"].isna(), 1.5, 0.03 * (X["age"].fillna(50) - 50))
    y = pd.Series(np.where(rng.random(n) < 1 / (1 + np.exp(-z)), "leaves", "stays"), name="churn")
    parts = split(X, y)
    model = ECSELClassifier(max_factors=6, threshold=0.4, cv=3).fit(*parts[:2])
    return Case(model, *parts, {"title": "Customers", "immutable": ["age"]})


def blooms():
    """Three classes with readable equations, thresholds among their pieces."""
    from sklearn.datasets import load_iris

    table = load_iris(as_frame=True)
    order = np.random.default_rng(0).permutation(150)
    X, y = table.data.iloc[order], table.target.iloc[order].map(dict(enumerate(table.target_names))).rename("species")
    parts = split(X, y)
    model = ECSELClassifier(max_factors=4, thresholds=True, cv=3).fit(*parts[:2])
    return Case(model, *parts, {"title": "Irises"})


def house():
    """A readable equation that predicts a number, with levels and missing values."""
    rng = np.random.default_rng(4)
    n = 400
    X = pd.DataFrame(
        {
            "area": rng.uniform(30, 250, n).round(1),
            "year built": rng.integers(1900, 2020, n).astype(float),
            "city": rng.choice(["Rome", "Oslo", "Bonn"], n),
        }
    )
    X.loc[::9, "year built"] = np.nan
    y = 1.9 * X["area"] + 40 * (X["city"] == "Oslo") + 0.4 * (X["year built"].fillna(1950) - 1950)
    y = (y + 20 + rng.normal(0, 20, n)).rename("price")
    parts = split(X, y)
    model = ECSELRegressor(criterion="prediction", max_factors=4, cv=3).fit(*parts[:2])
    return Case(model, *parts, {"title": "Houses", "group": "city"})


CASES = {each.__name__: each for each in (loan, hostile, law, churn, blooms, house)}


@functools.cache
def case_named(name):
    return CASES[name]()


@pytest.fixture(scope="session")
def named_case():
    """Return the function that gives a case by its name."""
    return case_named


@pytest.fixture(params=CASES)
def case(request):
    return case_named(request.param)


@pytest.fixture(params=["loan", "hostile", "churn", "blooms"])
def class_case(request):
    return case_named(request.param)


@pytest.fixture
def loan_case():
    return case_named("loan")


@pytest.fixture
def churn_case():
    return case_named("churn")


@pytest.fixture(params=["churn", "blooms"])
def readable_case(request):
    return case_named(request.param)


@pytest.fixture
def house_case():
    return case_named("house")


@pytest.fixture
def hostile_case():
    return case_named("hostile")


@pytest.fixture
def law_case():
    return case_named("law")


SIGNS = {"·": "*", "×": "*", "−": "-", "+": "+", "(": "(", ")": ")", "=": "=="}


def python(node, point):
    """Return a node as a Python expression."""
    if node.tag == "msub":
        return f"({point[node[0].text + node[1].text]})"
    parts = [python(child, point) for child in node]
    inside = "".join(parts)
    if node.tag == "mi" and node.text in {"log", "sgn"}:
        return node.text
    if node.tag == "mrow" and node[0].text == "|":
        return f"abs({''.join(parts[1:-1])})"
    return {
        "math": lambda: inside,
        "span": lambda: inside,
        "mo": lambda: SIGNS.get(node.text, ""),
        "mn": lambda: f"({node.text.replace('π', f'*{math.pi!r}')})",
        "mi": lambda: f"({point[node.text]})",
        "mtext": lambda: f"({point[node.text]})",
        "msqrt": lambda: f"sqrt({inside})",
        "msup": lambda: f"(({parts[0]})**({parts[1]}))",
        "mfrac": lambda: f"(({parts[0]})/({parts[1]}))",
        "mrow": lambda: f"({inside})" if node[0].tag != "mi" else inside,
    }[node.tag]()


@pytest.fixture(scope="session")
def evaluate_typeset():
    """Return the function that evaluates the right-hand side of typeset MathML: an evaluator of its own."""
    functions = {"log": math.log, "sgn": lambda g: math.copysign(1.0, g), "sqrt": math.sqrt, "abs": abs}

    def evaluate(html, point):
        tree = ET.fromstring(f"<all>{html}</all>")
        return eval("".join(python(each, point) for each in tree[1:]), {"__builtins__": {}}, functions)

    return evaluate


@pytest.fixture(scope="module")
def browser():
    """Debian's Chromium; without it a test is skipped, but fails in continuous integration.

    It does not outlive its module, since its event loop would be in the way of other tests' loops.
    """
    path = shutil.which("chromium")
    if path is None:
        message = "chromium is not installed (Debian package chromium)"
        pytest.fail(message) if os.environ.get("CI") else pytest.skip(message)
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        opened = playwright.chromium.launch(executable_path=path, args=["--no-sandbox"])
        yield opened
        opened.close()


@pytest.fixture
def open_page(browser, tmp_path):
    """Return a function that opens a report from disk; nothing may be said on the console, nothing asked for."""
    contexts, complaints = [], []

    def open_report(html, fragment="", **options):
        path = tmp_path / "report.html"
        path.write_text(html, encoding="utf-8")
        context = browser.new_context(viewport={"width": 1280, "height": 900}, reduced_motion="reduce", **options)
        contexts.append(context)
        page = context.new_page()
        page.set_default_timeout(10_000)
        page.on("console", lambda message: complaints.append(message.text))
        page.on("pageerror", lambda error: complaints.append(str(error)))
        page.on("dialog", lambda dialog: complaints.append(dialog.message))
        page.on("request", lambda request: complaints.append(request.url) if request.url != page.url else None)
        page.goto(path.as_uri() + fragment)
        page.wait_for_selector("#live[data-drawn]")
        return page

    yield open_report
    for context in contexts:
        context.close()
    unexpected = [each for each in complaints if not each.startswith(("file:", "data:"))]
    assert unexpected == []
