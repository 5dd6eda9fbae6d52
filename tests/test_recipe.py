"""The recipe for conda-forge and the requirements of the build say what pyproject.toml says."""

import re
import runpy
import tomllib
from pathlib import Path

import ecsel
from ecsel import fitting
from ecsel._version import OLD_NAMES_GO_IN

ROOT = Path(__file__).parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
RECIPE = (ROOT / "recipe" / "recipe.yaml").read_text(encoding="utf-8")


def section(name):
    """Return the entries of one list of requirements in the recipe, without spaces."""
    found = re.search(rf"^  {name}:\n((?:    - .*\n)+)", RECIPE, re.MULTILINE)
    return [entry.replace(" ", "") for entry in re.findall(r"    - (.*)", found[1])]


def test_versions_are_the_same():
    assert f'version: "{ecsel.__version__}"' in RECIPE
    assert f'python_min: "{PROJECT["project"]["requires-python"].removeprefix(">=")}"' in RECIPE


def test_requirements_are_the_same():
    assert section("run") == ["python", *PROJECT["project"]["dependencies"]]
    assert section("run_constraints") == PROJECT["project"]["optional-dependencies"]["cli"]
    assert set(PROJECT["build-system"]["requires"]) < set(section("host"))


def test_the_build_takes_one_file_of_each_package():
    lines = (ROOT / "build-requirements.txt").read_text(encoding="utf-8").splitlines()
    packages = {}
    for line in lines:
        if not line.startswith("#"):
            found = re.fullmatch(r'([\w-]+)==([\d.]+)(?: ; os_name == "nt")? --hash=sha256:[0-9a-f]{64}', line)
            packages[found[1]] = tuple(map(int, found[2].split(".")))
    (needed,) = PROJECT["build-system"]["requires"]
    assert packages[needed.partition(">=")[0]] >= (int(needed.partition(">=")[2]),)
    assert {"build", "packaging", "pyproject-hooks"} < set(packages)
    assert "build-requirements.txt" in PROJECT["tool"]["cibuildwheel"]["before-build"]


def test_a_tag_is_released_with_its_version_and_a_date():
    check = runpy.run_path(str(ROOT / "recipe" / "release_check.py"))["objections"]
    dated = "## [0.2.0] – 2026-11-20\n\n## [0.1.0] – not released\n"
    assert check("v0.2.0", "0.2.0", dated) == []
    assert len(check("0.2.0", "0.2.0", dated)) == 1
    assert len(check("v0.1.0", "0.1.0", dated)) == 1
    assert len(check("v0.3.0", "0.2.0", dated.replace("2026-11-20", "soon"))) == 2


def test_old_names_work_for_two_minor_versions():
    """What docs/versions.md promises of the names that 0.2 has replaced; the changelog lists them."""
    _, minor = map(int, OLD_NAMES_GO_IN.split("."))
    assert minor >= 2 + 2
    changelog = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    deprecated = changelog.partition("### Deprecated\n")[2].partition("\n###")[0]
    assert all(f"`{name}`" in deprecated for name in fitting._RENAMED)
    assert f"go in {OLD_NAMES_GO_IN}." in deprecated


def test_the_newest_section_of_the_changelog_is_this_version():
    sections = re.findall(r"^## \[(.*?)\] – (.*)$", (ROOT / "CHANGELOG.md").read_text(encoding="utf-8"), re.MULTILINE)
    assert sections[0][0] == ecsel.__version__
    assert all(re.fullmatch(r"\d{4}-\d\d-\d\d|unreleased|not released", reported) for _, reported in sections)
    cited = (ROOT / "CITATION.cff").read_text(encoding="utf-8")
    assert f"version: {ecsel.__version__}\ndate-released: {sections[0][1]}\n" in cited
