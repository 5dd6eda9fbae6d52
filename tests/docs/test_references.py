"""What comments, docstrings and pages of the documentation name is there: files of the source, and modules."""

import io
import re
import tokenize
from importlib.util import find_spec
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
CSRC = sorted((ROOT / "src" / "ecsel" / "csrc").glob("*.[ch]"))
PYTHON = sorted((ROOT / "src" / "ecsel").rglob("*.py"))
PAGES = [ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").glob("*.md"))]
FILES = {
    path.relative_to(ROOT).as_posix()
    for folder in ("src", "tests", "benchmarks", "docs", "fuzz", "examples")
    for path in (ROOT / folder).rglob("*")
    if path.suffix in {".py", ".c", ".h"}
}
NAMED_FILE = re.compile(r"(?<![\w*./<-])((?:[a-z_0-9]+/)*[a-z_0-9]+\.(?:py|c|h))\b(?!>)")
NAMED_MODULE = re.compile(r"`+(ecsel(?:\.[a-z_0-9]+)+)(?:\.[A-Za-z_]\w*)?`+")


def comments_of_c(path):
    """Return the comments of a C file, without the headers of the language."""
    return "\n".join(re.findall(r"/\*.*?\*/|//[^\n]*", path.read_text(encoding="utf-8"), re.DOTALL))


def prose_of_python(path):
    """Return the comments and the docstrings of a Python file."""
    tokens = tokenize.generate_tokens(io.StringIO(path.read_text(encoding="utf-8")).readline)
    return "\n".join(t.string for t in tokens if t.type == tokenize.COMMENT or t.string.startswith(('"""', 'r"""')))


def is_there(name):
    return any(file == name or file.endswith(f"/{name}") for file in FILES)


def is_module(name):
    """Whether a dotted name is a module, or something in one."""
    parts = name.split(".")
    for n in range(len(parts), 0, -1):
        try:
            spec = find_spec(".".join(parts[:n]))
        except ModuleNotFoundError:
            continue
        if spec is not None:
            module = __import__(".".join(parts[:n]), fromlist=["_"])
            return n == len(parts) or hasattr(module, parts[n])
    return False


@pytest.mark.parametrize("path", CSRC, ids=lambda path: path.name)
def test_comments_of_the_kernel_name_files_that_exist(path):
    assert [name for name in NAMED_FILE.findall(comments_of_c(path)) if not is_there(name)] == []


def test_docstrings_and_comments_name_modules_that_exist():
    named = {(path.name, name) for path in PYTHON for name in NAMED_MODULE.findall(prose_of_python(path))}
    assert len(named) > 50
    assert sorted((file, name) for file, name in named if not is_module(name)) == []


def test_pages_name_files_and_modules_that_exist():
    for path in PAGES:
        text = path.read_text(encoding="utf-8")
        assert [name for name in NAMED_MODULE.findall(text) if not is_module(name)] == [], path.name
        named = re.findall(r"`((?:src|tests|benchmarks|fuzz|examples)/[\w/]+\.(?:py|c|h))`", text)
        assert [name for name in named if not (ROOT / name).is_file()] == [], path.name
