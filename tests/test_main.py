"""The package can be run."""

import subprocess
import sys

import ecsel


def test_the_package_is_the_command():
    done = subprocess.run([sys.executable, "-m", "ecsel", "--version"], capture_output=True, text=True, check=True)
    assert done.stdout == f"ecsel {ecsel.__version__}\n"
