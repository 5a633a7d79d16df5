#!/bin/sh
# Make an environment and install Sempre into it, editable, with its tools at the pinned versions.
# Safe to repeat. PYTHON=python3.13 chooses the interpreter, VENV=folder the environment.
set -eu
cd "$(dirname "$0")/.."
VENV=${VENV:-.venv}

choose() {
    for candidate in ${PYTHON:-python3 python3.13 python3.12 python3.11 python3.14}; do
        if sh tools/python.sh find "$candidate" 2>/dev/null; then
            return
        fi
    done
    echo "Sempre needs Python 3.11 or newer with its venv module, and found none (tried: ${PYTHON:-python3, python3.11 to python3.14})." >&2
    echo "On Debian or Ubuntu: apt-get install python3-venv. Elsewhere: install Python 3.11+, or run make PYTHON=/path/to/python3." >&2
    return 1
}

if ! sh tools/python.sh find "$VENV/bin/python" >/dev/null 2>&1; then
    python=$(choose)
    echo "Creating $VENV with $("$python" --version)"
    "$python" -m venv --clear "$VENV"
fi
echo "Installing Sempre and its development tools into $VENV"
"$VENV/bin/python" -m pip install --quiet --disable-pip-version-check \
    --constraint constraints.txt --editable '.[dev,bench]'
