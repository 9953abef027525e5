#!/usr/bin/env bash
# The flows with azure-ai-ml (tests/conformance/sdk), both releases side by side, each in a process and with a server of its own.
# --short: what `make test` runs. Further words go to pytest.
set -uo pipefail
cd "$(dirname "$0")/.."

export LAVANT_BIN="${LAVANT_BIN:-$PWD/build/release/lavant}"
short=()
if [ "${1:-}" = --short ]; then
    shift
    short=(-m "not slow")
fi
mkdir -p build/results

flows() {  # flows RELEASE INTERPRETER
    "$2" -m pytest tests/conformance/sdk -q -p no:cacheprovider --show-capture=no --tb=native "${short[@]}" \
        --junitxml="build/results/flows-$1.xml" "${@:3}" >"build/results/flows-$1.txt" 2>&1
}

flows 1.27 build/venv-1.27/bin/python "$@" &
old=$!
flows 1.35 build/venv/bin/python "$@"
new_status=$?
wait "$old"
old_status=$?
tail -n 25 build/results/flows-1.35.txt build/results/flows-1.27.txt
[ "$new_status" = 0 ] && [ "$old_status" = 0 ]
