"""What the documents show runs as shown, and what they point at exists."""

import re
import warnings
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PAGES = sorted(f"docs/{path.name}" for path in (ROOT / "docs").glob("*.md"))
DOCUMENTS = ["README.md", "CONTRIBUTING.md", "CHANGELOG.md", "benchmarks/README.md", *PAGES]
NEEDS_FILES = {"docs/large_data.md"}
"""Their Python reads tables of the reader."""
GENERATED = ("auto_examples/", "api/")
"""Written when the documentation is built, which checks these links itself."""


def python_blocks(name):
    return re.findall(r"^```python\n(.*?)^```", (ROOT / name).read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)


@pytest.mark.parametrize("name", [name for name in DOCUMENTS if python_blocks(name) and name not in NEEDS_FILES])
def test_python_blocks_run(name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("MPLBACKEND", "Agg")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # held-out rows may lie outside the training range
        exec(compile("\n".join(python_blocks(name)), name, "exec"), {"__name__": "document"})


def test_the_readme_shows_python():
    assert len(python_blocks("README.md")) >= 1


@pytest.mark.parametrize("name", DOCUMENTS)
def test_links_and_paths_exist(name):
    document = ROOT / name
    text = document.read_text(encoding="utf-8")
    links = [target for target in re.findall(r"\]\(([^)#]+)", text) if "://" not in target]
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
