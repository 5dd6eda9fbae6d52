#!/bin/sh
# Installs the wheel in dist/ into an empty environment on a path without a compiler, fits two tables, adds the extra of the
# command line and runs `ecsel demo`; then the sdist in the same way, which must fall back to NumPy. Nothing may come along
# but the four packages that are asked for and what these need. Usage: sh tests/without_compiler.sh PYTHON, after `make dist`.
set -eu
python=$("$1" -c "import sys; print(sys.executable)") # no shim: it may need a shell
dist=$(cd "$(dirname "$0")/.." && pwd)/dist
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir "$work/bin"
for program in sh env uname rm mkdir ls cat; do ln -s "$(command -v "$program")" "$work/bin/$program"; done
PATH=$work/bin
export PATH
unset CC CXX PYTHONPATH || true
for compiler in cc gcc clang c99 tcc; do
    if command -v "$compiler"; then echo "there is a compiler: $compiler" >&2; exit 1; fi
done
cd "$work"
for kind in whl tar.gz; do
    rm -rf empty
    "$python" -m venv empty
    start=$("$python" -c "import time; print(time.time())")
    empty/bin/python -m pip --disable-pip-version-check --quiet install "$dist"/*."$kind"
    empty/bin/python - "$kind" "$start" <<'PYTHON'
import importlib.metadata as metadata
import re
import sys
import time
from pathlib import Path

seconds = time.time() - float(sys.argv[2])
here = {re.sub("[-_.]+", "-", each.name).lower(): each for each in metadata.distributions(path=[sys.path[-1]])}
here = {name: each for name, each in here.items() if name not in ("pip", "setuptools")}


def needed_by(name):
    """Return what a package asks for here without extras, and what that asks for."""
    lines = [line for line in here[name].requires or () if not re.search(r"extra *==|python_version *<|sys_platform|platform_system", line)]
    names = {re.sub("[-_.]+", "-", re.match(r"[\w.-]+", line)[0]).lower() for line in lines}
    return names.union(*(needed_by(each) for each in names))


def size(each):
    return sum(path.stat().st_size for file in each.files if (path := Path(file.locate())).is_file()) / 1e6


assert set(here) == {"ecsel", *needed_by("ecsel")}, set(here) ^ {"ecsel", *needed_by("ecsel")}
print(f"{sys.argv[1]}: {len(here)} packages in {seconds:.0f} s,", ", ".join(f"{name} {size(each):.1f} MB" for name, each in sorted(here.items())))

import ecsel

ecsel.show_versions()
from ecsel._compiled import compiled

assert (compiled is not None) == (sys.argv[1] == "whl"), "the wheel has the kernel, the sdist without a compiler has not"
needed = {name.split(">=")[0] for name in metadata.requires("ecsel") if "extra ==" not in name}
assert needed == {"numpy", "scipy", "scikit-learn", "narwhals"}, needed
from sklearn.datasets import load_breast_cancer, load_wine

X, y = load_breast_cancer(return_X_y=True)
model = ecsel.ECSELClassifier(max_factors=3).fit(X, y)
print(sys.argv[1], model.equations_[1], f"accuracy {model.score(X, y):.3f}")
for load in (load_breast_cancer, load_wine):
    X, y = load(return_X_y=True)
    began = time.process_time()
    ecsel.ECSELClassifier().fit(X, y)
    print(f"{sys.argv[1]}: {load.__name__[5:]} fitted in {time.process_time() - began:.2f} CPU s")
PYTHON
    if [ "$kind" = whl ]; then
        empty/bin/python -m pip --disable-pip-version-check --quiet install "ecsel[cli] @ file://$(ls "$dist"/*.whl)"
        empty/bin/ecsel demo
    fi
done
