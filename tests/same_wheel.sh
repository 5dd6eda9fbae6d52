#!/bin/sh
# Builds the wheel twice, from two copies of the sources at two places and two times, and compares the bytes.
# Usage: sh tests/same_wheel.sh PYTHON. The time in the wheel is that of the last commit.
set -eu
python=$1
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
SOURCE_DATE_EPOCH=$(git log -1 --format=%ct)
export SOURCE_DATE_EPOCH
for copy in first second; do
    mkdir "$work/$copy"
    git archive HEAD | tar -x -C "$work/$copy"
    # paths of the build must not reach the compiled kernel
    CFLAGS="-ffile-prefix-map=$work/$copy=." "$python" -m pip --disable-pip-version-check --quiet wheel --no-deps \
        --wheel-dir "$work/$copy/dist" "$work/$copy"
    sleep 2
done
cd "$work"
sha256sum first/dist/*.whl second/dist/*.whl
cmp first/dist/*.whl second/dist/*.whl && echo "the same bytes"
