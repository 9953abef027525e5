#!/usr/bin/env bash
# Makes build/venv with the packages of tests/conformance/requirements.txt. uv resolves them: pip's own
# resolver fails on this set. Does nothing when the file has not changed since the last time.
set -euo pipefail
cd "$(dirname "$0")/.."

requirements=tests/conformance/requirements.txt
stamp=build/venv/.requirements
if [ -f "$stamp" ] && cmp -s "$stamp" "$requirements"; then
    exit 0
fi
mkdir -p build

make_venv() {  # The first interpreter that can make one; a version manager's shim may point to nothing.
    for python in "${PYTHON:-python3}" /usr/bin/python3; do
        rm -rf "$1"
        if "$python" -m venv "$1" >/dev/null 2>&1 && "$1/bin/python" -m pip --version >/dev/null 2>&1; then
            return 0
        fi
    done
    echo "python_env: no interpreter could make a virtual environment; install python3-venv" >&2
    return 1
}

if ! build/bootstrap-venv/bin/uv --version >/dev/null 2>&1; then
    make_venv build/bootstrap-venv
    build/bootstrap-venv/bin/python -m pip install --quiet --disable-pip-version-check uv
fi
make_venv build/venv
build/bootstrap-venv/bin/uv pip install --quiet --python build/venv/bin/python -r "$requirements"
cp "$requirements" "$stamp"
