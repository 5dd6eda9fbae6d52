#!/bin/sh
# Install the programs in which exports and reports are executed by the tests: Debian packages, and only missing ones.
# Elsewhere, or without the rights, the tests that need them say which one is missing.
set -eu
missing=""
need() { # a package, then paths or commands of which one must exist
    package=$1
    shift
    for sign in "$@"; do
        case $sign in
            /*) for path in $sign; do [ -e "$path" ] && return 0; done ;;
            *) command -v "$sign" >/dev/null 2>&1 && return 0 ;;
        esac
    done
    missing="$missing $package"
}
if [ "${1:-}" = java ]; then # for `make integrations`
    need default-jre-headless java
    set -- done
fi
[ "${1:-}" = done ] || {
need nodejs node nodejs
need gcc gcc
need chromium chromium
need libreoffice-calc-nogui soffice "/usr/lib/libreoffice/program/soffice*"
need postgresql "/usr/lib/postgresql/*/bin/postgres"
}
[ -z "$missing" ] && exit 0
as_root="env"
[ "$(id -u)" -eq 0 ] || as_root="sudo -n env" # asked of hosted machines alone, not of somebody's own
if ! command -v apt-get >/dev/null 2>&1 || { [ "$(id -u)" -ne 0 ] && [ -z "${CI:-}" ]; } || ! $as_root true 2>/dev/null; then
    echo "Not installed, and cannot be from here:$missing" >&2
    exit 0
fi
echo "Installing$missing"
$as_root apt-get update -qq
# shellcheck disable=SC2086 - a list of words
$as_root DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends $missing >/dev/null
