"""A model whose equations have no column is exported by every target."""

import math
import sqlite3
import subprocess

import numpy as np
import onnxruntime
import openpyxl
import pandas as pd
import pytest

from ecsel import ECSELClassifier, Signomial
from ecsel.explain import ModelView
from ecsel.export import (
    formula_inputs,
    to_c,
    to_excel,
    to_javascript,
    to_latex,
    to_onnx,
    to_python,
    to_sql,
    to_sympy,
    to_text,
)
from ecsel.export.program.lowering import lower
from ecsel.signomial import ScoreTerms
from ecsel.tables import TableEncoder


def constant(n_classes):
    """Return a model of a raw encoder with constants alone, of which one is not even written."""
    X = pd.DataFrame({"a": [1.0, 2.0, 3.0] * 4, "b": ["x", "y", "z"] * 4})
    encoder = TableEncoder.fit(X, scaling="raw").keep_features([])
    equations = (
        [Signomial.parse("-1.2")] if n_classes == 2 else [Signomial(), Signomial.parse("0.5"), Signomial.parse("-2")]
    )
    return ModelView(
        terms=ScoreTerms.from_signomials(equations, []),
        link="sigmoid" if n_classes == 2 else "softmax",
        classes=("no", "yes", "maybe")[:n_classes],
        feature_names=(),
        raw_names=encoder.raw_names,
        feature_groups=encoder.feature_groups,
        encoder=encoder,
        threshold=0.2 if n_classes == 2 else None,
    )


@pytest.fixture(params=[2, 3])
def view(request):
    return constant(request.param)


@pytest.fixture
def wanted(view):
    z = np.array([0.0, -1.2] if len(view.classes) == 2 else [0.0, 0.5, -2.0])
    return np.exp(z) / np.exp(z).sum()


def test_sources_answer_an_empty_row(view, wanted, need_program, tmp_path):
    namespace = {}
    exec(to_python(view, contributions="shapley"), namespace)
    reported = namespace["predict"]({})
    np.testing.assert_allclose(list(reported["probabilities"].values()), wanted, rtol=1e-9)
    assert reported["label"] == "yes"
    assert [each["values"] for each in reported["contributions"]] == [{}] * len(view.score_classes)
    script = f"{to_javascript(view)}\nconsole.log(Object.values(predict({{}}).probabilities).join(' '))"
    printed = subprocess.run(
        [need_program("node", "nodejs"), "-"], input=script, capture_output=True, text=True, check=True, timeout=60
    )
    np.testing.assert_allclose(list(map(float, printed.stdout.split())), wanted, rtol=1e-9)
    main = '#include <stdio.h>\nint main(void) {ecsel_row r = {0}; printf("%.17g", ecsel_predict(&r).probability[1]);}'
    (tmp_path / "model.c").write_text(f"{to_c(view)}\n{main}\n", encoding="ascii")
    gcc = [need_program("gcc", "gcc"), "-std=c99", "-Wall", "-Werror", "model.c", "-o", "model", "-lm"]
    subprocess.run(gcc, cwd=tmp_path, check=True, timeout=60)
    printed = subprocess.run([tmp_path / "model"], capture_output=True, text=True, check=True, timeout=60)
    assert float(printed.stdout) == pytest.approx(wanted[1], rel=1e-9)


def test_tables_are_answered_row_by_row(view, wanted, tmp_path):
    database = sqlite3.connect(":memory:")
    database.executescript("CREATE TABLE t(id); INSERT INTO t VALUES (7), (8);")
    rows = database.execute(to_sql(view, "sqlite", keep=["id"], contributions="attribution")).fetchall()
    database.close()
    assert [row[:2] for row in rows] == [(7, "yes"), (8, "yes")]
    np.testing.assert_allclose([row[2 : 2 + len(wanted)] for row in rows], [wanted] * 2, rtol=1e-9)
    session = onnxruntime.InferenceSession(to_onnx(view, float64=True).SerializeToString())
    label, p = session.run(["label", "probabilities"], {})
    assert label.tolist() == ["yes"]
    np.testing.assert_allclose(p, [wanted], rtol=1e-9)
    to_excel(view, tmp_path / "model.xlsx")
    about = openpyxl.load_workbook(tmp_path / "model.xlsx")["About"]
    assert any(str(row[0].value).startswith("z") for row in about.iter_rows())


def test_equations_are_written(view, wanted):
    lines = to_text(view).splitlines()
    assert lines[-1].startswith("the label is ")
    assert lines[0] == ("z = -1.2" if len(view.classes) == 2 else "z['no'] = 0")
    assert to_latex(view).count("&=") == len(view.score_classes) + len(view.classes) + 1
    np.testing.assert_allclose([float(each) for each in to_sympy(view).values()], wanted, rtol=1e-9)
    assert to_text(view, complete=True) == to_python(view)
    assert formula_inputs(view, pd.DataFrame({"a": [1.0], "b": ["x"]})) == {}


def test_a_fit_to_noise_is_exported():
    X = pd.DataFrame({"a": np.random.default_rng(0).normal(size=80)})
    model = ECSELClassifier().fit(X, np.arange(80) % 4 == 0)
    program = lower(model)
    namespace = {}
    exec(to_python(model), namespace)
    reported = [namespace["predict"](row)["probabilities"][True] for row in X.to_dict("records")]
    np.testing.assert_allclose(reported, model.predict_proba(X)[:, 1], rtol=1e-9)
    assert math.isclose(np.mean(reported), 0.25, abs_tol=0.05)
    assert len(program.inputs) <= 1
