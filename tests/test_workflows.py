"""Hosted workflows run the Makefile's targets, pin what they use by its full hash, and have no rights by default."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.yml"))


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.name)
def test_commands_are_the_makefiles(path):
    text = path.read_text(encoding="utf-8")
    targets = set(re.findall(r"^([\w-]+):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE))
    commands = re.findall(r"run: (.*)$", text, re.MULTILINE)
    assert commands
    for command in commands:
        program, target, *_ = command.split()
        assert program == "make"
        assert target in targets


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.name)
def test_actions_are_pinned_and_rights_are_given_one_by_one(path):
    text = path.read_text(encoding="utf-8")
    uses = re.findall(r"uses: (.*)$", text, re.MULTILINE)
    assert uses
    assert all(re.fullmatch(r"[\w./-]+@[0-9a-f]{40} # v[\d.]+", each) for each in uses)
    assert "\npermissions: {}\n" in text
    assert text.count("write") == (1 if path.name == "release.yml" else 0)
