"""A real notebook, run by Jupyter's own kernel, shows the equation and the report. `make integrations` has Jupyter."""

import os
import re
from html import unescape

import pytest

if os.environ.get("ECSEL_INTEGRATIONS"):
    import nbclient
    import nbformat
else:
    nbclient = pytest.importorskip("nbclient", reason="`make integrations` has it")
    nbformat = pytest.importorskip("nbformat", reason="`make integrations` has it")

FIT = """
from sklearn.datasets import load_breast_cancer
from ecsel import ECSELClassifier

X, y = load_breast_cancer(as_frame=True, return_X_y=True)
model = ECSELClassifier(max_factors=2, cv=2).fit(X, y)
print(model.equations_[1])
model
"""


@pytest.mark.filterwarnings("default")  # those of Jupyter
def test_a_notebook_shows_the_equation_and_the_report():
    cells = [nbformat.v4.new_code_cell(source) for source in (FIT, "model.report(X, y, title='Tumours', height=500)")]
    notebook = nbclient.execute(nbformat.v4.new_notebook(cells=cells), kernel_name="python3")
    printed, shown = notebook.cells[0].outputs
    page = shown["data"]["text/html"]
    assert re.findall(r"<math.*?</math>", page, re.DOTALL)
    for coefficient in re.findall(r"[\d.]{3,}", printed["text"]):
        assert coefficient in page
    (frame,) = notebook.cells[1].outputs
    assert frame["data"]["text/plain"].startswith("<report of ")
    report = unescape(re.search(r'srcdoc="(.*?)"', frame["data"]["text/html"], re.DOTALL)[1])
    assert "<title>Tumours" in report
    assert 'id="live"' in report
