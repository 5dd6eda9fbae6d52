"""What is checked before a commit is what `make lint` checks; templates name what exists; no test has a deadline."""

import re
from pathlib import Path

from hypothesis import HealthCheck, settings

ROOT = Path(__file__).parents[1]


def test_commits_are_checked_as_by_make_lint():
    hooks = set(re.findall(r"entry: \.venv/bin/(\S+)", (ROOT / ".pre-commit-config.yaml").read_text(encoding="utf-8")))
    lint = re.search(r"^lint:.*?\n((?:\t.*\n)+)", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE)
    assert lint
    assert hooks == set(re.findall(r"/bin/(\S+)", lint[1]))


def test_templates_name_what_exists():
    targets = set(re.findall(r"^([\w-]+):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE))
    templates = [*(ROOT / ".github").glob("*.md"), *(ROOT / ".github" / "ISSUE_TEMPLATE").glob("*.md")]
    assert len(templates) >= 3
    for path in templates:
        text = path.read_text(encoding="utf-8")
        assert set(re.findall(r"`make ([\w-]+)`", text)) <= targets
        assert all((ROOT / name).exists() for name in re.findall(r"\b[A-Z]+\.md\b", text))


def test_no_property_is_held_to_seconds():
    """Under load an example of a millisecond takes half a second, and a table is drawn slowly."""
    assert settings().deadline is None
    assert HealthCheck.too_slow in settings().suppress_health_check
    texts = [path.read_text(encoding="utf-8") for path in (ROOT / "tests").rglob("*.py")]
    assert not [found for text in texts for found in re.findall(r"deadline=(?!None|\()\w+", text)]
