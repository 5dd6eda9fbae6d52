"""What the documents show runs as shown, prints what they say, and what they point at exists."""

import math
import re
import runpy
from pathlib import Path

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer

from ecsel import ECSELClassifier

ROOT = Path(__file__).parents[1]
PAGES = sorted(f"docs/{path.name}" for path in (ROOT / "docs").glob("*.md"))
DOCUMENTS = ["README.md", "CONTRIBUTING.md", "CHANGELOG.md", "benchmarks/README.md", *PAGES]
GENERATED = ("auto_examples/", "api/")
"""Written when the documentation is built, which checks these links itself."""
outputs = runpy.run_path(str(ROOT / "docs" / "outputs.py"))


def python_blocks(name):
    return re.findall(r"^```python\n(.*?)^```", (ROOT / name).read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)


def is_run_here(name):
    """Whether a document has code, and code that needs no more than the tests do; tests/docs/test_platforms.py."""
    return python_blocks(name) and not outputs["needed"]((ROOT / name).read_text(encoding="utf-8"))


@pytest.mark.parametrize("name", [name for name in DOCUMENTS if is_run_here(name)])
def test_python_blocks_print_what_is_shown(name, monkeypatch):
    """Where this fails after a change of the search: ``python docs/outputs.py`` writes the outputs anew."""
    monkeypatch.setenv("MPLBACKEND", "Agg")
    text = (ROOT / name).read_text(encoding="utf-8")
    assert outputs["with_outputs"](text, name) == text


@pytest.fixture(scope="module")
def readme():
    return (ROOT / "README.md").read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def tumours():
    X, y = load_breast_cancer(as_frame=True, return_X_y=True)
    X = X.filter(like="worst").rename(columns=lambda name: name.removeprefix("worst ").replace(" ", "_"))
    return X, y.map({0: "malignant", 1: "benign"})


def test_the_equation_that_a_reader_sees_is_the_model(readme, tumours):
    X, y = tumours
    equation = re.search(r"^score of malignant = (.*)$", readme, re.MULTILINE)[1]
    functions = {"log": math.log, "sqrt": math.sqrt, "__builtins__": {}}
    scores = np.array([eval(equation, functions, row) for row in X.to_dict("records")])
    model = ECSELClassifier(max_factors=3).fit(X, y)
    np.testing.assert_allclose(1 / (1 + np.exp(-scores)), model.predict_proba(X)[:, 1], rtol=1e-12)
    printed = [float(digits) for digits in re.findall(r"(?<![\w.])\d+\.?\d*", equation)]
    assert all(float(f"{number:.3g}") == number for number in printed)  # three digits at most


def test_the_row_by_hand_adds_up_to_the_probability(readme, tumours):
    table = readme.partition("<!-- by hand:")[2].partition("<!-- end -->")[0]
    parts = [float(cell) for cell in re.findall(r"^\| `.*\| (-?[\d.]+) \|$", table, re.MULTILINE)]
    total = float(re.search(r"\*\*sum\*\*.*\*\*(-?[\d.]+)\*\*", table)[1])
    probability = float(re.search(r"= \*\*([\d.]+)\*\*\.", table)[1])
    assert len(parts) > 1
    assert sum(parts) == pytest.approx(total, abs=5e-5 * len(parts))
    assert round(1 / (1 + math.exp(-total)), 4) == pytest.approx(probability, abs=1.01e-4)
    X, y = tumours
    model = ECSELClassifier(max_factors=3).fit(X, y)
    assert round(model.predict_proba(X.iloc[[5]])[0, 1], 4) == probability


@pytest.mark.parametrize("name", DOCUMENTS)
def test_links_and_paths_exist(name):
    document = ROOT / name
    text = document.read_text(encoding="utf-8")
    prose = re.sub(r"^```.*?^```|`[^`\n]+`", "", text, flags=re.MULTILINE | re.DOTALL)  # code may have such brackets
    links = [target for target in re.findall(r"\]\(([^)#]+)", prose) if "://" not in target]
    paths = re.findall(r"`((?:src|tests|examples|benchmarks)/[\w./]+)`", text)
    missing = [
        target for target in links if not (document.parent / target).exists() and not target.startswith(GENERATED)
    ]
    missing += [path for path in paths if not (ROOT / path).exists()]
    assert missing == []


def test_the_map_of_the_paper_names_what_there_is():
    rows = re.findall(
        r"^\|[^|]*(?:\\\|[^|]*)*\| (`src.*?) \| (.*?) \|$", (ROOT / "docs/paper_map.md").read_text(), re.MULTILINE
    )
    assert len(rows) > 10
    for files, names in rows:
        sources = "".join((ROOT / file).read_text(encoding="utf-8") for file in re.findall(r"`(src[^`]*)`", files))
        for name in re.findall(r"`(\w+)", names):
            assert re.search(rf"\b{name}\b", sources), name
