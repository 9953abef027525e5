#!/usr/bin/env bash
# Makes build/venv and build/venv-1.27 with the packages of tests/conformance/requirements*.txt: the two releases of
# azure-ai-ml that the server must serve. uv resolves them: pip's own resolver fails on this set. Does nothing for an
# environment whose file has not changed since the last time.
set -euo pipefail
cd "$(dirname "$0")/.."

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

fill() {  # fill FOLDER REQUIREMENTS
    local stamp=$1/.requirements
    if [ -f "$stamp" ] && cmp -s "$stamp" "$2"; then
        return 0
    fi
    if ! build/bootstrap-venv/bin/uv --version >/dev/null 2>&1; then
        make_venv build/bootstrap-venv
        build/bootstrap-venv/bin/python -m pip install --quiet --disable-pip-version-check uv
    fi
    make_venv "$1"
    build/bootstrap-venv/bin/uv pip install --quiet --python "$1/bin/python" -r "$2"
    cp "$2" "$stamp"
}

mkdir -p build
fill build/venv tests/conformance/requirements.txt
fill build/venv-1.27 tests/conformance/requirements-1.27.txt
