#!/bin/sh
# The compiled kernel with the address and undefined-behaviour sanitizers, under the tests that call it.
# Usage: sh tests/sanitize.sh PYTHON [pytest arguments]. The first report of a sanitizer ends the run.
set -eu
python=$1
shift
build=build/sanitize
rm -rf "$build"
mkdir -p "$build"
cp -r src/ecsel "$build/ecsel"
rm -f "$build"/ecsel/_kernel*
include=$("$python" -c "import sysconfig; print(sysconfig.get_paths()['include'])")
gcc -shared -fPIC -g -O1 -std=c11 -ffp-contract=fast -fno-math-errno -fno-trapping-math -fno-omit-frame-pointer \
    -fsanitize=address,undefined -fno-sanitize-recover=undefined -I"$include" \
    src/ecsel/csrc/*.c -o "$build/ecsel/_kernel.abi3.so" -pthread -lm
[ $# -gt 0 ] || set -- tests/fitting tests/search
# Deadlines of examples are off (the profile ci). Python itself never gives all its memory back, so leaks are not looked for.
sanitized() {
    LD_PRELOAD=$(gcc -print-file-name=libasan.so) ASAN_OPTIONS=detect_leaks=0 PYTHONPATH=$build:. \
        OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 "$python" -m "$@"
}
sanitized pytest -q -p no:cacheprovider -p no:randomly --hypothesis-profile=ci "$@"
sanitized fuzz --only kernel --cases 1000
