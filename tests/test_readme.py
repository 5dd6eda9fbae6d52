"""What the documents show runs as shown, and what they point at exists."""

import re
import warnings
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
DOCUMENTS = [
    "README.md",
    "CONTRIBUTING.md",
    "CHANGELOG.md",
    "benchmarks/README.md",
    "docs/classifier.md",
    "docs/discovery.md",
    "docs/paper_map.md",
    "docs/tuning.md",
]


@pytest.mark.parametrize("name", ["README.md", "docs/classifier.md", "docs/discovery.md", "docs/tuning.md"])
def test_python_blocks_run(name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    blocks = re.findall(r"^```python\n(.*?)^```", (ROOT / name).read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)
    assert blocks
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # held-out rows may lie outside the training range
        exec(compile("\n".join(blocks), name, "exec"), {"__name__": "document"})


@pytest.mark.parametrize("name", DOCUMENTS)
def test_links_and_paths_exist(name):
    document = ROOT / name
    text = document.read_text(encoding="utf-8")
    links = [target for target in re.findall(r"\]\(([^)#]+)", text) if "://" not in target]
    paths = re.findall(r"`((?:src|tests|examples|benchmarks)/[\w./]+)`", text)
    missing = [target for target in links if not (document.parent / target).exists()]
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
