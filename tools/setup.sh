#!/bin/sh
# Make .venv and install Sempre into it, editable, with its development tools at the pinned versions.
# Safe to repeat. PYTHON=/path/to/python chooses the interpreter.
set -eu
cd "$(dirname "$0")/.."

usable() {
    "$1" -c 'import ensurepip, sys, venv; sys.exit(sys.version_info < (3, 11))' 2>/dev/null
}

choose() {
    for candidate in ${PYTHON:-python3 python3.13 python3.12 python3.11 python3.14}; do
        if usable "$candidate"; then
            echo "$candidate"
            return
        fi
    done
    echo "Sempre needs Python 3.11 or newer with its venv module, and found none (tried: ${PYTHON:-python3, python3.11 to python3.14})." >&2
    echo "On Debian or Ubuntu: apt-get install python3-venv. Elsewhere: install Python 3.11+, or run make PYTHON=/path/to/python3." >&2
    return 1
}

if ! usable .venv/bin/python; then
    python=$(choose)
    echo "Creating .venv with $("$python" --version)"
    "$python" -m venv --clear .venv
fi
echo "Installing Sempre and its development tools"
.venv/bin/python -m pip install --quiet --disable-pip-version-check \
    --constraint constraints.txt --editable '.[dev,bench]'
