"""What a bug report quotes is true: one version, and the kernel that is in use."""

import subprocess
import sys
import tomllib
from pathlib import Path

import numpy as np

import ecsel
from ecsel._compiled import compiled

ROOT = Path(__file__).parents[1]


def test_versions_and_kernel_are_reported(capsys):
    ecsel.show_versions()
    reported = dict(line.split(maxsplit=1) for line in capsys.readouterr().out.splitlines())
    assert reported["ecsel"] == ecsel.__version__
    assert reported["numpy"] == np.__version__
    assert reported["kernel"].startswith("compiled" if compiled is not None else "NumPy")


def test_without_the_kernel_it_says_so():
    script = "import ecsel; ecsel.show_versions()"
    done = subprocess.run(
        [sys.executable, "-c", script],
        capture_output=True,
        text=True,
        check=True,
        env={"ECSEL_NO_KERNEL": "1", "PYTHONPATH": str(Path(ecsel.__file__).parents[1])},
    )
    assert "kernel        NumPy" in done.stdout


def test_the_version_is_written_once():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    assert "version" not in project["project"]
    assert project["tool"]["setuptools"]["dynamic"]["version"] == {"attr": "ecsel._version.__version__"}
    assert f"## [{ecsel.__version__}]" in (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
