#!/bin/sh
# Installs the wheel in dist/ into an empty environment on a path without a compiler and fits a table; then the sdist in
# the same way, which must fall back to NumPy. Usage: sh tests/without_compiler.sh PYTHON, after `make dist`.
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
    empty/bin/python -m pip --disable-pip-version-check --quiet install "$dist"/*."$kind"
    empty/bin/python - "$kind" <<'PYTHON'
import importlib.metadata as metadata
import sys

import ecsel

ecsel.show_versions()
from ecsel._compiled import compiled

assert (compiled is not None) == (sys.argv[1] == "whl"), "the wheel has the kernel, the sdist without a compiler has not"
needed = {name.split(">=")[0] for name in metadata.requires("ecsel") if "extra ==" not in name}
assert needed == {"numpy", "scipy", "scikit-learn", "narwhals"}, needed
from sklearn.datasets import load_breast_cancer

X, y = load_breast_cancer(return_X_y=True)
model = ecsel.ECSELClassifier(max_factors=3).fit(X, y)
print(sys.argv[1], model.equations_[1], f"accuracy {model.score(X, y):.3f}")
PYTHON
done
