"""`import ecsel` is light: names are imported when first used, and then no heavy library of ours comes along."""

import json
import subprocess
import sys

HEAVY = {
    "pandas",
    "polars",
    "pyarrow",
    "sympy",
    "matplotlib",
    "dask",
    "onnx",
    "pint",
    "typer",
    "rich",
    "sklearn",
    "scipy",
}
PROBE = """
import json, sys, time
start = time.process_time()
import {module}
print(json.dumps([time.process_time() - start, sorted(sys.modules)]))
"""


def imported(module):
    """Seconds of processor time and all modules of a fresh interpreter."""
    done = subprocess.run(
        [sys.executable, "-c", PROBE.format(module=module)], capture_output=True, text=True, check=True, timeout=120
    )
    seconds, modules = json.loads(done.stdout)
    return seconds, set(modules)


def test_the_package_alone_costs_next_to_nothing():
    # Not even scikit-learn is loaded, so what is added to `import sklearn` is at most what this takes.
    runs = [imported("ecsel") for _ in range(3)]
    modules = runs[0][1]
    assert not HEAVY & modules
    assert sum(name.split(".")[0] == "ecsel" for name in modules) <= 3
    assert min(seconds for seconds, _ in runs) <= 0.1


def test_the_classifier_brings_nothing_heavy_that_scikit_learn_does_not():
    ours, theirs = imported("ecsel.estimators.classifier")[1], imported("sklearn.linear_model")[1]
    assert HEAVY & ours <= HEAVY & theirs


def test_names_are_there_when_asked_for():
    code = """
import ecsel
assert set(ecsel.__all__) <= set(dir(ecsel))
for name in ecsel.__all__:
    getattr(ecsel, name)
try:
    ecsel.nothing
except AttributeError as error:
    assert str(error) == "module 'ecsel' has no attribute 'nothing'"
else:
    raise AssertionError
"""
    subprocess.run([sys.executable, "-c", code], check=True, timeout=120)
