#!/bin/sh
# Find the Python interpreters of this machine, those of pyenv included.
#   python.sh find NAME     the program that a name or path stands for
#   python.sh version NAME  its version, such as 3.13
#   python.sh all           the program of each supported version that is there
set -eu

# As the classifiers in pyproject.toml have them.
supported="3.11 3.12 3.13"

usable() {
    "$1" -c 'import ensurepip, sys, venv; sys.exit(sys.version_info < (3, 11))' 2>/dev/null
}

find() {
    # A shim of pyenv is on PATH whether or not its version is chosen; the program itself works.
    for program in "$1" "${PYENV_ROOT:-${HOME:-/root}/.pyenv}"/versions/*/bin/"$1"; do
        if usable "$program"; then
            echo "$program"
            return
        fi
    done
    return 1
}

case "$1" in
find)
    find "$2" || { echo "No Python 3.11 or newer with its venv module is called $2 here." >&2; exit 1; }
    ;;
version)
    program=$(sh "$0" find "$2")
    "$program" -c 'import sys; print("%d.%d" % sys.version_info[:2])'
    ;;
all)
    for version in $supported; do
        find "python$version" || echo "python$version is not on this machine" >&2
    done
    ;;
esac
