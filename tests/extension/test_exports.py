"""An export from outside the package: the model as an AWK program, which scores lines of numbers in a pipeline.

It needs what every export needs: `lower`, the rules that the languages share, and one rule for each other node.
"""

import shutil
import subprocess
from functools import reduce

import numpy as np
import pandas as pd
import pytest

from ecsel import ECSELClassifier
from ecsel.export.program.expr import Const, Input, IsMissing, Lookup, Max, Min, Null
from ecsel.export.program.lowering import lower
from ecsel.export.program.writing import C_FAMILY, fold

HEAD = """function min(a, b) { return a < b ? a : b }
function max(a, b) { return a > b ? a : b }
function abs(a) { return a < 0 ? -a : a }
function floor(a, i) { i = int(a); return i > a ? i - 1 : i }
"""


def to_awk(model):
    """Return a program that reads tab-separated columns in the order of `columns` and prints the probabilities."""
    program = lower(model)
    rules = {
        **C_FAMILY,
        Min: _nested("min"),
        Max: _nested("max"),
        Const: lambda value: f"({value!r})",
        Null: lambda: '"null"',
        Input: lambda position: f"(${position + 1} + 0)",
        Lookup: _lookup,
        IsMissing: lambda position: f'(${position + 1} == "")',
    }
    lines = [f"    {each.name} = {fold(each.value, rules)}" for each in program.assignments]
    formats = "\\t".join(["%.17g"] * len(program.outputs))
    lines.append(f'    printf "{formats}\\n", {", ".join(program.outputs)}')
    return HEAD + "{\n" + "\n".join(lines) + "\n}\n", [column.name for column in program.inputs]


def _nested(function):
    """AWK's functions have a fixed number of arguments: two at a time."""
    return lambda parts: reduce(lambda a, b: f"{function}({a}, {b})", parts)


def _lookup(position, entries, missing, otherwise):
    field = f"${position + 1}"
    written = repr(otherwise)
    for level, value in reversed(entries):
        written = f'({field} == "{level}" ? {value!r} : {written})'
    return f'({field} == "" ? {missing!r} : {written})'


@pytest.mark.skipif(shutil.which("awk") is None, reason="needs awk")
@pytest.mark.parametrize("n_classes", [2, 3])
def test_it_says_what_the_model_says(n_classes):
    rng = np.random.default_rng(0)
    X = pd.DataFrame(
        {"age": rng.integers(18, 80, 500), "debt": rng.gamma(2, 50, 500), "home": rng.choice(["own", "rent"], 500)}
    )
    X.loc[::17, "debt"] = np.nan
    score = 0.08 * X["age"] - 1.2 * np.log(X["debt"].fillna(80) + 10) + 1.5 * (X["home"] == "own")
    y = np.digitize(score + rng.logistic(size=500), np.quantile(score, np.arange(1, n_classes) / n_classes))
    model = ECSELClassifier(max_factors=5).fit(X, y)
    program, columns = to_awk(model)
    rows = X[columns].to_csv(sep="\t", header=False, index=False, float_format="%.17g")
    run = subprocess.run(["awk", "-F", "\t", program], input=rows, capture_output=True, text=True, check=True)
    found = np.array([line.split("\t") for line in run.stdout.splitlines()], dtype=float)
    np.testing.assert_allclose(found, model.predict_proba(X), atol=1e-12)
