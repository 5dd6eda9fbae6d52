"""Hosted workflows run the Makefile's targets, pin what they use by its full hash, and have no rights by default."""

import re
import tomllib
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


def test_every_system_python_and_end_of_the_dependencies_is_tested_with_and_without_the_kernel():
    yaml = pytest.importorskip("yaml")
    jobs = yaml.safe_load((ROOT / ".github" / "workflows" / "tests.yml").read_text(encoding="utf-8"))["jobs"]
    matrix = jobs["tests"]["strategy"]["matrix"]
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    reported = [each.removeprefix("Programming Language :: Python :: ") for each in project["classifiers"]]
    pythons = [each for each in reported if re.fullmatch(r"\d\.\d+", each)]
    assert matrix["python"] == pythons
    assert project["requires-python"] == f">={pythons[0]}"
    assert [each.partition("-")[0] for each in matrix["os"]] == ["ubuntu", "macos", "windows"]
    extra = [(each["python"], each["dependencies"], each["kernel"]) for each in matrix["include"]]
    (usual,) = matrix["kernel"]
    assert matrix["dependencies"] == ["newest"]
    assert extra == [(pythons[0], "oldest", usual), (pythons[-1], "newest", "NumPy alone")]
    (step,) = (each for each in jobs["tests"]["steps"] if "run" in each)
    assert "matrix.kernel == 'NumPy alone' && '1'" in step["env"]["ECSEL_NO_KERNEL"]
    assert "matrix.kernel == 'NumPy alone' ||" in step["env"]["COMPILED"]
    run = {each["run"].split()[1] for job in jobs.values() for each in job["steps"] if "run" in each}
    assert {"test", "lint", "docs", "dist", "recipe", "without-compiler", "integrations", "workflows"} < run
