"""The page on MLflow and Spark prints what it shows: up to Spark in all tests, the whole in `make integrations`."""

import os
import runpy
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
outputs = runpy.run_path(str(ROOT / "docs" / "outputs.py"))
PAGES = [name for name in outputs["PAGES"] if outputs["needed"]((ROOT / name).read_text(encoding="utf-8"))]


def test_there_is_such_a_page():
    assert PAGES == ["docs/platforms.md"]


@pytest.mark.filterwarnings("default")  # those of MLflow
@pytest.mark.skipif("ECSEL_INTEGRATIONS" in os.environ, reason="the whole page is run, and a store is of one folder")
def test_the_page_prints_what_it_shows_up_to_spark():
    pytest.importorskip("mlflow", reason="the extra `mlflow` has it")
    (name,) = PAGES
    before, spark, _ = (ROOT / name).read_text(encoding="utf-8").partition("\n## Spark")
    assert spark
    assert outputs["with_outputs"](before, name) == before


@pytest.mark.filterwarnings("default")  # those of MLflow and Spark
@pytest.mark.skipif(not os.environ.get("ECSEL_INTEGRATIONS"), reason="`make integrations` runs it")
@pytest.mark.parametrize("name", PAGES)
def test_the_page_prints_what_it_shows(name):
    text = (ROOT / name).read_text(encoding="utf-8")
    assert outputs["with_outputs"](text, name) == text
