"""What docs/command_line.md says of commands and of their JSON is so."""

import re
import shlex
from pathlib import Path

import pytest
from typer.main import get_command

from ecsel.cli.app import app

TEXT = (Path(__file__).parents[2] / "docs" / "command_line.md").read_text(encoding="utf-8")
COMMON = {"command", "format", "ecsel"}


def documented(command):
    row = re.search(rf"^\| {command} \| (`.*`) \|$", TEXT, re.MULTILINE)
    return set(re.findall(r"`(\w+)`", row[1]))


@pytest.fixture
def lines(loans_file, model_file, springs_file, tmp_path):
    quick = ["--terms", "1", "--l1", "0.01", "--holdout", "0"]
    return {
        "demo": ["-o", tmp_path / "demo"],
        "fit": [loans_file, "-t", "bad", *quick],
        "predict": [loans_file, "-m", model_file],
        "explain": [loans_file, "-m", model_file, "--row", "1"],
        "what-if": [loans_file, "-m", model_file, "--set", "debt=1000"],
        "counterfactual": [loans_file, "-m", model_file, "--row", "1"],
        "discover": [springs_file, "-t", "energy"],
        "export": [model_file, "--to", "python"],
        "report": [loans_file, "-t", "bad", "-m", model_file, "-o", tmp_path / "report.html"],
        "info": [model_file],
        "compare": [loans_file, loans_file, "-m", model_file],
    }


def test_every_command_gives_the_documented_fields(run_json, lines):
    assert set(lines) == set(get_command(app).commands)
    for command, arguments in lines.items():
        found = run_json(command, *arguments)
        assert set(found) == documented(command) | COMMON, command
        assert found["command"] == command
        assert found["format"] == 1


def test_the_commands_that_are_shown_exist():
    commands = get_command(app).commands
    blocks = "\n".join(re.findall(r"```sh\n(.*?)```", TEXT, re.DOTALL))
    documented = re.findall(r"^ecsel (\S+)(.*?)(?:#|\||$)", blocks, re.MULTILINE)
    assert len(documented) > 10
    for command, rest in documented:
        known = {name for option in commands[command].params for name in option.opts}
        used = {word for word in shlex.split(rest) if re.match(r"--?[a-z]", word)}
        assert used <= known, (command, used - known)
