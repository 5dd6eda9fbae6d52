"""The rivals of laws: how their equations are read and judged, and that the tenth of the tables is fixed."""

import numpy as np
import pandas as pd
import pytest

from benchmarks import laws_rivals
from benchmarks.laws_data import FIRST_REPORTED, GROUPS, Monomial, Task
from benchmarks.laws_rivals import EVERY, Scaled, is_same_law, report, tenth


@pytest.fixture
def task():
    rng = np.random.default_rng(0)
    table = pd.DataFrame({"a": rng.uniform(1, 4, 80), "b": rng.uniform(1, 4, 80)})
    terms = (Monomial(2.0, {"a": 1.5, "b": -1.0}), Monomial(3.0, {"b": 2.0}))
    target = sum(term.evaluate(table) for term in terms) + 0.05 * rng.standard_normal(80)
    return Task("group", "name", 1, table, target, terms)


@pytest.mark.parametrize(
    ("text", "is_right"),
    [
        ("0.3*x0**1.5/x1 + x1**2*0.7", True),
        ("x1*(0.7*x1 + 0.3*(x0**3)**0.5/x1**2)", True),
        ("0.3*x0**1.5/x1 + 0.7*x1**2 + 0.000001*x0", True),  # below the noise
        ("0.3*x0**1.5/x1 + 0.7*x1**2 + 0.3*x0", False),
        ("0.3*x0**1.5/x1", False),
        ("0.3*x0**1.4/x1 + 0.7*x1**2", False),
        ("sqrt(x0 + x1)", False),
        ("not an equation (", False),
    ],
)
def test_an_equation_is_judged_by_its_monomials(task, text, is_right):
    assert is_same_law(task, Scaled.of(task), text) == is_right


def test_scaling_leaves_exponents_and_tells_the_noise(task):
    scaled = Scaled.of(task)
    np.testing.assert_allclose(np.sqrt(np.mean(scaled.X**2, axis=0)), 1.0)
    assert np.sqrt(np.mean(scaled.y**2)) == pytest.approx(1.0)
    clean = sum(term.evaluate(task.table) for term in task.terms)
    assert scaled.noise == pytest.approx(np.std(task.target - clean) / np.sqrt(np.mean(task.target**2)), rel=0.05)
    assert scaled.is_reached(scaled.y)
    assert not scaled.is_reached(np.zeros(80))


def test_the_tenth_is_every_tenth_table_of_all_groups():
    every = [(task.group, task.name, task.seed) for tasks in GROUPS.values() for task in tasks(FIRST_REPORTED)]
    assert [(task.group, task.name, task.seed) for task in tenth()] == every[::EVERY]


def test_the_page_says_what_is_measured(monkeypatch, tmp_path):
    monkeypatch.setattr(laws_rivals, "FOLDER", tmp_path)
    text = report()
    assert (tmp_path / "laws_rivals.md").read_text(encoding="utf-8") == text
    assert "tables measured" in text
    assert "run on" in text
